"""Filing: which step holds the newest form of each record, written down many steps at a time.

An append only adds a step. When a run pauses, when `FILE_AFTER` steps have come together, and before anyone looks
records up, the steps since the last filing are read once and their records entered in `adk_nb_runs`. So no look-up has
more than that to read, however long the history is, and a step costs what adding one row costs.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from pydantic_core import from_json

from adk_nb.events.record import Status

FILE_AFTER = 256


def is_filed(connection: sqlite3.Connection, session: int) -> bool:
    """Say whether all records of a session can be looked up; those of a session that is gone can."""
    row = connection.execute(_FILED, (session,)).fetchone()
    return row is None or row[0] >= row[1]


def file_records(connection: sqlite3.Connection, session: int) -> None:
    """Enter the records of a session's new steps, inside the caller's transaction; any process may do it."""
    row = connection.execute(_FILED, (session,)).fetchone()
    if row is None:
        return
    filed, newest = row
    entries: dict[tuple[str, str], _Entry] = {}
    for step, text, event in connection.execute(_NEW_STEPS, (max(filed, session << 32), newest)):
        if event is not None:
            _write(connection, session, entries)
            entries.clear()
            _take_back(connection, session, from_json(event))
        for line, record in enumerate(text.split("\n") if text else ()):
            _enter(entries, from_json(record), step, line)
    if entries:
        _write(connection, session, entries)
    connection.execute("UPDATE adk_nb_sessions SET filed = ? WHERE number = ?", (newest, session))


def _take_back(connection: sqlite3.Connection, session: int, event: dict[str, Any]) -> None:
    """Forget the records that an event takes back, if it does: those of an invocation and of all that began later."""
    invocation_id = event.get("actions", {}).get("rewind_before_invocation_id")
    if invocation_id is not None:
        connection.execute(_TAKE_BACK, (session, session, invocation_id))


class _Entry:
    """What is new about one record since the last filing."""

    __slots__ = ("asked", "completed", "held_for", "line", "name", "parent", "status", "step", "was_unfinished")

    def __init__(self, parent: str, name: str) -> None:
        self.parent, self.name = parent, name
        self.status = ""
        self.step, self.line = 0, 0
        self.held_for: list[str] = []
        self.asked: dict[str, None] = {}
        """Ids of its questions, as keys."""
        self.completed: int | None = None
        """Its place in the order of completion, if it is completed."""
        self.was_unfinished = False
        """One of the new forms isn't completed, so a completion filed earlier is taken back."""


def _enter(entries: dict[tuple[str, str], _Entry], record: dict[str, Any], step: int, line: int) -> None:
    key = (record["invocation_id"], record["path"])
    entry = entries.get(key)
    if entry is None:
        entry = entries[key] = _Entry(record["parent"], record["name"])
    entry.step, entry.line, entry.status = step, line, record.get("status", Status.PENDING)
    entry.held_for = record.get("held_for", [])
    if entry.status != Status.COMPLETED:
        entry.completed, entry.was_unfinished = None, True
    elif entry.completed is None:
        entry.completed = (step & 0xFFFFFFFF) << 20 | line
    for question in record.get("questions", ()):
        entry.asked[question["interrupt_id"]] = None


def _write(connection: sqlite3.Connection, session: int, entries: dict[tuple[str, str], _Entry]) -> None:
    numbers = {
        invocation_id: _invocation(connection, session, invocation_id)
        for invocation_id in dict.fromkeys(i for i, _ in entries)
    }
    connection.executemany(
        _PUT_RUN,
        [
            (numbers[key[0]], key[1], e.parent, e.name, e.status, e.completed is None, e.completed, e.step, e.line,
             e.was_unfinished)
            for key, e in entries.items()
        ],
    )  # fmt: skip
    asked = [(session, i, numbers[key[0]], key[1]) for key, e in entries.items() for i in e.asked]
    if asked:
        connection.executemany(_PUT_QUESTION, asked)
    held = [
        (join, numbers[key[0]], key[1])
        for key, e in entries.items()
        if e.completed is not None
        for join in e.held_for
        if (found := entries.get((key[0], join))) is None or found.status == Status.GATHERING
    ]
    if held:
        connection.executemany(_PUT_HELD, held)


def _invocation(connection: sqlite3.Connection, session: int, invocation_id: str) -> int:
    connection.execute(_PUT_INVOCATION, (session, invocation_id))
    row = connection.execute(_INVOCATION, (session, invocation_id)).fetchone()
    number: int = row[0]
    return number


_FILED = (
    "SELECT filed, (SELECT max(number) FROM adk_nb_steps AS step WHERE step.number < (session.number + 1) << 32) "
    "FROM adk_nb_sessions AS session WHERE number = ?"
)
# The event comes along only where it may be one that takes back.
_NEW_STEPS = """
SELECT number, records, CASE WHEN is_back THEN event_data END FROM (
    SELECT number, records, event_data, coalesce(instr(event_data, '"rewind_before_invocation_id"'), 0) > 0 AS is_back
    FROM adk_nb_steps WHERE number > ? AND number <= ?)
WHERE records IS NOT NULL OR is_back ORDER BY number
"""
_TAKE_BACK = (
    "DELETE FROM adk_nb_invocations WHERE session = ? AND number >= "
    "(SELECT number FROM adk_nb_invocations WHERE session = ? AND invocation_id = ?)"
)
_PUT_INVOCATION = "INSERT OR IGNORE INTO adk_nb_invocations (session, invocation_id) VALUES (?, ?)"
_INVOCATION = "SELECT number FROM adk_nb_invocations WHERE session = ? AND invocation_id = ?"
_PUT_RUN = """
INSERT INTO adk_nb_runs (invocation, path, parent, name, status, is_open, completed, step, line)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (invocation, path) DO UPDATE SET
    status = excluded.status, is_open = excluded.is_open, step = excluded.step, line = excluded.line,
    completed = CASE WHEN excluded.completed IS NULL OR ? THEN excluded.completed
        ELSE coalesce(completed, excluded.completed) END
"""
_PUT_QUESTION = (
    "INSERT OR IGNORE INTO adk_nb_questions SELECT ?, ?, number FROM adk_nb_runs WHERE invocation = ? AND path = ?"
)
_PUT_HELD = (
    "INSERT OR IGNORE INTO adk_nb_held SELECT invocation, ?, number FROM adk_nb_runs WHERE invocation = ? AND path = ?"
)
