"""Cells in any order, and much to show: what a person does with a notebook that nobody planned."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenNotebook
from tests.browser.lab import Host
from tests.browser.test_run_view import NAME, SETUP

STEPS = "flow = Workflow(name='steps', edges=[('START', shout)])"
RUN = "made = await run(flow, 'hi', sessions='memory')"


def test_cells_in_any_order(open_notebook: OpenNotebook, host: Host) -> None:
    """A cell run before what it needs says so, one run again shows the new code's run, and older outputs stay."""
    nb = open_notebook([SETUP, "def shout(node_input: str):\n    return node_input.upper()", STEPS, RUN, RUN], host)
    nb.run_cell(0)
    nb.run_cell(2)
    assert "NameError" in nb.errors()[0]
    for cell in (1, 2, 4, 3):
        nb.run_cell(cell)
    nb.wait_text("HI", cell=3)
    nb.wait_text("HI", cell=4)
    nb.run_code("def shout(node_input: str):\n    return node_input + '!'")
    nb.run_cell(3)  # the flow still has the function that it was built with
    nb.wait_text("HI", cell=3)
    nb.run_cell(2)
    nb.run_cell(3)
    nb.wait_text("hi!", cell=3)
    assert "HI" in nb.text(4)
    assert nb.errors() == []
    nb.assert_clean()


def test_a_cell_is_run_again_while_its_run_waits(open_notebook: OpenNotebook, host: Host) -> None:
    """The new run has its own form in the place of the old one; the old run isn't lost, and is answered from code."""
    nb = open_notebook([SETUP + NAME, "kept = globals().get('kept', [])", "kept.append(await run(greet, 'x'))"], host)
    nb.run_all()
    nb.wait_text("Your name?", cell=2)
    nb.output(2).locator("textarea").fill("half typed")
    nb.run_cell(2)
    expect(nb.output(2).locator("textarea")).to_have_count(1)
    expect(nb.output(2).locator("textarea")).to_have_value("")
    nb.output(2).locator("textarea").fill("Ada")
    nb.click("Send answer", cell=2)
    nb.wait_text("hello Ada", cell=2)
    told = nb.run_code("print([one.status for one in kept]); print((await kept[0].respond('Bob')).output)")
    assert "['waiting', 'completed']" in told
    assert "hello Bob" in told
    nb.assert_clean()


def test_ten_thousand_events_and_a_text_of_ten_megabytes(open_notebook: OpenNotebook) -> None:
    """The newest rows are in sight, all are told and found, every tab opens, and what is saved is small."""
    talk = (
        "async def talk(node_input):\n    for n in range(10_000):\n        yield Event(message=f'line {n}')\n"
        "    yield Event(message='x' * 10_000_000)\n    yield Event(output={'long': 'y' * 10_000_000})\n"
        "made = await run(talk, 'go', sessions='memory')"
    )
    nb = open_notebook([SETUP, talk])
    nb.run_all()
    nb.wait_text("completed", cell=1, timeout_s=90)
    out = nb.output(1)
    expect(out.get_by_role("tab", name="Events 10,003")).to_be_visible()
    assert out.locator("tbody tr").count() < 200
    for tab in ("Timeline", "State", "Messages"):
        out.get_by_role("tab", name=tab).click()
        expect(out.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
    out.get_by_role("tab", name="Events").click()
    assert out.locator(".adknb-run").evaluate("view => view.scrollWidth <= view.clientWidth")
    assert len(str(nb.bundles(1))) < 900_000
    nb.assert_clean()
