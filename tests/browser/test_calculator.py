"""The calculator in JupyterLab: linked with its object while the kernel lives, working alone afterwards."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Locator

from adk_nb.notebook.calculator.calculator_view import calculator
from tests.browser.conftest import OpenNotebook
from tests.browser.lab import Host, NotebookPage

CELLS = [
    "from adk_nb.notebook.calculator.calculator_view import calculator\ncalc = calculator()\ncalc",
    "from ipywidgets import VBox\nVBox([calc])",
]
WIDGET_TYPE = "application/vnd.jupyter.widget-view+json"


def slider(nb: NotebookPage, label: str, cell: int) -> Locator:
    """One of the four sliders, as a screen reader finds it."""
    return nb.output(cell).get_by_role("slider", name=label)


def saved_html(nb: NotebookPage, cell: int) -> str:
    """The HTML that a save would keep now."""
    return "".join(nb.bundles(cell)[0]["data"]["text/html"])


def test_sliders_and_object_are_one(open_notebook: OpenNotebook, host: Host) -> None:
    """A slider moved by keyboard, a value set from code and a second copy all show the same, on both kernels."""
    nb = open_notebook(CELLS, host)
    nb.run_all()
    for cell in (0, 1):
        nb.wait_text("The loop sends 10,500 tokens in 6 calls, the graph 1,500 in 3", cell)
    slider(nb, "Process length", 0).press("End")
    nb.wait_text("60,000 tokens in 15 calls", 0)
    nb.wait_text("60,000 tokens in 15 calls", 1)
    assert nb.run_code("calc.comparison.loop_tokens") == "60000"
    nb.run_code("calc.routing_accuracy = 0.9134")
    for cell in (0, 1):
        nb.wait_text("91.3 %", cell)
    assert slider(nb, "Routing accuracy", 1).get_attribute("aria-valuetext") == "91.3 %"
    nb.assert_clean()


def test_arrow_keys_stay_in_the_slider(open_notebook: OpenNotebook) -> None:
    """Keys that move a slider don't move Lab's cell cursor with it, which would take the focus away."""
    nb = open_notebook(CELLS)
    nb.run_all()
    nb.wait_text("10,500", 0)
    share = slider(nb, "Judgment share", 0)
    for key in ("ArrowUp", "ArrowUp", "ArrowRight", "ArrowDown"):
        share.press(key)
    nb.wait_text("60 % · 4 of 6", 0)
    assert share.evaluate("slider => slider === document.activeElement")
    nb.assert_clean()


def test_saved_notebook_shows_the_calculator(open_notebook: OpenNotebook) -> None:
    """The saved output follows the sliders once they are left, names no widget, and works without the kernel."""
    nb = open_notebook(CELLS[:1])
    nb.run_all()
    nb.wait_text("10,500", 0)
    slider(nb, "Process length", 0).press("End")
    slider(nb, "Process length", 0).blur()
    nb.wait_for(lambda: "60,000" in saved_html(nb, 0), "the saved copy to be renewed")
    saved = nb.save()
    assert WIDGET_TYPE not in saved.cells[0].outputs[0].data
    nb.close()
    again = open_notebook(saved, trust=True)
    again.wait_text("60,000 tokens in 15 calls", 0)
    slider(again, "Judgment share", 0).press("Home")
    again.wait_text("no model calls", 0)
    again.assert_clean()


def test_untrusted_notebook_shows_the_numbers(open_notebook: OpenNotebook) -> None:
    """Where Lab runs no script of the output, the table and the sentences are there to read."""
    nb = open_notebook(CELLS[:1])
    nb.run_all()
    nb.wait_text("10,500", 0)
    saved = nb.save()
    saved.metadata["title"] = "touched by somebody else, so no longer signed"
    nb.close()
    again = open_notebook(saved)
    again.wait_text("7 times fewer", 0)
    assert again.output(0).locator("td").all_inner_texts() == ["6", "3", "10,500", "1,500", "83.3 %", "91.3 % to 100 %"]
    assert again.output(0).locator("input").count() == 0


def test_reload_finds_the_object_again(open_notebook: OpenNotebook) -> None:
    """A page loaded anew while the kernel lives is linked again, and shows what the object holds now."""
    nb = open_notebook(CELLS[:1])
    nb.run_all()
    nb.wait_text("10,500", 0)
    nb.save()
    nb.run_code("calc.process_length = 15")
    nb.reopen()
    nb.wait_text("60,000 tokens in 15 calls", 0)
    slider(nb, "Process length", 0).press("Home")
    nb.wait_text("no saving", 0)
    nb.wait_for(lambda: nb.run_code("calc.process_length").endswith("1"), "the kernel to hear of the slider")


def test_narrow_and_dark(chromium: BrowserContext) -> None:
    """A page of its own follows the system's theme, and at 400 px nothing reaches beyond the window."""
    page = chromium.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_viewport_size({"width": 400, "height": 900})
    backgrounds = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.set_content(calculator(process_length=15).to_html())
        page.get_by_role("slider", name="Tokens per step").press("End")
        page.get_by_text("480,000 tokens").wait_for()
        backgrounds.add(page.locator(".adknb-calc").evaluate("box => getComputedStyle(box).backgroundColor"))
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.close()
    assert (len(backgrounds), errors) == (2, [])
