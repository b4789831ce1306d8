"""The browser's arithmetic and words against Python's, over a full grid; run by Node or, without one, by Chromium."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pathlib
import random
import re
from typing import Any

import pytest

from adk_nb.calculator import (
    CACHES,
    PRESETS,
    Comparison,
    DetailedComparison,
    Phrase,
    compare_designs,
    compare_in_detail,
    detailed_rows,
    detailed_success_phrases,
    detailed_token_phrases,
    format_amount,
    format_count,
    format_money,
    format_percent,
    format_runs,
    format_saving,
    format_share,
    horizon_phrases,
    mistake_phrases,
    policy_rows,
    success_phrases,
    token_phrases,
)
from adk_nb.notebook.assets import script
from tests.notebook.javascript import answers

# The module as pages carry it.
MODULE = script("calculator")
SIMPLE = """
const plain = (phrases) => phrases.map(([text, isStrong]) => [text, Boolean(isStrong)]);
return given.map(([n, j, p, t]) => {
  const c = compareDesigns({ process_length: n, judgment_share: j, routing_accuracy: p, tokens_per_step: t });
  const words = [tokenPhrases, successPhrases, horizonPhrases].map((say) => plain(say(c)));
  const labels = [formatShare(j), formatPercent(p), formatCount(t), formatCount(c.loop_tokens)];
  return [c, words, labels];
});
"""
DETAILED = """
const plain = (phrases) => phrases.map(([text, isStrong]) => [text, Boolean(isStrong)]);
return given.map((values) => {
  const c = compareInDetail(values);
  const say = [detailedTokenPhrases, detailedSuccessPhrases, mistakePhrases, horizonPhrases];
  const words = say.map((one) => plain(one(c)));
  return [c, words, detailedRows(c), policyRows(c)];
});
"""
WORDS = """
const say = [formatAmount, formatMoney, (value) => formatSaving(1 - value), formatCount, formatRuns];
return given.map((value) => say.map((one) => one(value)));
"""


def simple_words(comparison: Comparison) -> list[Any]:
    """What Python says about one comparison, and its labels."""
    sentences: list[list[Phrase]] = [say(comparison) for say in (token_phrases, success_phrases, horizon_phrases)]
    labels = [
        format_share(comparison.judgment_share),
        format_percent(comparison.routing_accuracy),
        format_count(comparison.tokens_per_step),
        format_count(comparison.loop_tokens),
    ]
    return [[[list(phrase) for phrase in sentence] for sentence in sentences], labels]


def test_browser_and_python_agree_everywhere(tmp_path: pathlib.Path) -> None:
    """Over every stop of the sliders, and at the edges, the browser computes and says what Python does."""
    stops = re.search(r"const TOKEN_STOPS = \[(.*?)\];", script("calculator_inputs"), re.DOTALL)
    assert stops is not None
    tokens = itertools.cycle([int(float(stop)) for stop in stops[1].split(",") if stop.strip()])
    shares, accuracies = [k / 20 for k in range(21)], [k / 200 for k in range(160, 201)]
    grid: list[tuple[Any, ...]] = [(n, j, p, next(tokens)) for n in range(16) for j in shares for p in accuracies]
    odd = ([0, 1, 2, 45, 90, 1000], [0, 1e-9, 0.0625, 0.7, 1], [0, 1e-9, 0.4, 0.5, 0.9134, 1 - 2**-53, 1])
    grid += [(n, j, p, t) for n, j, p, t in itertools.product(*odd, [0, 0.04, 333.35, 1e9])]
    found_all = answers(MODULE, SIMPLE, grid, tmp_path)
    for inputs, (found, words, labels) in zip(grid, found_all, strict=True):
        expected = compare_designs(*inputs)
        numbers = {name: getattr(expected, name) for name in Comparison.__slots__}
        assert {name: float(value) for name, value in found.items()} == pytest.approx(numbers, rel=1e-12, abs=0), inputs
        assert [words, labels] == simple_words(expected), inputs


GRID: dict[str, list[Any]] = {
    "process_length": [0, 1, 2, 6, 15, 30, 200],
    "judgment_share": [0, 0.05, 1 / 3, 0.5, 0.8, 1],
    "routing_accuracy": [0, 0.8, 0.9, 0.97, 0.995, 1],
    "tokens_per_step": [0, 50, 500, 333.5, 4000],
    "calls_per_step": [0, 0.5, 1, 2.045, 3],
    "closing_call": [False, True],
    "length_variance": [0, 0.3, 40.2],
    "loop_base": [None, 0, 400, 2000],
    "loop_visible": [0, 28],
    "loop_result": [None, 0, 49.5],
    "loop_hidden": [0, 120],
    "node_calls": [0, 1, 1.5, 2, 4],
    "graph_base": [None, 146, 3000],
    "graph_visible": [0, 24],
    "graph_result": [None, 54],
    "graph_hidden": [0, 10],
    "shared_reasoning": [0, 1429],
    "cache_read": [0, 0.1, 0.5, 1],
    "cache_write": [1, 1.25, 2],
    "cache_minimum": [0, 1024, 4096, 1e9],
    "cache_hit": [0, 0.6, 1],
    "price_input": [None, 0, 1.5],
    "price_output": [None, 9, 25.5],
    "judge_accuracy": [None, 0, 0.9, 1],
    "route_share": [0, 0.5, 1],
    "dependence": [0.5, 0.6, 1, 1.3],
    "detection": [0, 0.8, 1],
    "most_attempts": [None, 1, 3, 100],
}


def grid_of_details() -> list[dict[str, Any]]:
    """Every value of every input, alone, in pairs and in mixtures; all caches and presets."""
    draw = random.Random(7)
    single = [{name: value} for name, values in GRID.items() for value in values]
    pairs = [
        {one: a, other: b}
        for one, other in itertools.combinations(GRID, 2)
        for a, b in [(draw.choice(GRID[one]), draw.choice(GRID[other])) for _ in range(3)]
    ]
    mixed = [{name: draw.choice(values) for name, values in GRID.items()} for _ in range(6_000)]
    caches = [
        {"loop_base": 2000, "cache_read": one.read, "cache_write": one.write, "cache_minimum": one.minimum}
        for one in CACHES.values()
    ]
    return [*single, *pairs, *mixed, *caches, *(dict(preset.values) for preset in PRESETS.values())]


def flat(found: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """All numbers of a comparison by their path; -99 for what isn't known."""
    numbers: dict[str, float] = {}
    for name, value in found.items():
        if isinstance(value, dict):
            numbers |= flat(value, f"{prefix}{name}.")
        else:
            numbers[prefix + name] = -99.0 if value is None else float(value)
    return numbers


def detailed_words(comparison: DetailedComparison) -> list[Any]:
    """What Python says about one comparison, and its rows."""
    sentences = [
        say(comparison) for say in (detailed_token_phrases, detailed_success_phrases, mistake_phrases, horizon_phrases)
    ]
    words = [[list(phrase) for phrase in sentence] for sentence in sentences]
    return [words, [list(row) for row in detailed_rows(comparison)], [list(row) for row in policy_rows(comparison)]]


def test_browser_and_python_agree_in_detail(tmp_path: pathlib.Path) -> None:
    """Over every value of every input of the extended model, alone and mixed, all numbers, sentences and rows agree."""
    grid = grid_of_details()
    defaults = {"process_length": 6, "judgment_share": 0.5, "routing_accuracy": 0.97, "tokens_per_step": 500}
    found_all = answers(MODULE, DETAILED, [defaults | inputs for inputs in grid], tmp_path)
    for inputs, (found, *said) in zip(grid, found_all, strict=True):
        expected = compare_in_detail(**inputs)
        numbers = flat(dataclasses.asdict(expected))
        assert flat(found) == pytest.approx(numbers, rel=1e-9, abs=1e-12), inputs
        assert said == detailed_words(expected), inputs


def test_amounts_are_written_alike(tmp_path: pathlib.Path) -> None:
    """Amounts of every size are written with the same digits, money and savings included."""
    sizes = [
        0,
        0.00004,
        0.00005,
        0.0197055,
        0.05,
        0.99995,
        1,
        9.995,
        99.95,
        99.99,
        100,
        999.5,
        1e6 + 0.5,
        1e15,
        2**60,
        1e22,
    ]
    found = answers(MODULE, WORDS, [*sizes, 1e300], tmp_path)
    for size, said in zip([*sizes, 1e300], found, strict=True):
        value = float(size)
        texts = [format_amount(value), format_money(value), format_saving(1 - value), format_count(value)]
        assert said == [*texts, format_runs(value)], size
    assert format_amount(math.inf) == format_money(math.inf) == "never"
