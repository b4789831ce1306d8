"""`BaseSessionService`: what every store of sessions offers, ours and people's own."""

from __future__ import annotations

import abc
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel, Field

from adk_nb.events.event import Event
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.sessions.refusals import take_temporary
from adk_nb.sessions.session import Session, show_delta, show_event


class ListSessionsResponse(BaseModel):
    """Sessions without their events, the one updated longest ago first."""

    sessions: list[Session] = Field(default_factory=list)


class BaseSessionService(abc.ABC):
    """A store of sessions, each named by app name, user id and session id.

    A store that also keeps the record of every node run offers `open_log(session)`; for others the engine reads the
    events. `async with` closes a store at the end.
    """

    @abc.abstractmethod
    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Store a new session and return it.

        Args:
            app_name: The app.
            user_id: The user.
            state: Its first state; `app:` and `user:` keys go where all sessions of the app or user see them.
            session_id: Its id; without one, or with a blank one, an id is made.

        Raises:
            AlreadyExistsError: the id is taken.
        """

    @abc.abstractmethod
    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a stored session, `None` when there is none with this id."""

    @abc.abstractmethod
    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of an app, or of one of its users, without their events; the oldest update first."""

    @abc.abstractmethod
    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Remove a session with its events; nothing happens when there is none with this id."""

    async def append_event(self, session: Session, event: Event) -> Event:
        """Add an event to a session and return it; a partial event is returned and not added.

        A store calls this to bring the `Session` object up to date, before or after it has stored the event.
        """
        if event.partial:
            return event
        temporary = take_temporary(event)
        show_delta(session, {**event.actions.state_delta, **temporary})
        show_event(session, event)
        return event

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, keys without their `user:` prefix."""
        raise NotImplementedError(f"{type(self).__name__} doesn't keep user state apart: override get_user_state().")

    async def flush(self) -> None:
        """Come back when everything appended so far is stored."""
        return

    async def close(self) -> None:
        """Give back what the store holds open."""
        return

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


__all__ = ["BaseSessionService", "GetSessionConfig", "ListSessionsResponse"]
