"""The extended model: what it is without assumptions, its presets, and its edges."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.calculator import (
    CACHES,
    FINDINGS,
    PRESETS,
    Assumptions,
    DetailedComparison,
    accuracy_from_success,
    assumption_defaults,
    compare_designs,
    compare_in_detail,
    detailed_rows,
    detailed_success_phrases,
    detailed_summary,
    detailed_token_phrases,
    format_amount,
    format_money,
    format_saving,
    mistake_phrases,
    policy_rows,
)
from adk_nb.errors import ConfigurationError

SHARES = st.floats(0, 1)


def text(phrases: list[Any]) -> str:
    """A sentence as plain text."""
    return "".join(phrase.text for phrase in phrases)


@given(st.integers(0, 40), SHARES, SHARES, st.integers(0, 4_000))
def test_without_assumptions_it_is_the_simple_model(n: int, j: float, p: float, t: int) -> None:
    """Opening the extended model changes no number."""
    simple, detailed = compare_designs(n, j, p, t), compare_in_detail(n, j, p, t)
    for name in ("judgment_nodes", "saving", "ratio", "horizon"):
        assert getattr(detailed, name) == pytest.approx(getattr(simple, name), rel=1e-9)
    assert (detailed.loop.tokens, detailed.graph.tokens) == (simple.loop_tokens, simple.graph_tokens)
    assert (detailed.loop.calls, detailed.graph.calls) == (simple.process_length, simple.judgment_nodes)
    assert detailed.loop.success == pytest.approx(simple.loop_success, rel=1e-9, abs=1e-300)
    assert detailed.graph.success == pytest.approx(simple.graph_success, rel=1e-9, abs=1e-300)
    assert (detailed.loop.money, detailed.money_saving, detailed.loop.attempts) == (None, None, 1)
    assert detailed.loop.input_equivalent == pytest.approx(detailed.loop.prompt_tokens)


def test_refund_case() -> None:
    """The published totals come out to the token, and what they become without the reasoning and in money."""
    values = dict(PRESETS["refund"].values)
    refund = compare_in_detail(**values)
    assert (refund.loop.tokens, refund.graph.tokens) == (5152, 2265)
    assert (refund.loop.calls, refund.graph.calls, refund.judgment_nodes, refund.routing_nodes) == (6, 4, 2, 1)
    assert refund.saving == pytest.approx(0.560365, abs=5e-7)
    assert [refund.loop.money, refund.graph.money] == pytest.approx([0.0197055, 0.014835])
    assert refund.money_saving == pytest.approx(0.247, abs=5e-4)
    assert compare_in_detail(**values | {"shared_reasoning": 0}).saving == pytest.approx(0.77545, abs=5e-6)
    assert compare_designs(6, values["judgment_share"]).saving == pytest.approx(0.905, abs=5e-4)


def test_refund_case_has_nothing_to_cache() -> None:
    """No prompt of the refund case reaches the lowest minimum of any provider, so caching changes nothing."""
    for cache in CACHES.values():
        found = compare_in_detail(
            **PRESETS["refund"].values,
            cache_read=cache.read,
            cache_write=cache.write,
            cache_minimum=cache.minimum,
        )
        assert found.loop.input_equivalent == found.loop.prompt_tokens


def test_trajectories_of_a_benchmark() -> None:
    """The τ-bench preset stands where its source says: 12.27 calls, 33,748 prompt tokens, 1 % above the measured."""
    values = PRESETS["tau_bench_airline"].values
    found = compare_in_detail(**values)
    assert found.loop.calls == pytest.approx(12.27, abs=0.01)
    assert found.loop.prompt_tokens == pytest.approx(33_496, rel=0.01)
    assert values["routing_accuracy"] == round(accuracy_from_success(0.42, 5.8), 2)


def test_presets_and_findings_say_where_they_come_from() -> None:
    """Each preset names only inputs that there are, with a source and a caveat; each finding has its source."""
    known = {"process_length", "judgment_share", "routing_accuracy", "tokens_per_step", *assumption_defaults()}
    for preset in PRESETS.values():
        assert set(preset.values) <= known
        assert preset.title
        assert preset.source.endswith(".")
        assert preset.caveat.endswith(".")
    assert all(finding.title and finding.result and finding.source for finding in FINDINGS)


@given(st.integers(1, 20), st.floats(0.5, 1), st.floats(0.5, 3), st.booleans(), st.floats(0, 30))
def test_policies_start_from_the_tokens_of_a_run(
    n: int, p: float, calls: float, closing: bool, variance: float
) -> None:
    """Whatever a step costs, a run without mistakes costs its tokens, and one with mistakes at the end T/P."""
    given_values: dict[str, Any] = {
        "calls_per_step": calls,
        "closing_call": closing,
        "length_variance": variance,
        "loop_base": 300,
        "loop_hidden": 20,
        "shared_reasoning": 100,
    }
    loop = compare_in_detail(n, 0.5, p, **given_values).loop
    assert loop.restart_at_end == pytest.approx(loop.tokens / loop.success)
    certain = compare_in_detail(n, 0.5, 1.0, **given_values).loop
    for name in ("restart_at_end", "restart_at_once", "resume_there", "abort_at_once"):
        assert getattr(certain, name) == pytest.approx(certain.tokens)


def test_closing_call_chooses_nothing() -> None:
    """The answer at the end is a call more, and no choice more."""
    plain, closing = compare_in_detail(6), compare_in_detail(6, closing_call=True)
    assert (closing.loop.calls, closing.loop.tokens) == (7, compare_in_detail(7).loop.tokens)
    assert closing.loop.success == plain.loop.success
    assert compare_in_detail(0, closing_call=True).loop.tokens == 0


def test_graph_judges_with_its_own_accuracy() -> None:
    """Judgments that pick a route have an accuracy of their own; those that don't can't go wrong."""
    assert compare_in_detail(6, judge_accuracy=0.9).graph.success == pytest.approx(0.9**3)
    assert compare_in_detail(6, judge_accuracy=0.9, route_share=0).graph.success == 1
    assert compare_in_detail(6, judge_accuracy=0.9, route_share=0).graph.resume_there == 1500


EDGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"process_length": 0, "shared_reasoning": 9}, {"loop.tokens": 0, "loop.success": 1, "saving": 0}),
    ({"process_length": 1, "judgment_share": 0.05}, {"saving": 0, "ratio": 1}),
    ({"judgment_share": 0, "shared_reasoning": 9}, {"graph.tokens": 0, "saving": 1, "ratio": math.inf}),
    ({"routing_accuracy": 1}, {"loop.attempts": 1, "horizon": math.inf, "loop.resume_there": 10_500}),
    ({"routing_accuracy": 0, "detection": 1}, {"loop.success": 0, "loop.attempts": math.inf, "loop.right": 0}),
    (
        {"routing_accuracy": 0, "detection": 1, "most_attempts": 3},
        {"loop.attempts": 3, "loop.right": 0, "loop.given_up": 1, "loop.tokens_with_attempts": 31_500},
    ),
    ({"detection": 0}, {"loop.attempts": 1, "loop.right": pytest.approx(0.97**6)}),
    ({"tokens_per_step": 0}, {"loop.tokens": 0, "graph.tokens": 0, "saving": 0, "loop.restart_at_end": 0}),
    ({"cache_read": 0.1, "cache_write": 2, "cache_minimum": 1e6}, {"loop.input_equivalent": 10_500}),
    ({"cache_read": 0.1, "cache_hit": 0}, {"loop.input_equivalent": pytest.approx(10_500)}),
    ({"node_calls": 0}, {"graph.tokens": 0, "break_even_nodes": math.inf}),
    ({"calls_per_step": 0}, {"loop.tokens": 0, "saving": 0}),
]


@pytest.mark.parametrize(("inputs", "expected"), EDGES)
def test_edges(inputs: dict[str, Any], expected: dict[str, Any]) -> None:
    """At every edge the numbers are those that the model's sentence says, and never NaN."""
    found = compare_in_detail(**inputs)
    for path, value in expected.items():
        design, _, name = path.rpartition(".")
        assert getattr(getattr(found, design) if design else found, name) == value, path


def numbers_of(found: DetailedComparison) -> list[float]:
    """Every number of a comparison."""
    flat = dataclasses.asdict(found)
    nested = (part.values() if isinstance(part, dict) else [part] for part in flat.values())
    return [value for value in itertools.chain.from_iterable(nested) if isinstance(value, float)]


@given(
    st.integers(0, 1000),
    SHARES,
    SHARES,
    st.floats(0, 1e9),
    st.fixed_dictionaries(
        {},
        optional={
            "detection": SHARES,
            "route_share": SHARES,
            "judge_accuracy": SHARES,
            "dependence": st.floats(0.1, 3),
            "most_attempts": st.integers(1, 1000),
            "calls_per_step": st.floats(0, 10),
            "length_variance": st.floats(0, 1e4),
            "cache_read": SHARES,
            "cache_hit": SHARES,
            "cache_minimum": st.floats(0, 1e6),
            "node_calls": st.floats(0, 5),
            "price_input": st.floats(0, 100),
            "price_output": st.floats(0, 100),
        },
    ),
)
def test_nothing_is_ever_no_number(n: int, j: float, p: float, t: float, assumptions: dict[str, Any]) -> None:
    """No inputs give NaN, a chance outside 0 to 1, or words that fail."""
    found = compare_in_detail(n, j, p, t, **assumptions)
    assert not any(math.isnan(number) for number in numbers_of(found))
    for design in (found.loop, found.graph):
        assert all(0 <= chance <= 1 for chance in (design.success, design.right, design.shipped_wrong, design.given_up))
    assert "nan" not in detailed_summary(found).lower()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("loop_base", -1, "a finite number of tokens, 0 or more"),
        ("calls_per_step", math.nan, "a finite number of calls, 0 or more"),
        ("closing_call", 1, "True or False"),
        ("detection", 1.1, "a number from 0 to 1, such as 0.5 for half"),
        ("dependence", 0, "a number from 0.1 to 3, with 1 for independent mistakes"),
        ("most_attempts", 0, "a whole number, 1 or more, such as 3"),
        ("cache_read", None, "a finite number of input prices, 0 or more"),
        ("price_input", "free", "a finite number of dollars, 0 or more"),
    ],
)
def test_refused_in_one_sentence(name: str, value: object, allowed: str) -> None:
    """An assumption outside its range is refused with its name, what is allowed, and what was found."""
    with pytest.raises(ConfigurationError) as caught:
        Assumptions(**{name: value})  # type: ignore[arg-type]  # the wrong type is the point
    assert str(caught.value) == f"{name} must be {allowed}; found {value!r}."


def test_totals_beyond_counting_are_refused() -> None:
    """Totals that no float can hold are refused with a sentence, not returned as infinity."""
    with pytest.raises(ConfigurationError, match="too large to count"):
        compare_in_detail(1000, loop_base=1e307)


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ({"process_length": 0}, "A process without steps uses nothing either way."),
        (
            {"judgment_share": 0},
            "The loop uses 10,500 tokens in 6 calls. The graph makes no model calls and uses none.",
        ),
        ({"process_length": 1}, "The loop uses 500 tokens in 1 call, the graph 500 in 1: no saving."),
        (
            {"graph_base": 4000},
            "The loop uses 10,500 tokens in 6 calls, the graph 12,000 in 3: 14.3 % more.",
        ),
        (
            {"graph_base": 3000},
            "The loop uses 10,500 tokens in 6 calls, the graph 9,000 in 3: a saving of 14.3 %.",
        ),
        (
            dict(PRESETS["refund"].values),
            "The loop uses 5,152 tokens in 6 calls, the graph 2,265 in 4: 2.3 times fewer, a saving of 56.0 %. "
            "In money: $0.0197 and $0.0148, 24.7 % saved.",
        ),
    ],
)
def test_sentence_about_tokens(inputs: dict[str, Any], sentence: str) -> None:
    """Each kind of case has its own sentence."""
    assert text(detailed_token_phrases(compare_in_detail(**inputs))) == sentence


def test_sentences_about_mistakes() -> None:
    """What is noticed, what never ends and what can't go wrong are said in words."""
    noticed = compare_in_detail(detection=1.0)
    assert text(detailed_success_phrases(noticed)).endswith("100 % after 1.2 runs, and 100 % after 1.1 runs.")
    never = compare_in_detail(routing_accuracy=0, detection=1.0)
    assert text(mistake_phrases(never)).endswith("never, it can’t be right.")
    assert policy_rows(never)[0][1] == "never"
    assert "always: no judgment" in text(detailed_success_phrases(compare_in_detail(route_share=0)))
    assert {row[0]: row[1:] for row in detailed_rows(never)}["runs"] == ("never", "never", "")


def test_no_hundred_percent_while_a_token_remains() -> None:
    """A saving is never written as whole while the graph uses a token."""
    assert format_saving(compare_in_detail(1000, 1e-9, loop_base=1e9).saving) == "> 99.9 %"
    assert [format_amount(99.96), format_money(0.99995), format_saving(-3)] == ["100", "$1.0000", "4 times as much"]
