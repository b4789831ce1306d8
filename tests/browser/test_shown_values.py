"""What a question shows: readable whatever its shape, bounded whatever its size, text whatever stands in it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import BrowserContext, Page, expect

from adk_nb.events.record import NodeRun, Question, Status
from adk_nb.notebook.assets import page as html_page
from adk_nb.notebook.assets import script
from adk_nb.notebook.view.fold import RunFold
from adk_nb.notebook.view.run_page import fragment
from adk_nb.notebook.view.shown_values import for_page
from adk_nb.notebook.view.static_values import value_html
from tests.browser.run_pages import live_page, saved_page
from tests.notebook.javascript import answers_on_page

LINES = [{"sku": f"A-{number}", "price": 2.5 * number, "note": None} for number in range(45)]


def fold_of(payload: Any, schema: Any = None, message: str = "Which?", *answers: Any) -> RunFold:
    """A run that asks about a payload, and what was answered."""
    fold = RunFold(name="orders", run_id="e-1", session_id="s")
    fold.begin(1.0)
    question = Question("q", message, payload, schema, asked_at=2.0)
    fold.asks("orders@1/ask@1", 2.0, question)
    for answer in answers:
        done = replace(question, is_answered=True, answer=answer, answered_at=4.0)
        fold.run(NodeRun("orders@1/ask@1", "ask", "1", "orders@1", "e-1", Status.COMPLETED, questions=(done,)))
    fold.settle("completed" if answers else "waiting", at=5.0)
    return fold


def still_page(chromium: BrowserContext, whole: str) -> Page:
    """A saved page as it is without scripts."""
    assert chromium.browser is not None
    page = chromium.browser.new_context(java_script_enabled=False).new_page()
    page.set_content(whole)
    return page


def test_a_list_of_like_things_is_a_table(chromium: BrowserContext) -> None:
    """Names stand once, numbers at the right; the first rows are there, all of them for one key press."""
    fold = fold_of(LINES)
    page = live_page(chromium, fold.snapshot())
    table = page.locator("form table")
    expect(table.locator("th")).to_have_text(["sku", "price", "note"])
    assert [one.evaluate("cell => getComputedStyle(cell).textAlign") for one in table.locator("th").all()] == [
        "start",
        "end",
        "start",
    ]
    expect(table.locator("tbody tr")).to_have_count(20)
    page.get_by_role("button", name="show all 45 rows").press("Enter")
    expect(table.locator("tbody tr")).to_have_count(45)
    scroller = page.get_by_role("group", name="Table of 45 rows")
    expect(scroller).to_be_focused()
    scroller.evaluate("box => { box.scrollTop = 200; }")
    head, box = table.locator("th").first.bounding_box(), scroller.bounding_box()
    assert head is not None
    assert box is not None
    assert abs(head["y"] - box["y"]) < 2
    still = still_page(chromium, html_page("saved", fragment("k", fold.snapshot(), None)))
    expect(still.locator("table").first.locator("tbody tr")).to_have_count(45)


def test_what_is_nested_opens_by_keyboard(chromium: BrowserContext) -> None:
    """Below the rows of a dictionary stand tables and trees; a branch opens with Enter, and without scripts."""
    payload = {"order": 7, "lines": LINES[:2], "customer": {"name": "Ada", "all": [{"deep": {"k": "x" * 60}}]}}
    fold = fold_of(payload)
    page = live_page(chromium, fold.snapshot())
    expect(page.locator("form dl > div > dt")).to_have_text(["order", "lines", "customer"])
    expect(page.locator("form dd table tbody tr")).to_have_count(2)
    for name in ("0", "deep"):
        page.locator("form summary", has=page.get_by_text(name, exact=True)).press("Enter")
    expect(page.get_by_text("x" * 60, exact=True)).to_be_visible()
    still = still_page(chromium, html_page("saved", fragment("k", fold.snapshot(), None)))
    closed = still.locator("details:not([open]) > summary")
    while closed.count():
        closed.first.click()
    expect(still.get_by_text("x" * 60)).to_be_visible()
    fold = fold_of(payload, None, "Which?", {"pay": LINES[:3]})
    saved = saved_page(chromium, html_page("saved", fragment("k", fold.snapshot(), None)))
    expect(saved.locator(".adknb-run-answered > .adknb-run-rows table tbody tr")).to_have_count(3)
    saved.get_by_text("what was shown").press("Enter")
    expect(saved.locator(".adknb-run-more table")).to_be_visible()


def deep(levels: int) -> Any:
    """A list in a list, many times."""
    value: Any = 1
    for _ in range(levels):
        value = [value, {"k": "x" * 200}]
    return value


HUGE: dict[str, tuple[Any, Any, str]] = {
    "text": ("x" * 10_000_000, None, "x" * 10_000_000),
    "list": (list(range(100_000)), None, "?"),
    "table": ([{"id": number, "name": "n"} for number in range(100_000)], None, "?"),
    "keys": ({str(number): number for number in range(100_000)}, None, "?"),
    "deep": (deep(200), None, "?"),
    "wide": ([{f"c{column}": 1 for column in range(2_000)} for _ in range(10)], None, "?"),
    "choices": (None, {"enum": [f"option number {number}" for number in range(5_000)]}, "?"),
    "long choices": (None, {"enum": ["x" * 2_000 + str(number) for number in range(5_000)]}, "?"),
    "words": (
        None,
        {
            "type": "object",
            "properties": {
                "a": {"type": "string", "title": "t" * 10**7, "description": "d" * 10**7, "default": "e" * 10**7}
            },
        },
        "?",
    ),
}


WATCH = """() => {
    globalThis.took = [];
    const note = (list) => globalThis.took.push(...list.getEntries().map((one) => one.duration));
    new PerformanceObserver(note).observe({ type: "longtask" });
    const frame = () => new Promise(requestAnimationFrame);
    globalThis.drawn = async (act) => {
      const began = performance.now();
      act();
      await frame();
      await frame();
      document.body.offsetHeight;
      globalThis.took.push(performance.now() - began);
    };
}"""
"""How long the page is busy with what is done to it, until it has painted."""


@pytest.mark.parametrize("what", list(HUGE))
def test_huge_things_are_cut_and_nothing_freezes(chromium: BrowserContext, what: str) -> None:
    """What reaches the page and what is saved is bounded, no task of the page lasts long, and nothing is wider."""
    payload, schema, message = HUGE[what]
    snapshot = fold_of(payload, schema, message).snapshot()
    empty = RunFold(name="orders", run_id="e-1", session_id="s")
    page = live_page(chromium, empty.snapshot())
    page.evaluate(WATCH)
    page.evaluate("snapshot => drawn(() => model.say({ kind: 'snapshot', snapshot, now: 3 }))", snapshot)
    assert page.locator("form").count() == 1
    for more in page.locator("form .adknb-run-quiet").all():
        more.evaluate("more => drawn(() => more.click())")
    assert len(json.dumps(snapshot)) < 1_000_000
    if what == "choices":
        page.get_by_label("Answer").select_option("option number 4999")
    page.wait_for_timeout(100)
    assert page.evaluate("Math.max(...took)") < 400, "twice the aim, as tests share their machine"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    answered = fold_of(payload, schema, message, payload)
    assert len(fragment("k", answered.snapshot(), None)) < 400_000


HOSTILE = st.sampled_from(
    [
        "<img src=x onerror='ran()'>",
        "<script>ran()</script>",
        "</script><script>ran()</script>",
        "]]><!--",
        "\ud800",
        "\u202eabc\u2066",
        "\x00\x07\x1b[31m",
        "__proto__",
        "constructor",
        "javascript:ran()",
        "[x](javascript:ran())",
        "$$\\href{javascript:ran()}{x}$$",
        "a" * 500,
        "… (5 items)",
        "",
    ]
)
TEXTS = HOSTILE | st.text(st.characters(), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
ROWS = st.lists(st.dictionaries(TEXTS, SCALARS, min_size=1, max_size=4), max_size=4)
ANYTHING = st.recursive(
    SCALARS | ROWS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)
DRAWN = """
    globalThis.acted = 0;
    globalThis.ran = () => { globalThis.acted += 1; };
    const allowed = new Set("SPAN DIV CODE B DL DT DD TABLE THEAD TBODY TR TH TD BUTTON DETAILS SUMMARY P".split(" "));
    const still = new Set("PRE CODE B DIV TABLE THEAD TBODY TR TH TD UL LI DETAILS SUMMARY P".split(" "));
    const place = document.body.appendChild(document.createElement("div"));
    return given.map(({ value, text, plain }) => {
      place.replaceChildren(valueView(JSON.parse(text)));
      const odd = [...place.querySelectorAll("*")].filter((one) => !allowed.has(one.tagName)).map((one) => one.tagName);
      const acting = /[\\u202a-\\u202e\\u2066-\\u2069\\0\\x1b]/.test(place.textContent);
      place.innerHTML = plain;
      const made = [...place.querySelectorAll("*")];
      const oddStill = made.filter((one) => !still.has(one.tagName)).map((one) => one.tagName);
      const attributes = made.flatMap((one) => one.getAttributeNames());
      const known = attributes.every((name) => ["style", "open"].includes(name));
      const actingStill = /[\\u202a-\\u202e\\u2066-\\u2069\\0\\x1b]/.test(place.textContent);
      return [odd, oddStill, known, acting || actingStill, globalThis.acted];
    });
"""


def test_anything_is_shown_as_text(chromium: BrowserContext) -> None:
    """Whatever a payload holds, both pages are made of our own elements only, and nothing in it runs or turns."""
    sent: list[dict[str, Any]] = []

    @settings(deadline=None, max_examples=300, database=None)
    @given(ANYTHING)
    def gather(value: Any) -> None:
        shown = for_page(value)
        sent.append({"text": json.dumps(shown), "plain": value_html(shown)})

    gather()
    page = chromium.new_page()
    found = answers_on_page(page, script("run/value_view"), DRAWN, sent)
    page.wait_for_timeout(50)
    assert len(found) == len(sent) > 100
    assert [told for told in found if told != [[], [], True, False, 0]] == []
    assert page.evaluate("globalThis.acted") == 0
