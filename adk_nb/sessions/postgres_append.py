"""One event and some records on their way into a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from adk_nb.events.event import Event, new_id
from adk_nb.events.record import NodeRun
from adk_nb.events.state import split_scopes
from adk_nb.events.stored import event_to_json, pack_each, run_to_json, state_to_json
from adk_nb.sessions.knowledge import Key, Knowledge, load_state
from adk_nb.sessions.postgres_connection import Database, rows_of
from adk_nb.sessions.postgres_tables import (
    APP_STATE_TO_CHANGE,
    PUT_APP_STATE,
    PUT_USER_STATE,
    STATE,
    USER_STATE_TO_CHANGE,
    append_statement,
)


class Moved(Exception):
    """The session's newest step in the database isn't the one this process knows."""


class Append:
    """What one append stores: it is taken down at once, and written when its turn comes."""

    def __init__(self, known: Knowledge, event: Event | None, runs: Sequence[NodeRun]) -> None:
        self.known = known
        self.event = event
        self._delta: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = ({}, {}, {})
        self._values: dict[str, Any] = {}
        if event is not None:
            event.seal()
            if event.actions.state_delta:
                self._delta = split_scopes(event.actions.state_delta)
            self._values = {
                "event_id": event.id,
                "invocation_id": event.invocation_id,
                "timestamp": event.timestamp,
                "event_data": event_to_json(event),
                "taken_back": event.actions.rewind_before_invocation_id,
            }
        # A record that stands in the list twice is stored as it is last.
        self._runs = {(run.invocation_id, run.path): (run, run_to_json(run)) for run in runs}
        self._facts = [
            (run.invocation_id, run.path, run.parent, run.name, str(run.status), run.is_finished, text)
            for run, text in self._runs.values()
        ]
        asked = [(*key, q.interrupt_id) for key, (run, _) in self._runs.items() for q in run.questions]
        held = [(*key, path) for key, (run, _) in self._runs.items() if run.is_finished for path in run.held_for]
        self._has_links = bool(asked or held)
        if self._has_links:
            self._values["asked_in"], self._values["asked_at"], self._values["asked"] = _columns(asked, 3)
            self._values["held_in"], self._values["held_at"], self._values["held_for"] = _columns(held, 3)
        self._state: dict[str, Any] | None = None
        self._time = 0.0

    def drop_event(self) -> None:
        """Leave out the event, which is stored already."""
        self.event, self._delta = None, ({}, {}, {})

    async def write(self, database: Database) -> None:
        """Do everything in the database.

        Raises:
            Moved: another process took the step.
        """
        known = self.known
        self._time, known.attempted = known.time_of(self.event), new_id()
        app, user, own = self._delta
        if own and known.state is None:
            known.state = load_state((await database.one(STATE, {"session": known.number}) or ("{}",))[0])
        self._state = {**(known.state or {}), **pack_each(own)} if own else None
        statement, values = self._statement()
        if not (app or user):
            if await database.one(statement, values) is None:
                raise Moved
            return

        async def work(connection: AsyncConnection) -> None:
            if not await rows_of(connection, statement, values):
                raise Moved
            await write_shared_state(connection, known.key, app, user)

        await database.transaction(work)

    def commit(self) -> None:
        """Take what was written into the process's knowledge."""
        known = self.known
        known.step, known.time, known.attempted = known.step + 1, self._time, None
        if self._state is not None:
            known.state = self._state
        if self.event is not None and known.events is not None:
            known.events.append(self.event)

    def _statement(self) -> tuple[str, dict[str, Any]]:
        known = self.known
        values = {
            **self._values,
            "session": known.number,
            "step": known.step,
            "time": self._time,
            "writer": known.attempted,
            "state": None if self._state is None else state_to_json(self._state),
        }
        if self._facts:
            names = ("invocation_ids", "paths", "parents", "names", "statuses", "completed", "records")
            values.update(zip(names, _columns(self._facts, 7), strict=True))
            place = (known.step + 1) << 20
            values["completed"] = [place + i if done else None for i, done in enumerate(values["completed"])]
        has_event = self.event is not None
        statement = append_statement(
            has_event=has_event,
            takes_back=has_event and values["taken_back"] is not None,
            has_runs=bool(self._facts),
            has_links=self._has_links,
        )
        return statement, values


async def write_shared_state(connection: AsyncConnection, key: Key, app: dict[str, Any], user: dict[str, Any]) -> None:
    """Merge a change into the state of the app and of the user, inside the caller's transaction."""
    names: dict[str, Any] = {"app_name": key[0]}
    for change, lock, put in (
        (app, APP_STATE_TO_CHANGE, PUT_APP_STATE),
        (user, USER_STATE_TO_CHANGE, PUT_USER_STATE),
    ):
        if change:
            stored = load_state((await rows_of(connection, lock, names))[0][0])
            await rows_of(connection, put, {**names, "state": state_to_json({**stored, **pack_each(change)})})
        names["user_id"] = key[1]


def _columns(rows: list[tuple[Any, ...]], count: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(count)]
