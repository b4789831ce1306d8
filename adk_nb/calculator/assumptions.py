"""What the extended model asks beyond the four numbers, each with a default that makes it the simple model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from adk_nb.calculator.inputs import (
    checked_amount,
    checked_count,
    checked_flag,
    checked_fraction,
    checked_shape,
)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The extended model's inputs. Amounts are tokens unless said otherwise; `None` means "as the simple model".

    Example:
        >>> Assumptions(loop_base=2000).loop_base, Assumptions().loop_base
        (2000.0, None)
        >>> Assumptions(cache_hit=7)
        Traceback (most recent call last):
        adk_nb.errors.ConfigurationError: cache_hit must be a number from 0 to 1, such as 0.5 for half; found 7.
    """

    calls_per_step: float = 1.0
    """Model calls that the loop makes for a step, on average."""
    closing_call: bool = False
    """The loop makes one more call at the end, with its answer."""
    length_variance: float = 0.0
    """σ²: how much the number of the loop's calls varies from run to run, in calls squared."""
    loop_base: float | None = None
    """b of the loop: its first prompt; `None` is the tokens of a step."""
    loop_visible: float = 0.0
    """v of the loop: what a call writes and later calls send again."""
    loop_result: float | None = None
    """r of the loop: what a tool returns a call; `None` is the tokens of a step."""
    loop_hidden: float = 0.0
    """h of the loop: reasoning a call, billed as output and not sent again."""

    node_calls: float = 1.0
    """κ of a judgment node: 1, or 2 when it uses one tool."""
    graph_base: float | None = None
    """b of a judgment node; `None` is the tokens of a step."""
    graph_visible: float = 0.0
    """v of a judgment node."""
    graph_result: float | None = None
    """r of a judgment node, which counts from its second call on; `None` is the tokens of a step."""
    graph_hidden: float = 0.0
    """h of a judgment node."""
    shared_reasoning: float = 0.0
    """R: reasoning that both designs must do, added to the output of both."""

    cache_read: float = 1.0
    """d: price of a cached token, in input prices; 1 is no cache."""
    cache_write: float = 1.0
    """w: price of a token written to the cache, in input prices."""
    cache_minimum: float = 0.0
    """M: the shortest prefix that is cached."""
    cache_hit: float = 1.0
    """H: chance that a repeated prefix is found, 0 to 1."""
    price_input: float | None = None
    """US dollars per million input tokens; `None` is unknown, and then so is the money."""
    price_output: float | None = None
    """US dollars per million output tokens, reasoning included."""

    judge_accuracy: float | None = None
    """q: accuracy of a judgment that picks a route, 0 to 1; `None` is the loop's accuracy."""
    route_share: float = 1.0
    """Share of the judgment nodes that pick a route, 0 to 1; the others can't lead astray."""
    dependence: float = 1.0
    """s: 1 for independent mistakes, below 1 when later steps are safer, above when mistakes breed mistakes."""
    detection: float = 0.0
    """δ: chance that a wrong run is noticed, and then started again, 0 to 1."""
    most_attempts: int | None = None
    """C: how many runs are allowed; `None` for any number."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None or field.default is not None:
                object.__setattr__(self, field.name, checked_assumption(field.name, value))


_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Assumptions)}
_FRACTIONS = ("cache_hit", "judge_accuracy", "route_share", "detection")
_UNITS = {
    "calls_per_step": "calls",
    "node_calls": "calls",
    "length_variance": "calls squared",
    "cache_read": "input prices",
    "cache_write": "input prices",
    "price_input": "dollars",
    "price_output": "dollars",
}


def assumption_defaults() -> dict[str, Any]:
    """Give every name of `Assumptions` with its default, in order.

    Example:
        >>> assumption_defaults()["shared_reasoning"]
        0.0
    """
    return dict(_DEFAULTS)


def checked_assumption(name: str, value: object) -> Any:
    """Accept a value for one of the assumptions by its name; `None` only where the default is `None`.

    Raises:
        ConfigurationError: the value is outside its range; the message names it and says what is allowed.

    Example:
        >>> checked_assumption("shared_reasoning", 1429), checked_assumption("loop_base", None)
        (1429.0, None)
    """
    if value is None and _DEFAULTS[name] is None:
        return None
    if name == "closing_call":
        return checked_flag(name, value)
    if name == "most_attempts":
        return checked_count(name, value)
    if name == "dependence":
        return checked_shape(value)
    if name in _FRACTIONS:
        return checked_fraction(name, value)
    return checked_amount(name, value, _UNITS.get(name, "tokens"))
