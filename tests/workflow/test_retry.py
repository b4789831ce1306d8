"""Whether and when a failed node is tried again."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.errors import WorkflowConfigurationError
from adk_nb.workflow import RetryConfig, Workflow, node
from adk_nb.workflow.retry import next_delay_s
from tests.workflow.driving import Conversation

ERROR = ValueError("x")


@pytest.mark.parametrize(("attempts", "tries"), [(0, 1), (1, 1), (3, 3), (None, 5)])
def test_how_often(attempts: int | None, tries: int) -> None:
    """0 and 1 mean one try, `None` five, n means n tries in all, each of them recorded with its error."""
    calls: list[int] = []

    def flaky() -> None:
        calls.append(1)
        raise ValueError(f"no {len(calls)}")

    async def run() -> None:
        config = RetryConfig(max_attempts=attempts, initial_delay=0, jitter=0)
        talk = Conversation(Workflow(name="wf", edges=[("START", node(flaky, retry_config=config))]))
        await talk.fail(ValueError, talk.say())
        assert len(calls) == tries
        record = (await talk.records())["wf@1/flaky@1"]
        assert [one.error_message for one in record.attempts] == [f"no {number + 1}" for number in range(tries)]

    asyncio.run(run())


def test_without_a_rule() -> None:
    """A node without `retry_config` is never tried again."""
    assert next_delay_s(None, 1, ERROR) is None


def test_exact_delays() -> None:
    """Without jitter the waits are 1, 2, 4 seconds and so on, up to the longest."""
    config = RetryConfig(max_attempts=99, jitter=0)
    assert [next_delay_s(config, attempt, ERROR) for attempt in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]
    own = RetryConfig(max_attempts=99, jitter=0, initial_delay=3, backoff_factor=1.5, max_delay=5)
    assert [next_delay_s(own, attempt, ERROR) for attempt in range(1, 4)] == [3, 4.5, 5]
    assert next_delay_s(RetryConfig(initial_delay=0, jitter=0, max_attempts=9999), 5000, ERROR) == 0


seconds = st.one_of(st.none(), st.floats(0, 1e300))


@given(
    seconds,
    seconds,
    st.one_of(st.none(), st.floats(0, 1e6)),
    st.one_of(st.none(), st.floats(0, 1e6)),
    st.integers(1, 5000),
)
def test_bounds_of_a_delay(
    initial: float | None, longest: float | None, factor: float | None, jitter: float | None, attempt: int
) -> None:
    """A wait is never negative nor above the longest, and lies within the jitter's share of the exact one."""
    config = RetryConfig(
        max_attempts=9999, initial_delay=initial, max_delay=longest, backoff_factor=factor, jitter=jitter
    )
    delay = next_delay_s(config, attempt, ERROR)
    assert delay is not None
    start, most = (1.0 if initial is None else initial), (60.0 if longest is None else longest)
    share = 1.0 if jitter is None else jitter
    try:
        exact = start * (2.0 if factor is None else factor) ** (attempt - 1) if start else 0.0
    except OverflowError:
        exact = math.inf
    exact = min(exact, most / (1 + share))
    assert 0 <= delay <= most
    assert exact * (1 - share) * 0.999999 <= delay <= exact * (1 + share) * 1.000001 + 1e-300


class HttpError(ConnectionError):
    """An error of somebody's library."""


@pytest.mark.parametrize(
    ("exceptions", "is_tried_again"),
    [
        (None, True),
        ([], False),
        (["HttpError"], True),
        ([HttpError], True),
        (["ConnectionError"], True),
        ([OSError], True),
        (["Exception"], True),
        (["object"], False),
        (["ValueError", KeyError], False),
        (ConnectionError, True),
    ],
)
def test_which_errors(exceptions: Any, is_tried_again: bool) -> None:
    """`exceptions` names classes, subclasses included; `None` means all."""
    config = RetryConfig(exceptions=exceptions, jitter=0)
    assert (next_delay_s(config, 1, HttpError()) is not None) == is_tried_again


def test_classes_are_kept_by_name() -> None:
    """Classes and their names are the same rule, which can be stored."""
    config = RetryConfig(exceptions=(TimeoutError, "HttpError"))
    assert config.exceptions == ["TimeoutError", "HttpError"]
    assert RetryConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"max_attempts": -1}, "RetryConfig can't have max_attempts=-1: it must be greater than or equal to 0."),
        ({"max_attempts": 1.5}, "max_attempts=1.5"),
        ({"initial_delay": -0.1}, "initial_delay=-0.1: it must be greater than or equal to 0"),
        ({"max_delay": -1}, "max_delay=-1"),
        ({"backoff_factor": -1}, "backoff_factor=-1"),
        ({"jitter": -1}, "jitter=-1"),
        ({"initial_delay": math.nan}, "initial_delay=nan: it must be a finite number"),
        ({"max_delay": math.inf}, "max_delay=inf: it must be a finite number"),
        ({"exceptions": [3]}, "exceptions must contain exception class names or classes, found 3"),
        ({"exceptions": [int]}, "exceptions must contain exception class names"),
        ({"max_atempts": 3}, "RetryConfig has no argument 'max_atempts': it has 'max_attempts' (did you mean this?)"),
    ],
)
def test_mistakes(fields: dict[str, Any], words: str) -> None:
    """A rule that can't be meant is refused where it is written, in one sentence."""
    with pytest.raises(WorkflowConfigurationError) as caught:
        RetryConfig(**fields)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
