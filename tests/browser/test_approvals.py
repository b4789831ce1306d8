"""An approval in the view: the call shown readably, two buttons, everything by keyboard."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from adk_nb.agents import LlmAgent
from adk_nb.notebook.running.starts import run
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import FunctionTool
from tests.browser.run_pages import away, live_page


def pay(amount: float, to: str) -> str:
    """Pay."""
    return f"{amount} to {to}"


async def asked() -> dict[str, Any]:
    """What a view shows of an agent whose tool waits for an approval."""
    tool = FunctionTool(pay, require_confirmation=True)
    agent = LlmAgent(name="bank", model=ScriptedModel([call("pay", amount=12.5, to="<b>Ada</b>")]), tools=[tool])
    made = await run(agent, "pay Ada", sessions="memory", view=False)
    return made.history.fold.snapshot()


def answers(page: Page) -> list[Any]:
    """What was answered, as the kernel reads it."""
    return [json.loads(one["json"]) for one in page.evaluate("sent") if one["kind"] == "answer"]


def test_call_is_shown_and_approved(chromium: BrowserContext) -> None:
    """The tool and its arguments are there to read, as text; Approve sends the decision once, and waits."""
    page = live_page(chromium, away(asked()))
    form = page.get_by_role("group", name="approve or reject")
    expect(form.locator(".adknb-run-callname")).to_have_text("pay")
    expect(form.locator("dl")).to_contain_text("<b>Ada</b>")
    form.get_by_role("button", name="Approve").click()
    expect(form.get_by_role("button", name="Reject")).to_be_disabled()
    assert answers(page) == [{"confirmed": True}]
    page.evaluate("key => model.say({kind: 'errors', key, errors: {'': 'not now'}})", page.evaluate("sent.at(-1).key"))
    expect(form.get_by_role("alert")).to_have_text("not now")
    expect(form.get_by_role("button", name="Reject")).to_be_enabled()


def test_rejected_by_keyboard_with_data(chromium: BrowserContext) -> None:
    """Without a mouse: data is opened, typed and sent along; what isn't JSON stays, with a word about it."""
    page = live_page(chromium, away(asked()))
    form = page.get_by_role("group", name="approve or reject")
    form.locator("summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("{reason")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(form.get_by_role("alert")).to_contain_text("isn't JSON")
    assert answers(page) == []
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type('{"reason": "too much", "n": 12345678901234567890}')
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert answers(page) == [{"confirmed": False, "payload": {"reason": "too much", "n": 12345678901234567890}}]
