"""The tabs of a run's view, and a run played back, in a page without a kernel."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from adk_nb import events
from adk_nb.agents import LlmAgent
from adk_nb.events import RequestInput
from adk_nb.notebook.running.run import Run
from adk_nb.notebook.running.starts import run
from adk_nb.notebook.view.fold import RunFold
from adk_nb.testing import ScriptedModel, call
from adk_nb.workflow import Workflow, node
from tests.browser.run_pages import away, live_page, saved_page

Event: Any = events.Event
HOSTILE = "<img src=x onerror=globalThis.harm=1>"


async def looped() -> Run:
    """A nested workflow with a loop of three passes, then children that its graph doesn't name."""

    def draft(node_input: Any, ctx: Any) -> Any:
        passes = ctx.state.get("passes", 0) + 1
        ctx.state["passes"] = passes
        ctx.state["note"] = {"text": HOSTILE, "list": [passes]}
        return Event(output=HOSTILE, route="again" if passes < 3 else "done")

    async def child(node_input: int) -> int:
        return node_input * 2

    small = node(child, name="child")

    @node(rerun_on_resume=True)
    async def fan(node_input: Any, ctx: Any) -> Any:
        return await asyncio.gather(*(ctx.run_node(small, number) for number in range(2)))

    def ask(node_input: Any) -> Any:
        return RequestInput(interrupt_id="q", message="go on?")

    inner = Workflow(name="inner", edges=[("START", draft, {"again": draft, "done": fan})])
    outer = Workflow(name="outer", edges=[("START", inner, ask)])
    return await run(outer, "go", sessions="memory", answers={"q": "yes"}, view=False)


async def talked() -> Run:
    """Agents: a tool call, a transfer, an answer with markup in it."""

    def weather(city: str) -> str:
        """Tell the weather."""
        return f"sunny in {city}"

    bank = LlmAgent(name="bank", description="Pays.", model=ScriptedModel([f"Done. {HOSTILE}"]))
    model = ScriptedModel([call("weather", city="Rome"), call("transfer_to_agent", agent_name="bank")])
    desk = LlmAgent(name="desk", model=model, tools=[weather], sub_agents=[bank])
    return await run(desk, "How is Rome?", sessions="memory", view=False)


@pytest.fixture
def page(chromium: BrowserContext) -> Page:
    """The page of the looped run."""
    return saved_page(chromium, away(looped()).to_html())


def harmless(page: Page) -> bool:
    """No text that somebody wrote became an element or ran."""
    return bool(page.evaluate("globalThis.harm === undefined && !document.querySelector('img[src=x]')"))


def status(page: Page, path: str) -> str:
    """The state that a node of the picture shows."""
    classes = page.locator(f'svg [data-path="{path}"]').get_attribute("class") or ""
    states = "pending|running|waiting|completed|failed|retrying"
    return str((re.findall(rf"adknb-({states})\b", classes) or [""])[0])


def test_chosen_event_is_shown_whole(page: Page) -> None:
    """A row that is chosen opens its event as a tree of texts; arrow keys choose, Escape closes."""
    rows = page.get_by_role("group", name="Events; arrow keys")
    rows.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".adknb-run-wholebar b")).to_have_text("Event 2")
    expect(page.locator(".adknb-run-tree")).to_contain_text("state_delta")
    expect(page.locator(".adknb-run-tree")).to_contain_text(HOSTILE)
    assert harmless(page)
    page.keyboard.press("p")
    expect(page.locator("tr.adknb-run-pinned")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".adknb-run-whole")).to_be_hidden()


def test_node_filters_the_table_and_back(page: Page) -> None:
    """A node that is chosen leaves only its rows and those inside it; a row that is chosen marks its node."""
    page.locator('svg [data-path="inner"] .adknb-name').first.click()
    expect(page.locator("tbody tr[data-number]")).not_to_have_count(0)
    assert page.locator('tbody tr[data-number]:not([data-place^="inner"])').count() == 0
    page.get_by_role("button", name="Only inner; show all").click()
    page.locator("tbody tr[data-number]", has_text="go on?").first.click()
    expect(page.locator('svg [data-path="ask"]')).to_have_class(re.compile("adknb-run-chosen"))
    page.locator('svg [data-path="inner/draft"]').hover()
    expect(page.locator("tr.adknb-run-pointed")).to_have_count(3)


def test_table_sorts_by_its_heads(page: Page) -> None:
    """A head sorts by its column, pressed again the other way round, and says so to a screen reader."""
    head = page.get_by_role("button", name="node", exact=True)
    head.click()
    head.click()
    expect(page.locator('th[aria-sort="descending"]')).to_have_text("node")
    expect(page.locator("tbody tr[data-number]").first.locator("td").nth(2)).to_have_text("user")


def test_loops_and_children_outside_the_picture(page: Page) -> None:
    """A node in a loop counts its passes; children that the graph doesn't name stand under who started them."""
    expect(page.locator('svg [data-path="inner/draft"] .adknb-detail')).to_contain_text("3×")
    expect(page.locator(".adknb-run-strayline")).to_contain_text("inner/fan started")
    expect(page.get_by_role("button", name="child 2×")).to_be_visible()


def test_nested_workflows_collapse(page: Page) -> None:
    """What is inside nodes goes away and comes back, with the states and without taking its runs for strangers."""
    page.get_by_role("button", name="collapse all").click()
    expect(page.locator('svg [data-path="inner/draft"]')).to_have_count(0)
    assert [status(page, path) for path in ("inner", "ask")] == ["completed"] * 2
    expect(page.locator(".adknb-run-strayline")).to_have_count(1)
    page.get_by_role("slider", name="Step of the run").press("Home")
    assert status(page, "ask") == "pending"
    page.get_by_role("button", name="open all").click()
    assert status(page, "inner/draft") == "pending"


def test_nested_workflows_open_one_by_one(chromium: BrowserContext) -> None:
    """Each node with a graph inside opens and folds by itself, by its sign and by keyboard, and keeps its state."""

    async def nested() -> Run:
        def step(node_input: Any) -> int:
            return 1

        deep = Workflow(name="deep", edges=[("START", step)])
        left = Workflow(name="left", edges=[("START", step, deep)])
        right = Workflow(name="right", edges=[("START", step)])
        return await run(Workflow(name="w", edges=[("START", left, right)]), "x", sessions="memory", view=False)

    page = saved_page(chromium, away(nested()).to_html())

    def shown() -> list[str]:
        paths = ("left", "left/step", "left/deep", "left/deep/step", "right", "right/step")
        return [path for path in paths if page.locator(f'svg [data-path="{path}"]').count()]

    assert len(shown()) == 6
    page.locator('[data-path="left/deep"] > .adknb-fold').click()
    assert shown() == ["left", "left/step", "left/deep", "right", "right/step"]
    node = page.locator('[data-path="right"]')
    node.focus()
    page.keyboard.press("-")
    assert shown() == ["left", "left/step", "left/deep", "right"]
    expect(node).to_have_attribute("aria-expanded", "false")
    expect(node).to_be_focused()
    assert status(page, "right") == "completed"
    page.locator('[data-path="left/deep"] > .adknb-fold').click()
    assert shown() == ["left", "left/step", "left/deep", "left/deep/step", "right"]


def test_state_differs_between_any_two_steps(page: Page) -> None:
    """The state tab shows what came and what changed between the two steps that are picked, place by place."""
    page.get_by_role("tab", name="State 3").click()
    expect(page.locator('tr[data-diff="added"]')).to_have_count(2)
    page.get_by_label("State from step").select_option(index=1)
    page.get_by_label("State to step").select_option(index=1)
    changed = page.locator('tr[data-diff="changed"]')
    expect(changed).to_have_text(["≠note.list[0]12", "≠passes12"])
    page.get_by_label("unchanged too").check()
    expect(page.locator('tr[data-diff="same"]')).to_contain_text(HOSTILE)
    assert harmless(page)


def test_timeline_has_bars_for_work_and_waits(page: Page) -> None:
    """Each node run has its bars under the run that started it, and what is inside folds away."""
    page.get_by_role("tab", name="Timeline").click()
    names = page.locator(".adknb-run-barname")
    expect(names).to_have_count(9)
    expect(page.locator("rect.adknb-run-bar-wait")).to_have_count(1)
    page.get_by_role("button", name="What ran inside inner").click()
    expect(names).to_have_count(3)


def test_run_is_played_back(page: Page) -> None:
    """The slider takes picture, table, state and timeline to an earlier step, and at its end everything is back."""
    slider = page.get_by_role("slider", name="Step of the run")
    slider.press("Home")
    assert (status(page, "inner"), status(page, "inner/draft")) != ("completed", "completed")
    seen = set()
    for _ in range(int(slider.get_attribute("max") or 0)):
        slider.press("ArrowRight")
        seen.add((status(page, "inner/draft"), status(page, "inner/fan"), status(page, "ask")))
    assert ("completed", "pending", "pending") in seen
    assert ("completed", "completed", "waiting") in seen
    assert [status(page, path) for path in ("inner", "inner/draft", "ask")] == ["completed"] * 3
    page.get_by_role("button", name="Play the run back").click()
    expect(page.locator(".adknb-run-past")).to_have_count(1)
    expect(page.locator(".adknb-run-past")).to_have_count(0, timeout=25_000)
    assert harmless(page)


def test_tabs_by_keyboard(page: Page) -> None:
    """Arrow keys go from tab to tab, each shows its panel alone."""
    page.get_by_role("tab", name="Events").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Timeline")).to_be_focused()
    expect(page.get_by_role("tab", name="Timeline")).to_have_attribute("aria-selected", "true")
    expect(page.locator('[role="tabpanel"]:visible')).to_have_count(1)
    page.keyboard.press("Home")
    expect(page.locator(".adknb-run-events")).to_be_visible()


def test_messages_are_a_conversation(chromium: BrowserContext) -> None:
    """Who said what, tool calls folded with what they gave back, the transfer named; markup stays text."""
    page = saved_page(chromium, away(talked()).to_html())
    page.get_by_role("tab", name="Messages").click()
    turns = page.locator(".adknb-run-turn")
    expect(turns).to_have_count(4)
    expect(turns.nth(0)).to_contain_text("How is Rome?")
    expect(turns.nth(1).locator("summary")).to_have_text("weather(city: Rome) → sunny in Rome")
    expect(turns.nth(2)).to_contain_text("hands over to bank")
    expect(turns.nth(3)).to_contain_text(HOSTILE)
    assert harmless(page)
    page.get_by_role("tab", name="Calls 3").click()
    expect(page.locator('[role="tabpanel"]:visible tbody tr')).to_have_count(3)


def test_live_view_asks_for_what_it_lacks(chromium: BrowserContext) -> None:
    """A live view gets an event and older rows from the kernel when they are looked at, and not before."""
    made = away(talked())
    fold = made.history.fold
    page = live_page(chromium, fold.snapshot(rows=2))
    asked = page.evaluate("sent")
    assert {"kind": "rows", "before": fold.rows.count - 1} in asked
    rows = list(fold.rows.newest(100, before=fold.rows.count - 1))
    page.evaluate("rows => model.say({kind: 'rows', rows})", rows)
    expect(page.locator("tbody tr[data-number]")).to_have_count(fold.rows.count)
    page.locator('tr[data-number="2"]').click()
    assert page.evaluate("sent").count({"kind": "details", "numbers": [2]}) == 1
    details = {str(number): event for number, event in fold.rows.details([2]).items()}
    page.evaluate("details => model.say({kind: 'details', details})", details)
    expect(page.locator(".adknb-run-tree")).to_contain_text("function_call")


def test_streamed_message_grows_in_its_turn(chromium: BrowserContext) -> None:
    """The pieces of a message that streams are one turn of the conversation, which grows until it is whole."""
    fold = RunFold(name="desk")
    page = live_page(chromium, fold.snapshot())
    page.get_by_role("tab", name="Messages").click()
    for text, is_partial in (("Hel", True), ("lo", True), ("Hello!", False)):
        fold.event(Event(author="desk", node_path="desk@1", message=text, partial=is_partial, timestamp=5.0))
        page.evaluate("changes => model.say({kind: 'batch', changes, now: 6})", fold.take_changes())
        assert page.evaluate("sent.at(-1)") == {"kind": "details", "numbers": [1]}
        details = {str(number): event for number, event in fold.rows.details([1]).items()}
        page.evaluate("details => model.say({kind: 'details', details})", details)
        expect(page.locator(".adknb-run-turn")).to_have_count(1)
        expect(page.locator(".adknb-run-growing")).to_have_count(int(is_partial))
    expect(page.locator(".adknb-run-turn .adknb-run-text")).to_have_text("Hello!")
