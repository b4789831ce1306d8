"""`messages_frame`: one row a part of a message, as people, models and tools said it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from adk_nb.events.event import Event
from adk_nb.events.request_input import unwrap_answer
from adk_nb.frames.columns import Row, table
from adk_nb.frames.plain import readable, text_of
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.stored_session import where

COLUMNS: dict[str, str] = {
    "time": "datetime64[ns, UTC]",
    "author": "object",
    "role": "object",
    "kind": "object",
    "text": "object",
    "tool": "object",
    "arguments": "object",
    "result": "object",
    "call_id": "object",
    "mime_type": "object",
    "bytes": "Int64",
    "path": "object",
    "branch": "object",
    "event": "object",
    "part": "Int64",
    "invocation": "object",
    "session": "object",
    "user": "object",
    "app": "object",
}
"""Columns in order, with their types; the same for an empty run."""


def messages_frame(source: Any, **filters: Any) -> pd.DataFrame:
    """Return what was said as a frame, one row a part of a message, whole and in order.

    `kind` is `text`, `thought`, `call` (of a tool), `reply` (of a tool), `answer` (of a person), `code`, `result` (of
    code) or `data`. `tool`, `arguments` and `result` tell of calls and replies, `call_id` ties the two together;
    arguments and results are JSON text. `mime_type` and `bytes` tell of data.

    Args:
        source: As in `events_frame`.
        **filters: As in `events_frame`.

    Example:
        >>> messages_frame([Event(author="user", message="hi")])[["author", "role", "kind", "text"]].values.tolist()
        [['user', 'user', 'text', 'hi']]
    """
    wanted = where(filters)

    def rows() -> Iterator[Row]:
        for session in sessions_of(source, wanted):
            for event in session.events(wanted):
                for number, part in enumerate((event.content.parts if event.content else None) or ()):
                    yield (
                        event.timestamp,
                        event.author,
                        event.content.role if event.content else None,
                        *_said(part, event),
                        event.node_info.path,
                        event.branch,
                        event.id,
                        number,
                        event.invocation_id,
                        session.id,
                        session.user,
                        session.app,
                    )

    return table(COLUMNS, rows())


def _said(part: Any, event: Event) -> Row:
    """Return kind, text, tool, arguments, result, call id, mime type and size of a part."""
    if part.function_call:
        called = part.function_call
        return "call", None, called.name, text_of(called.args or {}), None, called.id, None, None
    if part.function_response:
        reply = part.function_response
        kind = "answer" if event.author == "user" else "reply"
        return kind, None, reply.name, None, text_of(unwrap_answer(reply.response)), reply.id, None, None
    if part.executable_code:
        return "code", part.executable_code.code, None, None, None, None, None, None
    if part.code_execution_result:
        return "result", part.code_execution_result.output, None, None, None, None, None, None
    if part.inline_data:
        data = part.inline_data
        return "data", None, None, None, None, None, data.mime_type, len(data.data or b"")
    if part.file_data:
        return "data", part.file_data.file_uri, None, None, None, None, part.file_data.mime_type, None
    text = None if part.text is None else readable(part.text)
    return "thought" if part.thought else "text", text, None, None, None, None, None, None
