"""The calculator's widget: values in and out, what is displayed and saved, the browser's arithmetic against ours."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import playwright
import pytest
import traitlets
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
from traitlets.config import Config

import adk_nb
from adk_nb.calculator import (
    Comparison,
    Phrase,
    compare_designs,
    format_count,
    format_percent,
    format_share,
    horizon_phrases,
    success_phrases,
    summary,
    token_phrases,
)
from adk_nb.errors import ConfigurationError
from adk_nb.notebook.calculator_view import Calculator, calculator

STATIC = pathlib.Path(adk_nb.__file__).parent / "notebook" / "static"
WIDGET_TYPE = "application/vnd.jupyter.widget-view+json"
LARGEST_SAVED_COPY = 48_000

BAD_VALUES = [
    ("process_length", 6.5),
    ("process_length", -1),
    ("process_length", True),
    ("process_length", 1_001),
    ("judgment_share", 1.5),
    ("judgment_share", float("nan")),
    ("routing_accuracy", 97),
    ("routing_accuracy", "97 %"),
    ("tokens_per_step", -500),
    ("tokens_per_step", float("inf")),
    ("tokens_per_step", 2_000_000_000),
]


@pytest.fixture
def published() -> Iterator[list[dict[str, Any]]]:
    """What a notebook would receive from here on, oldest first."""
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.display_pub = CapturingDisplayPublisher()
    yield shell.display_pub.outputs
    InteractiveShell.clear_instance()


def settle(calc: Calculator) -> None:
    """Send what the browser sends once nobody touches the sliders any more."""
    calc._handle_custom_msg({"kind": "settled"}, [])  # ipywidgets' entry for messages from the front end


def test_defaults_are_the_text_s() -> None:
    """Opened without arguments, the calculator stands at the values that the text starts from."""
    assert calculator().comparison == compare_designs(6, 0.5, 0.97, 500)


def test_values_can_be_read_and_set() -> None:
    """A value set from code changes the comparison, and nothing else of the calculator."""
    calc = calculator(process_length=15)
    assert calc.comparison.loop_tokens == 60_000
    calc.routing_accuracy = 0.93
    calc.tokens_per_step = 412.5
    assert calc.comparison == compare_designs(15, 0.5, 0.93, 412.5)


def test_observers_are_told() -> None:
    """Code can watch a value as with any widget."""
    calc, seen = calculator(), []
    calc.observe(lambda change: seen.append((change["old"], change["new"])), "process_length")
    calc.process_length = 15
    assert seen == [(6, 15)]


def test_sliders_reach_the_object() -> None:
    """What the browser sends, whole numbers for shares included, arrives as the types that the record declares."""
    calc = calculator()
    calc.set_state({"process_length": 15, "judgment_share": 1, "routing_accuracy": 1, "tokens_per_step": 4000})
    assert calc.comparison == compare_designs(15, 1.0, 1.0, 4000)
    assert type(calc.judgment_share) is float


@pytest.mark.parametrize(("name", "value"), BAD_VALUES)
def test_bad_values_change_nothing(name: str, value: object) -> None:
    """A value out of range is refused in one sentence that names it, in every way of setting, and nothing changes."""
    calc = calculator()
    before = calc.comparison

    def construct() -> None:
        calculator(**{name: value})  # type: ignore[arg-type]  # the wrong type is the point

    def hold() -> None:
        with calc.hold_trait_notifications():
            setattr(calc, name, value)

    attempts: list[Callable[[], None]] = [construct, hold, lambda: setattr(calc, name, value)]
    for attempt in attempts:
        with pytest.raises(ConfigurationError) as caught:
            attempt()
        message = str(caught.value)
        assert message.startswith(name)
        assert f"found {value!r}" in message
        assert message.endswith(".")
        assert "\n" not in message
    assert calc.comparison == before


def test_plain_text_is_the_whole_comparison() -> None:
    """Where only text is shown, it says everything; the object's own text is the call that makes it."""
    calc = calculator(process_length=15)
    data, _ = calc._repr_mimebundle_()
    assert data["text/plain"] == summary(calc.comparison)
    assert repr(calc) == (
        "Calculator(process_length=15, judgment_share=0.5, routing_accuracy=0.97, tokens_per_step=500)"
    )


def test_saved_copy_stands_alone() -> None:
    """A notebook saves HTML that names no widget, fetches nothing, reads well without scripts, and stays small."""
    data, _ = calculator(process_length=15)._repr_mimebundle_()
    page = data["text/html"]
    assert set(data) == {"text/plain", "text/html"}
    assert set(re.findall(r"https?://[^\s\"'`)]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\bimport\b\s*[({*'\"]|\bsrc=|@import|url\(", page)
    assert len(page.encode()) < LARGEST_SAVED_COPY
    without_scripts = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    for text in ("60,000", "4,000", "15 times fewer", "63.3 %", "78.4 % to 100 %", "<table>", "not a benchmark"):
        assert text in without_scripts


def test_page_of_its_own(tmp_path: pathlib.Path) -> None:
    """`to_html` gives one whole page, and writes the same when told where."""
    calc = calculator()
    page = calc.to_html(tmp_path / "calculator.html")
    assert page == calc.to_html() == (tmp_path / "calculator.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("<script") == page.count("</script>") == 1


def test_saved_copy_follows(published: list[dict[str, Any]]) -> None:
    """Once nobody touches the sliders, every output of the calculator is replaced by one with the present values."""
    calc = calculator()
    display(calc)
    display(calc)
    settle(calc)
    calc.process_length = 15
    settle(calc)
    settle(calc)
    first, second, renewed = published
    assert first["transient"] == second["transient"] == renewed["transient"]
    assert [output["update"] for output in published] == [False, False, True]
    assert "60,000" in renewed["data"]["text/html"]
    assert WIDGET_TYPE not in renewed["data"]


def test_never_displayed_never_published(published: list[dict[str, Any]]) -> None:
    """A calculator that only sits in another widget's box publishes no output of its own."""
    calc = calculator()
    calc.process_length = 15
    settle(calc)
    assert published == []


def test_hosts_that_isolate_outputs_get_the_widget_too(published: list[dict[str, Any]]) -> None:
    """In VS Code the output names the widget, with the static copy beside it, and is never replaced."""
    InteractiveShell.instance().user_ns["__vsc_ipynb_file__"] = "notebook.ipynb"
    calc = calculator()
    display(calc)
    calc.process_length = 15
    settle(calc)
    (output,) = published
    assert output["data"][WIDGET_TYPE]["model_id"] == calc.model_id
    assert {"text/html", "text/plain"} <= set(output["data"])


def test_traits_are_those_the_script_mirrors() -> None:
    """The script reads the object under the names that it has in Python."""
    script = (STATIC / "calculator.js").read_text(encoding="utf-8")
    names = re.search(r"const NAMES = \[(.*?)\]", script)
    assert names is not None
    assert json.loads(f"[{names[1]}]") == ["process_length", "judgment_share", "routing_accuracy", "tokens_per_step"]
    assert all(isinstance(Calculator.class_traits()[name], traitlets.TraitType) for name in json.loads(f"[{names[1]}]"))


def test_static_files_are_safe_to_inline() -> None:
    """Script and styles can stand inside a page: no end tag in them, and no text is ever turned into markup."""
    script = (STATIC / "calculator.js").read_text(encoding="utf-8")
    styles = (STATIC / "theme.css").read_text(encoding="utf-8") + (STATIC / "calculator.css").read_text(
        encoding="utf-8"
    )
    assert not re.search(r"</(script|style)|<!--", script + styles, re.IGNORECASE)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", script)
    tokens = set(re.findall(r"(--adknb-\w+):", styles))
    assert set(re.findall(r"var\((--adknb-\w+)", styles)) - {"--adknb-fill"} <= tokens


def node() -> str:
    """The JavaScript runtime: the system's, or the one that comes with Playwright."""
    bundled = pathlib.Path(playwright.__file__).parent / "driver" / ("node.exe" if os.name == "nt" else "node")
    return shutil.which("node") or str(bundled)


BROWSER_SIDE = """
import { compareDesigns, tokenPhrases, successPhrases, horizonPhrases, formatPercent, formatShare, formatCount }
  from "./calculator.mjs";
import { readFileSync, writeFileSync } from "node:fs";
const plain = (phrases) => phrases.map(([text, isStrong]) => [text, Boolean(isStrong)]);
const answers = JSON.parse(readFileSync("grid.json")).map(([n, j, p, t]) => {
  const c = compareDesigns({ process_length: n, judgment_share: j, routing_accuracy: p, tokens_per_step: t });
  const words = [tokenPhrases, successPhrases, horizonPhrases].map((say) => plain(say(c)));
  const labels = [formatShare(j), formatPercent(p), formatCount(t), formatCount(c.loop_tokens)];
  return [c, words, labels];
});
writeFileSync("answers.json", JSON.stringify(answers, (_, v) => (v === Infinity ? "inf" : v)));
"""


def browser_answers(folder: pathlib.Path, grid: list[tuple[Any, ...]]) -> list[Any]:
    """What the browser's functions say for each (n, j, p, t)."""
    shutil.copy(STATIC / "calculator.js", folder / "calculator.mjs")
    (folder / "run.mjs").write_text(BROWSER_SIDE, encoding="utf-8")
    (folder / "grid.json").write_text(json.dumps(grid), encoding="utf-8")
    subprocess.run([node(), "run.mjs"], cwd=folder, check=True)
    answers: list[Any] = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    return answers


def python_answer(comparison: Comparison) -> list[Any]:
    """The same for one comparison, on this side."""
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
    script = (STATIC / "calculator.js").read_text(encoding="utf-8")
    stops = re.search(r"const TOKEN_STOPS = \[(.*?)\];", script, re.DOTALL)
    assert stops is not None
    tokens = itertools.cycle([int(float(stop)) for stop in stops[1].split(",") if stop.strip()])
    shares, accuracies = [k / 20 for k in range(21)], [k / 200 for k in range(160, 201)]
    grid: list[tuple[Any, ...]] = [(n, j, p, next(tokens)) for n in range(16) for j in shares for p in accuracies]
    odd = ([0, 1, 2, 45, 90, 1000], [0, 1e-9, 0.0625, 0.7, 1], [0, 1e-9, 0.4, 0.5, 0.9134, 1 - 2**-53, 1])
    grid += [(n, j, p, t) for n, j, p, t in itertools.product(*odd, [0, 0.04, 333.35, 1e9])]
    for inputs, (found, words, labels) in zip(grid, browser_answers(tmp_path, grid), strict=True):
        expected = compare_designs(*inputs)
        numbers = {name: getattr(expected, name) for name in Comparison.__slots__}
        assert {name: float(value) for name, value in found.items()} == pytest.approx(numbers, rel=1e-12, abs=0), inputs
        assert [words, labels] == python_answer(expected), inputs
