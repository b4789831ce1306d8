"""Fits: exact runs give their inputs back, others come with the error they have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.calculator import Conversation, MeasuredRun, compare_in_detail, fit_context, fit_designs
from adk_nb.errors import ConfigurationError

AMOUNTS = st.integers(0, 5_000)
TALKS = st.lists(st.tuples(st.integers(1, 5_000), AMOUNTS), min_size=1, max_size=12)


def conversation(calls: int, base: float, visible: float, result: float, hidden: float = 0) -> Conversation:
    """What a context of this shape uses, call by call."""
    prompts = [base + k * (visible + result) for k in range(calls)]
    return Conversation(prompts, [visible + hidden] * calls, [hidden] * calls)


@given(st.integers(2, 30), AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS)
def test_an_exact_context_is_found_again(calls: int, base: int, visible: int, result: int, hidden: int) -> None:
    """A run that follows the law gives back its inputs, without an error."""
    found = fit_context([conversation(calls, base, visible, result, hidden)])
    context = found.context
    assert [context.base, context.visible, context.result, context.hidden] == [
        pytest.approx(value, abs=1e-6) for value in (base, visible, result, hidden)
    ]
    assert found.error == pytest.approx(0, abs=1e-9)
    assert found.typical_miss == pytest.approx(0, abs=1e-6)


@given(st.lists(TALKS, min_size=1, max_size=6))
def test_totals_are_told_beside_what_was_measured(talks: list[list[tuple[int, int]]]) -> None:
    """Measured totals are the runs' own; output is fitted exactly; the prediction is that of the fitted context."""
    conversations = [Conversation([p for p, _ in talk], [o for _, o in talk]) for talk in talks]
    found = fit_context(conversations)
    assert found.prompt_measured == pytest.approx(sum(p for talk in talks for p, _ in talk) / len(talks))
    assert found.context.output_tokens == pytest.approx(found.output_measured)
    assert found.prompt_predicted == found.context.prompt_tokens
    assert found.context.calls == pytest.approx(sum(map(len, talks)) / len(talks))
    assert found.context.growth >= found.context.visible


@given(st.lists(st.integers(1, 5_000), min_size=3, max_size=12), st.floats(-50, 50))
def test_no_other_growth_misses_less(prompts: list[int], change: float) -> None:
    """Among all growths at the measured first prompt, the fitted one misses the prompts by least."""
    found = fit_context([Conversation(prompts, [0] * len(prompts))])

    def missed(growth: float) -> float:
        return sum((prompt - prompts[0] - k * growth) ** 2 for k, prompt in enumerate(prompts))

    assert missed(found.context.growth) <= missed(max(found.context.growth + change, 0)) + 1e-6


def test_random_lengths_count_their_variance() -> None:
    """Runs of 2 and of 6 calls predict their mean total, which runs of 4 calls would miss."""
    found = fit_context([conversation(2, 500, 20, 80), conversation(6, 500, 20, 80)])
    assert (found.context.calls, found.context.variance) == (4, 4)
    assert found.prompt_predicted == found.prompt_measured


def test_both_designs() -> None:
    """The refund case's calls give back its inputs, and the fitted calculator its totals."""
    loop = MeasuredRun([conversation(6, 400, 28, 49)], steps=5, has_closing_call=True)
    graph = MeasuredRun([conversation(2, 146, 24, 54), conversation(2, 146, 24, 54)], steps=6)
    found = fit_designs([loop], [graph])
    assert found.values["process_length"] == 6
    assert (found.values["calls_per_step"], found.values["closing_call"]) == (1, False)
    fitted = compare_in_detail(**found.values)
    assert (fitted.loop.tokens, fitted.graph.tokens) == (5152 - 1429, 2265 - 1429)


def test_one_design() -> None:
    """A loop alone tells its steps and its closing call; a graph alone leaves the loop's assumptions as they were."""
    loop = MeasuredRun([conversation(6, 400, 28, 49)], steps=5, has_closing_call=True)
    found = fit_designs([loop])
    assert found.graph is None
    assert (found.values["process_length"], found.values["closing_call"]) == (5, True)
    assert compare_in_detail(**found.values).loop.tokens == 3723
    graph = fit_designs(graph_runs=[MeasuredRun([conversation(1, 300, 20, 0)], steps=4)])
    assert graph.loop is None
    assert not [name for name in graph.values if name.startswith("loop")]
    assert fit_designs(graph_runs=[MeasuredRun([], steps=4)]).values == {"process_length": 4, "judgment_share": 0.0}


def test_steps_of_several_runs_are_their_mean() -> None:
    """Several runs are one fit: means of steps and of conversations."""
    runs = [MeasuredRun([conversation(1, 300, 20, 0)] * nodes, steps=steps) for nodes, steps in ((1, 3), (3, 5))]
    values = fit_designs(graph_runs=runs).values
    assert (values["process_length"], values["judgment_share"]) == (4, 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Conversation([1, 2], [1]), "found 2 prompts, 1 outputs and 0 hidden counts."),
        (lambda: Conversation([-1], [1]), "prompts must be a finite number of tokens"),
        (lambda: fit_context([]), "needs at least one model call"),
        (lambda: fit_designs([MeasuredRun([])]), "needs at least one model call"),
        (lambda: fit_designs(), "a run of a loop or of a graph"),
    ],
)
def test_nothing_to_fit(call: object, message: str) -> None:
    """What can't be fitted is refused in a sentence that says what is missing."""
    with pytest.raises(ConfigurationError, match=message):
        call()  # type: ignore[operator]  # a lambda of the table
