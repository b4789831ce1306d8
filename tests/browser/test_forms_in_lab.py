"""Five open questions at once in JupyterLab, by keyboard only, on both kernels."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenNotebook
from tests.browser.lab import KERNELS, Host

CODE = """
from pydantic import BaseModel, Field
import adk_nb as adk
from adk_nb import Workflow
from adk_nb.events import RequestInput
from adk_nb.workflow import JoinNode

class Refund(BaseModel):
    amount: float = Field(le=612, description="in EUR")
    reason: str = Field(min_length=3)
    lines: list[str] = []

LINES = [{"sku": f"A-{n}", "title": "Chair, blue, with a cushion", "price": 12.5 * n, "paid": n > 9} for n in range(45)]
CODES = [f"option {n}" for n in range(3000)]
BIG = ["x" * 10_000_000, list(range(100_000))]
ORDER = {"to": "Ada", "order": {"id": 7, "lines": LINES[:2]}}
MAILS = "Two **late** mails\\n- one"

def ask_refund(node_input: str):
    yield RequestInput(interrupt_id="refund", message="How much goes back?", payload=LINES, response_schema=Refund)

def ask_sure(node_input: str):
    yield RequestInput(interrupt_id="sure", message="Is it urgent?", response_schema=bool, payload=MAILS)

def ask_words(node_input: str):
    yield RequestInput(interrupt_id="words", message="What do we write?", payload=ORDER)

def ask_code(node_input: str):
    yield RequestInput(interrupt_id="code", message="Which code?", response_schema={"enum": CODES})

def ask_big(node_input: str):
    yield RequestInput(interrupt_id="big", message="Who?", payload=BIG, response_schema=int)

asks = (ask_refund, ask_sure, ask_words, ask_code, ask_big)
flow = Workflow(name="desk", edges=[("START", asks, JoinNode(name="all"))])
run = await adk.run(flow, "a ticket")
"""


@pytest.mark.parametrize("kernel", KERNELS)
def test_five_questions_by_keyboard(open_notebook: OpenNotebook, kernel: str) -> None:
    """What is wrong is told at its field, which gets the focus; drafts survive a reload; answers can only be read.

    No key is taken by Lab, wherever the focus is.
    """
    nb = open_notebook([CODE], Host("lab", kernel))
    nb.run_all()
    nb.wait_text("5 of 5", 0)
    page = nb.page
    view = nb.output(0)
    for theme in ("light", "dark"):
        nb.theme(theme)
        page.wait_for_timeout(300)
        nb.screenshot(f"five-forms-{kernel}-{theme}", 0)
    nb.theme("light")
    refund = view.locator("form").filter(has_text="How much goes back?")
    refund.get_by_label("Amount").focus()
    page.keyboard.type("900")
    page.keyboard.press("Tab")
    expect(refund.get_by_role("button", name="empty text")).to_be_focused()
    page.keyboard.type("abdd")  # Lab's commands for cells
    page.keyboard.press("Tab")
    page.keyboard.type("late")
    page.keyboard.press("Control+Enter")
    expect(refund.locator(".adknb-run-bad").filter(has_text="must be at most 612")).to_be_visible()
    expect(refund.get_by_label("Amount")).to_be_focused()
    nb.screenshot(f"five-forms-{kernel}-wrong", 0)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("12.50")
    words = view.locator("form").filter(has_text="What do we write?")
    words.get_by_label("Answer").focus()
    page.keyboard.type("Dear Ada")
    page.wait_for_timeout(500)
    nb.save()
    nb.reopen()
    expect(refund.get_by_label("Amount")).to_have_value("12.50")
    expect(words.get_by_label("Answer")).to_have_value("Dear Ada")
    pressed: list[str] = []
    refund.get_by_label("Amount").focus()
    for _ in range(80):  # on with Tab to the last field of the last form
        page.keyboard.press("Tab")
        pressed.append(
            page.evaluate("document.activeElement.closest('form, .adknb-run-form')?.querySelector('h4').textContent")
        )
        if page.evaluate("document.activeElement.textContent === 'Send answer'") and pressed[-1] == "Who?":
            break
    assert list(dict.fromkeys(pressed)) == [
        "How much goes back?",
        "Is it urgent?",
        "What do we write?",
        "Which code?",
        "Who?",
    ]
    view.locator("form").last.get_by_label("Answer").focus()
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    nb.wait_text("answered at", 0)
    refund.get_by_label("Amount").press("Enter")
    words.get_by_label("Answer").press("Enter")
    view.locator("form").filter(has_text="Which code?").get_by_label("Answer").select_option("option 2999")
    view.locator("form").filter(has_text="Which code?").get_by_role("button", name="Send answer").press("Enter")
    view.locator("form").filter(has_text="Is it urgent?").get_by_role("button", name="Yes").press("Enter")
    expect(view.locator(".adknb-run-answered")).to_have_count(5)
    nb.wait_text("completed", 0)
    assert view.locator("form").count() == 0
    assert "ask_big asked · answered at" in nb.text(0)
    for theme in ("light", "dark"):
        nb.theme(theme)
        page.wait_for_timeout(300)
        nb.screenshot(f"five-answers-{kernel}-{theme}", 0)
    saved = nb.save()
    assert len(str(saved.cells[0].outputs)) < 600_000
    nb.assert_clean()
