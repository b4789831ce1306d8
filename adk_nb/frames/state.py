"""`state_frame`: one row a change of the state, with who made it and what was there before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from adk_nb.frames.columns import Row, table
from adk_nb.frames.plain import text_of
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.stored_session import where

COLUMNS: dict[str, str] = {
    "time": "datetime64[ns, UTC]",
    "key": "object",
    "scope": "object",
    "value": "object",
    "before": "object",
    "node": "object",
    "path": "object",
    "author": "object",
    "event": "object",
    "invocation": "object",
    "session": "object",
    "user": "object",
    "app": "object",
}
"""Columns in order, with their types; the same for an empty run."""
_SCOPES = ("app", "user", "temp")


def state_frame(source: Any, **filters: Any) -> pd.DataFrame:
    """Return changes of the state as a frame, one row a key that an event wrote, in order.

    `scope` is `session`, `user`, `app` or `temp`, after the key's prefix. `value` is what was written, `before` what
    the same session wrote last, as text: a text as it is, everything else as JSON; `before` is missing at the first
    change.

    Args:
        source: As in `events_frame`.
        **filters: As in `events_frame`.

    Example:
        >>> from adk_nb.events.event import Event
        >>> frame = state_frame([Event(state={"n": 1}), Event(state={"n": 2})])
        >>> frame[["key", "scope", "value", "before"]].values.tolist()
        [['n', 'session', '1', None], ['n', 'session', '2', '1']]
    """
    wanted = where(filters)

    def rows() -> Iterator[Row]:
        for session in sessions_of(source, wanted):
            last: dict[str, str | None] = {}
            for event in session.events():
                is_wanted = wanted.wants(event.invocation_id, event.timestamp)
                for key, value in event.actions.state_delta.items():
                    before, last[key] = last.get(key), text_of(value)
                    if is_wanted:
                        yield (
                            event.timestamp,
                            key,
                            _scope(key),
                            last[key],
                            before,
                            event.node_info.name,
                            event.node_info.path,
                            event.author,
                            event.id,
                            event.invocation_id,
                            session.id,
                            session.user,
                            session.app,
                        )

    return table(COLUMNS, rows())


def _scope(key: str) -> str:
    scope, colon, _ = key.partition(":")
    return scope if colon and scope in _SCOPES else "session"
