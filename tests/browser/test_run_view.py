"""The run view in JupyterLab: what a person sees while a run goes on, asks, is answered, saved and opened again."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import BrowserContext, expect

from adk_nb.notebook.assets import script
from tests.browser.conftest import OpenNotebook
from tests.browser.lab import Host, NotebookPage

SETUP = """
import asyncio
from typing import Literal
from pydantic import BaseModel, Field
from adk_nb.events import Event, RequestInput
from adk_nb.notebook.running.starts import run
from adk_nb.workflow import Workflow, node

class Decision(BaseModel):
    decision: Literal["Approve", "Reject"]
    limit: float = Field(612, le=612, title="Limit, EUR")

gate = asyncio.Event()
async def classifier(node_input: str):
    await gate.wait()
    return {"category": "BILLING"}
def router(node_input: dict):
    return Event(output=node_input, route=node_input["category"])
def approve(node_input):
    yield RequestInput(message="Refund requested. Approve?", payload={"order_id": "RF-204"}, response_schema=Decision)
def refund(node_input):
    return {"paid": node_input["limit"]}
def triage(node_input):
    return "bug"
flow = Workflow(name="tickets", edges=[
    ("START", classifier, router, {"BILLING": approve, "BUG": triage}), (approve, refund)])
"""
NAME = """
def ask(node_input):
    yield RequestInput(message="Your name?", interrupt_id="name")
def hello(node_input):
    return f"hello {node_input}"
greet = Workflow(name="greet", edges=[("START", ask, hello)])
"""

WEATHER = """
from adk_nb.auth import APIKey, AuthConfig
from adk_nb.workflow import FunctionNode
config = AuthConfig(auth_scheme=APIKey(in_="header", name="X-Key"), credential_key="weather")
def fetch(ctx):
    return f"a key of {len(ctx.get_auth_response(config).api_key)} letters"
weather = Workflow(name="weather", edges=[("START", FunctionNode(fetch, auth_config=config, rerun_on_resume=True))])
"""

GLOBALS = "globalThis.front = { RunState, duration, parseSvg };"
"""Lets a test use what the module keeps to itself."""


def node_classes(nb: NotebookPage, path: str, cell: int) -> str:
    """The classes of a node in the drawn graph, which say its state."""
    return nb.output(cell).locator(f'svg [data-path="{path}"]').get_attribute("class") or ""


def test_run_is_watched_asked_and_answered(open_notebook: OpenNotebook, host: Host) -> None:
    """A node lights up while its cell still runs; the form refuses what doesn't fit, and a click completes the run."""
    nb = open_notebook([SETUP, "made = await run(flow, 'charged twice', sessions='memory')"], host)
    nb.run_cell(0)
    nb.run_code("asyncio.get_running_loop().call_later(6, gate.set); None")
    nb.run_cell(1, wait=False)
    nb.wait_for(lambda: "adknb-running" in node_classes(nb, "classifier", 1), "the classifier to light up")
    nb.wait_text("waiting for you", cell=1)
    nb.wait_idle()
    assert "adknb-completed" in node_classes(nb, "router", 1)
    assert "adknb-waiting" in node_classes(nb, "approve", 1)
    assert "adknb-pending" in node_classes(nb, "refund", 1)
    nb.fill("Limit, EUR", 900, cell=1)
    nb.click("Send answer", cell=1)
    nb.wait_text("needs a value", cell=1)
    nb.click("Approve", cell=1)
    nb.click("Send answer", cell=1)
    nb.wait_text("must be at most 612", cell=1)
    nb.fill("Limit, EUR", 100, cell=1)
    nb.click("Send answer", cell=1)
    nb.wait_text("completed", cell=1)
    nb.wait_text('"paid": 100', cell=1)
    assert "adknb-completed" in node_classes(nb, "refund", 1)
    assert nb.run_code("print(made.status, made.output)").strip() == "completed {'paid': 100}"
    nb.assert_clean()


def test_interrupt_ends_a_quiet_run(open_notebook: OpenNotebook, host: Host) -> None:
    """The kernel's Stop button ends a run that is only waiting for something, and the view says so."""
    nb = open_notebook([SETUP, "made = run(flow, 'x', sessions='memory')\nawait made"], host)
    nb.run_cell(0)
    nb.run_cell(1, wait=False)
    nb.wait_for(lambda: "adknb-running" in node_classes(nb, "classifier", 1), "the classifier to light up")
    nb.interrupt()
    nb.wait_idle()
    nb.wait_text("cancelled", cell=1)
    # The kernel drops what is sent while it still handles the interrupt.
    nb.wait_for(lambda: nb.run_code("print(made.status)").strip() == "cancelled", "the run to be cancelled")
    assert nb.console_errors() == []


def test_stop_in_the_view_ends_a_background_run(open_notebook: OpenNotebook, host: Host) -> None:
    """A run that nobody awaits goes on after its cell, and the Stop button in its view ends it."""
    nb = open_notebook([SETUP, "made = run(flow, 'x', sessions='memory')\nNone"], host)
    nb.run_all()
    nb.wait_for(lambda: "adknb-running" in node_classes(nb, "classifier", 1), "the classifier to light up")
    nb.click("Stop", cell=1)
    nb.wait_text("cancelled", cell=1)
    nb.assert_clean()


def test_two_views_of_one_run(open_notebook: OpenNotebook) -> None:
    """A second view shows everything at once and both follow; an answer in one closes the form in the other."""
    nb = open_notebook([SETUP + NAME, "made = await run(greet, 'x', sessions='memory')", "made.view()"])
    nb.run_all()
    nb.wait_text("Your name?", cell=1)
    nb.wait_text("Your name?", cell=2)
    nb.output(2).locator("textarea").fill("Ada")
    nb.click("Send answer", cell=2)
    for cell in (1, 2):
        nb.wait_text("completed", cell=cell)
        nb.wait_text("hello Ada", cell=cell)
        expect(nb.output(cell).locator("form")).to_have_count(0)
    nb.assert_clean()


def test_run_that_ends_its_cell_is_shown_once(open_notebook: OpenNotebook) -> None:
    """A cell that shows a run and ends in it shows one view; a run at the end of a later cell shows another one."""
    nb = open_notebook([SETUP + NAME, "made = run(greet, 'x', sessions='memory')\nawait made", "made"])
    nb.run_all()
    nb.wait_text("Your name?", cell=2)
    assert [len(nb.bundles(cell)) for cell in (1, 2)] == [1, 1]


def test_page_reload_in_the_middle_of_a_form(open_notebook: OpenNotebook, host: Host) -> None:
    """What is typed and not sent survives a reload of the page, and the form still reaches the run."""
    nb = open_notebook([SETUP + NAME, "made = await run(greet, 'x', sessions='memory')"], host, trust=True)
    nb.run_all()
    nb.wait_text("Your name?", cell=1)
    nb.output(1).locator("textarea").fill("Ada L")
    nb.wait_for(lambda: "Ada L" in nb.run_code("print(made._work.view._link.drafts)"), "the draft to reach the kernel")
    nb.save()
    nb.reopen()
    nb.wait_text("Your name?", cell=1)
    expect(nb.output(1).locator("textarea")).to_have_value("Ada L")
    nb.click("Send answer", cell=1)
    nb.wait_text("completed", cell=1)
    nb.wait_text("hello Ada L", cell=1)
    assert nb.console_errors() == []


def test_saved_notebook_shows_the_run_without_its_kernel(open_notebook: OpenNotebook) -> None:
    """A notebook saved while a question is open, trusted or not, shows the run instead of a missing widget."""
    first = open_notebook([SETUP + NAME, "made = await run(greet, 'x', sessions='memory')"])
    first.run_all()
    first.wait_text("Your name?", cell=1)
    saved = first.save()
    assert [set(output.data) for output in saved.cells[1].outputs] == [{"text/plain", "text/html"}]
    assert len(json.dumps(saved)) < 150_000
    for trust in (True, False):
        nb = open_notebook(first.path, trust=trust, name=f"again-{trust}.ipynb")
        nb.wait_text("Your name?", cell=1)
        nb.wait_text("waiting for you", cell=1)
        nb.wait_text("asks again", cell=1)
        assert "Error displaying widget" not in nb.text()
        expect(nb.output(1).locator("svg [data-path=ask], img")).to_have_count(1)
        nb.assert_clean()


def test_hostile_text_does_not_run(open_notebook: OpenNotebook) -> None:
    """Markup in messages, outputs, payloads, names of keys and errors is shown as text and nothing of it runs."""
    hostile = "</script><img src=x onerror='window.hacked=1'><script>window.hacked=1</script>"
    nb = open_notebook(
        [
            SETUP + f"H = {hostile!r}\n",
            "def bad(node_input):\n    yield Event(output=[{H: H}])\n"
            "def ask(node_input):\n    yield RequestInput(message=H, payload={H: H}, interrupt_id='q')\n"
            "made = await run(Workflow(name='w', edges=[('START', bad, ask)]), H, sessions='memory')",
            "def burst(node_input):\n    raise ValueError(H)\nawait run(burst, H, sessions='memory')",
            "await made.respond(H)",
        ]
    )
    nb.run_all()
    nb.wait_text("completed", cell=1)
    nb.wait_text("failed", cell=2)
    nb.wait_text("<img src=x", cell=1)
    assert nb.page.evaluate("() => window.hacked") is None
    assert nb.output().locator("img[src=x]").count() == 0
    nb.assert_clean()


def test_keys_typed_into_a_form_stay_there(open_notebook: OpenNotebook) -> None:
    """Shift+Enter in a form is a new line and D D two letters: Lab neither runs nor deletes the cell."""
    nb = open_notebook([SETUP + NAME, "made = await run(greet, 'x', sessions='memory')", "1 + 1"])
    nb.run_all()
    nb.wait_text("Your name?", cell=1)
    field = nb.output(1).locator("textarea")
    field.click()
    nb.page.keyboard.type("dd")
    nb.page.keyboard.press("Shift+Enter")
    nb.page.keyboard.type("aabb")
    expect(field).to_have_value("dd\naabb")
    assert nb.page.evaluate("() => window.notebookUnderTest.cells().length") == 3
    nb.page.keyboard.press("Enter")
    nb.wait_text("completed", cell=1)
    nb.assert_clean()


def test_a_typed_credential_is_hidden_and_kept_nowhere(open_notebook: OpenNotebook) -> None:
    """A credential is typed unseen, isn't a draft, reaches the node, and is in no notebook, page or record."""
    secret = "k-very-secret-4711"
    cells = [SETUP + WEATHER, "made = await run(weather, 'x', sessions='memory')"]
    nb = open_notebook(cells)
    nb.run_all()
    nb.wait_text("API key for X-Key", cell=1)
    field = nb.output(1).locator("input[type=password]")
    field.fill(secret)
    expect(nb.button("as JSON", cell=1)).to_be_hidden()
    nb.page.wait_for_timeout(600)  # longer than a draft takes to be sent
    assert secret not in nb.run_code("print(made._work.view._link.drafts)")
    assert secret not in json.dumps(nb.save())
    field.press("Enter")
    nb.wait_text("a key of 18 letters", cell=1)
    assert secret not in nb.text()
    assert secret not in json.dumps(nb.save())
    assert secret not in nb.run_code("print(made.events, made.nodes_frame().to_string(), made.state)")
    nb.assert_clean()


def test_rows_arrive_and_can_be_filtered(open_notebook: OpenNotebook) -> None:
    """Of many events only those in sight are in the page, all are in the table; the filter shows those that fit."""
    talk = (
        "async def talk(node_input: str):\n    for i in range(1200):\n        yield Event(message=f'line {i}')\n"
        "await run(talk, 'go', sessions='memory')"
    )
    nb = open_notebook([SETUP, talk])
    nb.run_all()
    nb.wait_text("completed", cell=1)
    nb.wait_text("line 1199", cell=1)
    expect(nb.output(1).locator("table.adknb-run-events")).to_have_attribute("aria-rowcount", "1202")
    assert nb.output(1).locator("tbody tr[data-number]").count() < 60
    nb.output(1).get_by_label("Filter events").fill("line 1198")
    expect(nb.output(1).locator("tbody tr[data-number]")).to_have_count(1)
    nb.assert_clean()


def test_looks_in_light_and_dark(open_notebook: OpenNotebook) -> None:
    """A run with a question is drawn in both themes, with different surfaces."""
    nb = open_notebook([SETUP, "gate.set()\nmade = await run(flow, 'charged twice', sessions='memory')"])
    nb.run_all()
    nb.wait_text("waiting for you", cell=1)
    colours = []
    for theme in ("light", "dark"):
        nb.theme(theme)
        nb.screenshot(f"run-view-{theme}", cell=1)
        view = nb.output(1).locator(".adknb-run")
        colours.append(view.evaluate("element => getComputedStyle(element).backgroundColor"))
    assert colours[0] != colours[1]
    nb.assert_clean()


def module(chromium: BrowserContext) -> Any:
    """A page with the front end's module in it, without Lab."""
    page = chromium.new_page()
    page.add_script_tag(type="module", content="\n".join((script("run/main"), GLOBALS)))
    page.wait_for_function("() => globalThis.front")
    return page


def test_batches_apply_in_any_mixture(chromium: BrowserContext) -> None:
    """A batch applied twice changes nothing, a gap is noticed, and what came with it is taken all the same."""
    page = module(chromium)
    empty = {
        "seq": 0,
        "header": {"status": "running"},
        "nodes": {},
        "edges": [],
        "rows": [],
        "questions": [],
        "result": None,
        "error": None,
        "warnings": [],
    }
    first = {"seq": 1, "rows": [[1, 0, "a", "output", "x", None, False, "a"]], "nodes": {"a": {"status": "running"}}}
    third = {"seq": 3, "nodes": {"a": {"status": "completed"}}, "edges": [["a", "b"]]}
    gaps = page.evaluate(
        """([empty, first, third]) => {
          const state = new front.RunState(empty);
          const gaps = [first, first, third, third].map((batch) => state.apply(batch));
          return [gaps, state.rows.size, state.nodes.get('a').status, state.edges.size];
        }""",
        [empty, first, third],
    )
    assert gaps == [[False, False, True, False], 1, "completed", 1]
    page.close()


def test_pictures_are_cleaned(chromium: BrowserContext) -> None:
    """A picture that carries a script, a handler or a link loses them before it stands in the page."""
    page = module(chromium)
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" onload="hack()"><script>hack()</script><g onclick="hack()">'
        '<a href="javascript:hack()"><text>kept?</text></a><text>kept</text></g></svg>'
    )
    cleaned = page.evaluate("svg => front.parseSvg(svg).outerHTML", svg)
    assert "hack" not in cleaned
    assert "kept</text>" in cleaned
    assert page.evaluate("() => front.parseSvg('<svg')") is None
    page.close()
