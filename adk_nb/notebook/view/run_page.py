"""A run as HTML and as text that need no kernel: pure functions of a fold's snapshot.

The HTML is readable as it is, and its script makes the live view's front end out of it, fed by the snapshot inside. The
style sheet travels in the script and the picture as an image, because JupyterLab takes `<style>` and `<svg>` out of a
notebook that isn't trusted and leaves their text behind (4.6, measured).
"""

from __future__ import annotations

import base64
import html
import json
import time
import uuid
from typing import Any

from adk_nb.frames.notes import sentence
from adk_nb.frames.plain import glance, one_line, readable
from adk_nb.notebook.assets import packed, script_element, style_sheet
from adk_nb.notebook.drawing.graph_text import graph_text
from adk_nb.notebook.drawing.graph_view import RunMarks, draw_graph
from adk_nb.notebook.drawing.layout import LayoutError
from adk_nb.notebook.view.event_rows import EventRows
from adk_nb.notebook.view.folded_pictures import folded_pictures
from adk_nb.notebook.view.node_tally import duration
from adk_nb.notebook.view.shown_values import bounded
from adk_nb.notebook.view.static_values import escaped, value_html
from adk_nb.workflow.description import GraphDescription

_SHEETS = ("frame", "panes", "form", "tabs", "events", "timeline", "texts", "moments", "tables", "narrow")
RUN_STYLES = tuple(f"run/{name}" for name in _SHEETS)
"""The style sheets of a run's view, in the order in which later ones win."""
STYLES = ("theme", "graph", *RUN_STYLES)
"""The style sheets of a run's view."""
STATIC_ROWS = 100
"""Event rows in the HTML that is read without scripts; the newest ones."""
QUESTIONS_ROOM = 200_000
"""Characters of what was asked and answered that a page holds whole."""
_LARGE = ("message", "payload", "answer")
STATIC_LIMIT = 20_000
"""Characters of a value in the HTML that is read without scripts."""
DETAILS_ROOM = 2_000_000
"""Characters of events that a page holds whole, before they are compressed."""
PACKED_LIMIT = 130_000
"""Characters that a page spends on the snapshot inside it."""
STATUS_WORDS = {"waiting": "waiting for you", "stopped": "stopped at a limit"}

Snapshot = dict[str, Any]


def picture(description: GraphDescription, snapshot: Snapshot) -> tuple[str, str]:
    """Return a run's graph as SVG and as text; the SVG is empty where no program could lay it out."""
    try:
        return draw_graph(description, _marks(snapshot)).svg, ""
    except LayoutError as error:
        return "", f"{graph_text(description)}\n({error})"


def _marks(snapshot: Snapshot) -> RunMarks:
    nodes = snapshot["nodes"]
    return RunMarks(
        states={path: node["status"] for path, node in nodes.items()},
        details={path: _detail(node) for path, node in nodes.items()},
        taken={(source, target) for source, target in snapshot["edges"]},
    )


def _detail(node: dict[str, Any]) -> str:
    if node["status"] == "waiting" and node["since"] is not None:
        return f"asked at {_clock(node['since'])}"
    return str(node["detail"])


def fragment(key: str, snapshot: Snapshot, description: GraphDescription | None, theme: str = "") -> str:
    """Return the HTML of one output: what is read without scripts, and the script that makes a view of it.

    Args:
        key: What copies of this run and its kernel find each other by.
        snapshot: What to show.
        description: The graph; `None` draws none.
        theme: `light` or `dark`; empty follows the page.
    """
    folded = {} if description is None else folded_pictures(description)
    snapshot = {**snapshot, "questions": _to_read(snapshot["questions"])}
    shown = {**snapshot, "folded": folded, "styles": style_sheet(*STYLES)}
    copy = uuid.uuid4().hex[:8]
    forced = f' data-adknb-theme="{html.escape(theme)}"' if theme else ""
    return (
        f'<div class="adknb adknb-run mathjax_ignore" data-adknb-run="{key}" data-adknb-copy="{copy}"{forced}>'
        f"{_static(snapshot, description)}</div>"
        + script_element("run/main", f'mountCopies("{key}", "{copy}", "{packed_snapshot(shown)}");')
    )


def _to_read(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return questions as a page holds them that no kernel is linked with: without forms, all in one room."""
    kept = [{key: value for key, value in question.items() if key != "form"} for question in questions]
    if len(json.dumps(kept, ensure_ascii=False)) <= QUESTIONS_ROOM:
        return kept
    room = QUESTIONS_ROOM // (4 * len(kept))
    return [{key: bounded(value, room) if key in _LARGE else value for key, value in one.items()} for one in kept]


def packed_snapshot(snapshot: Snapshot) -> str:
    """Return a snapshot as text that is safe anywhere in a page."""
    return packed(readable(json.dumps(snapshot, ensure_ascii=False, separators=(",", ":"))))


def with_details(snapshot: Snapshot, rows: EventRows) -> Snapshot:
    """Add the events behind the rows to a snapshot, the newest first, up to a size that a saved notebook can bear.

    Rows whose texts are too much for it by themselves are left out, the oldest first.
    """
    while len(packed_snapshot(snapshot)) > PACKED_LIMIT and len(snapshot["rows"]) > STATIC_ROWS:
        snapshot = {**snapshot, "rows": snapshot["rows"][len(snapshot["rows"]) // 4 :]}
    room = DETAILS_ROOM
    all_of_them = rows.details([row[0] for row in snapshot["rows"]])
    sizes = {number: len(json.dumps(one, ensure_ascii=False)) for number, one in all_of_them.items()}
    while True:
        details: dict[int, Any] = {}
        left = room
        for number in reversed(all_of_them):
            left -= sizes[number]
            if left < 0:
                break
            details[number] = all_of_them[number]
        whole = {**snapshot, "details": details}
        if not details or len(packed_snapshot(whole)) <= PACKED_LIMIT:
            return whole
        room //= 2


def _static(snapshot: Snapshot, description: GraphDescription | None) -> str:
    header = snapshot["header"]
    parts = [f"<p><b>{escaped(header['name'])}</b> · {escaped(headline(snapshot))}</p>"]
    if description is not None:
        svg, text = picture(description, snapshot)
        if svg:
            data = base64.b64encode(svg.encode()).decode("ascii")
            alt = escaped(graph_text(description))
            parts.append(f'<img class="adknb-run-still" alt="{alt}" src="data:image/svg+xml;base64,{data}">')
        else:
            parts.append(f'<pre class="adknb-run-outline">{escaped(text)}</pre>')
    parts += [f"<p>⚠ {escaped(_warned(warning))}</p>" for warning in snapshot["warnings"]]
    if snapshot["error"]:
        parts.append(_static_error(snapshot["error"]))
    parts += [_static_question(question) for question in snapshot["questions"]]
    if snapshot["result"]:
        value = snapshot["result"]["value"]
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        parts.append(f"<h4>Result</h4><pre>{escaped(shown[:20_000])}</pre>")
    parts.append(_static_rows(snapshot))
    return "".join(parts)


def _static_question(question: dict[str, Any]) -> str:
    lines = [f"<h4>{escaped(question['message'] or 'Input is needed')}</h4>"]
    approval = question["approval"]
    if approval is not None and approval["name"]:
        lines.append(_static_call(approval))
    elif question["payload"] is not None:
        lines.append(value_html(bounded(question["payload"], STATIC_LIMIT)))
    if question["answered"] is None:
        how = "respond(…)" if approval is None else "approve()</code> or <code>await run.reject()"
        lines.append(
            f"<p>{escaped(question['node'])} asks; not answered yet, and no kernel is linked with this copy. While the "
            f"kernel that asked is running, <code>await run.{how}</code> answers it; after a restart, "
            "<code>adk.open_run(session_id, root)</code> asks again.</p>"
        )
        return "".join(lines)
    answer = question["answer"]
    at = _clock(question["answered"])
    if approval is not None and isinstance(answer, dict) and isinstance(answer.get("confirmed"), bool):
        word = "approved" if answer["confirmed"] else "rejected"
        given = answer.get("payload")
        lines.append(f"<p>{escaped(question['node'])} asked; <b>{word}</b> at {at}</p>")
        lines.append("" if given is None else value_html(bounded(given, STATIC_LIMIT)))
    else:
        lines.append(f"<p>{escaped(question['node'])} asked; answered at {at}:</p>")
        lines.append(value_html(bounded(answer, STATIC_LIMIT)))
    return "".join(lines)


def _static_call(approval: dict[str, Any]) -> str:
    shown = "" if approval["shown"] is None else value_html(bounded(approval["shown"], STATIC_LIMIT))
    args = value_html(bounded(approval["args"], STATIC_LIMIT)) if approval["args"] else "<p>without arguments</p>"
    return f"<p><code>{escaped(approval['name'])}</code></p>{args}{shown}"


def _static_error(error: dict[str, Any]) -> str:
    short = error.get("short") or ""
    where = f" in {error['path']}" if error.get("path") else ""
    said = escaped(error.get("message") or "")
    return f"<h4>{escaped(error['type'])}{escaped(where)}</h4><p>{said}</p><pre>{escaped(short)}</pre>"


def _static_rows(snapshot: Snapshot) -> str:
    rows = snapshot["rows"][-STATIC_ROWS:]
    left = 'style="text-align:left"'
    if not rows:
        return ""
    body = "".join(
        f"<tr><td>{number}</td><td>{seconds:.2f}</td><td {left}>{escaped(node)}</td><td {left}>{escaped(kind)}</td>"
        f"<td {left}>{escaped(what)}</td><td>{'' if tokens is None else f'{tokens:,}'}</td></tr>"
        for number, seconds, node, kind, what, tokens, *_ in rows
    )
    head = "".join(f"<th {left}>{name}</th>" for name in ("#", "s", "node", "kind", "what", "tokens"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def headline(snapshot: Snapshot) -> str:
    """Return where a run stands on one line.

    Example:
        >>> from adk_nb.notebook.view.fold import RunFold
        >>> headline(RunFold(name="wf").snapshot())
        'running · 0 events'
    """
    header = snapshot["header"]
    parts = [STATUS_WORDS.get(header["status"], header["status"])]
    if header["busy_s"]:
        parts.append(f"{duration(header['busy_s'])} busy")
    if header["waiting_s"] >= 0.05:
        parts.append(f"{duration(header['waiting_s'])} waiting")
    for number, what in (
        (header["events"], "event"),
        (header["model_calls"], "model call"),
        (header["tokens"], "token"),
    ):
        if number or what == "event":
            parts.append(f"{number:,} {what}{'' if number == 1 else 's'}")
    return " · ".join(parts)


def as_text(snapshot: Snapshot) -> str:
    """Return a run as plain text: where it stands, what it asks and how to answer, what came of it."""
    header = snapshot["header"]
    lines = [f"{header['name']} · {headline(snapshot)}"]
    lines += [f"warning: {_warned(warning)}" for warning in snapshot["warnings"]]
    for question in snapshot["questions"]:
        asked = one_line(question["message"] or "Input is needed", 200)
        if question["answered"] is None:
            lines.append(f"? {question['node']} asks: {asked}")
            asked_id = repr(question["interrupt_id"])
            how = f"run.respond(answer, {asked_id})"
            if question["approval"] is not None:
                how = f"run.approve({asked_id}) or await run.reject({asked_id})"
            lines.append(f"  while its kernel runs, answer with: await {how}")
        else:
            lines.append(f"{question['node']} asked: {asked} · answered: {glance(question['answer'])}")
    if snapshot["error"]:
        error = snapshot["error"]
        lines.append(f"{error['type']} in {error['path']}: {one_line(error.get('message') or '', 400)}")
    if snapshot["result"]:
        lines.append(f"result: {glance(snapshot['result']['value'], 400)}")
    return "\n".join(lines)


def _warned(warning: dict[str, str]) -> str:
    return sentence(warning["node"], warning["message"])


def _clock(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))
