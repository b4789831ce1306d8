"""One process at a time runs a session of a file; the lock of a process that is gone is taken over."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from types import TracebackType
from typing import Any

from adk_nb.errors import SessionBusyError, SessionNotFoundError, SessionStoreError
from adk_nb.sessions.processes import is_alive, this_process
from adk_nb.sessions.refusals import is_busy, not_found
from adk_nb.sessions.sqlite_connection import Connection


class SessionLock:
    """Held by the process while it runs a session: a row that names process, host and run."""

    def __init__(self, connection: Connection, key: tuple[str, str, str], invocation_id: str | None) -> None:
        self._connection = connection
        self._key = key
        self._invocation_id = invocation_id

    async def __aenter__(self) -> None:
        self._connection.check_in_place()
        own = this_process()
        holder = await self._connection.read(self._holder, None)
        # Within the process runs take turns before they come here, so a lock of our own was left by a broken-off run.
        if holder is not None and holder[:3] != own and is_alive(*holder[:3]):
            raise SessionBusyError(self._busy(holder))

        def work(connection: sqlite3.Connection) -> None:
            now = self._holder(connection)
            if now != holder:
                raise SessionBusyError(self._busy(now or holder))
            if connection.execute(_TAKE, (*own, self._invocation_id, time.time(), *self._key)).rowcount != 1:
                raise SessionNotFoundError(not_found(self._key, f"in {self._connection.file}"))

        await self._connection.write(work)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A lock that can't be given back now is taken over later: this process knows it for its own, and others see
        # when the process is gone.
        with contextlib.suppress(SessionBusyError, SessionStoreError):
            await self._connection.write(lambda connection: connection.execute(_GIVE, (*this_process(), *self._key)))
        if error is None:
            self._connection.check_in_place()

    def _holder(self, connection: sqlite3.Connection) -> Any:
        return connection.execute(_HOLDER, self._key).fetchone()

    def _busy(self, holder: Any) -> str:
        host, pid, _, invocation_id, since = holder
        said = is_busy(self._key, host, pid, invocation_id, since)
        if host == this_process()[0]:
            return said
        return f"{said} If that machine is gone for good, free the session with break_lock()."


_NUMBER = "(SELECT number FROM adk_nb_sessions WHERE app_name = ? AND user_id = ? AND id = ?)"
_HOLDER = f"SELECT host, pid, process_start, invocation_id, since FROM adk_nb_locks WHERE session = {_NUMBER}"
_TAKE = (
    "INSERT OR REPLACE INTO adk_nb_locks SELECT number, ?, ?, ?, ?, ? FROM adk_nb_sessions "
    "WHERE app_name = ? AND user_id = ? AND id = ?"
)
BREAK = f"DELETE FROM adk_nb_locks WHERE session = {_NUMBER}"
"""Takes a lock away from whoever holds it."""
_GIVE = f"DELETE FROM adk_nb_locks WHERE host = ? AND pid = ? AND process_start = ? AND session = {_NUMBER}"
