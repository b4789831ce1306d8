"""`EventSessions`: any store with ADK's interface, made to keep the record of every node run in the events it keeps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from adk_nb.errors import SessionNotFoundError
from adk_nb.events.event import Event
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.events.read_only import thawed
from adk_nb.events.stored import pack_each, unpack_each
from adk_nb.sessions.base_session_service import BaseSessionService, ListSessionsResponse
from adk_nb.sessions.event_log import EventLog, ReadRuns
from adk_nb.sessions.opened_session import OpenedSession, settled, unbroken
from adk_nb.sessions.refusals import checked_state, not_found, take_temporary
from adk_nb.sessions.session import Session, adopt, handle_of, key_of, new_session, show_delta, show_event
from adk_nb.sessions.turns import Turns

_TURNS = Turns()


class EventSessions(BaseSessionService):
    """Sessions of a store that offers only ADK's interface, with records of node runs kept in their events.

    The store may be written for adk_nb or for google-adk, in memory or not; it is asked for nothing but its own
    methods. Records travel in `custom_metadata` of the events that they belong to, and values that JSON has no form for
    are packed, so that a run goes on from such a store as from any other.

    What such a store can't give: a session that another process writes to at the same time isn't noticed, and opening
    a session reads all of its events.
    """

    def __init__(self, service: Any, read_runs: ReadRuns) -> None:
        """Use a store.

        Args:
            service: The store.
            read_runs: Works out the records from a session's events when it is opened.
        """
        self.service = service
        self._read_runs = read_runs

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Store a new session and return it; a given id is stripped of blanks around it."""
        packed = None if state is None else pack_each(thawed(checked_state(state)))
        session_id = (session_id.strip() if session_id else "") or None
        return self._shown(
            await settled(
                self.service.create_session(app_name=app_name, user_id=user_id, state=packed, session_id=session_id)
            )
        )

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a stored session, `None` when there is none with this id.

        All events are loaded, since the records are in them; `config` chooses those that the session shows.
        """
        theirs = await settled(self.service.get_session(app_name=app_name, user_id=user_id, session_id=session_id))
        return None if theirs is None else self._shown(theirs, config)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of an app, or of one of its users, without their events."""
        where = {"app_name": app_name} if user_id is None else {"app_name": app_name, "user_id": user_id}
        found = (await settled(self.service.list_sessions(**where))).sessions
        return ListSessionsResponse.model_construct(sessions=[_listed(theirs) for theirs in found])

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Remove a session with its events; nothing happens when there is none with this id."""
        await settled(self.service.delete_session(app_name=app_name, user_id=user_id, session_id=session_id))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Add an event to a session and return it; a partial event is returned and not added."""
        if event.partial:
            return event
        temporary = take_temporary(event)
        event.seal()
        if await unbroken(self._append(session, event)):
            show_delta(session, {**thawed(event.actions.state_delta), **temporary})
            show_event(session, event)
        return event

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, keys without their `user:` prefix."""
        return unpack_each(await settled(self.service.get_user_state(app_name=app_name, user_id=user_id)))

    async def flush(self) -> None:
        """Come back when everything appended so far is stored, as far as the store can tell."""
        if hasattr(self.service, "flush"):
            await settled(self.service.flush())

    async def close(self) -> None:
        """Give back what the store holds open."""
        if hasattr(self.service, "close"):
            await settled(self.service.close())

    def open_log(self, session: Any) -> EventLog:
        """Return the log of a session that this service created or returned."""
        opened = handle_of(session)
        if not isinstance(opened, OpenedSession):
            raise SessionNotFoundError(not_found(key_of(session), "loaded from this store"))
        return EventLog(session, opened, self._read_runs)

    @asynccontextmanager
    async def running(self, session: Any, invocation_id: str | None = None) -> AsyncIterator[None]:
        """Hold a session for one run; other runs of it in this process wait for their turn."""
        async with _TURNS.turn((id(self.service), *key_of(session))):
            yield

    def _shown(self, theirs: Any, config: GetSessionConfig | None = None) -> Session:
        opened = OpenedSession(self.service, theirs)
        events = None if config is None else config.apply(opened.load_events())
        state, updated = unpack_each(theirs.state), theirs.last_update_time
        return new_session(opened, key_of(theirs), state, last_update_time=updated, events=events)

    async def _append(self, session: Any, event: Event) -> bool:
        opened: Any = handle_of(session)
        if not isinstance(opened, OpenedSession):
            app_name, user_id, session_id = key_of(session)
            found = await self.get_session(app_name=app_name, user_id=user_id, session_id=session_id)
            if found is None:
                raise SessionNotFoundError(not_found(key_of(session), "in the store"))
            opened = handle_of(found)
            adopt(session, opened)
        async with opened.lock:
            is_new: bool = await opened.append(event, [])
            return is_new


def _listed(theirs: Any) -> Session:
    state, updated = unpack_each(theirs.state), theirs.last_update_time
    return new_session(None, key_of(theirs), state, last_update_time=updated, events=[])
