"""What happens to a run view that nobody planned for, in a real JupyterLab: restarts, narrow windows, hostile text."""

from __future__ import annotations

import time

from playwright.sync_api import expect

from tests.browser.conftest import OpenNotebook
from tests.browser.lab import Host
from tests.browser.test_run_view import NAME, SETUP

WAITING = "gate.set()\nmade = await run(flow, 'charged twice', sessions='memory')"


def test_kernel_restart_is_told_and_what_was_typed_stays(open_notebook: OpenNotebook, host: Host) -> None:
    """After a restart the view says so, its clocks stand still, and the form keeps its text but can't be sent."""
    slow = "async def slow(node_input):\n    await asyncio.sleep(900)\ngoing = run(slow, 'x', sessions='memory')\nNone"
    nb = open_notebook([SETUP + NAME, "made = await run(greet, 'x', sessions='memory')", slow], host)
    nb.run_all()
    nb.wait_text("Your name?", cell=1)
    nb.wait_text("running", cell=2)
    field = nb.output(1).locator("textarea")
    field.fill("Ada")
    nb.restart_kernel()
    for cell in (1, 2):
        nb.wait_text("kernel restarted", cell=cell)
        expect(nb.button("Stop", cell=cell)).to_be_hidden()
    nb.wait_text("This form can't be sent any more", cell=1)
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


HOSTILE = (
    "</script><img src=x onerror='window.hacked=1'><svg onload='window.hacked=1'> [x](javascript:window.hacked=1) "
    "\u202edaolyap\u202c \x1b[31mred\x1b[0m \x00 &amp;amp; "
)


def test_hostile_text_everywhere(open_notebook: OpenNotebook) -> None:
    """In questions, schemas, payloads, state, errors and frames, live and saved, text stays text inside its box."""
    schema = (
        "{'type': 'object', 'title': H, 'required': ['n', H], 'properties': {"
        "H: {'type': 'string', 'title': H, 'description': H, 'enum': [H, 'b', 'c' * 300]},"
        "'n': {'type': 'integer', 'title': 'L' * 400, 'description': H * 20, 'default': 5},"
        "'nest': {'type': 'object', 'properties': {'a': {'type': 'string', 'default': H}}}}}"
    )
    nb = open_notebook(
        [
            SETUP + f"H = {HOSTILE!r}\n",
            "def out(node_input):\n    yield Event(message=H * 50)\n    yield Event(state={'k' + H[:9]: H})\n"
            "    yield Event(output={H: [H] * 3, 'long': 'z' * 10_000})\n"
            "def ask(node_input):\n    yield RequestInput(message=H + 'W' * 3000, payload={H: H, 'q': 'q' * 2000},"
            f" interrupt_id='q<b>', response_schema={schema})\n"
            "made = await run(Workflow(name='w', edges=[('START', out, ask)]), H, sessions='memory')",
            "def bad(node_input):\n    raise ValueError(H * 30 + chr(0xd800))\n"
            "failed = await run(bad, H, sessions='memory')",
            "made.events_frame()",
            "failed.events_frame()",
            "made.graph()",
        ]
    )
    nb.run_all()
    nb.wait_text("waiting for you", cell=1)
    nb.wait_text("failed", cell=2)
    nb.wait_text("\\u202edaolyap", cell=1)
    nb.wait_text("\\u001b[31mred", cell=2)
    nb.wait_text("\\ud800", cell=2)
    for cell in (1, 2):
        view = nb.output(cell).locator(".adknb-run")
        sides = view.evaluate(
            "view => [view, view.querySelector('.adknb-run-side')].map(e => e.scrollWidth - e.clientWidth)"
        )
        assert sides == [0, 0]
    nb.output(1).get_by_text("as JSON", exact=True).click()
    nb.output(1).locator("textarea.adknb-run-code").fill('{"n": "x"}')
    nb.click("Send answer", cell=1)
    nb.wait_text("must be a whole number", cell=1)
    nb.save()
    again = open_notebook(nb.path, name="hostile-again.ipynb")
    again.wait_text("ot answered yet", cell=1)
    for page in (nb, again):
        assert page.page.evaluate("() => window.hacked") is None
        assert page.output().locator("img[src=x]").count() == 0
        page.assert_clean()


def test_forms_of_two_outputs_keep_their_own_labels(open_notebook: OpenNotebook) -> None:
    """Each output carries its own script: a label still belongs to the field under it, for a click and a reader."""
    nb = open_notebook([SETUP, WAITING, "other = await run(flow, 'again', sessions='memory')"])
    nb.run_all()
    for cell in (1, 2):
        nb.wait_text("waiting for you", cell=cell)
    for cell, value in ((1, "11"), (2, "22")):
        nb.output(cell).get_by_label("Limit, EUR").fill(value)
    for cell, value in ((1, "11"), (2, "22")):
        expect(nb.output(cell).locator("input.adknb-run-in")).to_have_value(value)
    nb.assert_clean()


def test_double_click_answers_once(open_notebook: OpenNotebook, host: Host) -> None:
    """Two quick clicks on a button that sends at once give one answer."""
    ask = (
        "ran = []\n"
        "def ask(node_input):\n    yield RequestInput(message='Sure?', response_schema={'enum': ['yes', 'no']})\n"
        "def count(node_input):\n    ran.append(node_input)\n    return 'done'\n"
        "made = await run(Workflow(name='w', edges=[('START', ask, count)]), 'x', sessions='memory')"
    )
    nb = open_notebook([SETUP, ask], host)
    nb.run_all()
    nb.wait_text("Sure?", cell=1)
    nb.button("yes", cell=1).dblclick()
    nb.wait_text("completed", cell=1)
    assert nb.run_code("print(ran)").strip() == "['yes']"
    nb.assert_clean()


def test_errors_of_an_answer_stay_in_the_copy_that_sent_it(open_notebook: OpenNotebook) -> None:
    """With two copies of a form, what is wrong with an answer is told where it was sent, and the focus stays there."""
    nb = open_notebook([SETUP, WAITING, "made.view()"])
    nb.run_all()
    for cell in (1, 2):
        nb.wait_text("waiting for you", cell=cell)
    nb.click("Send answer", cell=1)
    nb.wait_text("needs a value", cell=1)
    assert "needs a value" not in nb.text(2)
    assert nb.output(1).locator(":focus").count() == 1
    nb.assert_clean()


def test_a_cell_waits_for_a_click_where_clicks_arrive(open_notebook: OpenNotebook, host: Host) -> None:
    """`completed()` waits through the answer on ipykernel 7; on 6, which keeps clicks, it ends with a word about it."""
    waits = "made = run(greet, 'x', sessions='memory')\nawait made.completed()\nprint('cell over:', made.status)"
    nb = open_notebook([SETUP + NAME, waits, "await made.completed()\nprint('then:', made.output)"], host)
    nb.run_cell(0)
    nb.run_cell(1, wait=False)
    nb.wait_text("Your name?", cell=1)
    if host.kernel == "ipykernel6":
        nb.wait_text("hears no clicks while a cell waits", cell=1)
        nb.wait_text("cell over: waiting", cell=1)
    nb.output(1).locator("textarea").fill("Ada")
    nb.click("Send answer", cell=1)
    nb.wait_text("hello Ada", cell=1)
    if host.kernel == "ipykernel7":
        nb.wait_text("cell over: completed", cell=1)
    nb.run_cell(2)
    nb.wait_text("then: hello Ada", cell=2)
    nb.assert_clean()


def test_a_function_that_blocks_holds_up_nothing(open_notebook: OpenNotebook, host: Host) -> None:
    """While a sync function sleeps, the view's clock goes on, another cell runs, and Stop ends the run at once."""
    slow = (
        "import time\n"
        "def sleepy(node_input):\n    print('begun')\n    time.sleep(20)\n    late.append(1)\n"
        "late = []\nmade = run(Workflow(name='w', edges=[('START', sleepy)]), 'x', sessions='memory')\nNone"
    )
    nb = open_notebook([SETUP, slow, "print('another cell:', made.status)"], host)
    nb.run_cell(0)
    nb.run_cell(1)
    nb.wait_text("1.", cell=1)
    nb.wait_text("2.", cell=1)
    nb.run_cell(2)
    nb.wait_text("another cell: running", cell=2)
    before = time.monotonic()
    nb.click("Stop", cell=1)
    nb.wait_text("cancelled", cell=1)
    assert time.monotonic() - before < 3
    nb.wait_text("its sync function is still at work", cell=1)
    assert nb.run_code("print(made.status, late)").strip() == "cancelled []"
    nb.assert_clean()
