"""Mistakes and their price: known values, edges, and each formula against playing the rule through."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.calculator import (
    accuracy_from_success,
    attempts,
    dependent_horizon,
    loop_success,
    path_success,
    policies,
    repeated_success,
)

CHANCES = st.floats(0, 1)
LIKELY = st.floats(0.3, 1)
COSTS = st.lists(st.integers(0, 1_000), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("n", "p", "right", "runs"),
    [(1, 0.9, 0.9, 1.111111), (6, 0.97, 0.832972, 1.200521), (15, 0.95, 0.463291, 2.15847)],
)
def test_known_values(n: int, p: float, right: float, runs: float) -> None:
    """The published examples come out to six digits."""
    assert path_success(n, p) == pytest.approx(right, abs=5e-7)
    assert attempts(path_success(n, p), 1).attempts == pytest.approx(runs, abs=5e-6)


@given(st.integers(0, 300), CHANCES)
def test_independent_mistakes_are_the_simple_model(n: int, p: float) -> None:
    """At a dependence of 1 the extended model says what the simple one does."""
    assert path_success(n, p) == pytest.approx(loop_success(n, p), rel=1e-9, abs=1e-300)


@given(st.integers(2, 100), st.floats(0.5, 0.999), st.floats(0.5, 1.3))
def test_dependence_is_a_hazard_that_changes(n: int, p: float, s: float) -> None:
    """The chance of a whole run is the product of the chances at its steps, which rise for s < 1 and fall for s > 1."""
    chances = [path_success(k, p, s) / path_success(k - 1, p, s) for k in range(1, n + 1)]
    assert math.prod(chances) == pytest.approx(path_success(n, p, s), rel=1e-9)
    assert chances[0] == pytest.approx(p)
    assert (chances[-1] - chances[0]) * (1 - s) >= -1e-9


@given(st.floats(0.5, 0.999), st.floats(0.5, 1.3), st.floats(0.05, 0.95))
def test_dependent_horizon_meets_its_target(p: float, s: float, target: float) -> None:
    """At the horizon, success is the target."""
    steps = dependent_horizon(p, s, target)
    assert math.exp(steps**s * math.log(p)) == pytest.approx(target)


def test_edges_of_the_horizon() -> None:
    """Certain, hopeless, and a target of all or nothing."""
    assert dependent_horizon(0.95) == pytest.approx(13.513407, abs=5e-7)
    assert [dependent_horizon(1), dependent_horizon(0), dependent_horizon(0.9, 1, 1), dependent_horizon(0.9, 1, 0)] == [
        math.inf,
        0,
        0,
        math.inf,
    ]


@given(st.floats(0.01, 1), CHANCES, st.integers(1, 40))
def test_attempts_are_the_sum_of_their_runs(right: float, noticed: float, cap: int) -> None:
    """With a cap, the number of runs and their three ends are those of playing the runs one after the other."""
    running, runs, ends_right, ends_wrong = 1.0, 0.0, 0.0, 0.0
    for _ in range(cap):
        runs += running
        ends_right += running * right
        ends_wrong += running * (1 - right) * (1 - noticed)
        running *= (1 - right) * noticed
    found = attempts(right, noticed, cap)
    assert found.attempts == pytest.approx(runs, rel=1e-9)
    assert [found.right, found.shipped_wrong] == pytest.approx([ends_right, ends_wrong])
    assert found.given_up == pytest.approx(running, abs=1e-12)


@given(CHANCES, CHANCES, st.none() | st.integers(1, 1_000_000))
def test_every_task_ends_somehow(right: float, noticed: float, cap: int | None) -> None:
    """Right, wrong and given up add up to 1, except for a task that goes on for ever."""
    found = attempts(right, noticed, cap)
    total = found.right + found.shipped_wrong + found.given_up
    assert not math.isnan(found.attempts + total)
    if found.attempts < math.inf:
        assert total == pytest.approx(1, abs=1e-9)


def test_edges_of_attempts() -> None:
    """Never noticed is one run; always noticed and never right goes on for ever, or until the cap."""
    found = attempts(0.5, 0.8)
    assert [found.attempts, found.right, found.shipped_wrong] == pytest.approx([1.666667, 0.833333, 0.166667], abs=5e-7)
    assert (attempts(0.7, 0).attempts, attempts(0.7, 0).right) == (1, 0.7)
    assert (attempts(0, 1).attempts, attempts(0, 1).right) == (math.inf, 0)
    assert (attempts(0, 1, 7).attempts, attempts(0, 1, 7).right, attempts(0, 1, 7).given_up) == (7, 0, 1)
    assert attempts(0.25, 1).attempts == 4
    assert attempts(1e-300, 1).attempts == pytest.approx(1e300)
    assert attempts(1e-300, 1).right == pytest.approx(1)


def ways(steps: int) -> list[int]:
    """Where the first mistake may happen: after so many right choices; `steps` is nowhere."""
    return list(range(steps + 1))


@given(COSTS, LIKELY, st.floats(0.6, 1.3), st.integers(0, 500), st.integers(0, 500))
def test_policies_follow_from_where_the_first_mistake_happens(
    costs: list[int], p: float, s: float, before: int, after: int
) -> None:
    """Averaging over the place of a run's first mistake gives each policy's price."""
    n = len(costs)
    reach = [path_success(k, p, s) for k in ways(n)]
    fails = [(reach[k] - reach[k + 1], before + sum(costs[: k + 1])) for k in range(n)]
    whole, price = before + sum(costs) + after, policies(costs, p, s, before, after)
    lost = sum(chance * spent for chance, spent in fails)
    assert price.restart_at_once == pytest.approx(lost / reach[n] + whole, rel=1e-9)
    assert price.abort_at_once == pytest.approx(lost + reach[n] * whole, rel=1e-9)
    assert price.restart_at_end == pytest.approx(whole / reach[n], rel=1e-9)
    tries = [before_it / after_it for before_it, after_it in itertools.pairwise(reach)]
    there = before + after + sum(cost * again for cost, again in zip(costs, tries, strict=True))
    assert price.resume_there == pytest.approx(there, rel=1e-9)


@given(COSTS, LIKELY)
def test_resume_is_the_cheapest(costs: list[int], p: float) -> None:
    """Going on from there never costs more than a new start, and a new start at once never more than at the end."""
    price = policies(costs, p)
    assert price.abort_at_once <= price.resume_there * (1 + 1e-9)
    assert price.resume_there <= price.restart_at_once * (1 + 1e-9)
    assert price.restart_at_once <= price.restart_at_end * (1 + 1e-9)


def test_known_values_of_policies() -> None:
    """15 steps at 90 %: the penalty falls from p⁻ⁿ to p⁻¹."""
    price = policies([500 * k for k in range(1, 16)], 0.9)
    assert [round(price.restart_at_end), round(price.restart_at_once), round(price.resume_there)] == [
        291_416,
        117_847,
        66_667,
    ]


def test_edges_of_policies() -> None:
    """Nothing to do costs nothing, certainty costs the run, and what can't be right is never done."""
    assert policies([], 0.5).restart_at_end == 0
    assert policies([100, 200], 1, before=5, after=6).resume_there == 311
    assert policies([100, 200], 1, before=5, after=6).restart_at_once == 311
    hopeless = policies([100, 200], 0)
    assert [hopeless.restart_at_end, hopeless.restart_at_once, hopeless.resume_there] == [math.inf] * 3
    assert hopeless.abort_at_once == 100


def test_certain_notice_ends_right() -> None:
    """When every wrong run is noticed and any number is allowed, the task ends right for sure, and is said to."""
    for right in (0.43046721, 0.1, 1 / 3, 1e-9):
        assert (attempts(right, 1).right, attempts(right, 1).shipped_wrong) == (1, 0)


def test_repeated_trials_of_one_task() -> None:
    """Where tasks differ, four trials in a row succeed far more often than independent ones would."""
    fitted = [repeated_success(trials, 0.583, 0.382) for trials in (1, 4, 8)]
    assert fitted == pytest.approx([0.604, 0.383, 0.298], abs=1e-3)
    assert pytest.approx(0.133, abs=1e-3) == 0.604**4
    assert (repeated_success(3, 1, 0), repeated_success(3, 0, 1)) == (1, 0)


@given(st.integers(1, 12), st.floats(0.1, 5), st.floats(0.1, 5))
def test_repeated_trials_are_an_average_over_tasks(trials: int, alpha: float, beta: float) -> None:
    """The product equals the ratio of Beta functions that averaging p^k over tasks gives."""

    def log_beta(a: float, b: float) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    averaged = math.exp(log_beta(alpha + trials, beta) - log_beta(alpha, beta))
    assert repeated_success(trials, alpha, beta) == pytest.approx(averaged, rel=1e-9)


def test_accuracy_from_a_benchmark() -> None:
    """A share of solved tasks becomes the accuracy of a choice, which gives the share back."""
    p = accuracy_from_success(0.42, 5.8)
    assert p == pytest.approx(0.86, abs=0.005)
    assert p**5.8 == pytest.approx(0.42)
    assert (accuracy_from_success(0, 3), accuracy_from_success(1, 3)) == (0, 1)
