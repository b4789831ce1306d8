"""Finding what a store holds: the session with an id, its runs, and what was written in one of them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from adk_nb.errors import ConfigurationError, InvocationNotFoundError, SessionNotFoundError
from adk_nb.events.event import Event
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.events.record import NodeRun
from adk_nb.runners.records import records_in_events, with_records
from adk_nb.sessions.looking_back import FindsSessions, FoundSession, TellsRuns
from adk_nb.sessions.opened_session import settled
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.ports import RunLog

NO_EVENTS = GetSessionConfig(num_recent_events=0)


@dataclass
class StoredRun:
    """What a store keeps of one run."""

    session: FoundSession
    invocation_id: str
    events: list[Event]
    records: list[NodeRun]
    state: dict[str, Any]
    sessions: Any
    """The store, as what goes on with the run has to use it."""


async def find_sessions(
    service: Any, *, app_name: str | None = None, user_id: str | None = None, session_id: str | None = None
) -> list[FoundSession]:
    """Return the stored sessions with these names, `None` for any, the one updated last first.

    Raises:
        ConfigurationError: the store can only tell the sessions of an app, and none is named.
    """
    if isinstance(service, FindsSessions):
        found = await service.find_sessions(app_name=app_name, user_id=user_id, session_id=session_id)
    elif app_name is None:
        raise ConfigurationError(
            f"{type(service).__name__} lists the sessions of one app at a time, and no app is named: give app=, the "
            f"name of the app or of the root that ran."
        )
    else:
        listed = await settled(service.list_sessions(app_name=app_name, user_id=user_id))
        found = [
            FoundSession(one.app_name, one.user_id, one.id, one.last_update_time)
            for one in listed.sessions
            if session_id in (None, one.id)
        ]
    return sorted(found, key=lambda one: one.last_update_time, reverse=True)


async def root_runs(service: Any, where: FoundSession) -> tuple[list[NodeRun], RunLog]:
    """Return the root records of a session's runs, and the log that tells more of them.

    Of a store of somebody's own that can't list them, the newest one.

    Raises:
        SessionNotFoundError: the session is gone.
    """
    sessions = with_records(service, None)
    _, log = await open_session(sessions, where, NO_EVENTS)
    found = await _root_runs(log)
    if not found and sessions is service and isinstance(log, TellsRuns) and await log.said():
        # The store keeps records, and none of this: google-adk ran it.
        _, log = await open_session(records_in_events(service, None), where, NO_EVENTS)
        found = await _root_runs(log)
    return found, log


async def _root_runs(log: RunLog) -> list[NodeRun]:
    if isinstance(log, TellsRuns):
        return await log.root_runs()
    newest = await log.root_run(None)
    return [] if newest is None else [newest]


async def load_run(
    service: Any, where: FoundSession, root: BaseNode | None = None, invocation_id: str | None = None
) -> StoredRun:
    """Return what is stored of a run.

    Args:
        service: The store.
        where: The session.
        root: The root that ran, which helps to understand events of google-adk.
        invocation_id: Which run; `None` for the newest.
    Raises:
        InvocationNotFoundError: there is no such run in the session.
        SessionNotFoundError: the session is gone.
    """
    opened = await _opened(service, where, root, invocation_id)
    if opened.top is None:
        what = "No run" if invocation_id is None else f"No run {invocation_id!r}"
        raise InvocationNotFoundError(f"{what} is in session {where.id!r}: adk_nb.runs() lists those that are stored.")
    return await opened.run(opened.top)


async def load_newest_runs(service: Any, where: FoundSession, root: BaseNode, count: int) -> list[StoredRun]:
    """Return what is stored of the newest runs of a session, oldest first; of a store that lists none, the last one.

    Raises:
        SessionNotFoundError: the session is gone.
    """
    opened = await _opened(service, where, root, None)
    return [await opened.run(top) for top in (await _root_runs(opened.log))[-count:]]


@dataclass
class _Opened:
    where: FoundSession
    sessions: Any
    session: Any
    log: RunLog
    top: NodeRun | None

    async def run(self, top: NodeRun) -> StoredRun:
        records = await all_runs(self.log, top)
        events = self._events.get(top.invocation_id, [])
        return StoredRun(self.where, top.invocation_id, events, records, dict(self.session.state), self.sessions)

    @functools.cached_property
    def _events(self) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = {}
        for event in self.session.events:
            found.setdefault(event.invocation_id, []).append(event)
        return found


async def _opened(service: Any, where: FoundSession, root: BaseNode | None, invocation_id: str | None) -> _Opened:
    sessions = with_records(service, root)
    session, log = await open_session(sessions, where)
    top = await log.root_run(invocation_id)
    if top is None and session.events and sessions is service:
        # The store keeps records, and none of this: google-adk ran it.
        sessions = records_in_events(service, root)
        session, log = await open_session(sessions, where)
        top = await log.root_run(invocation_id)
    return _Opened(where, sessions, session, log, top)


async def open_session(
    sessions: Any, where: FoundSession, config: GetSessionConfig | None = None
) -> tuple[Any, RunLog]:
    """Return a session and its log.

    Raises:
        SessionNotFoundError: it is gone.
    """
    app_name, user_id, session_id, _ = where
    session = await sessions.get_session(app_name=app_name, user_id=user_id, session_id=session_id, config=config)
    if session is None:
        raise SessionNotFoundError(f"Session {session_id!r} of app {app_name!r} was deleted.")
    log: RunLog = sessions.open_log(session)
    return session, log


async def all_runs(log: RunLog, top: NodeRun) -> list[NodeRun]:
    """Return all records of a run, in the order of their creation."""
    if isinstance(log, TellsRuns):
        return await log.all_runs(top.invocation_id)
    found, todo = [top], [top.path]
    while todo:
        below = await log.child_runs(top.invocation_id, todo.pop())
        found += below
        todo += [run.path for run in below]
    return sorted(found, key=lambda run: run.created_at)
