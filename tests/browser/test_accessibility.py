"""What a checker of accessibility says of every view in JupyterLab, in light and dark."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import OpenNotebook
from tests.browser.lab import NotebookPage
from tests.browser.test_chat import SETUP as TALK
from tests.browser.test_chat import say
from tests.browser.test_run_view import SETUP

FAILS = (
    "def load(node_input):\n    return {'rows': 0}\n"
    "def divide(node_input):\n    return 1 / node_input['rows']\n"
    "failed = await run(Workflow(name='fails', edges=[('START', load, divide)]), 'x', sessions='memory')"
)


def findings(nb: NotebookPage) -> list[tuple[str, str, str]]:
    """Serious and critical findings in our outputs: how bad, which rule, and the first element."""
    found = Axe().run(nb.page, context={"include": [[".adknb"]]}).response["violations"]
    bad = [one for one in found if one["impact"] in ("serious", "critical")]
    return [(one["impact"], one["id"], one["nodes"][0]["html"][:200]) for one in bad]


def test_views_of_runs(open_notebook: OpenNotebook) -> None:
    """A run that waits, each of its tabs, an event, one that has ended, one that failed, and a graph have none."""
    nb = open_notebook(
        [SETUP, "gate.set()\nmade = await run(flow, 'charged twice', sessions='memory')", FAILS, "made.graph()", "flow"]
    )
    nb.run_all()
    nb.wait_text("waiting for you", cell=1)
    nb.wait_text("ZeroDivisionError", cell=2)
    out = nb.output(1)
    for theme in ("dark", "light"):
        nb.theme(theme)
        assert findings(nb) == [], theme
    for tab in ("Timeline", "State", "Messages", "Events"):
        out.get_by_role("tab", name=tab).click()
        assert findings(nb) == [], tab
    out.locator("tbody tr").nth(1).click()
    assert findings(nb) == []
    out.get_by_role("button", name="Approve", exact=True).click()
    nb.click("Send answer", cell=1)
    nb.wait_text("paid", cell=1)
    for theme in ("dark", "light"):
        nb.theme(theme)
        assert findings(nb) == [], theme


def test_chat_calculator_and_race(open_notebook: OpenNotebook) -> None:
    """A conversation with calls and an approval, the calculator with its extended model, and a race have none."""
    race = (
        "from adk_nb.examples.refund_race import race_model, refund_cases, refund_graph, refund_loop\n"
        "model = race_model()\n"
        "await adk.race(loop=refund_loop(model), graph=refund_graph(model), cases=refund_cases()[:1])"
    )
    cells = [TALK, "talk = adk.chat(desk, sessions='memory')\nNone", "adk.calculator()", race]
    nb = open_notebook(cells)
    nb.run_all()
    for text, reply in (("hi", "How can I help?"), ("weather?", "21 degrees"), ("pay", "Approve")):
        say(nb, text, 1)
        nb.wait_text(reply, cell=1)
    nb.output(1).locator("details").first.evaluate("folded => { folded.open = true; }")
    for theme in ("dark", "light"):
        nb.theme(theme)
        assert findings(nb) == [], theme
    assert nb.errors() == []
