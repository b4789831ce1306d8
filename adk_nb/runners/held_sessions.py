"""The sessions of one runner: loaded, held while they run, and never run inside themselves."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import AsyncIterator
from typing import Any

from adk_nb.errors import AlreadyExistsError, DataError, SessionNotFoundError
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.runners.records import with_records
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.ports import RunLog

_inside: contextvars.ContextVar[frozenset[tuple[object, ...]]] = contextvars.ContextVar("inside", default=frozenset())
"""The sessions with a run that this code is a part of."""


class HeldSessions:
    """The sessions of one app in one store."""

    def __init__(self, service: Any, root: BaseNode, app_name: str) -> None:
        """Use a store, also one that offers only ADK's interface.

        Args:
            service: The store.
            root: What runs in the sessions.
            app_name: The app whose sessions they are.
        """
        self._given = service
        self._service = with_records(service, root)
        self._app_name = app_name

    async def load(
        self, user_id: str, session_id: str, *, makes: bool = False, config: GetSessionConfig | None = None
    ) -> Any:
        """Return a stored session.

        Args:
            user_id: Whose session it is.
            session_id: Which session.
            makes: Make one that isn't there.
            config: Which of its events to load; `None` loads all.
        Raises:
            SessionNotFoundError: it isn't there.
        """
        where = {"app_name": self._app_name, "user_id": user_id, "session_id": session_id}
        more = {} if config is None else {"config": config}
        session = await self._service.get_session(**where, **more)
        if session is not None:
            return session
        if makes:
            try:
                return await self._service.create_session(**where)
            except AlreadyExistsError:  # another call was quicker: its session is the one that was asked for
                return await self.load(user_id, session_id, makes=False, config=config)
        raise SessionNotFoundError(
            f"Session not found: {session_id} (app {self._app_name!r}, user {user_id!r}). Create it with "
            f"session_service.create_session(...), or give the Runner auto_create_session=True."
        )

    def log(self, session: Any) -> RunLog:
        """Return where a session's events and records go."""
        log: RunLog = self._service.open_log(session)
        return log

    async def flush(self) -> None:
        """Come back when everything appended so far is stored."""
        await self._service.flush()

    def context_in(self, session: Any) -> contextvars.Context:
        """Return the context for code that is a part of a run of this session."""
        context = contextvars.copy_context()
        context.run(_inside.set, _inside.get() | {self._key(session)})
        return context

    @contextlib.asynccontextmanager
    async def held(self, session: Any, invocation_id: str | None) -> AsyncIterator[None]:
        """Hold a session for one run, once others have ended.

        Raises:
            DataError: this code is itself a part of a run of the session.
            SessionBusyError: another process runs it.
        """
        if self._key(session) in _inside.get():
            raise DataError(
                f"A node of a run in session {session.id!r} can't start another run in the same session, which would "
                f"wait for itself: call ctx.run_node, or give the other run a session of its own."
            )
        running = getattr(self._service, "running", None)
        if running is None:
            yield
            return
        async with running(session, invocation_id):
            yield

    def _key(self, session: Any) -> tuple[object, ...]:
        return (id(self._given), session.app_name, session.user_id, session.id)
