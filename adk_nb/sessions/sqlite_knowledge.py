"""What this process knows of one session in a file, and how one append brings file and knowledge forward together."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from adk_nb.errors import AlreadyExistsError
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun, Status
from adk_nb.events.state import split_scopes
from adk_nb.events.stored import event_from_json, event_to_json, pack_each, run_to_json, state_to_json
from adk_nb.sessions.knowledge import Key, Knowledge, load_state
from adk_nb.sessions.refusals import event_exists

Row = tuple[Any, ...]


class FileKnowledge(Knowledge):
    """What the process knows of a session in a file."""

    def __init__(self, key: Key, read_events: Callable[[Key], list[Event]]) -> None:
        super().__init__(key)
        self.filed = 0
        """Number of the step up to which records can be looked up."""
        self.event_ids: set[str] = set()
        """Ids of the events that this process appended; of all events when `knows_all_ids`."""
        self.knows_all_ids = False
        self._read_events = read_events

    @property
    def version(self) -> tuple[int | None, int, float]:
        """What another process's write changes."""
        return self.number, self.step, self.time

    def take_version(self, found: Row) -> None:
        """Take over number, step, time and filed as they stand in the file."""
        self.number, self.step, self.time, self.filed = found

    def load_events(self) -> list[Event]:
        """Return all events, oldest first; they are read when this is first called."""
        if self.is_stale or self.is_deleted:
            return self._read_events(self.key)
        if self.events is None:
            self.events = self._read_events(self.key)
        return list(self.events)

    def forget_details(self) -> None:
        """Keep the version only, after an append that was broken off in the middle."""
        super().forget_details()
        self.knows_all_ids = False


class Moved(Exception):
    """The session's newest step in the file isn't the one this process knows."""


class Append:
    """One event and some records on their way into the file."""

    __slots__ = ("_about_event", "_brings_id", "_delta", "_event", "_known", "_records", "_state", "_step", "is_rest")

    def __init__(self, known: FileKnowledge, event: Event | None, runs: Sequence[NodeRun]) -> None:
        self._known = known
        self._event = event
        self._delta: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | None = None
        self._about_event: Row = (None, None, None)
        self._brings_id = False
        if event is not None:
            # An id that was made with the event is new, unless the event, or what it is a copy of, was stored before.
            self._brings_id = "id" in event.model_fields_set or event.is_sealed
            event.seal()
            if event.actions.state_delta:
                self._delta = split_scopes(event.actions.state_delta)
            self._about_event = (event.id, event.timestamp, event_to_json(event))
        self._records = "\n".join([run_to_json(run) for run in runs]) if runs else None
        self.is_rest = False
        """The root has come to rest without being completed: someone will look up where it stands, and go on."""
        for run in runs:
            if not run.parent and run.status in _AT_REST:
                self.is_rest = True
        self._step: Row = ()
        self._state: dict[str, Any] | None = None

    @property
    def is_one_statement(self) -> bool:
        """`write` needs no transaction around it."""
        return self._delta is None

    @property
    def must_be_compared(self) -> bool:
        """The event's id may be in the session already; all ids must be known before it can be told."""
        return self._brings_id and not self._known.knows_all_ids

    @property
    def has_known_event(self) -> bool:
        """The event's id is in the session already."""
        return self._event is not None and self._event.id in self._known.event_ids

    def write(self, connection: sqlite3.Connection) -> None:
        """Do everything in the file."""
        known = self._known
        time = known.time_of(self._event)
        step = self._step = (known.step + 1, time, *self._about_event, self._records)
        known.attempted = step
        if connection.execute(_PUT_STEP, (*step, known.step)).rowcount != 1:
            raise Moved
        if self._delta is not None:
            self._write_state(connection.execute, time)

    def commit(self) -> None:
        """Take what was written into the process's knowledge, after the transaction."""
        known, event = self._known, self._event
        known.step, known.time, *_ = self._step
        known.attempted = None
        if self._state is not None:
            known.state = self._state
        if event is not None:
            known.event_ids.add(event.id)
            if known.events is not None:
                known.events.append(event)

    def without_event(self, connection: sqlite3.Connection) -> Append:
        """Return the same append without its event, which is stored already; refuse an id that is another event's."""
        known, event = self._known, self._event
        assert event is not None, "only an event can be stored twice"
        row = connection.execute(_EVENT, (*steps_of(known.number), event.id)).fetchone()
        if row is None or event_from_json(row[0]) != event:
            raise AlreadyExistsError(event_exists(event.id, known.key))
        rest = Append(known, None, ())
        rest._records = self._records
        return rest

    def _write_state(self, execute: Any, at: float) -> None:
        known = self._known
        app, user, own = self._delta or ({}, {}, {})
        if own:
            if known.state is None:
                row = execute("SELECT state FROM adk_nb_sessions WHERE number = ?", (known.number,)).fetchone()
                known.state = load_state(row[0])
            self._state = {**known.state, **pack_each(own)}
            execute("UPDATE adk_nb_sessions SET state = ? WHERE number = ?", (state_to_json(self._state), known.number))
        write_shared_state(execute, known.key, app, user, at)


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


def steps_of(session: int | None) -> tuple[int, int]:
    """Return the first and the last number that steps of a session may have."""
    first = (session or 0) << 32
    return first, first + 0xFFFFFFFF


_AT_REST = frozenset(Status) - {Status.PENDING, Status.RUNNING, Status.COMPLETED}
# The step before is there as long as the session is. The next number is taken when another process was faster.
_PUT_STEP = (
    "INSERT INTO adk_nb_steps SELECT ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM adk_nb_steps WHERE number = ?)"
)
_EVENT = "SELECT event_data FROM adk_nb_steps WHERE number BETWEEN ? AND ? AND event_id = ?"
