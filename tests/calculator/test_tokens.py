"""Tokens of both designs: known values, edges, and each closed form against adding up call by call."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adk_nb.calculator import compare_designs, graph_tokens, judgment_nodes, loop_tokens, ratio, saving
from adk_nb.errors import ConfigurationError

LENGTHS = st.integers(0, 400)
SHARES = st.floats(0, 1)
TOKENS = st.integers(0, 100_000)


@pytest.mark.parametrize(
    ("n", "j", "m", "loop", "graph", "saved"),
    [
        (0, 0.5, 0, 0, 0, 0.0),
        (1, 1.0, 1, 500, 500, 0.0),
        (1, 0.05, 1, 500, 500, 0.0),
        (6, 0.5, 3, 10_500, 1_500, 0.857143),
        (15, 0.5, 8, 60_000, 4_000, 0.933333),
        (15, 1.0, 15, 60_000, 7_500, 0.875),
        (15, 0.0, 0, 60_000, 0, 1.0),
    ],
)
def test_known_values(n: int, j: float, m: int, loop: int, graph: int, saved: float) -> None:
    """The published examples come out to the last token."""
    comparison = compare_designs(n, j, tokens_per_step=500)
    assert (comparison.judgment_nodes, comparison.loop_tokens, comparison.graph_tokens) == (m, loop, graph)
    assert comparison.saving == pytest.approx(saved, abs=5e-7)


@given(LENGTHS, TOKENS)
def test_loop_is_the_sum_of_its_calls(n: int, t: int) -> None:
    """The closed form of the loop equals sending k steps in call k, for every k."""
    assert loop_tokens(n, t) == sum(k * t for k in range(1, n + 1))


@given(LENGTHS, SHARES, TOKENS)
def test_graph_is_the_sum_of_its_calls(n: int, j: float, t: int) -> None:
    """The graph sends one step's tokens for each node that judges."""
    m = judgment_nodes(n, j)
    assert graph_tokens(m, t) == sum(t for _ in range(m))


@given(st.integers(0, 2000), st.integers(0, 1000))
@example(5, 500)
@example(45, 700)
@example(90, 350)
@example(25, 580)
def test_halves_go_up(n: int, thousandths: int) -> None:
    """The number of judgment nodes is the share as written, rounded half up; binary fractions never push it down."""
    expected = math.floor(Fraction(thousandths, 1000) * n + Fraction(1, 2))
    if thousandths and n:
        expected = max(expected, 1)
    assert judgment_nodes(n, thousandths / 1000) == expected


@given(LENGTHS, SHARES)
def test_judgment_nodes_are_some_of_the_steps(n: int, j: float) -> None:
    """There is at least one judgment node when there is a share and a step, and never more than steps."""
    m = judgment_nodes(n, j)
    assert (m >= 1) == (n > 0 and j > 0)
    assert m <= n


@given(LENGTHS, SHARES, st.integers(1, 100_000), st.floats(0.001, 1e6))
def test_saving_does_not_depend_on_tokens_per_step(n: int, j: float, t: int, u: float) -> None:
    """More tokens a step make both designs dearer and leave the share saved where it was."""
    assert compare_designs(n, j, 1.0, t).saving == pytest.approx(compare_designs(n, j, 1.0, u).saving, abs=1e-12)


@given(st.integers(1, 10_000))
def test_all_judgment_still_saves(n: int) -> None:
    """At a judgment share of 1 the graph still saves 1 − 2/(n+1)."""
    assert compare_designs(n, 1.0).saving == pytest.approx(1 - 2 / (n + 1), abs=1e-12)


@given(st.integers(1, 10**9), SHARES.filter(bool))
@example(10**9, 1e-9)
def test_saving_is_whole_only_without_calls(n: int, j: float) -> None:
    """While the graph sends a token the saving stays below 1, however long the process."""
    assert compare_designs(n, j).saving < 1


@given(st.integers(1, 400), SHARES.filter(bool))
def test_ratio_in_steps_and_nodes(n: int, j: float) -> None:
    """The loop sends n(n+1)/(2m) times what the graph sends."""
    assert compare_designs(n, j).ratio == pytest.approx(n * (n + 1) / (2 * judgment_nodes(n, j)))


def test_edges_of_ratio_and_saving() -> None:
    """Nothing against nothing is no saving and a ratio of 1; something against nothing saves all of it."""
    assert (saving(0, 0), ratio(0, 0)) == (0.0, 1.0)
    assert (saving(500, 0), ratio(500, 0)) == (1.0, math.inf)
    assert compare_designs(tokens_per_step=0).saving == 0.0
    assert compare_designs(judgment_share=0).ratio == math.inf


def test_integers_stay_integers() -> None:
    """Whole tokens are counted exactly, beyond what a float can hold."""
    assert loop_tokens(10**9, 3) == 3 * (10**9 * (10**9 + 1) // 2)
    assert isinstance(compare_designs(tokens_per_step=412.5).loop_tokens, float)


@pytest.mark.parametrize("t", [1e308, 10**307 * 9])
def test_totals_beyond_counting_are_refused(t: float) -> None:
    """A product no float can hold is refused with a sentence, not returned as infinity."""
    with pytest.raises(ConfigurationError, match="too large to count"):
        compare_designs(15, tokens_per_step=t)
