"""What happens to a run view that nobody planned for, in a real JupyterLab: restarts, narrow windows, hostile text."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenNotebook
from tests.browser.test_run_view import NAME, SETUP

WAITING = "gate.set()\nmade = await run(flow, 'charged twice', sessions='memory')"


def test_kernel_restart_is_told_and_what_was_typed_stays(open_notebook: OpenNotebook, kernel: str) -> None:
    """After a restart the view says so, its clocks stand still, and the form keeps its text but can't be sent."""
    slow = "async def slow(node_input):\n    await asyncio.sleep(900)\ngoing = run(slow, 'x', sessions='memory')\nNone"
    nb = open_notebook([SETUP + NAME, "made = await run(greet, 'x', sessions='memory')", slow], kernel=kernel)
    nb.run_all()
    nb.wait_text("Your name?", cell=1)
    nb.wait_text("running", cell=2)
    field = nb.output(1).locator("textarea")
    field.fill("Ada")
    nb.restart_kernel()
    for cell in (1, 2):
        nb.wait_text("kernel restarted", cell=cell)
        expect(nb.button("Stop", cell=cell)).to_be_hidden()
    nb.wait_text("Run the cell again", cell=1)
    expect(field).to_have_value("Ada")
    expect(nb.button("Send answer", cell=1)).to_be_disabled()
    field.press("Enter")
    nb.run_cell(0)
    nb.run_cell(1)
    nb.wait_text("waiting for you", cell=1)
    nb.output(1).locator("textarea").fill("Ada")
    nb.click("Send answer", cell=1)
    nb.wait_text("hello Ada", cell=1)
    nb.assert_clean()


def test_killed_kernel_is_told(open_notebook: OpenNotebook) -> None:
    """A kernel that dies by itself is noticed without a click."""
    nb = open_notebook([SETUP, WAITING])
    nb.run_all()
    nb.wait_text("waiting for you", cell=1)
    nb.page.evaluate(
        """() => { const { kernel } = window.notebookUnderTest.panel().sessionContext.session;
          kernel.requestExecute({ code: "import os; os._exit(1)" }); }"""
    )
    nb.wait_text("kernel restarted", cell=1)
    nb.assert_clean()


def test_narrow_window_shows_the_asking_node_and_the_events(open_notebook: OpenNotebook) -> None:
    """At 400 px the graph is scrolled to the node that asks, the page isn't, and events stay readable."""
    nb = open_notebook([SETUP, WAITING])
    nb.run_all()
    nb.wait_text("waiting for you", cell=1)
    view = nb.output(1).locator(".adknb-run")
    view.evaluate("view => { view.style.width = '400px'; }")
    nb.wait_for(
        lambda: bool(
            view.evaluate(
                """view => { const box = view.querySelector('.adknb-run-graph').getBoundingClientRect();
                  const node = view.querySelector('[data-path=approve]').getBoundingClientRect();
                  return node.left >= box.left && node.right <= box.right; }"""
            )
        ),
        "the asking node to come into view",
    )
    assert view.evaluate("view => view.scrollWidth <= view.clientWidth")
    width = view.evaluate("view => view.querySelector('td.adknb-run-w').getBoundingClientRect().width")
    assert width > 150
