"""The contract of session services over a store that offers only ADK's interface."""

from __future__ import annotations

from adk_nb.errors import SessionNotFoundError
from adk_nb.events import Event
from adk_nb.runners.records import with_records
from adk_nb.sessions import BaseSessionService, Session
from adk_nb.sessions.event_sessions import EventSessions
from adk_nb.testing.samples import APP, raised
from adk_nb.testing.sessions import SessionServiceContract
from adk_nb.workflow import Workflow
from tests.sessions.plain_store import PlainStore

ROOT = Workflow(name="wf", edges=[])


class TestEventSessions(SessionServiceContract):
    """Over a store of texts, read back by a second service that has never seen the sessions."""

    def make(self) -> BaseSessionService:
        """Return a new service."""
        service: EventSessions = with_records(PlainStore(), ROOT)
        return service

    def reopen(self, service: BaseSessionService) -> BaseSessionService:
        """Return another service on the same texts."""
        assert isinstance(service, EventSessions)
        return EventSessions(service.service, service._read_runs)

    def test_unknown_and_deleted_sessions_are_refused(self) -> None:
        """Appending to a session that isn't stored is refused; one made anew under its id can't be told from it."""

        async def steps() -> None:
            service = self.make()
            await raised(SessionNotFoundError, service.append_event(Session(id="s", **APP), Event(author="x")))
            session = await service.create_session(**APP, session_id="s")
            await service.delete_session(**APP, session_id="s")
            await raised(SessionNotFoundError, service.append_event(session, Event(author="x")))
            assert await service.get_session(**APP, session_id="s") is None

        self.run(steps())
