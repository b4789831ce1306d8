"""What agents say and questions ask, as a page shows it: marks are understood, and everything stays text."""

from __future__ import annotations

from playwright.sync_api import BrowserContext

from adk_nb.notebook.assets import script

SHOW = """text => {
  const made = globalThis.proseView(text);
  const names = [...made.querySelectorAll("*")].map((element) => element.tagName.toLowerCase());
  const attributes = [...made.querySelectorAll("*")].flatMap((element) => element.getAttributeNames());
  return [made.innerText ?? made.textContent, [...new Set(names)].sort(), [...new Set(attributes)].sort()];
}"""
REPLY = """# Your order
Charged **twice**, see `INV-9`:
1. wait
3. call us
- [here](javascript:alert(1)) <img src=x onerror=alert(1)>
```
<b>502</b>
**as it is**
```
2 ** 3 and *one* star, 5 * 4
"""


def test_marks_are_shown_and_nothing_acts(chromium: BrowserContext) -> None:
    """Headings, lists, emphasis and code become elements of text; links, markup and lone signs stay as written."""
    page = chromium.new_page()
    page.add_script_tag(type="module", content=f"{script('run/prose')}\nglobalThis.proseView = proseView;")
    page.wait_for_function("() => globalThis.proseView")
    text, names, attributes = page.evaluate(SHOW, REPLY)
    assert names == ["b", "code", "div", "p", "pre", "span"]
    assert set(attributes) <= {"class", "style"}
    for whole in (
        "[here](javascript:alert(1)) <img src=x onerror=alert(1)>",
        "<b>502</b>\n**as it is**",
        "2 ** 3 and *one* star, 5 * 4",
        "3.",
    ):
        assert whole in text
    assert "**twice**" not in text
    assert page.evaluate(SHOW, "plain\n\n  text")[:2] == ["plain\n\n  text", []]


def test_no_text_takes_long(chromium: BrowserContext) -> None:
    """Texts of nothing but beginnings of marks, as long as a view shows any, are read without going back and forth."""
    page = chromium.new_page()
    page.add_script_tag(type="module", content=f"{script('run/prose')}\nglobalThis.proseView = proseView;")
    page.wait_for_function("() => globalThis.proseView")
    for piece in ("\n", " ", "`", "*", "**", "```\n", "- ", "1. ", "# ", "**a", "`a\n", " \n\t"):
        shown = page.evaluate("text => globalThis.proseView(text).textContent.length", piece * (60_000 // len(piece)))
        assert shown >= 0
