"""`PostgresSessionService`: sessions in a PostgreSQL database, for several machines at once."""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from adk_nb.errors import AlreadyExistsError, SessionBusyError, SessionNotFoundError
from adk_nb.events.event import Event, new_id
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.events.read_only import thawed
from adk_nb.events.state import merge_scopes, split_scopes
from adk_nb.events.stored import event_from_json, pack_each, state_to_json, unpack_each
from adk_nb.sessions import postgres_tables as sql
from adk_nb.sessions.base_session_service import BaseSessionService, ListSessionsResponse
from adk_nb.sessions.knowledge import Key, Knowledge, load_state, stale
from adk_nb.sessions.looking_back import FoundSession
from adk_nb.sessions.postgres_append import Append, Moved, write_shared_state
from adk_nb.sessions.postgres_connection import Database, rows_of
from adk_nb.sessions.postgres_log import PostgresLog
from adk_nb.sessions.processes import this_process
from adk_nb.sessions.refusals import already_exists, checked_state, event_exists, is_busy, not_found, take_temporary
from adk_nb.sessions.session import Session, adopt, handle_of, key_of, new_session, show_delta, show_event
from adk_nb.sessions.turns import Turns

_TURNS = Turns()  # of the whole process: several services may use the same database


class PostgresSessionService(BaseSessionService):
    """What `DatabaseSessionService` does with the address of a PostgreSQL database; see there."""

    def __init__(self, db_url: str, options: dict[str, Any]) -> None:
        self._database = Database(db_url, options)
        self.place = self._database.place
        """How to name the database in a message, without its password."""
        self._known: weakref.WeakValueDictionary[Key, Knowledge] = weakref.WeakValueDictionary()
        self._recent: deque[Knowledge] = deque(maxlen=8)  # keeps events of sessions in use from being read again

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Store a new session and return it; a given id is stripped of blanks around it."""
        app, user, own = split_scopes(checked_state(state or {}))
        session_id = session_id.strip() if session_id else ""
        key = (app_name, user_id, session_id or new_id())
        values = {**_names(key), "state": state_to_json(pack_each(own)), "now": time.time()}

        async def work(connection: AsyncConnection) -> _Found:
            if not await rows_of(connection, sql.CREATE, values):
                raise AlreadyExistsError(already_exists(key))
            await write_shared_state(connection, key, app, user)
            return _found((await rows_of(connection, sql.SESSION, _names(key)))[0])

        found = await self._database.unbroken(self._database.transaction(work))
        known = self._knowledge(key, found)
        known.events = []
        return new_session(known, key, found.whole_state(), last_update_time=found.time, events=[])

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a stored session, `None` when there is none with this id.

        Of a session that this process has loaded before, only new events are read.
        """
        key = (app_name, user_id, session_id)
        row = await self._database.one(sql.SESSION, _names(key))
        if row is None:
            return None
        found = _found(row)
        known = self._knowledge(key, found)
        events = await (self._all_events(known) if config is None else self._some_events(known, config))
        return new_session(known, key, found.whole_state(), last_update_time=found.time, events=events)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of an app, or of one of its users, without their events; the oldest update first."""
        rows = await self._database.all(sql.LIST, {"app_name": app_name, "user_id": user_id})
        sessions = []
        for row in rows:
            found, key = _found(row), (app_name, row[7], row[8])
            known = self._known.get(key) or _knowledge_of(key, found)
            sessions.append(new_session(known, key, found.whole_state(), last_update_time=found.time, events=[]))
        return ListSessionsResponse.model_construct(sessions=sessions)

    async def find_sessions(
        self, *, app_name: str | None = None, user_id: str | None = None, session_id: str | None = None
    ) -> list[FoundSession]:
        """Return the sessions with these names, `None` for any, without reading what is in them."""
        values = {"app_name": app_name, "user_id": user_id, "id": session_id}
        return [FoundSession(*row) for row in await self._database.all(sql.FIND, values)]

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Remove a session with its events; nothing happens when there is none with this id."""
        key = (app_name, user_id, session_id)
        await self._database.unbroken(self._database.all(sql.DELETE, _names(key)))
        known = self._known.pop(key, None)
        if known is not None:
            known.is_deleted = True

    async def append_event(self, session: Session, event: Event) -> Event:
        """Add an event to a session and return it; a partial event is returned and not added.

        The event becomes history: it can't be changed any more. Adding the same event again changes nothing.

        Raises:
            SessionNotFoundError: the session isn't in the database, or was deleted.
            StaleSessionError: another process has changed the session since it was loaded.
        """
        if event.partial:
            return event
        temporary = take_temporary(event)
        append = Append(await self._of(session), event, ())

        async def work() -> None:
            if await self._append(append):
                show_delta(session, {**thawed(event.actions.state_delta), **temporary})
                show_event(session, event)

        await self._database.unbroken(work())
        return event

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, keys without their `user:` prefix."""
        row = await self._database.one(sql.USER_STATE, {"app_name": app_name, "user_id": user_id})
        return {} if row is None else unpack_each(load_state(row[0]))

    async def close(self) -> None:
        """Close the connections that this event loop has opened; the next use opens new ones."""
        await self._database.close()

    def engine_for_reading(self) -> AsyncEngine:
        """Return a new engine for whoever reads the tables and disposes of it."""
        return self._database.engine_for_reading()

    def open_log(self, session: Any) -> PostgresLog:
        """Return the log of a session that this service created or returned."""
        known = handle_of(session)
        if not isinstance(known, Knowledge):
            raise SessionNotFoundError(not_found(key_of(session), "opened here"))
        known.check(self.place)
        return PostgresLog(session, known, self._database, self._append)

    @asynccontextmanager
    async def running(self, session: Any, invocation_id: str | None = None) -> AsyncIterator[None]:
        """Hold a session for one run: other runs of this process wait for their turn, other processes are refused.

        The server gives the session free when this process is gone, wherever it ran.

        Raises:
            SessionBusyError: another process is running the session.
        """
        key = key_of(session)
        async with _TURNS.turn((self.place, *key)):
            row = await self._database.one(sql.VERSION, _names(key))
            if row is None:
                raise SessionNotFoundError(not_found(key, f"in {self.place}"))
            values = {"session": row[0]}
            if not await self._database.take_lock(sql.TAKE_LOCK, values):
                holder = await self._database.one(sql.HOLDER, values)
                raise SessionBusyError(is_busy(key, *(holder or ("another machine", 0, None, time.time()))))
            try:
                host, pid, _ = this_process()
                about = {"host": host, "pid": pid, "invocation_id": invocation_id, "since": time.time()}
                await self._database.all(sql.PUT_HOLDER, {**values, **about})
                yield
            finally:
                await self._database.give_lock(sql.GIVE_LOCK, values)

    async def _append(self, append: Append) -> bool:
        """Store an append, after those that were begun before; `False` when its event is stored already."""
        known, is_new = append.known, True
        async with _TURNS.turn(("append", self.place, *known.key)):
            while True:
                known.check(self.place)
                if known.attempted is not None:
                    await self._explain(known)
                try:
                    await append.write(self._database)
                except Moved:
                    if not await self._explain(known):
                        raise stale(known.key) from None
                except IntegrityError:
                    await self._compare(append)
                    append.drop_event()
                    is_new = False
                else:
                    append.commit()
                    return is_new

    async def _compare(self, append: Append) -> None:
        """Refuse an event whose id is another event's."""
        known, event = append.known, append.event
        assert event is not None, "only an event can be stored twice"
        row = await self._database.one(sql.EVENT, {"session": known.number, "id": event.id})
        if row is None or event_from_json(row[0]) != event:
            raise AlreadyExistsError(event_exists(event.id, known.key))

    async def _explain(self, known: Knowledge) -> bool:
        """Say why an append failed, if another process is the reason.

        `True` when its place was taken by an append of our own, broken off after its commit.
        """
        row = await self._database.one(sql.VERSION, _names(known.key))
        if row is None or row[0] != known.number:
            known.is_deleted = True
            raise SessionNotFoundError(not_found(known.key, f"in {self.place}"))
        is_own = bool(row[1] == known.step + 1 and row[3] == known.attempted)
        if is_own:
            known.step, known.time = row[1], row[2]
            known.forget_details()
        elif row[1] != known.step:
            known.is_stale = True
            raise stale(known.key)
        known.attempted = None
        return is_own

    def _knowledge(self, key: Key, found: _Found) -> Knowledge:
        """Return what is known of a session whose version has just been read."""
        known = self._known.get(key)
        if known is not None:
            if known.attempted is not None and found.step == known.step + 1 and found.writer == known.attempted:
                known.step, known.time, known.attempted = found.step, found.time, None
                known.forget_details()
            if known.is_stale or (known.number, known.step) != (found.number, found.step):
                earlier, known = known, None
                earlier.is_stale = True
        if known is None:
            known = _knowledge_of(key, found)
        known.state = load_state(found.state)
        self._known[key] = known
        if known not in self._recent:
            self._recent.append(known)
        return known

    async def _of(self, session: Any) -> Knowledge:
        """Return what is known of a session object, one that user code built included."""
        known = handle_of(session)
        if not isinstance(known, Knowledge):
            key = key_of(session)
            row = await self._database.one(sql.SESSION, _names(key))
            if row is None:
                raise SessionNotFoundError(not_found(key, f"in {self.place}"))
            known = self._knowledge(key, _found(row))
            adopt(session, known)
        known.check(self.place)
        return known

    async def _all_events(self, known: Knowledge) -> list[Event]:
        if known.events is None:
            values = {"session": known.number, "after": -1, "step": known.step}
            known.events = _events(await self._database.all(sql.EVENTS_AFTER, values))
        return list(known.events)

    async def _some_events(self, known: Knowledge, config: GetSessionConfig) -> list[Event]:
        values = {"session": known.number, "step": known.step, "since": config.after_timestamp}
        rows = await self._database.all(sql.EVENTS, {**values, "count": config.num_recent_events})
        return _events(reversed(rows))


class _Found(NamedTuple):
    """A session as it stands in the database."""

    number: int
    step: int
    time: float
    writer: str | None
    state: str
    app_state: str | None
    user_state: str | None

    def whole_state(self) -> dict[str, Any]:
        """Return the state with that of app and user, for a session to own."""
        app, user = (unpack_each(load_state(text or "{}")) for text in (self.app_state, self.user_state))
        return merge_scopes(app, user, unpack_each(load_state(self.state)))


def _found(row: Any) -> _Found:
    return _Found(*row[:7])


def _knowledge_of(key: Key, found: _Found) -> Knowledge:
    known = Knowledge(key)
    known.number, known.step, known.time = found.number, found.step, found.time
    return known


def _names(key: Key) -> dict[str, Any]:
    return dict(zip(("app_name", "user_id", "id"), key, strict=True))


def _events(rows: Any) -> list[Event]:
    events = [event_from_json(text) for (text,) in rows]
    for event in events:
        event.seal()
    return events
