"""Sessions in SQLite files of adk_nb and of google-adk's two services, read and never touched."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from adk_nb.errors import SessionStoreError
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun
from adk_nb.events.stored import event_from_json, run_from_json, unpack_each
from adk_nb.frames.stored_session import StoredSession, Where, shown
from adk_nb.workflow.replay import replay

PAGE = 1_000
"""Rows read at once; between two pages the file is free for others."""
_WITH_RECORDS = "2"
"""The layout of our files whose steps hold records."""


def sessions_in(path: str, wanted: Where) -> Iterator[StoredSession]:
    """Give the sessions in a file, the one updated longest ago first; each is readable until the next is asked for.

    Raises:
        SessionStoreError: there is no such file, or it isn't a store of sessions.
    """
    with contextlib.closing(_open(path)) as file:
        reader = _Reader(file, path)
        for row in reader.sessions():
            if wanted.wants_session(row[0], row[1], row[2], _epoch(row[5])):
                yield reader.session(row)


def _open(path: str) -> sqlite3.Connection:
    place = Path(path.removeprefix("sqlite:///").removeprefix("sqlite+aiosqlite:///")).expanduser().resolve()
    if not place.is_file():
        raise SessionStoreError(f"{os.fspath(path)!r} isn't a file: give the path of a session store that is there.")
    # A file in WAL mode that nobody has open would get a file beside it from a reader; declared unchanging it doesn't.
    with place.open("rb") as file:
        is_wal = file.read(20)[18:] == b"\x02\x02"
    is_at_rest = is_wal and not place.with_name(f"{place.name}-wal").exists()
    address = f"{place.as_uri()}?mode=ro" + ("&immutable=1" if is_at_rest else "")
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)


class _Reader:
    def __init__(self, file: sqlite3.Connection, path: str) -> None:
        self._file = file
        self._layout: str | None = None
        try:
            names = {row[0] for row in file.execute("SELECT name FROM sqlite_master")}
            columns = {row[1] for row in file.execute("PRAGMA table_info(events)")}
            if "adk_nb_about" in names:
                found = file.execute("SELECT value FROM adk_nb_about WHERE name = 'layout'").fetchone()
                self._layout = found and found[0]
        except sqlite3.DatabaseError as error:
            raise SessionStoreError(f"{path!r} can't be read as a session store: {error}.") from error
        if "sessions" not in names or not columns:
            raise SessionStoreError(f"{path!r} is an SQLite file without sessions: give the file of a session service.")
        if "event_data" not in columns:
            raise SessionStoreError(
                f"{path!r} has the layout of google-adk 1.x, whose events are in columns: migrate a copy of it with "
                f"google-adk and give that."
            )

    def sessions(self) -> list[tuple[Any, ...]]:
        query = "SELECT app_name, user_id, id, state, create_time, update_time FROM sessions"
        return sorted(self._file.execute(query).fetchall(), key=lambda row: _epoch(row[5]))

    def session(self, row: tuple[Any, ...]) -> StoredSession:
        key = row[:3]
        has_steps = self._layout == _WITH_RECORDS
        return StoredSession(
            app=row[0],
            user=row[1],
            id=row[2],
            state={**unpack_each(_json(row[3])), **self._shared(key)},
            created_at=_epoch(row[4]),
            updated_at=_epoch(row[5]),
            read_events=lambda: shown(map(event_from_json, self._event_texts(key))),
            read_records=(lambda: self._records(key)) if has_steps else (lambda: replay(self._raw_events(key))),
        )

    def _shared(self, key: tuple[str, str, str]) -> dict[str, Any]:
        app = self._file.execute("SELECT state FROM app_states WHERE app_name = ?", key[:1]).fetchone()
        user = self._file.execute(
            "SELECT state FROM user_states WHERE app_name = ? AND user_id = ?", key[:2]
        ).fetchone()
        parts = (("app:", app), ("user:", user))
        return {
            f"{scope}{name}": value for scope, row in parts if row for name, value in unpack_each(_json(row[0])).items()
        }

    def _raw_events(self, key: tuple[str, str, str]) -> Iterator[Event]:
        return map(event_from_json, self._event_texts(key))

    def _event_texts(self, key: tuple[str, str, str]) -> Iterator[str]:
        if self._layout == _WITH_RECORDS:
            for _, text, _ in self._steps(key):
                if text is not None:
                    yield text
            return
        query = "SELECT rowid FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? ORDER BY rowid"
        numbers = [row[0] for row in self._file.execute(query, key).fetchall()]
        for start in range(0, len(numbers), PAGE):
            some = numbers[start : start + PAGE]
            marks = ", ".join("?" * len(some))
            rows = self._file.execute(f"SELECT event_data FROM events WHERE rowid IN ({marks}) ORDER BY rowid", some)
            yield from (row[0] for row in rows.fetchall() if row[0] is not None)

    def _steps(self, key: tuple[str, str, str]) -> Iterator[tuple[int, str | None, str | None]]:
        found = self._file.execute(_NUMBER, key).fetchone()
        if found is None:
            return
        at, end = found[0] << 32, (found[0] + 1) << 32
        while rows := self._file.execute(_STEPS, (at, end, PAGE)).fetchall():
            yield from rows
            at = rows[-1][0]

    def _records(self, key: tuple[str, str, str]) -> list[NodeRun]:
        """Return the newest form of each record, in the order of their first; what was rewound isn't there any more."""
        texts: dict[tuple[str, str], NodeRun] = {}
        for _, event, records in self._steps(key):
            if event is not None and "rewind_before_invocation_id" in event:
                _take_back(texts, from_json(event))
            for line in records.split("\n") if records else ():
                run = run_from_json(line)
                texts[run.invocation_id, run.path] = run
        return list(texts.values())


def _take_back(runs: dict[tuple[str, str], NodeRun], event: dict[str, Any]) -> None:
    back = event.get("actions", {}).get("rewind_before_invocation_id")
    invocations = list(dict.fromkeys(invocation for invocation, _ in runs))
    if back in invocations:
        gone = set(invocations[invocations.index(back) :])
        for key in [key for key in runs if key[0] in gone]:
            del runs[key]


def _json(text: Any) -> dict[str, Any]:
    found: dict[str, Any] = from_json(text) if text else {}
    return found


def _epoch(moment: Any) -> float:
    """Return a stored time as seconds since the epoch; SQLAlchemy stores UTC as text."""
    if isinstance(moment, (int, float)):
        return float(moment)
    return datetime.fromisoformat(str(moment)).replace(tzinfo=UTC).timestamp()


_NUMBER = "SELECT number FROM adk_nb_sessions WHERE app_name = ? AND user_id = ? AND id = ?"
_STEPS = """
SELECT number, event_data, records FROM adk_nb_steps WHERE number > ? AND number < ? ORDER BY number LIMIT ?
"""
