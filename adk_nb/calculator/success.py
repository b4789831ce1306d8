"""How often each design stays on the intended path, when every choice of the next step is right with the same chance.

Mistakes are taken as independent. Powers are computed as exp(n·ln p), which holds for any length.
"""

from __future__ import annotations

import math

from adk_nb.calculator.inputs import (
    checked_judgment_nodes,
    checked_process_length,
    checked_routing_accuracy,
    checked_target,
)

_JUST_BELOW_ONE = math.nextafter(1.0, 0.0)
_JUST_ABOVE_ZERO = math.ulp(0.0)


def loop_success(process_length: int, routing_accuracy: float) -> float:
    """Give the chance that an agent loop takes no wrong turn: `pⁿ`.

    A process without steps can't go wrong (1). The result is 1 only for a process that can't fail, and 0 only for one
    that can't succeed, however long it is.

    Example:
        >>> round(loop_success(6, 0.97), 6), loop_success(0, 0.5), loop_success(3, 0)
        (0.832972, 1.0, 0.0)
    """
    return _all_right(checked_process_length(process_length), checked_routing_accuracy(routing_accuracy))


def graph_success_judged(judgment_nodes: int, routing_accuracy: float) -> float:
    """Give the chance that a graph takes no wrong turn when each of its judgments picks a route: `pᵐ`.

    The edges themselves are exact, so a graph whose judgments pick no route always takes the intended path; one whose
    classifier is wrong still takes the wrong branch, and that is what this counts.

    Example:
        >>> round(graph_success_judged(3, 0.97), 6)
        0.912673
    """
    return _all_right(checked_judgment_nodes(judgment_nodes), checked_routing_accuracy(routing_accuracy))


def horizon(routing_accuracy: float, target: float = 0.5) -> float:
    """Give the longest process that a loop still gets right with chance `target`: `n* = ln s / ln p`.

    Infinite at `p = 1` and at `target = 0`. The result isn't rounded; the last whole step is its floor.

    Example:
        >>> round(horizon(0.95), 6), horizon(1), horizon(0)
        (13.513407, inf, 0.0)
    """
    p, s = checked_routing_accuracy(routing_accuracy), checked_target(target)
    if p == 1 or s == 0:
        return math.inf
    if p == 0 or s == 1:
        return 0.0
    return math.log(s) / math.log(p)


def _all_right(choices: int, accuracy: float) -> float:
    if choices == 0 or accuracy == 1:
        return 1.0
    if accuracy == 0:
        return 0.0
    return min(max(math.exp(choices * math.log(accuracy)), _JUST_ABOVE_ZERO), _JUST_BELOW_ONE)
