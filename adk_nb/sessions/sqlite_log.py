"""The log of one session in a file: events go in with records, and records come out by index."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic_core import from_json

from adk_nb.events.apart import CALLS_APART
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun, Status
from adk_nb.events.stored import run_from_json
from adk_nb.sessions.looking_back import Said
from adk_nb.sessions.refusals import take_temporary
from adk_nb.sessions.session import show_event
from adk_nb.sessions.sqlite_connection import Connection
from adk_nb.sessions.sqlite_filing import file_records, is_filed
from adk_nb.sessions.sqlite_knowledge import Append, FileKnowledge


class SqliteLog:
    """See `adk_nb.workflow.ports.RunLog`."""

    def __init__(
        self,
        session: Any,
        known: FileKnowledge,
        connection: Connection,
        store: Callable[[FileKnowledge, Append], Awaitable[bool]],
    ) -> None:
        self._session = session
        self._known = known
        self._connection = connection
        self._store = store

    async def append(self, event: Event | None, runs: Sequence[NodeRun]) -> None:
        """Store an event and the present form of some records, all or nothing."""
        if event is not None:
            take_temporary(event)
        if await self._store(self._known, Append(self._known, event, runs)) and event is not None:
            show_event(self._session, event)

    async def run_at(self, invocation_id: str, path: str) -> NodeRun | None:
        """Return the record at a path, `None` when nothing ran there."""
        return _first(await self._runs(invocation_id, _AT, path=path))

    async def open_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return the records not completed or held by a gathering join, in the order of their first append."""
        runs = await self._runs(invocation_id, _OPEN)
        gathering = {run.path for run in runs if run.status is Status.GATHERING}
        return [run for run in runs if not run.is_finished or gathering.intersection(run.held_for)]

    async def latest_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return, for each node directly below `parent`, its record completed last, in the order of completion."""
        return await self._runs(invocation_id, _LATEST, parent=parent)

    async def child_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return all records directly below `parent`, in the order of their first append."""
        return await self._runs(invocation_id, _CHILDREN, parent=parent)

    async def asking_run(self, interrupt_id: str) -> NodeRun | None:
        """Return the newest record in which this question waits for an answer, else the newest that asked it."""
        values = {"session": self._known.number, "interrupt_id": interrupt_id}
        newest = _first(await self._read(lambda connection: _records(connection, _ASKED_LAST, values)))
        if newest is None or newest.waits_for(interrupt_id):
            return newest
        asked = await self._read(lambda connection: _records(connection, _ASKED_AND_OPEN, values))
        return next((run for run in asked if run.waits_for(interrupt_id)), newest)

    async def root_run(self, invocation_id: str | None = None) -> NodeRun | None:
        """Return the root record of an invocation, or of the newest one."""
        return _first(await self._runs(invocation_id, f"{_CHILDREN} LIMIT 1", parent=""))

    async def root_runs(self) -> list[NodeRun]:
        """Return the root record of every invocation, in the order of their first append."""
        values = {"session": self._known.number}
        return await self._read(lambda connection: _records(connection, _ROOTS, values))

    async def all_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return all records of an invocation, in the order of their first append."""
        return await self._runs(invocation_id, _ALL)

    async def said(self) -> list[Said]:
        """Return how many events each invocation has and what its model calls used, without reading the events."""

        def work(connection: sqlite3.Connection) -> list[Said]:
            rows = connection.execute(_SAID, dict(zip(("app", "user", "id"), self._known.key, strict=True))).fetchall()
            return [Said(name, None if usage is None else from_json(usage), count) for name, usage, count in rows]

        return await self._connection.read(work, [])

    async def _runs(self, invocation_id: str | None, query: str, **values: Any) -> list[NodeRun]:
        """Return the records that a query finds in an invocation, or in the newest one."""

        def work(connection: sqlite3.Connection) -> list[NodeRun]:
            if invocation_id is None:
                row = connection.execute(_NEWEST, (self._known.number,)).fetchone()
            else:
                row = connection.execute(_INVOCATION, (self._known.number, invocation_id)).fetchone()
            return _records(connection, query, {"invocation": row[0], **values}) if row else []

        return await self._read(work)

    async def _read(self, work: Callable[[sqlite3.Connection], list[NodeRun]]) -> list[NodeRun]:
        number = self._known.number
        if number is None:
            return []

        def work_if_filed(connection: sqlite3.Connection) -> list[NodeRun] | None:
            return work(connection) if is_filed(connection, number) else None

        found: list[NodeRun] | None = await self._connection.read(work_if_filed, [])
        if found is not None:
            return found

        def file_and_work(connection: sqlite3.Connection) -> list[NodeRun]:
            file_records(connection, number)
            return work(connection)

        return await self._connection.write(file_and_work, or_in_copy=True)


def _records(connection: sqlite3.Connection, query: str, values: dict[str, Any]) -> list[NodeRun]:
    """Return the records whose step and line a query finds."""
    found = connection.execute(query, values).fetchall()
    steps = list({step: None for step, _ in found})
    lines: dict[int, list[str]] = {}
    for start in range(0, len(steps), _STEPS_AT_ONCE):
        some = steps[start : start + _STEPS_AT_ONCE]
        for number, text in connection.execute(_STEPS.format(", ".join("?" * len(some))), some):
            lines[number] = text.split("\n")
    return [run_from_json(lines[step][line]) for step, line in found]


def _first(runs: list[NodeRun]) -> NodeRun | None:
    return runs[0] if runs else None


_STEPS_AT_ONCE = 100
_STEPS = "SELECT number, records FROM adk_nb_steps WHERE number IN ({})"
_INVOCATION = "SELECT number FROM adk_nb_invocations WHERE session = ? AND invocation_id = ?"
_NEWEST = "SELECT number FROM adk_nb_invocations WHERE session = ? ORDER BY number DESC LIMIT 1"
_ASKED = (
    "SELECT step, line FROM adk_nb_questions JOIN adk_nb_runs ON number = run "
    "WHERE session = :session AND interrupt_id = :interrupt_id"
)
_ASKED_LAST = f"{_ASKED} ORDER BY run DESC LIMIT 1"
_ASKED_AND_OPEN = f"{_ASKED} AND is_open = 1 ORDER BY run DESC"
_AT = "SELECT step, line FROM adk_nb_runs WHERE invocation = :invocation AND path = :path"
_ALL = "SELECT step, line FROM adk_nb_runs WHERE invocation = :invocation ORDER BY number"
_ROOTS = (
    "SELECT step, line FROM adk_nb_runs AS run JOIN adk_nb_invocations AS invocation "
    "ON run.invocation = invocation.number WHERE session = :session AND is_open IN (0, 1) AND parent = '' "
    "ORDER BY run.number"
)
_SAID = (
    "SELECT invocation_id, json_extract(event_data, '$.usage_metadata') AS usage, count(*) FROM events "
    "WHERE app_name = :app AND user_id = :user AND session_id = :id GROUP BY invocation_id, usage "
    "UNION ALL "
    "SELECT invocation_id, coalesce(json_extract(call.value, '$.usage'), '{}'), 0 "
    f"FROM events, json_each(event_data, '$.custom_metadata.{CALLS_APART}') AS call "
    "WHERE app_name = :app AND user_id = :user AND session_id = :id "
    f"AND instr(event_data, '{CALLS_APART}')"  # few have it, and looking for a word is cheap
)
_CHILDREN = (
    "SELECT step, line FROM adk_nb_runs WHERE invocation = :invocation AND is_open IN (0, 1) AND parent = :parent "
    "ORDER BY number"
)
_OPEN = """
SELECT step, line FROM (
    SELECT number, step, line FROM adk_nb_runs WHERE invocation = :invocation AND is_open = 1
    UNION
    SELECT run.number, run.step, run.line
    FROM adk_nb_runs AS gathering
    JOIN adk_nb_held AS held ON held.invocation = gathering.invocation AND held.join_path = gathering.path
    JOIN adk_nb_runs AS run ON run.number = held.run
    WHERE gathering.invocation = :invocation AND gathering.is_open = 1 AND gathering.status = 'gathering')
ORDER BY number
"""
_LATEST = """
WITH RECURSIVE names (name) AS (
    SELECT min(name) FROM adk_nb_runs WHERE invocation = :invocation AND is_open = 0 AND parent = :parent
    UNION
    SELECT (SELECT min(name) FROM adk_nb_runs
            WHERE invocation = :invocation AND is_open = 0 AND parent = :parent AND name > names.name)
    FROM names WHERE names.name IS NOT NULL),
latest (number) AS (
    SELECT (SELECT number FROM adk_nb_runs
            WHERE invocation = :invocation AND is_open = 0 AND parent = :parent AND name = names.name
            ORDER BY completed DESC LIMIT 1)
    FROM names WHERE names.name IS NOT NULL)
SELECT step, line FROM adk_nb_runs WHERE number IN latest ORDER BY completed
"""
