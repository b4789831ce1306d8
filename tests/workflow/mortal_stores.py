"""Stores that can be frozen at any write, as if the process had been killed there, and then opened by a new process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adk_nb.events import Event
from adk_nb.events.record import NodeRun
from adk_nb.sessions import DatabaseSessionService, InMemorySessionService, Session, SqliteSessionService
from tests.sessions.plain_store import PlainStore


class KilledError(BaseException):
    """The process is gone: nothing that it does from here on counts."""


class Life:
    """How many writes are left to a process."""

    def __init__(self) -> None:
        """Begin without an end."""
        self.left: int | None = None
        """Writes until the process is killed; `None` when it isn't."""
        self.writes = 0
        """Writes so far."""

    def spend(self) -> None:
        """Let one write pass, or be dead."""
        if self.left == 0:
            raise KilledError
        self.writes += 1
        if self.left is not None:
            self.left -= 1


class _Frozen:
    """What stands before the appends of a service that keeps records."""

    life: Life

    def open_log(self, session: Any) -> Any:
        """Return a log that stops writing when it is time."""
        log = super().open_log(session)  # type: ignore[misc]  # of the service that this class is mixed into
        append = log.append

        async def dying(event: Event | None, runs: Sequence[NodeRun]) -> None:
            self.life.spend()
            await append(event, runs)

        log.append = dying
        return log


class _Memory(_Frozen, InMemorySessionService):
    pass


class _Sqlite(_Frozen, SqliteSessionService):
    pass


class _Database(_Frozen, DatabaseSessionService):
    pass


class _Plain(PlainStore):
    life: Life

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event, or die."""
        self.life.spend()
        return await super().append_event(session, event)


class Store:
    """Where sessions survive processes; this one keeps them in memory."""

    def __init__(self) -> None:
        """Begin with an immortal process."""
        self.life = Life()
        self.service: Any = None

    async def open(self) -> Any:
        """Return the service of a new process, which lives until its `life` is limited."""
        self.life.left = None
        earlier, self.service = self.service, self._service(self.service)
        self.service.life = self.life
        if earlier is not None and earlier is not self.service:
            await earlier.close()
        return self.service

    async def close(self) -> None:
        """Give back what is held open."""
        if self.service is not None:
            await self.service.close()

    def _service(self, earlier: Any) -> Any:
        return earlier if earlier is not None else _Memory()


class SqliteStore(Store):
    """Sessions in a file, opened anew by each process; the file is gone with the store."""

    def __init__(self) -> None:
        """Make a folder for the file."""
        super().__init__()
        self.folder = TemporaryDirectory()

    async def close(self) -> None:
        """Close and remove the file."""
        await super().close()
        self.folder.cleanup()

    def _service(self, earlier: Any) -> Any:
        return _Sqlite(Path(self.folder.name) / "sessions.db")


class OnlyEvents(Store):
    """Sessions in a store that offers nothing but ADK's interface."""

    def _service(self, earlier: Any) -> Any:
        service = _Plain()
        if earlier is not None:
            service.texts, service.shared = earlier.texts, earlier.shared
        return service


class DatabaseStore(Store):
    """Sessions in a database, connected to anew by each process."""

    def __init__(self, url: str) -> None:
        """Use a database."""
        super().__init__()
        self.url = url

    def _service(self, earlier: Any) -> Any:
        return _Database(self.url)
