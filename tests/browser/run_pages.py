"""A run's view in Chromium without JupyterLab: a saved page, and a live one whose kernel is a stub."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

from playwright.sync_api import BrowserContext, Page

from adk_nb.notebook.assets import page as html_page
from adk_nb.notebook.assets import script, style_sheet
from adk_nb.notebook.view.run_page import STYLES

STUB = """
globalThis.sent = [];
globalThis.model = {
  values: { _key: "k", ...globalThis.given },
  heard: {},
  get(name) { return this.values[name]; },
  set(name, value) { this.values[name] = value; },
  save_changes() {},
  send(message) { globalThis.sent.push(message); },
  on(name, act) { (this.heard[name] ??= []).push(act); },
  off() {},
  say(message) { for (const act of this.heard["msg:custom"] ?? []) act(message); },
};
globalThis.front = { initialize, render, mountCopies };
render({ model: globalThis.model, el: document.querySelector("#place") });
globalThis.unlink = initialize({ model: globalThis.model });
"""
"""What stands in for the kernel: `sent` are the page's messages, `model.say` sends one to it."""


def away(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine on a thread of its own: this one has Playwright's loop."""
    done: list[Any] = []
    thread = threading.Thread(target=lambda: done.append(asyncio.run(asyncio.wait_for(work, 30))))
    thread.start()
    thread.join()
    assert done, "it raised; see the thread's traceback"
    return done[0]


def saved_page(chromium: BrowserContext, whole: str, *, errors: list[str] | None = None) -> Page:
    """Open what `run.to_html()` wrote."""
    opened = chromium.new_page()
    found = [] if errors is None else errors
    opened.on("pageerror", lambda error: found.append(str(error)))
    opened.set_content(whole)
    opened.locator(".adknb-run-bar").wait_for()
    return opened


def live_page(
    chromium: BrowserContext, snapshot: dict[str, Any], graph: str = "", drafts: dict[str, Any] | None = None
) -> Page:
    """Open a live view of a snapshot, linked with a stub of the kernel that has kept these drafts."""
    opened = chromium.new_page()
    opened.set_content(html_page("live", f"<style>{style_sheet(*STYLES)}</style><div id='place'></div>"))
    values = {"base": snapshot, "now": 0.0, "graph": graph, "drafts": drafts or {}}
    opened.evaluate("given => { globalThis.given = given; }", values)
    opened.add_script_tag(type="module", content=f"{script('run/main')}\n{STUB}")
    opened.locator(".adknb-run-bar").wait_for()
    return opened
