"""`InMemorySessionService`: sessions that live as long as the process."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from adk_nb.errors import AlreadyExistsError, SessionNotFoundError
from adk_nb.events.event import Event, new_id
from adk_nb.events.read_only import thawed
from adk_nb.events.record import NodeRun
from adk_nb.events.state import merge_scopes, split_scopes
from adk_nb.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
from adk_nb.sessions.looking_back import FoundSession, Said, said_in
from adk_nb.sessions.refusals import already_exists, checked_state, event_exists, not_found, take_temporary
from adk_nb.sessions.run_index import RunIndex
from adk_nb.sessions.session import Session, adopt, handle_of, key_of, new_session, show_delta, show_event
from adk_nb.sessions.turns import Turns


class InMemorySessionService(BaseSessionService):
    """Keep sessions in memory, for tests, scripts and first steps.

    Sessions handed out share the stored events, which can't be changed; nothing else done to them reaches the store.

    Example:
        >>> import asyncio
        >>> service = InMemorySessionService()
        >>> session = asyncio.run(service.create_session(app_name="app", user_id="ada", state={"user:lang": "en"}))
        >>> session.state
        {'user:lang': 'en'}
    """

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], dict[str, _Stored]] = {}
        self._app_states: dict[str, dict[str, Any]] = {}
        self._user_states: dict[tuple[str, str], dict[str, Any]] = {}
        self._lock = threading.Lock()  # event loops of several threads may share a service
        self._turns = Turns()

    def __repr__(self) -> str:
        return "InMemorySessionService()"

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Store a new session and return it; a given id is stripped of blanks around it."""
        app, user, own = split_scopes(checked_state(state or {}))
        session_id = session_id.strip() if session_id else ""
        stored = _Stored((app_name, user_id, session_id or new_id()), own)
        with self._lock:
            of_user = self._sessions.setdefault((app_name, user_id), {})
            if stored.key[2] in of_user:
                raise AlreadyExistsError(already_exists(stored.key))
            of_user[stored.key[2]] = stored
            self._write_shared(stored.key, app, user)
        return self._session(stored, [])

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a stored session, `None` when there is none with this id."""
        stored = self._sessions.get((app_name, user_id), {}).get(session_id)
        if stored is None:
            return None
        events = list(stored.events)
        return self._session(stored, config.apply(events) if config else events)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of an app, or of one of its users, without their events; the oldest update first."""
        found = [
            stored
            for (app, user), of_user in list(self._sessions.items())
            if app == app_name and user_id in (None, user)
            for stored in list(of_user.values())
        ]
        found.sort(key=lambda stored: stored.last_update_time)
        return ListSessionsResponse.model_construct(sessions=[self._session(stored, []) for stored in found])

    async def find_sessions(
        self, *, app_name: str | None = None, user_id: str | None = None, session_id: str | None = None
    ) -> list[FoundSession]:
        """Return the sessions with these names, `None` for any, without reading what is in them."""
        return [
            FoundSession(*stored.key, stored.last_update_time)
            for (app, user), of_user in list(self._sessions.items())
            if app_name in (None, app) and user_id in (None, user)
            for stored in list(of_user.values())
            if session_id in (None, stored.key[2])
        ]

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Remove a session with its events; nothing happens when there is none with this id."""
        with self._lock:
            stored = self._sessions.get((app_name, user_id), {}).pop(session_id, None)
            if stored is not None:
                stored.is_deleted = True

    async def append_event(self, session: Session, event: Event) -> Event:
        """Add an event to a session and return it; a partial event is returned and not added.

        The event becomes history: it can't be changed any more. Adding the same event again changes nothing.

        Raises:
            SessionNotFoundError: the session isn't stored here, or was deleted.
        """
        if event.partial:
            return event
        temporary = take_temporary(event)
        if self._append(self._stored(session), event, ()):
            show_delta(session, {**thawed(event.actions.state_delta), **temporary})
            show_event(session, event)
        return event

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, keys without their `user:` prefix."""
        return dict(thawed(self._user_states.get((app_name, user_id), {})))

    def open_log(self, session: Any) -> _MemoryLog:
        """Return the log of a session that this service created or returned."""
        return _MemoryLog(self, session, self._stored(session))

    @asynccontextmanager
    async def running(self, session: Any, invocation_id: str | None = None) -> AsyncIterator[None]:
        """Hold a session for one run; other runs of it wait for their turn."""
        async with self._turns.turn(key_of(session)):
            yield

    def _session(self, stored: _Stored, events: list[Event]) -> Session:
        app_name, user_id, _ = stored.key
        state = merge_scopes(
            self._app_states.get(app_name, {}), self._user_states.get((app_name, user_id), {}), stored.state
        )
        return new_session(stored, stored.key, thawed(state), last_update_time=stored.last_update_time, events=events)

    def _stored(self, session: Any) -> _Stored:
        app_name, user_id, session_id = key_of(session)
        stored = self._sessions.get((app_name, user_id), {}).get(session_id)
        handle = handle_of(session)
        if stored is None or (handle is not None and handle is not stored):
            raise SessionNotFoundError(not_found(key_of(session), "in memory"))
        adopt(session, stored)
        return stored

    def _append(self, stored: _Stored, event: Event | None, runs: Sequence[NodeRun]) -> bool:
        """Store an event and records; `False` when the event is stored already."""
        if event is not None:
            event.seal()
        with self._lock:
            if stored.is_deleted:
                raise SessionNotFoundError(not_found(stored.key, "in memory"))
            is_new = event is None or stored.is_new(event)
            if event is not None and is_new and event.actions.rewind_before_invocation_id is not None:
                stored.runs.rewind(event.actions.rewind_before_invocation_id)
            if runs:
                stored.runs.put(runs)
            if event is None or not is_new:
                return is_new
            stored.add(event)
            if event.actions.state_delta:
                app, user, own = split_scopes(event.actions.state_delta)
                stored.state.update(own)
                self._write_shared(stored.key, app, user)
            return True

    def _write_shared(self, key: tuple[str, str, str], app: Mapping[str, Any], user: Mapping[str, Any]) -> None:
        if app:
            self._app_states.setdefault(key[0], {}).update(app)
        if user:
            self._user_states.setdefault(key[:2], {}).update(user)


class _Stored:
    """One stored session; values in it are read-only."""

    def __init__(self, key: tuple[str, str, str], state: dict[str, Any]) -> None:
        self.key = key
        self.state = state
        self.events: list[Event] = []
        self.last_update_time = time.time()
        self.is_deleted = False
        self.runs = RunIndex()
        self._by_id: dict[str, Event] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> _Stored:
        return self

    def is_new(self, event: Event) -> bool:
        """Say whether an event isn't stored yet."""
        known = self._by_id.get(event.id)
        if known is not None and known is not event and known != event:
            raise AlreadyExistsError(event_exists(event.id, self.key))
        return known is None

    def add(self, event: Event) -> None:
        """Add a sealed event."""
        self.events.append(event)
        self._by_id[event.id] = event
        if event.timestamp > self.last_update_time:
            self.last_update_time = event.timestamp

    def load_events(self) -> list[Event]:
        """Return all events; sessions in memory always have theirs."""
        return list(self.events)


class _MemoryLog:
    """The log of one session in memory; see `adk_nb.workflow.ports.RunLog`."""

    def __init__(self, service: InMemorySessionService, session: Any, stored: _Stored) -> None:
        self._service = service
        self._session = session
        self._stored = stored

    async def append(self, event: Event | None, runs: Sequence[NodeRun]) -> None:
        """Store an event and the present form of some records, all or nothing."""
        if event is not None:
            take_temporary(event)
        if self._service._append(self._stored, event, runs) and event is not None:
            show_event(self._session, event)

    async def run_at(self, invocation_id: str, path: str) -> NodeRun | None:
        """Return the record at a path, `None` when nothing ran there."""
        return self._stored.runs.run_at(invocation_id, path)

    async def open_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return the open records, in the order of their first append."""
        return self._stored.runs.open_runs(invocation_id)

    async def latest_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return, for each node directly below `parent`, its record completed last, in the order of completion."""
        return self._stored.runs.latest_runs(invocation_id, parent)

    async def child_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return all records directly below `parent`, in the order of their first append."""
        return self._stored.runs.child_runs(invocation_id, parent)

    async def asking_run(self, interrupt_id: str) -> NodeRun | None:
        """Return the newest record that asked this question, `None` when nobody did."""
        return self._stored.runs.asking_run(interrupt_id)

    async def root_run(self, invocation_id: str | None = None) -> NodeRun | None:
        """Return the root record of an invocation, or of the newest one."""
        return self._stored.runs.root_run(invocation_id)

    async def root_runs(self) -> list[NodeRun]:
        """Return the root record of every invocation, in the order of their first append."""
        return self._stored.runs.root_runs()

    async def all_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return all records of an invocation, in the order of their first append."""
        return self._stored.runs.all_runs(invocation_id)

    async def said(self) -> list[Said]:
        """Return how many events each invocation has and what its model calls used."""
        return said_in(list(self._stored.events))
