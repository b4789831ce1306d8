"""Forms on a page: every kind of field is drawn, filled in by keyboard, kept, and sent as what was meant."""

from __future__ import annotations

import json
from typing import Any, Literal

from hypothesis import given, settings
from playwright.sync_api import BrowserContext, Page
from pydantic import BaseModel
from pydantic import Field as About

from adk_nb.events.record import Question
from adk_nb.events.request_input import schema_of
from adk_nb.notebook.assets import script
from adk_nb.notebook.view.fold import RunFold
from adk_nb.notebook.view.form_fields import form_of
from adk_nb.notebook.view.form_values import collect
from adk_nb.notebook.view.forms import answer_in
from tests.browser.run_pages import live_page
from tests.notebook.form_cases import cases
from tests.notebook.javascript import answers_on_page

ROUND_TRIP = """
    const made = ({ form, text }) => {
      const entry = entryOfValue(form.field, exactJson(text), form.defs);
      const written = (entry) => readableJson(valueOfEntry(form.field, entry, form.defs));
      const back = written(entry);
      const again = written(entryOfValue(form.field, exactJson(back), form.defs));
      return { entry, back, isSettled: back === again };
    };
    return given.map(made);
"""


def exact(value: Any) -> str:
    """A value as text that tells 1, 1.0 and true apart."""
    return json.dumps(value, sort_keys=True)


def test_the_page_reads_an_answer_as_the_kernel_does(chromium: BrowserContext) -> None:
    """JSON that is typed beside a form becomes the entries that the kernel reads as the same answer, digit by digit."""
    given_cases: list[tuple[dict[str, Any], Any]] = []

    @settings(deadline=None, max_examples=300, database=None)
    @given(cases())
    def gather(case: tuple[dict[str, Any], Any]) -> None:
        given_cases.append(case)

    gather()
    sent = [{"form": form_of(schema), "text": json.dumps(answer)} for schema, answer in given_cases]
    found = answers_on_page(chromium.new_page(), script("run/form_values", "run/values"), ROUND_TRIP, sent)
    assert len(found) == len(given_cases) > 100
    for (schema, answer), told in zip(given_cases, found, strict=True):
        back, _ = collect(form_of(schema), told["entry"])
        assert exact(back) == exact(answer)
        assert exact(json.loads(told["back"])) == exact(answer)
        assert told["isSettled"]


class Card(BaseModel):
    """One way to pay."""

    kind: Literal["card"]
    digits: str


class Transfer(BaseModel):
    """Another one."""

    kind: Literal["transfer"]
    iban: str


class Line(BaseModel):
    """A row of an order."""

    sku: str
    quantity: int = About(1, le=9)
    parts: list[Line] = []


class Order(BaseModel):
    """One field of each kind that holds others."""

    note: str | None = None
    count: int = 0
    pay: Card | Transfer = About(discriminator="kind")
    lines: list[Line]
    stock: dict[str, int] = {}
    spare: Line | None = None
    sure: bool


def asked(schema: Any, *messages: str) -> dict[str, Any]:
    """What a view shows of a run that asks for answers to one schema."""
    fold = RunFold(name="orders", run_id="e-1", session_id="s")
    fold.begin(1.0)
    for number, message in enumerate(messages or ("Which?",)):
        fold.asks(f"orders@1/ask{number}@1", 2.0, Question(f"q{number}", message, None, schema_of(schema)))
    fold.settle("waiting", at=3.0)
    return fold.snapshot()


def sent(page: Page) -> dict[str, Any]:
    """The newest answer that the page sent."""
    found: dict[str, Any] = page.evaluate("sent.findLast(one => one.kind === 'answer')")
    return found


def tell(page: Page, key: str, errors: dict[str, str]) -> None:
    """The kernel finds something wrong with an answer."""
    page.evaluate("message => model.say(message)", {"kind": "errors", "key": key, "errors": errors})


def test_a_nested_form_is_filled_in_by_keyboard(chromium: BrowserContext) -> None:
    """Rows, keys, shapes and fields inside of fields are filled in without a mouse, and come out as they were meant."""
    snapshot = asked(Order)
    page = live_page(chromium, snapshot)
    page.get_by_role("button", name="Card", exact=True).press("Enter")
    page.get_by_label("Digits").press_sequentially("007")
    page.get_by_label("Add to Lines").press("Enter")
    page.keyboard.type("A-1")
    page.get_by_label("Quantity").fill("3")
    page.get_by_label("Add to Lines").press("Enter")
    page.keyboard.type("B-2")
    page.get_by_label("Move Lines 2 up").press("Enter")
    page.get_by_role("button", name="+ add a key").press("Enter")
    page.keyboard.type("a/b")
    page.keyboard.press("Tab")
    page.keyboard.type("5")
    page.get_by_role("button", name="Yes", exact=True).press("Enter")
    page.get_by_label("Note").focus()
    page.keyboard.press("Control+Enter")
    told = sent(page)
    answer, errors = answer_in({**snapshot["questions"][0], "schema": schema_of(Order)}, told["entry"], told["json"])
    assert errors == {}
    lines = [{"sku": "B-2", "quantity": 1, "parts": []}, {"sku": "A-1", "quantity": 3, "parts": []}]
    assert [{**line, "parts": []} for line in answer["lines"]] == lines
    rest = {name: answer[name] for name in ("pay", "stock", "sure", "count", "note", "spare")}
    pay = {"kind": "card", "digits": "007"}
    assert rest == {"pay": pay, "stock": {"a/b": 5}, "sure": True, "count": 0, "note": None, "spare": None}


def test_errors_stand_beside_what_they_are_about(chromium: BrowserContext) -> None:
    """What is wrong deep inside is told at its own field, which gets the focus; below it, by name."""
    snapshot = asked(Order)
    page = live_page(chromium, snapshot)
    page.get_by_label("Add to Lines").click()
    page.get_by_role("button", name="Send answer").click()
    told = sent(page)
    _, errors = answer_in({**snapshot["questions"][0], "schema": schema_of(Order)}, told["entry"], told["json"])
    assert errors == {"/pay": "needs a value", "/lines/0/sku": "needs a value", "/sure": "needs a value"}
    tell(page, told["key"], {"/lines/0/sku": "needs a value", "/stock/x": "must be a whole number", "/gone": "is odd"})
    sku = page.get_by_label("Sku")
    assert sku.get_attribute("aria-invalid") == "true"
    assert sku.evaluate("one => one === document.activeElement")
    assert (
        page.get_by_role("group", name="Stock").locator(".adknb-run-bad").first.inner_text()
        == "x must be a whole number"
    )
    assert page.get_by_role("alert").filter(has_text="gone is odd").count() == 1
    assert page.get_by_role("button", name="Send answer").is_enabled()


def test_json_and_fields_follow_each_other(chromium: BrowserContext) -> None:
    """What is typed into the fields stands in the JSON box and the other way round; half-typed JSON loses nothing."""
    page = live_page(chromium, asked(Order))
    page.get_by_text("as JSON", exact=True).click()
    box = page.get_by_label("Answer as JSON")
    page.get_by_label("Count").fill("12345678901234567890")
    assert '"count": 12345678901234567890' in box.input_value()
    box.fill('{"count": 2.50, "pay": {"kind": "transfer", "iban": "X"}, "lines": [{"sku": "Z"}], "more": null}')
    assert page.get_by_label("Iban").input_value() == "X"
    assert page.get_by_label("Sku").input_value() == "Z"
    assert page.get_by_label("Count").input_value() == "2.50"
    box.press("End")
    box.press_sequentially("]")
    assert page.get_by_text("Not JSON yet").is_visible()
    assert page.get_by_label("Sku").input_value() == "Z"
    box.press("Backspace")
    page.get_by_label("Iban").fill("Y")
    assert json.loads(box.input_value())["pay"] == {"kind": "transfer", "iban": "Y"}
    assert json.loads(box.input_value())["more"] is None


def test_what_is_typed_is_there_again_when_the_page_is(chromium: BrowserContext) -> None:
    """A view that is drawn anew shows every open question as it was left, rows and JSON included, secrets not."""
    snapshot = asked(Order, "First?", "Second?")
    page = live_page(chromium, snapshot)
    forms = page.locator("form")
    forms.nth(0).get_by_label("Add to Lines").click()
    forms.nth(0).get_by_label("Sku").fill("A-1")
    forms.nth(1).get_by_text("as JSON", exact=True).click()
    forms.nth(1).get_by_label("Answer as JSON").fill('{"count": 7')
    drafts = page.evaluate("model.values.drafts")
    again = live_page(chromium, snapshot, drafts=drafts)
    assert again.locator("form").nth(0).get_by_label("Sku").input_value() == "A-1"
    assert again.locator("form").nth(1).get_by_label("Answer as JSON").input_value() == '{"count": 7'
    again.locator("form").nth(0).get_by_role("button", name="Send answer").click()
    assert sent(again)["entry"]["fields"]["lines"]["items"][0]["fields"]["sku"] == {"state": "value", "text": "A-1"}

    secret = {
        "type": "array",
        "items": {"type": "object", "properties": {"key": {"type": "string", "format": "password"}}},
    }
    guarded = live_page(chromium, asked(secret))
    guarded.get_by_text("+ add").click()
    guarded.get_by_label("key", exact=True).fill("hunter2")
    assert "hunter2" not in json.dumps(guarded.evaluate("model.values.drafts"))
    guarded.get_by_role("button", name="Send answer").click()
    assert "hunter2" in json.dumps(sent(guarded))
