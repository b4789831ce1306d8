"""Success of both designs: known values, edges, and each closed form against multiplying step by step."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.calculator import compare_designs, graph_success_judged, horizon, loop_success

ACCURACIES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("n", "p", "loop", "judged"),
    [(1, 0.9, 0.9, 0.9), (6, 0.97, 0.832972, 0.912673), (15, 0.95, 0.463291, 0.66342)],
)
def test_known_values(n: int, p: float, loop: float, judged: float) -> None:
    """The published examples come out to six digits, the graph's at a judgment share of a half."""
    comparison = compare_designs(n, 0.5, p)
    assert comparison.loop_success == pytest.approx(loop, abs=5e-7)
    assert comparison.graph_success == pytest.approx(judged, abs=5e-7)
    assert comparison.graph_success_exact == 1


@given(st.integers(0, 200), ACCURACIES)
def test_success_is_the_product_of_its_choices(n: int, p: float) -> None:
    """The closed form equals multiplying the accuracy once a choice, in both designs."""
    product = math.prod([p] * n)
    assert loop_success(n, p) == pytest.approx(product, rel=1e-9, abs=1e-300)
    assert graph_success_judged(n, p) == loop_success(n, p)


@given(st.integers(1, 10**9), ACCURACIES)
def test_certainty_only_where_it_is_certain(n: int, p: float) -> None:
    """Success is 1 only at accuracy 1 and 0 only at accuracy 0, however long the process."""
    assert (loop_success(n, p) == 1) == (p == 1)
    assert (loop_success(n, p) == 0) == (p == 0)


@given(st.integers(0, 300), st.floats(0, 1), ACCURACIES)
def test_graph_is_never_less_reliable(n: int, j: float, p: float) -> None:
    """A graph judges at most as often as a loop, so it stays on the path at least as often."""
    comparison = compare_designs(n, j, p)
    assert comparison.graph_success >= comparison.loop_success


def test_no_steps_no_mistakes() -> None:
    """A process without steps is right, even when every choice would be wrong."""
    assert loop_success(0, 0) == 1
    assert loop_success(1, 0) == 0


@pytest.mark.parametrize(
    ("p", "target", "steps"),
    [
        (0.95, 0.5, 13.513407),
        (1, 0.5, math.inf),
        (1, 1, math.inf),
        (0, 0.5, 0),
        (0.9, 1, 0),
        (0.9, 0, math.inf),
        (0.5, 0.5, 1),
    ],
)
def test_horizon_values(p: float, target: float, steps: float) -> None:
    """The longest process for a target, with its ends: certain, hopeless, and a target of all or nothing."""
    assert horizon(p, target) == pytest.approx(steps, abs=5e-7)


@given(st.floats(0.01, 0.999), st.floats(0.01, 0.99))
def test_horizon_is_where_success_meets_the_target(p: float, target: float) -> None:
    """The last whole step within the horizon still reaches the target and the next one doesn't."""
    steps = math.floor(horizon(p, target))
    assert math.prod([p] * steps) >= target * (1 - 1e-9)
    assert math.prod([p] * (steps + 1)) < target * (1 + 1e-9)
