"""Whether and when a failed node is tried again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import tenacity
from pydantic import ConfigDict, Field, field_validator

from adk_nb.errors import WorkflowConfigurationError
from adk_nb.workflow.written import Written

DEFAULT_ATTEMPTS = 5
DEFAULT_INITIAL_DELAY_S = 1.0
DEFAULT_MAX_DELAY_S = 60.0
DEFAULT_BACKOFF = 2.0
DEFAULT_JITTER = 1.0


class RetryConfig(Written):
    """How often a failing node is tried, and how long to wait in between.

    Example:
        >>> RetryConfig(max_attempts=3, initial_delay=0.5, exceptions=[TimeoutError]).exceptions
        ['TimeoutError']
    """

    model_config = ConfigDict(extra="forbid")

    max_attempts: int | None = Field(default=None, ge=0)
    """Tries in all; 0 and 1 mean no second try, `None` means 5."""
    initial_delay: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Seconds before the second try; `None` means 1."""
    max_delay: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Longest wait in seconds; `None` means 60."""
    backoff_factor: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Each wait is this many times the one before; `None` means 2."""
    jitter: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Share of the wait that is added or taken away at random; 0 waits exactly, `None` means 1."""
    exceptions: Sequence[str | type[BaseException]] | None = None
    """Classes or class names of errors worth another try, subclasses included, kept as names; `None` means all but
    those that would come again, such as a blocked answer."""

    @field_validator("exceptions", mode="before")
    @classmethod
    def _name_classes(cls, value: Any) -> Any:
        if value is None:
            return None
        items = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
        for item in items:
            is_class = isinstance(item, type) and issubclass(item, BaseException)
            if not is_class and not isinstance(item, str):
                raise WorkflowConfigurationError(
                    f"exceptions must contain exception class names or classes, found {item!r:.80}: write for instance "
                    f"RetryConfig(exceptions=[TimeoutError, 'HTTPError'])."
                )
        return [item if isinstance(item, str) else item.__name__ for item in items]


def next_delay_s(config: RetryConfig | None, attempt: int, error: BaseException) -> float | None:
    """Return how long to wait before the next try, `None` when there is none.

    Args:
        config: The node's retry rule, `None` for a node without one.
        attempt: Number of the try that failed, from 1.
        error: What it failed with.
    Example:
        >>> next_delay_s(RetryConfig(initial_delay=2, jitter=0), 2, ValueError("x"))
        4.0
    """
    if config is None:
        return None
    attempts = DEFAULT_ATTEMPTS if config.max_attempts is None else config.max_attempts
    if attempt >= attempts:
        return None
    if config.exceptions is None:
        if not getattr(error, "is_worth_another_try", True):
            return None
    else:
        names = {kind.__name__ for kind in type(error).__mro__ if kind is not object}
        if names.isdisjoint(config.exceptions):
            return None
    return _wait_s(config, attempt)


def _wait_s(config: RetryConfig, attempt: int) -> float:
    initial = DEFAULT_INITIAL_DELAY_S if config.initial_delay is None else config.initial_delay
    longest = DEFAULT_MAX_DELAY_S if config.max_delay is None else config.max_delay
    factor = DEFAULT_BACKOFF if config.backoff_factor is None else config.backoff_factor
    jitter = DEFAULT_JITTER if config.jitter is None else config.jitter
    if initial == 0:
        return 0.0  # the power below overflows after many tries, and then counts as the longest wait
    state = tenacity.RetryCallState(None, None, (), {})  # type: ignore[arg-type]  # only attempt_number is read
    state.attempt_number = attempt
    delay = tenacity.wait_exponential(multiplier=initial, exp_base=factor, max=longest / (1 + jitter))(state)
    return min(longest, max(0.0, delay * (1 + jitter * random.uniform(-1, 1))))
