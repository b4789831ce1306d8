"""Mistakes and their price: dependent mistakes, what is noticed, how often to try again, where to go on from.

Sources: a constant hazard a step is pⁿ (Ord 2025, arXiv 2505.05115); `exp(ln p · n^s)` is its Weibull form; runs until
something noticed is right are a geometric series, and what a new start costs is a renewal argument. The tests play each
of them through step by step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adk_nb.calculator.inputs import (
    checked_amount,
    checked_count,
    checked_fraction,
    checked_routing_accuracy,
    checked_shape,
    checked_target,
)

_JUST_BELOW_ONE = math.nextafter(1.0, 0.0)
_JUST_ABOVE_ZERO = math.ulp(0.0)


def path_success(choices: int, accuracy: float, dependence: float = 1.0) -> float:
    """Give the chance that all choices are right: `exp(ln p · n^s)`, which is `pⁿ` for independent mistakes (s = 1).

    With `s < 1` later choices are safer than earlier ones (the tasks differ in difficulty, and what has gone well so
    far is likely an easy one); with `s > 1` they are riskier (mistakes in the context breed mistakes, Sinha et al.,
    arXiv 2509.09677). Agents were measured at about 0.6.

    Example:
        >>> [round(path_success(15, 0.95, s), 3) for s in (0.6, 1, 1.3)]
        [0.771, 0.463, 0.177]
    """
    n = checked_amount("choices", choices, "choices")
    p, s = checked_routing_accuracy(accuracy), checked_shape(dependence)
    if n == 0 or p == 1:
        return 1.0
    if p == 0:
        return 0.0
    return min(max(math.exp(n**s * math.log(p)), _JUST_ABOVE_ZERO), _JUST_BELOW_ONE)


def dependent_horizon(accuracy: float, dependence: float = 1.0, target: float = 0.5) -> float:
    """Give the longest process that is right with chance `target`: `n* = (ln t / ln p)^(1/s)` steps.

    Infinite at `p = 1` and at `target = 0`.

    Example:
        >>> round(dependent_horizon(0.95), 6), round(dependent_horizon(0.95, 0.6), 1)
        (13.513407, 76.7)
    """
    p, s, aim = checked_routing_accuracy(accuracy), checked_shape(dependence), checked_target(target)
    if p == 1 or aim == 0:
        return math.inf
    if p == 0 or aim == 1:
        return 0.0
    return float((math.log(aim) / math.log(p)) ** (1 / s))


def accuracy_from_success(success: float, decisions: float) -> float:
    """Turn a benchmark's share of solved tasks into the accuracy of one decision: `p = success^(1/decisions)`.

    It assumes that mistakes are independent, which repeated trials of one task are not.

    Example:
        >>> round(accuracy_from_success(0.42, 5.8), 2)
        0.86
    """
    share = checked_fraction("success", success)
    return float(share ** (1 / max(checked_amount("decisions", decisions, "decisions"), 1e-9)))


def repeated_success(trials: int, alpha: float, beta: float) -> float:
    """Give the chance that all trials of one task succeed, when tasks differ: `Π (α + i)/(α + β + i)`, i from 0.

    Each task has a chance of its own, spread over tasks as Beta(α, β); trials of one task are then far from
    independent. Source: the beta-binomial distribution; α = 0.583 and β = 0.382 fit the published τ-bench retail
    trials of GPT-4o (0.604 once, 0.383 four times in a row, where independence would give 0.133).

    Args:
        trials: How often the task is tried, 1 or more.
        alpha: α, above 0.
        beta: β, 0 or more.

    Example:
        >>> [round(repeated_success(trials, 0.583, 0.382), 3) for trials in (1, 4, 8)]
        [0.604, 0.383, 0.298]
    """
    right, wrong = checked_amount("alpha", alpha, "successes"), checked_amount("beta", beta, "failures")
    count = checked_count("trials", trials)
    if right == 0:
        return 0.0
    return math.prod((right + i) / (right + wrong + i) for i in range(count))


@dataclass(frozen=True, slots=True)
class Attempts:
    """What becomes of a task when a wrong run is noticed with some chance and then started again."""

    attempts: float
    """A: runs on average; infinite when every wrong run is noticed and none is right."""
    right: float
    """Chance that what is handed over in the end is right: `P·A`."""
    shipped_wrong: float
    """Chance that something wrong is handed over unnoticed: `(1−P)(1−δ)·A`."""
    given_up: float
    """Chance that the last allowed run was noticed to be wrong, too: `x^C`."""


def attempts(success: float, detection: float, most: int | None = None) -> Attempts:
    """Count runs: `A = 1/(1 − x)` with `x = (1−P)·δ`, capped at C runs `(1 − x^C)/(1 − x)`.

    Args:
        success: P, chance that a run is right.
        detection: δ, chance that a wrong run is noticed.
        most: C, how many runs are allowed; `None` for any number.

    Example:
        >>> found = attempts(0.5, 0.8)
        >>> round(found.attempts, 6), round(found.right, 6), round(found.shipped_wrong, 6)
        (1.666667, 0.833333, 0.166667)
        >>> attempts(0, 1), attempts(0, 1, most=3).attempts
        (Attempts(attempts=inf, right=0.0, shipped_wrong=0.0, given_up=0.0), 3.0)
    """
    right, noticed = checked_fraction("success", success), checked_fraction("detection", detection)
    cap = None if most is None else checked_count("most_attempts", most)
    stays = (1 - noticed) + right * noticed  # 1 − x, exact for small P
    if stays == 0:
        return Attempts(math.inf if cap is None else float(cap), 0.0, 0.0, 0.0 if cap is None else 1.0)
    left = 0.0 if cap is None or stays >= 1 else math.exp(cap * math.log1p(-stays))
    ended = 1 - left if left < 0.5 else -math.expm1((cap or 1) * math.log1p(-stays))
    return Attempts(
        attempts=ended / stays,
        right=min(right / stays * ended, 1.0),
        shipped_wrong=min((1 - right) * (1 - noticed) / stays * ended, 1.0),
        given_up=left,
    )


@dataclass(frozen=True, slots=True)
class Policies:
    """Tokens until a task is right, by when a mistake is noticed and where one goes on from then."""

    restart_at_end: float
    """Noticed at the end, started again: `T / P`."""
    restart_at_once: float
    """Noticed at once, started again: `Σ c_k · P_(k−1) / P_n`."""
    resume_there: float
    """Noticed at once, gone on with from there: `Σ c_k / p_k`. What a checkpointed graph and `run.resume()` do."""
    abort_at_once: float
    """Noticed at once, given up: `Σ c_k · P_(k−1)`, which is what a try costs that ends at its first mistake."""


def policies(
    costs: Sequence[float], accuracy: float, dependence: float = 1.0, before: float = 0.0, after: float = 0.0
) -> Policies:
    """Price mistakes under each policy.

    Args:
        costs: c_k, tokens of each step that chooses, in order.
        accuracy: p, chance that a step's choice is right.
        dependence: s, see `path_success`; the chance at step k is then `p_k = P_k / P_(k−1)`.
        before: Tokens of what comes before the first choice; a new start pays them again.
        after: Tokens of what comes after the last choice.

    Example:
        >>> price = policies([500 * k for k in range(1, 16)], 0.9)
        >>> [round(tokens) for tokens in (price.restart_at_end, price.restart_at_once, price.resume_there)]
        [291416, 117847, 66667]
    """
    p, s = checked_routing_accuracy(accuracy), checked_shape(dependence)
    one_try = there = total = before
    reached = 1.0
    for index, cost in enumerate(costs, 1):
        total += cost
        one_try += cost * reached
        there += _over(cost, _chance_at(index, p, s))
        reached = path_success(index, p, s)
    return Policies(
        restart_at_end=_over(total + after, reached),
        restart_at_once=_over(one_try, reached) + after,
        resume_there=there + after,
        abort_at_once=one_try + after * reached,
    )


def _chance_at(step: int, p: float, s: float) -> float:
    """Chance that the choice of this step is right when all before it were."""
    if p in (0, 1):
        return p
    return math.exp((step**s - (step - 1) ** s) * math.log(p))


def _over(tokens: float, chance: float) -> float:
    if tokens == 0:
        return 0.0
    return math.inf if chance == 0 else tokens / chance
