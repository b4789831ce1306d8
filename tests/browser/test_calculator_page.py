"""The calculator on a page of its own: the extended model by keyboard, presets, menus, and the link to an object."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from google.genai import types
from playwright.sync_api import BrowserContext, Page, expect

from adk_nb.calculator import compare_in_detail
from adk_nb.events.event import Event
from adk_nb.notebook.calculator.calculator_values import TABLES
from adk_nb.notebook.calculator.calculator_view import Calculator, calculator
from tests.notebook.javascript import answers_on_page
from tests.notebook.test_calculator_script import GRID, MODULE

USAGE = types.GenerateContentResponseUsageMetadata(prompt_token_count=100, candidates_token_count=20)


@pytest.fixture
def page(chromium: BrowserContext) -> Iterator[Page]:
    """An empty page; the test fails when a script on it does."""
    opened = chromium.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    opened.close()
    assert errors == []


def test_extended_model_by_keyboard(page: Page) -> None:
    """Everything is reached with Tab and keys: open it, type amounts, and the sentences and the table follow."""
    page.set_content(calculator().to_html())
    more = page.get_by_role("button", name="More")
    expect(page.get_by_role("textbox", name="First prompt of the loop")).to_be_hidden()
    more.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Less")).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_text("The loop uses 10,500 tokens in 6 calls")).to_be_visible()
    first = page.get_by_role("textbox", name="First prompt of the loop")
    assert first.get_attribute("placeholder") == "500"
    first.focus()
    page.keyboard.type("2000")
    expect(page.get_by_text("The loop uses 19,500 tokens in 6 calls")).to_be_visible()
    page.keyboard.type("x")
    assert first.get_attribute("aria-invalid") == "true"
    page.keyboard.press("Tab")
    assert first.input_value() == "2000"
    first.fill("")
    expect(page.get_by_text("The loop uses 10,500 tokens in 6 calls")).to_be_visible()
    page.get_by_role("checkbox").press(" ")
    expect(page.get_by_text("in 7 calls")).to_be_visible()


def test_presets_and_menus(page: Page) -> None:
    """A preset shows its numbers with source and caveat; any change makes it "own values"; menus fill in terms."""
    page.set_content(calculator().to_html())
    preset = page.get_by_label("Preset")
    preset.select_option("refund")
    expect(page.get_by_text("The loop uses 5,152 tokens in 6 calls, the graph 2,265 in 4")).to_be_visible()
    expect(page.get_by_text("Google Developers Blog")).to_be_visible()
    expect(page.get_by_text("the simple model says 90.5")).to_be_visible()
    assert page.get_by_label("Model", exact=True).input_value() == "gemini-3.5-flash"
    page.get_by_label("Prompt cache").select_option("Gemini, implicit")
    expect(page.get_by_text("Google Developers Blog")).to_be_hidden()
    assert preset.locator("option:checked").inner_text() == "own values"
    page.get_by_label("Model", exact=True).select_option("gemini-4-argon")
    assert page.get_by_role("textbox", name="Cached token, d").input_value() == "0.05"
    preset.select_option("")
    expect(page.get_by_text("The loop sends 10,500 tokens in 6 calls")).to_be_visible()


def test_fit_on_a_page(page: Page) -> None:
    """What a fit found stands above the results, and says so once a person changes what was fitted."""
    talk = [Event(author="a", node_path="a@1", usage_metadata=USAGE, model_version="m", message="hi") for _ in range(3)]
    page.set_content(calculator().fit(talk).to_html())
    expect(page.get_by_text("tokens measured")).to_be_visible()
    page.get_by_role("slider", name="Routing accuracy").press("Home")
    expect(page.get_by_text("Values were changed since.")).to_be_hidden()
    page.get_by_role("slider", name="Process length").press("End")
    expect(page.get_by_text("Values were changed since.")).to_be_visible()


TOO_WIDE = """() =>
  [...document.querySelectorAll(".adknb-calc :is(td, output, label)")]
    .filter((box) => box.offsetParent && box.scrollWidth > box.clientWidth + 1)
    .map((box) => box.textContent)
"""


def test_nothing_overlaps_at_any_width(page: Page) -> None:
    """From 400 px on, with the extended model open and nothing that can be right, no text leaves its box."""
    page.set_content(calculator(30, 1.0, 0, detection=1.0, dependence=0.95).to_html())
    for width in (400, 620, 700, 930, 1160):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = page.evaluate(TOO_WIDE)
        assert wide == [], width
    expect(page.get_by_text("never").first).to_be_visible()


def test_no_values_break_the_page(page: Page) -> None:
    """Whatever the values, in either model, nothing fails and no text is a number that is none."""
    draw = random.Random(3)
    page.set_content(calculator().to_html())
    for _ in range(60):
        values = {name: draw.choice(choices) for name, choices in GRID.items()} | {"is_extended": draw.random() < 0.8}
        page.evaluate("values => document.querySelector('.adknb-calc').adknbView.show(values)", values)
        text = page.locator(".adknb-calc").inner_text()
        assert not re.search(r"NaN|undefined|Infinity|null", text), values
        drawn = page.locator(".adknb-calc svg").evaluate_all("all => all.map((one) => one.outerHTML).join('')")
        assert not re.search(r"NaN|undefined|Infinity", drawn), values


def test_chromium_counts_as_python(page: Page) -> None:
    """The engine that stands in where there is no Node gives the same numbers."""
    inputs: list[dict[str, Any]] = [
        {"process_length": n, "judgment_share": 0.5, "routing_accuracy": 0.93, "tokens_per_step": 500, "detection": 0.5}
        for n in (0, 1, 6, 15, 200)
    ]
    found = answers_on_page(page, MODULE, "return given.map(compareInDetail);", inputs)
    for given, answer in zip(inputs, found, strict=True):
        expected = compare_in_detail(**given)
        assert answer["loop"]["resume_there"] == pytest.approx(expected.loop.resume_there, rel=1e-12)
        assert answer["graph"]["right"] == pytest.approx(expected.graph.right, rel=1e-12)


STUB = """
const state = new Map(Object.entries(JSON.parse(given)));
const heard = [];
const observers = new Map();
globalThis.sent = heard;
globalThis.model = {
  get: (name) => state.get(name),
  set: (name, value) => { state.set(name, value); (observers.get(`change:${name}`) ?? []).forEach((tell) => tell()); },
  on: (event, tell) => observers.set(event, [...(observers.get(event) ?? []), tell]),
  off: () => {},
  save_changes: () => heard.push(Object.fromEntries(state)),
  send: () => {},
};
initialize({ model });
for (const id of ["one", "two"]) render({ model, el: document.getElementById(id) });
return true;
"""


def test_object_and_copies_are_one(page: Page) -> None:
    """A preset chosen in one copy reaches object and other copy as one change; an object's value reaches both."""
    calc = calculator()
    state = {name: getattr(calc, name) for name in Calculator.class_trait_names(sync=True) if name[0] != "_"}
    names = ("process_length", "is_extended", "fit_note", "loop_base")
    assert set(names) <= set(state)
    values = {name: value for name, value in state.items() if isinstance(value, (int, float, str, bool, type(None)))}
    page.set_content('<div id="one"></div><div id="two"></div>')
    answers_on_page(page, MODULE, STUB, json.dumps({**values, "_key": "k", "_tables": TABLES}))
    one, two = page.locator("#one"), page.locator("#two")
    one.get_by_label("Preset").select_option("refund")
    expect(two.get_by_text("The loop uses 5,152 tokens")).to_be_visible()
    changes = page.evaluate("globalThis.sent")
    assert len(changes) == 1
    calc.set_state({name: value for name, value in changes[0].items() if name in values and not name.startswith("_")})
    assert calc.details.graph.tokens == 2265
    page.evaluate("globalThis.model.set('process_length', 12)")
    expect(one.get_by_role("slider", name="Process length")).to_have_value("12")
    expect(two.get_by_role("slider", name="Process length")).to_have_value("12")
