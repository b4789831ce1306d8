"""What this process knows of one session in a file, and how one append brings file and knowledge forward together."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from pydantic_core import from_json

from adk_nb.errors import AlreadyExistsError, SessionNotFoundError, StaleSessionError
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun
from adk_nb.events.state import split_scopes
from adk_nb.events.stored import event_from_json, event_to_json, pack_each, run_to_json, state_to_json
from adk_nb.sessions.refusals import event_exists, not_found

Key = tuple[str, str, str]
"""App name, user id and session id."""


class Knowledge:
    """What the process knows of a stored session; its `Session` objects and logs share it.

    The session's version is its `update_time` in the file: every append raises it, to the event's time or, when that
    isn't later, to the next number. So it counts appends whatever the clock does, and google-adk, which writes it too,
    takes part.
    """

    def __init__(self, key: Key, version: float, read_events: Callable[[Key], list[Event]]) -> None:
        self.key = key
        self.version = version
        self.attempted: float | None = None
        """The version of an append that was begun and perhaps broken off after it was stored."""
        self.is_stale = False
        """Another process wrote to the session: only newly loaded `Session` objects may append."""
        self.is_deleted = False
        self.state: dict[str, Any] | None = None
        """The session's own state, packed; `None` until it is needed."""
        self.invocations: dict[str, int] = {}
        self.open_runs: dict[tuple[int, str], int] = {}
        """Numbers of records that may be written again soon, by invocation and path."""
        self.events: list[Event] | None = None
        """All events, once someone has read them."""
        self._read_events = read_events

    def __deepcopy__(self, memo: dict[int, Any]) -> Knowledge:
        return self

    def load_events(self) -> list[Event]:
        """Return all events, oldest first."""
        if self.is_stale or self.is_deleted:
            return self._read_events(self.key)
        if self.events is None:
            self.events = self._read_events(self.key)
        return list(self.events)

    def check(self, file: str) -> None:
        """Refuse to go on from outdated knowledge."""
        if self.is_deleted:
            raise SessionNotFoundError(not_found(self.key, f"in {file}"))
        if self.is_stale:
            raise stale(self.key)

    def forget_details(self) -> None:
        """Keep the version only, after an append that was broken off in the middle."""
        self.state, self.events = None, None
        self.invocations.clear()
        self.open_runs.clear()


def stale(key: Key) -> StaleSessionError:
    """Return the error of a session that another process has changed."""
    return StaleSessionError(
        f"Session {key[2]!r} was changed by another process since it was loaded here, so nothing was written: "
        f"load it again with get_session() and go on from there."
    )


class Moved(Exception):
    """The session's version in the file isn't the one this process knows."""


class Append:
    """One event and some records on their way into the file."""

    def __init__(self, known: Knowledge, event: Event | None, runs: Sequence[NodeRun]) -> None:
        self._known = known
        self._event = event
        self._text = ""
        self._delta: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = ({}, {}, {})
        if event is not None:
            event.seal()
            self._text = event_to_json(event)
            if event.actions.state_delta:
                self._delta = split_scopes(event.actions.state_delta)
        self._runs = [(run, run_to_json(run)) for run in runs]
        self._version = 0.0
        self._state: dict[str, Any] | None = None
        self._invocations: dict[str, int] = {}
        self._numbers: list[tuple[tuple[int, str], int, bool]] = []

    def write(self, connection: sqlite3.Connection) -> None:
        """Do everything in the file, inside the caller's transaction."""
        known, event = self._known, self._event
        execute = connection.execute
        self._invocations, self._numbers = {}, []
        version = math.nextafter(known.version, math.inf)
        if event is not None and event.timestamp > version:
            version = event.timestamp
        completed = version  # the first finished record gets this number, the next ones the next numbers
        for run, _ in self._runs:
            if run.is_finished:
                version = math.nextafter(version, math.inf)
        self._write_session(execute, version)
        self._version = known.attempted = version
        if event is not None:
            execute(_INSERT_EVENT, (event.id, *known.key, event.invocation_id, event.timestamp, self._text))
            if self._delta[0] or self._delta[1]:
                self._write_shared(execute, event.timestamp)
        if self._runs:
            self._write_runs(execute, completed)

    def commit(self) -> None:
        """Take what was written into the process's knowledge, after the transaction."""
        known, event = self._known, self._event
        known.version, known.attempted = self._version, None
        if self._state is not None:
            known.state = self._state
        known.invocations.update(self._invocations)
        for key, number, is_open in self._numbers:
            if is_open:
                known.open_runs[key] = number
            else:
                known.open_runs.pop(key, None)
        if event is not None and known.events is not None:
            known.events.append(event)

    def without_event(self, connection: sqlite3.Connection) -> Append:
        """Return the same append without its event, which is stored already; refuse an id that is another event's."""
        event = self._event
        assert event is not None, "only an event can be stored twice"
        row = connection.execute(_EVENT_TEXT, (*self._known.key, event.id)).fetchone()
        stored = event_from_json(row[0]) if row else None
        if stored is None or stored != event:
            raise AlreadyExistsError(event_exists(event.id, self._known.key))
        rest = Append(self._known, None, ())
        rest._runs = self._runs
        return rest

    def _write_session(self, execute: Any, version: float) -> None:
        known, own = self._known, self._delta[2]
        if own:
            if known.state is None:
                row = execute(_STATE, known.key).fetchone()
                known.state = load_state(row[0]) if row else {}
            self._state = {**known.state, **pack_each(own)}
            cursor = execute(_UPDATE_STATE, (version, state_to_json(self._state), *known.key, known.version))
        else:
            cursor = execute(_UPDATE_VERSION, (version, *known.key, known.version))
        if cursor.rowcount != 1:
            raise Moved

    def _write_shared(self, execute: Any, at: float) -> None:
        app, user, _ = self._delta
        write_shared_state(execute, self._known.key, app, user, at)

    def _write_runs(self, execute: Any, completed: float) -> None:
        known = self._known
        for run, text in self._runs:
            invocation = self._invocation(execute, run.invocation_id)
            done = None
            if run.is_finished:
                done, completed = completed, math.nextafter(completed, math.inf)
            key, status, is_open = (invocation, run.path), run.status, run.is_open
            number = known.open_runs.get(key)
            if number is None:
                cursor = execute(_NEW_RUN, (*key, run.parent, run.name, status, is_open, done, text))
                is_new = cursor.rowcount == 1
                number = cursor.lastrowid if is_new else execute(_RUN_NUMBER, key).fetchone()[0]
            else:
                is_new = False
            if not is_new:
                execute(_UPDATE_RUN, (status, is_open, done, done, text, number))
            self._numbers.append((key, number, is_open))
            for question in run.questions:
                execute(_PUT_QUESTION, (*known.key, question.interrupt_id, number))

    def _invocation(self, execute: Any, invocation_id: str) -> int:
        number = self._known.invocations.get(invocation_id) or self._invocations.get(invocation_id)
        if number is None:
            execute(_PUT_INVOCATION, (*self._known.key, invocation_id))
            number = execute(_INVOCATION, (*self._known.key, invocation_id)).fetchone()[0]
            self._invocations[invocation_id] = number
        found: int = number
        return found


def write_shared_state(execute: Any, key: Key, app: dict[str, Any], user: dict[str, Any], at: float) -> None:
    """Merge a change into the state of the app and of the user, inside the caller's transaction."""
    for table, columns, names, change in (
        ("app_states", "app_name", key[:1], app),
        ("user_states", "app_name, user_id", key[:2], user),
    ):
        if not change:
            continue
        where = " AND ".join(f"{column} = ?" for column in columns.split(", "))
        row = execute(f"SELECT state FROM {table} WHERE {where}", names).fetchone()
        text = state_to_json({**(load_state(row[0]) if row else {}), **pack_each(change)})
        places = ", ".join("?" * (len(names) + 2))
        execute(f"INSERT OR REPLACE INTO {table} ({columns}, state, update_time) VALUES ({places})", (*names, text, at))


def load_state(text: str) -> dict[str, Any]:
    """Return a stored state, its values packed."""
    state: dict[str, Any] = from_json(text)
    return state


_OF_SESSION = "app_name = ? AND user_id = ? AND session_id = ?"
_ONE_SESSION = "app_name = ? AND user_id = ? AND id = ?"
_STATE = f"SELECT state FROM sessions WHERE {_ONE_SESSION}"
_UPDATE_VERSION = f"UPDATE sessions SET update_time = ? WHERE {_ONE_SESSION} AND update_time = ?"
_UPDATE_STATE = f"UPDATE sessions SET update_time = ?, state = ? WHERE {_ONE_SESSION} AND update_time = ?"
_INSERT_EVENT = (
    "INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_EVENT_TEXT = f"SELECT event_data FROM events WHERE {_OF_SESSION} AND id = ?"
_NEW_RUN = (
    "INSERT INTO adk_nb_runs (invocation, path, parent, name, status, is_open, completed, record) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_RUN_NUMBER = "SELECT number FROM adk_nb_runs WHERE invocation = ? AND path = ?"
_UPDATE_RUN = (
    "UPDATE adk_nb_runs SET status = ?, is_open = ?, "
    "completed = CASE WHEN ? IS NULL THEN NULL ELSE coalesce(completed, ?) END, record = ? WHERE number = ?"
)
_PUT_QUESTION = "INSERT OR IGNORE INTO adk_nb_questions VALUES (?, ?, ?, ?, ?)"
_PUT_INVOCATION = (
    "INSERT OR IGNORE INTO adk_nb_invocations (app_name, user_id, session_id, invocation_id) VALUES (?, ?, ?, ?)"
)
_INVOCATION = f"SELECT number FROM adk_nb_invocations WHERE {_OF_SESSION} AND invocation_id = ?"
