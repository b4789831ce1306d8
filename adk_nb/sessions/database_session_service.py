"""`DatabaseSessionService`: ADK's name for sessions in a database that is given by its address."""

from __future__ import annotations

import importlib.util
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from adk_nb.errors import ConfigurationError
from adk_nb.events.event import Event
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.sessions.base_session_service import BaseSessionService, ListSessionsResponse
from adk_nb.sessions.looking_back import FoundSession
from adk_nb.sessions.session import Session
from adk_nb.sessions.sqlite_session_service import SqliteSessionService

if TYPE_CHECKING:
    from adk_nb.sessions.postgres_session_service import PostgresSessionService


class DatabaseSessionService(BaseSessionService):
    """Keep sessions, their state and the records of node runs in a PostgreSQL database.

    Every append is one transaction. Many processes on many machines may use one database at once; a session that
    another process has changed must be loaded again before it can be appended to, and a session is run by one process
    at a time. Needs the extra: `pip install 'adk-nb[postgres]'`.

    Args:
        db_url: Its address, such as `postgresql://user:password@host/database`. With the address of an SQLite file,
            such as `sqlite:///sessions.db`, it does what `SqliteSessionService` does.
        options: Further arguments of SQLAlchemy's `create_async_engine`, for instance `pool_size`.

    Raises:
        SessionStoreError: it is the address of something else.
        ConfigurationError: the extra isn't installed.

    Example:
        >>> import asyncio
        >>> service = DatabaseSessionService("sqlite://")
        >>> asyncio.run(service.create_session(app_name="app", user_id="ada", session_id="s")).id
        's'
    """

    def __init__(self, db_url: str, **options: Any) -> None:
        is_file = str(db_url).startswith("sqlite")
        self._service = SqliteSessionService(db_url) if is_file else _postgres_service(db_url, options)

    def __repr__(self) -> str:
        return f"DatabaseSessionService({self._service.place!r})"

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Store a new session and return it; a given id is stripped of blanks around it."""
        return await self._service.create_session(
            app_name=app_name, user_id=user_id, state=state, session_id=session_id
        )

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a stored session, `None` when there is none with this id."""
        return await self._service.get_session(app_name=app_name, user_id=user_id, session_id=session_id, config=config)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of an app, or of one of its users, without their events; the oldest update first."""
        return await self._service.list_sessions(app_name=app_name, user_id=user_id)

    async def find_sessions(
        self, *, app_name: str | None = None, user_id: str | None = None, session_id: str | None = None
    ) -> list[FoundSession]:
        """Return the sessions with these names, `None` for any, without reading what is in them."""
        return await self._service.find_sessions(app_name=app_name, user_id=user_id, session_id=session_id)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Remove a session with its events; nothing happens when there is none with this id."""
        await self._service.delete_session(app_name=app_name, user_id=user_id, session_id=session_id)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Add an event to a session and return it; a partial event is returned and not added.

        The event becomes history: it can't be changed any more. Adding the same event again changes nothing.

        Raises:
            SessionNotFoundError: the session isn't in the database, or was deleted.
            StaleSessionError: another process has changed the session since it was loaded.
        """
        return await self._service.append_event(session, event)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, keys without their `user:` prefix."""
        return await self._service.get_user_state(app_name=app_name, user_id=user_id)

    async def close(self) -> None:
        """Close the connections of the present event loop; the next use opens new ones."""
        await self._service.close()

    @property
    def path(self) -> str | None:
        """The SQLite file's path, `None` for another database and in memory."""
        path: str | None = getattr(self._service, "path", None)
        return path

    def engine_for_reading(self) -> Any:
        """Return a new engine of SQLAlchemy, for who reads PostgreSQL's tables and disposes of it; or `None`."""
        make = getattr(self._service, "engine_for_reading", None)
        return None if make is None else make()

    def open_log(self, session: Any) -> Any:
        """Return the log of a session that this service created or returned."""
        return self._service.open_log(session)

    def running(self, session: Any, invocation_id: str | None = None) -> AbstractAsyncContextManager[None]:
        """Hold a session for one run: other runs of this process wait for their turn, other processes are refused.

        A PostgreSQL server gives the session free when this process is gone, wherever it ran.

        Raises:
            SessionBusyError: another process is running the session.
        """
        return self._service.running(session, invocation_id)


def _postgres_service(db_url: str, options: dict[str, Any]) -> PostgresSessionService:
    missing = [name for name in ("sqlalchemy", "asyncpg") if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigurationError(
            f"DatabaseSessionService needs {' and '.join(missing)}, which isn't installed: run "
            f"pip install 'adk-nb[postgres]', or keep sessions in a file with SqliteSessionService."
        )
    # SQLAlchemy is an extra, and takes a while to load.
    from adk_nb.sessions.postgres_session_service import PostgresSessionService

    return PostgresSessionService(db_url, options)
