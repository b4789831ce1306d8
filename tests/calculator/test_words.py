"""Numbers and results in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.calculator import (
    Phrase,
    compare_designs,
    format_count,
    format_percent,
    format_ratio,
    format_share,
    horizon_phrases,
    success_phrases,
    summary,
    token_phrases,
)


def _text(phrases: list[Phrase]) -> str:
    return "".join(phrase.text for phrase in phrases)


@given(st.floats(0, 1))
def test_whole_percentages_are_whole(share: float) -> None:
    """100 % is written only for 1 and 0 % only for 0."""
    assert (format_percent(share) == "100 %") == (share == 1)
    assert (format_percent(share) == "0 %") == (share == 0)


@given(st.integers(1, 10**9), st.floats(0, 1, exclude_min=True))
def test_no_hundred_percent_while_a_token_remains(n: int, j: float) -> None:
    """A saving is never written as 100 % while the graph calls a model."""
    assert format_percent(compare_designs(n, j).saving) != "100 %"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.9994, "99.9 %"), (0.99949999, "99.9 %"), (0.9995, "> 99.9 %"), (0.0625, "6.3 %"), (0.5, "50.0 %")],
)
def test_percent_rounds_half_up(share: float, text: str) -> None:
    """One decimal, halves up, and no rounding up to the whole."""
    assert format_percent(share) == text


def test_counts_and_ratios() -> None:
    """Thousands are separated, a decimal appears only where there is one, infinity is said in words."""
    assert [format_count(value) for value in (0, 999, 1000, 60000.0, 1234.56, 1e20)] == [
        "0",
        "999",
        "1,000",
        "60,000",
        "1,234.6",
        "100,000,000,000,000,000,000",
    ]
    assert format_share(0.35) == "35 %"
    assert format_ratio(float("inf")) == "no model calls"


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ({"process_length": 0}, "A process without steps sends nothing either way."),
        ({"tokens_per_step": 0}, "When a step adds no tokens, neither design sends any."),
        ({"process_length": 1}, "Both make one call of 500 tokens: no saving in a process of one step."),
        (
            {"judgment_share": 0},
            "The loop sends 10,500 tokens in 6 calls. The graph makes no model calls and sends none.",
        ),
        (
            {"process_length": 15},
            "The loop sends 60,000 tokens in 15 calls, the graph 4,000 in 8: 15 times fewer, a saving of 93.3 %.",
        ),
    ],
)
def test_sentence_about_tokens(inputs: dict[str, int], sentence: str) -> None:
    """Each kind of case has its own sentence, and none says "0 times" or "infinite"."""
    assert _text(token_phrases(compare_designs(**inputs))) == sentence


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ({"process_length": 0}, "There is no turn to get wrong."),
        ({"routing_accuracy": 1}, "When every choice is right, neither takes a wrong turn."),
        (
            {"process_length": 2},
            "The loop stays on the intended path 94.1 % of the time, the graph 97.0 % if its one judgment "
            "picks a route, always if it doesn’t: edges are exact.",
        ),
        (
            {"routing_accuracy": 0.0},
            "The loop stays on the intended path 0 % of the time, the graph 0 % if its 3 judgments all pick a route, "
            "always if none does: edges are exact.",
        ),
    ],
)
def test_sentence_about_success(inputs: dict[str, float], sentence: str) -> None:
    """The graph's judgments count as fallible first; exact edges are named beside them."""
    assert _text(success_phrases(compare_designs(**inputs))) == sentence  # type: ignore[arg-type]  # keys of mixed types


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (1, "at any length."),
        (0.97, "up to 22 steps."),
        (0.5, "up to 1 step."),
        (0.4, "after a single step."),
        (1 - 1e-9, "even over 1,000,000 steps."),
    ],
)
def test_sentence_about_length(p: float, words: str) -> None:
    """The horizon is said in whole steps."""
    assert _text(horizon_phrases(compare_designs(routing_accuracy=p))).endswith(words)


def test_plain_text_stands_alone() -> None:
    """The plain text names every input and lines both designs up."""
    assert summary(compare_designs()).splitlines() == [
        "Graph or agent loop? 6 steps, 3 of them judgment (50 %), routing accuracy 97.0 %, 500 tokens per step",
        "              agent loop        graph",
        "  model calls          6            3",
        "  tokens          10,500        1,500",
        "  right path      83.3 %       91.3 %",
        "The loop sends 10,500 tokens in 6 calls, the graph 1,500 in 3: 7 times fewer, a saving of 85.7 %.",
        "The loop stays on the intended path 83.3 % of the time, the graph 91.3 % if its 3 judgments all pick a route, "
        "always if none does: edges are exact.",
    ]
