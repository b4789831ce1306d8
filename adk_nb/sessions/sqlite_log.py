"""The log of one session in a file: events go in with records, and records come out by index."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun
from adk_nb.events.stored import run_from_json
from adk_nb.sessions.refusals import take_temporary
from adk_nb.sessions.session import show_event
from adk_nb.sessions.sqlite_connection import Connection
from adk_nb.sessions.sqlite_knowledge import Append, Knowledge


class SqliteLog:
    """See `adk_nb.workflow.ports.RunLog`."""

    def __init__(
        self,
        session: Any,
        known: Knowledge,
        connection: Connection,
        store: Callable[[Knowledge, Append], Awaitable[bool]],
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
        return await self._one(invocation_id, _AT, path=path)

    async def open_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return the open records, in the order of their first append."""
        return await self._several(invocation_id, _OPEN)

    async def latest_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return, for each node directly below `parent`, its record completed last, in the order of completion."""
        return await self._several(invocation_id, _LATEST, parent=parent)

    async def child_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return all records directly below `parent`, in the order of their first append."""
        return await self._several(invocation_id, _CHILDREN, parent=parent)

    async def asking_run(self, interrupt_id: str) -> NodeRun | None:
        """Return the newest record that asked this question, `None` when nobody did."""
        values = (*self._known.key, interrupt_id)
        return _run(await self._connection.read(lambda c: c.execute(_ASKING, values).fetchone(), None))

    async def root_run(self, invocation_id: str | None = None) -> NodeRun | None:
        """Return the root record of an invocation, or of the newest one."""
        if invocation_id is not None:
            return await self._one(invocation_id, f"{_CHILDREN} LIMIT 1", parent="")

        def work(connection: sqlite3.Connection) -> Any:
            newest = connection.execute(_NEWEST, self._known.key).fetchone()
            values = {"invocation": newest[0], "parent": ""} if newest else {}
            return newest and connection.execute(f"{_CHILDREN} LIMIT 1", values).fetchone()

        return _run(await self._connection.read(work, None))

    async def _one(self, invocation_id: str, query: str, **values: Any) -> NodeRun | None:
        return _run(next(iter(await self._rows(invocation_id, query, values)), None))

    async def _several(self, invocation_id: str, query: str, **values: Any) -> list[NodeRun]:
        return [run_from_json(row[0]) for row in await self._rows(invocation_id, query, values)]

    async def _rows(self, invocation_id: str, query: str, values: dict[str, Any]) -> list[Any]:
        def work(connection: sqlite3.Connection) -> list[Any]:
            row = connection.execute(_INVOCATION, (*self._known.key, invocation_id)).fetchone()
            return connection.execute(query, {"invocation": row[0], **values}).fetchall() if row else []

        return await self._connection.read(work, [])


def _run(row: Any) -> NodeRun | None:
    return run_from_json(row[0]) if row else None


_OF_SESSION = "app_name = ? AND user_id = ? AND session_id = ?"
_INVOCATION = f"SELECT number FROM adk_nb_invocations WHERE {_OF_SESSION} AND invocation_id = ?"
_NEWEST = f"SELECT number FROM adk_nb_invocations WHERE {_OF_SESSION} ORDER BY number DESC LIMIT 1"
_ASKING = (
    f"SELECT record FROM adk_nb_questions JOIN adk_nb_runs ON number = run WHERE {_OF_SESSION} AND interrupt_id = ? "
    "ORDER BY run DESC LIMIT 1"
)
_AT = "SELECT record FROM adk_nb_runs WHERE invocation = :invocation AND path = :path"
_OPEN = "SELECT record FROM adk_nb_runs WHERE invocation = :invocation AND is_open = 1 ORDER BY number"
_CHILDREN = (
    "SELECT record FROM adk_nb_runs WHERE invocation = :invocation AND is_open IN (0, 1) AND parent = :parent "
    "ORDER BY number"
)
_LATEST = """
WITH RECURSIVE names (name) AS (
    SELECT min(name) FROM adk_nb_runs WHERE invocation = :invocation AND is_open = 0 AND parent = :parent
    UNION
    SELECT (SELECT min(name) FROM adk_nb_runs
            WHERE invocation = :invocation AND is_open = 0 AND parent = :parent AND name > names.name)
    FROM names WHERE names.name IS NOT NULL),
closed (number) AS (
    SELECT (SELECT number FROM adk_nb_runs
            WHERE invocation = :invocation AND is_open = 0 AND parent = :parent AND name = names.name
            ORDER BY completed DESC LIMIT 1)
    FROM names WHERE names.name IS NOT NULL),
last_ones (name, completed, record) AS (
    SELECT name, completed, record FROM adk_nb_runs WHERE number IN closed
    UNION ALL
    SELECT name, completed, record FROM adk_nb_runs
    WHERE invocation = :invocation AND is_open = 1 AND parent = :parent AND completed IS NOT NULL)
SELECT record, max(completed) AS last FROM last_ones GROUP BY name ORDER BY last
"""
