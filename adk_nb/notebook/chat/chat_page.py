"""A conversation as HTML that needs no kernel: readable without scripts, and the chat's own front end with them."""

from __future__ import annotations

import html
import json
import uuid
from typing import Any

from adk_nb.frames.plain import one_line, readable
from adk_nb.notebook.assets import script_element, style_sheet
from adk_nb.notebook.view.run_page import RUN_STYLES, STATIC_LIMIT
from adk_nb.notebook.view.shown_values import bounded
from adk_nb.notebook.view.static_values import escaped, value_html

STYLES = ("theme", *RUN_STYLES, "chat")
"""The style sheets of a chat."""


def chat_fragment(key: str, snapshot: dict[str, Any], theme: str = "") -> str:
    """Return the HTML of one output: what is read without scripts, and the script that makes a chat box of it.

    Args:
        key: What copies of this chat and its kernel find each other by.
        snapshot: What to show, from a `ChatFold`.
        theme: `light` or `dark`; empty follows the page.
    """
    data = readable(json.dumps(snapshot, ensure_ascii=False, separators=(",", ":")))
    styles = json.dumps(style_sheet(*STYLES))
    copy = uuid.uuid4().hex[:8]
    forced = f' data-adknb-theme="{html.escape(theme)}"' if theme else ""
    said = "".join(_still(item) for item in snapshot["items"])
    return (
        f'<div class="adknb adknb-run adknb-chat mathjax_ignore" data-adknb-chat="{key}" '
        f'data-adknb-copy="{copy}"{forced}>'
        f"<p><b>{_e(snapshot['header']['name'])}</b></p>{said}</div>"
        + script_element("run/chat_main", f'mountChats("{key}", "{copy}", JSON.parse({json.dumps(data)}), {styles});')
    )


def _still(item: dict[str, Any]) -> str:
    kind = item["kind"]
    if kind in ("user", "agent"):
        who = "you" if kind == "user" else item["author"]
        return f"<p><b>{_e(who)}</b></p><p>{_e(item['text'])}</p>"
    if kind == "call":
        reply = value_html(bounded(item["reply"], STATIC_LIMIT)) if item["is_done"] else ""
        call = f"{item['author']} called {item['name']}({item['what']})"
        return f"<details><summary>{_e(call)}</summary>{reply}</details>"
    if kind == "transfer":
        return f"<p>{_e(item['author'])} handed over to {_e(item['to'])}</p>"
    if kind == "log":
        return f"<details><summary>{_e(_printed(item))}</summary><pre>{_e(item['text'])}</pre></details>"
    if kind == "question":
        asked = item["question"]
        said = one_line(asked["message"] or "Input is needed", 400)
        if asked["answered"] is None:
            return f"<p>? {_e(said)} (not answered)</p>"
        return f"<p>? {_e(said)}</p>{value_html(bounded(asked['answer'], STATIC_LIMIT))}"
    return f"<p>{'⚠ ' if kind == 'error' else ''}{_e(item['text'])}</p>"


def _printed(item: dict[str, Any]) -> str:
    return f"printed {item['lines']:,} line{'' if item['lines'] == 1 else 's'}"


def _e(text: Any) -> str:
    return escaped(text).replace("\n", "<br>")
