"""The log of one session in a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic_core import from_json

from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun, Status
from adk_nb.events.stored import run_from_json
from adk_nb.sessions.knowledge import Knowledge
from adk_nb.sessions.looking_back import Said
from adk_nb.sessions.postgres_append import Append
from adk_nb.sessions.postgres_connection import Database
from adk_nb.sessions.postgres_tables import (
    ALL,
    ASKING,
    CHILDREN,
    LATEST,
    NEWEST_ROOT,
    OPEN,
    ROOT,
    ROOTS,
    RUN_AT,
    SAID,
)
from adk_nb.sessions.refusals import take_temporary
from adk_nb.sessions.session import show_event


class PostgresLog:
    """See `adk_nb.workflow.ports.RunLog`."""

    def __init__(
        self, session: Any, known: Knowledge, database: Database, store: Callable[[Append], Awaitable[bool]]
    ) -> None:
        self._session = session
        self._known = known
        self._database = database
        self._store = store

    async def append(self, event: Event | None, runs: Sequence[NodeRun]) -> None:
        """Store an event and the present form of some records, all or nothing."""
        if event is not None:
            take_temporary(event)
        append = Append(self._known, event, runs)

        async def work() -> None:
            if await self._store(append) and event is not None:
                show_event(self._session, event)

        await self._database.unbroken(work())

    async def run_at(self, invocation_id: str, path: str) -> NodeRun | None:
        """Return the record at a path, `None` when nothing ran there."""
        return _first(await self._runs(RUN_AT, invocation_id=invocation_id, path=path))

    async def open_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return the records not completed or held by a gathering join, in the order of their first append."""
        runs = await self._runs(OPEN, invocation_id=invocation_id)
        gathering = {run.path for run in runs if run.status is Status.GATHERING}
        return [run for run in runs if not run.is_finished or gathering.intersection(run.held_for)]

    async def latest_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return, for each node directly below `parent`, its record completed last, in the order of completion."""
        return await self._runs(LATEST, invocation_id=invocation_id, parent=parent)

    async def child_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return all records directly below `parent`, in the order of their first append."""
        return await self._runs(CHILDREN, invocation_id=invocation_id, parent=parent)

    async def asking_run(self, interrupt_id: str) -> NodeRun | None:
        """Return the newest record that waits for an answer to this question; else the newest that asked it."""
        newest = _first(await self._runs(f"{ASKING} LIMIT 1", interrupt_id=interrupt_id))
        if newest is None or newest.waits_for(interrupt_id):
            return newest
        asked = await self._runs(ASKING, interrupt_id=interrupt_id)
        return next((run for run in asked if run.waits_for(interrupt_id)), newest)

    async def root_run(self, invocation_id: str | None = None) -> NodeRun | None:
        """Return the root record of an invocation, or of the newest one."""
        if invocation_id is None:
            return _first(await self._runs(NEWEST_ROOT))
        return _first(await self._runs(ROOT, invocation_id=invocation_id, parent=""))

    async def root_runs(self) -> list[NodeRun]:
        """Return the root record of every invocation, in the order of their first append."""
        return await self._runs(ROOTS)

    async def all_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return all records of an invocation, in the order of their first append."""
        return await self._runs(ALL, invocation_id=invocation_id)

    async def said(self) -> list[Said]:
        """Return how many events each invocation has and what its model calls used, without reading the events."""
        rows = await self._database.all(SAID, {"session": self._known.number})
        return [Said(row[0], None if row[1] is None else from_json(row[1]), row[2]) for row in rows]

    async def _runs(self, statement: str, **values: Any) -> list[NodeRun]:
        rows = await self._database.all(statement, {"session": self._known.number, **values})
        return [run_from_json(row[0]) for row in rows]


def _first(runs: list[NodeRun]) -> NodeRun | None:
    return runs[0] if runs else None
