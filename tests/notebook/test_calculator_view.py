"""The calculator's widget: values in and out, what is displayed and saved."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
from traitlets.config import Config

import adk_nb
from adk_nb.calculator import PRESETS, assumption_defaults, compare_designs, compare_in_detail, summary
from adk_nb.errors import ConfigurationError
from adk_nb.notebook.assets import script
from adk_nb.notebook.calculator.calculator_view import Calculator, calculator

STATIC = pathlib.Path(adk_nb.__file__).parent / "notebook" / "static"
WIDGET_TYPE = "application/vnd.jupyter.widget-view+json"
LARGEST_SAVED_COPY = 90_000

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
    ("loop_base", -1),
    ("calls_per_step", 101),
    ("closing_call", 1),
    ("detection", 1.5),
    ("most_attempts", 0),
    ("cache_hit", None),
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


def test_extended_model_stands_behind_one_click() -> None:
    """The extended model's inputs are values like the others; giving one opens it, and opening it changes no number."""
    assert not calculator().is_extended
    calc = calculator(process_length=15, loop_base=2000, cache_read=0.1)
    assert calc.is_extended
    assert calc.details == compare_in_detail(15, loop_base=2000, cache_read=0.1)
    assert "input as paid" in calc._repr_mimebundle_()[0]["text/plain"]
    calc.is_extended = False
    assert calc._repr_mimebundle_()[0]["text/plain"] == summary(compare_designs(15))
    assert calculator(is_extended=True).details.loop.tokens == calculator().comparison.loop_tokens


def test_presets_set_everything() -> None:
    """A preset leaves nothing of what stood there before, and its source and caveat stand in the static copy."""
    calc = calculator(detection=0.5, routing_accuracy=0.8)
    assert calc.use("refund") is calc
    assert calc.details == compare_in_detail(**PRESETS["refund"].values)
    without_scripts = re.sub(r"<(style|script).*?</\1>", "", calc.to_html(), flags=re.DOTALL)
    for text in ("5,152", "2,265", "56.0 %", "24.7 %", "Google Developers Blog", "not a measurement"):
        assert text in without_scripts
    assert calculator(preset="tau_bench_airline").routing_accuracy == 0.86
    with pytest.raises(ConfigurationError, match="There is no preset 'refnd'; there are refund, tau_bench_airline"):
        calculator(preset="refnd")
    with pytest.raises(ConfigurationError, match="The calculator has no value 'loop_bass'; it has process_length, "):
        calculator(loop_bass=1)


def test_room_can_be_called() -> None:
    """`adk_nb.calculator(...)` opens the calculator, and `adk_nb.calculator.fit(...)` opens it fitted."""
    assert adk_nb.calculator(process_length=3).process_length == 3


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
    detailed = calculator(closing_call=True)
    assert repr(detailed).endswith("tokens_per_step=500, closing_call=True)")
    detailed.is_extended = False
    assert repr(detailed).endswith("closing_call=True, is_extended=False)")


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


def test_notes_are_text() -> None:
    """What stands in a fit's note is text in every copy, never markup or the end of a script."""
    calc = calculator(is_extended=True)
    calc.fit_note = "</script><img src=x onerror=alert(1)>"
    page = calc.to_html()
    assert "<img" not in page
    assert page.count("</script>") == 1


def test_traits_are_those_the_script_mirrors() -> None:
    """The script reads the object under the names that it has in Python, with the same defaults."""
    text = script("calculator_model")
    block = re.search(r"ASSUMPTIONS = \{(.*?)\};", text, re.DOTALL)
    assert block is not None
    pairs = re.findall(r"(\w+): (\w+)", block[1])
    assert {name: json.loads(value) for name, value in pairs} == assumption_defaults()
    assert {name for name, _ in pairs} <= set(Calculator.class_traits())
    assert (
        "const SIMPLE = { process_length: 6, judgment_share: 0.5, routing_accuracy: 0.97, tokens_per_step: 500 };"
        in (script("calculator"))
    )


def test_static_files_are_safe_to_inline() -> None:
    """Script and styles can stand inside a page: no end tag in them, and no text is ever turned into markup."""
    code = "".join(path.read_text(encoding="utf-8") for path in STATIC.glob("calculator*.js"))
    styles = "".join((STATIC / f"{name}.css").read_text(encoding="utf-8") for name in ("theme", "calculator"))
    assert not re.search(r"</(script|style)|<!--", code + styles, re.IGNORECASE)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", code)
    tokens = set(re.findall(r"(--adknb-\w+):", styles))
    assert set(re.findall(r"var\((--adknb-\w+)", styles)) - {"--adknb-fill"} <= tokens
