"""`SqliteSessionService`: sessions in one SQLite file, which google-adk reads and writes too."""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from adk_nb.errors import AlreadyExistsError, SessionNotFoundError
from adk_nb.events.event import Event, new_id
from adk_nb.events.read_only import thawed
from adk_nb.events.state import merge_scopes, split_scopes
from adk_nb.events.stored import event_from_json, pack_each, state_to_json, unpack_each
from adk_nb.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
from adk_nb.sessions.knowledge import Key, load_state, stale
from adk_nb.sessions.looking_back import FoundSession
from adk_nb.sessions.refusals import already_exists, checked_state, not_found, take_temporary
from adk_nb.sessions.session import Session, adopt, handle_of, key_of, new_session, show_delta, show_event
from adk_nb.sessions.sqlite_connection import Connection
from adk_nb.sessions.sqlite_file import check_file, locate
from adk_nb.sessions.sqlite_filing import FILE_AFTER, file_records
from adk_nb.sessions.sqlite_knowledge import Append, FileKnowledge, Moved, Row, steps_of, write_shared_state
from adk_nb.sessions.sqlite_lock import BREAK, SessionLock
from adk_nb.sessions.sqlite_log import SqliteLog
from adk_nb.sessions.turns import Turns

_TURNS = Turns()  # of the whole process: several services may have the same file open


class SqliteSessionService(BaseSessionService):
    """Keep sessions, their state and the records of node runs in an SQLite file.

    Every append is one transaction. Several processes may use one file at once; a session that another process has
    changed must be loaded again before it can be appended to. google-adk's service of the same name may use the file,
    too: its tables `sessions` and `events` are views there. A file that google-adk or an earlier version made is
    brought along when it is first written to, all at once or not at all.

    Args:
        db_path: A file, `:memory:`, or an URL such as `sqlite:///sessions.db`. File and folders are made when
            something is first stored.
        lock_timeout: How long to go on asking, in seconds, while another program holds the file.

    Raises:
        SessionStoreError: the file is there, but isn't a session store; it is left as it is.

    Example:
        >>> import asyncio
        >>> service = SqliteSessionService(":memory:")
        >>> asyncio.run(service.create_session(app_name="app", user_id="ada", session_id="s")).id
        's'
    """

    def __init__(self, db_path: str | os.PathLike[str], *, lock_timeout: float = 2.0) -> None:
        self._location = locate(db_path)
        check_file(self._location)
        self._connection = Connection(self._location, lock_timeout)
        self._known: weakref.WeakValueDictionary[Key, FileKnowledge] = weakref.WeakValueDictionary()
        self._recent: deque[FileKnowledge] = deque(
            maxlen=8
        )  # keeps the events of the sessions in use from being read again

    def __repr__(self) -> str:
        return f"SqliteSessionService({self._location.given!r})"

    @property
    def place(self) -> str:
        """The file, as it was given."""
        return self._location.given

    @property
    def path(self) -> str | None:
        """The file's path, `None` in memory."""
        return self._location.path

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Store a new session and return it; a given id is stripped of blanks around it."""
        app, user, own = split_scopes(checked_state(state or {}))
        session_id = session_id.strip() if session_id else ""
        key = (app_name, user_id, session_id or new_id())
        now = time.time()

        def work(connection: sqlite3.Connection) -> tuple[FileKnowledge, dict[str, Any]]:
            try:
                connection.execute(_CREATE, (*key, state_to_json(pack_each(own)), now, now))
            except sqlite3.IntegrityError:
                raise AlreadyExistsError(already_exists(key)) from None
            write_shared_state(connection.execute, key, app, user, now)
            known = self._knowledge(connection, key, connection.execute(_VERSION, key).fetchone())
            return known, _shared_state(connection, key)

        self._connection.check_in_place()
        known, shared = await self._connection.write(work)
        known.state = pack_each(own)
        return new_session(known, key, {**thawed(own), **shared}, last_update_time=now)

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a stored session, `None` when there is none with this id.

        Its events are read when `session.events` is first used; with a `config`, at once.
        """
        key = (app_name, user_id, session_id)

        def work(connection: sqlite3.Connection) -> Session | None:
            row = _session(connection, key)
            if row is None:
                return None
            known = self._knowledge(connection, key, row[1:])
            known.state = load_state(row[0])
            state = {**unpack_each(known.state), **_shared_state(connection, key)}
            events = None if config is None else _events(connection, key, config)
            return new_session(known, key, state, last_update_time=known.time, events=events)

        return await self._connection.read(work, None)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of an app, or of one of its users, without their events; the oldest update first."""

        def work(connection: sqlite3.Connection) -> list[Session]:
            query, names = (_LIST_ALL, (app_name,)) if user_id is None else (_LIST, (app_name, user_id))
            return [
                self._listed((app_name, *row[:2]), row, connection)
                for row in connection.execute(query, names).fetchall()
            ]

        return ListSessionsResponse.model_construct(sessions=await self._connection.read(work, []))

    async def find_sessions(
        self, *, app_name: str | None = None, user_id: str | None = None, session_id: str | None = None
    ) -> list[FoundSession]:
        """Return the sessions with these names, `None` for any, without reading what is in them."""
        given = {"app_name": app_name, "user_id": user_id, "id": session_id}
        named = {name: value for name, value in given.items() if value is not None}
        query = " AND ".join([_FIND, *(f"{name} = :{name}" for name in named)])

        def work(connection: sqlite3.Connection) -> list[FoundSession]:
            return [FoundSession(*row) for row in connection.execute(query, named)]

        return await self._connection.read(work, [])

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Remove a session with its events; nothing happens when there is none with this id."""
        key = (app_name, user_id, session_id)
        if not await self._connection.read(lambda connection: _session(connection, key), None):
            return
        await self._connection.write(lambda connection: connection.execute(_DELETE, key))
        known = self._known.pop(key, None)
        if known is not None:
            known.is_deleted = True

    async def append_event(self, session: Session, event: Event) -> Event:
        """Add an event to a session and return it; a partial event is returned and not added.

        The event becomes history: it can't be changed any more. Adding the same event again changes nothing.

        Raises:
            SessionNotFoundError: the session isn't in the file, or was deleted.
            StaleSessionError: another process has changed the session since it was loaded.
            SessionBusyError: another program keeps the file locked.
        """
        if event.partial:
            return event
        temporary = take_temporary(event)
        known = self._of(session)
        if await self._append(known, Append(known, event, ())):
            show_delta(session, {**thawed(event.actions.state_delta), **temporary})
            show_event(session, event)
        return event

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, keys without their `user:` prefix."""
        names = (app_name, user_id)
        row = await self._connection.read(lambda connection: connection.execute(_USER_STATE, names).fetchone(), None)
        return unpack_each(load_state(row[0])) if row else {}

    async def close(self) -> None:
        """Close the file; the next use opens it again (sessions in `:memory:` are gone then)."""
        self._connection.close()

    def open_log(self, session: Any) -> SqliteLog:
        """Return the log of a session that this service created or returned."""
        return SqliteLog(session, self._of(session), self._connection, self._append)

    @asynccontextmanager
    async def running(self, session: Any, invocation_id: str | None = None) -> AsyncIterator[None]:
        """Hold a session for one run: other runs of this process wait for their turn, other processes are refused.

        Raises:
            SessionBusyError: another process is running the session.
            SessionStoreError: the file was deleted or replaced while it was open.
        """
        key = key_of(session)
        async with _TURNS.turn((self._connection.place, *key)), SessionLock(self._connection, key, invocation_id):
            yield

    async def break_lock(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Free a session whose run was on another machine that is gone for good, so that it can be run here.

        Locks of processes of this machine that have ended are taken over without it. If the other machine still runs
        the session, its next append is refused as soon as one was made here; what it has stored stays.
        """
        key = (app_name, user_id, session_id)
        if await self._connection.read(lambda connection: _session(connection, key), None):
            await self._connection.write(lambda connection: connection.execute(BREAK, key))

    async def _append(self, known: FileKnowledge, append: Append) -> bool:
        """Store an append; `False` when its event is stored already."""
        is_new = True
        while True:
            known.check(self._connection.file)
            if known.number is None:
                await self._take_number(known)
            if known.attempted is not None:
                await self._explain(known)
            if append.must_be_compared:
                await self._learn_event_ids(known)
            if append.has_known_event:
                append, is_new = await self._connection.read(append.without_event, append), False
            try:
                await self._connection.write(append.write, is_one_statement=append.is_one_statement)
            except (Moved, sqlite3.IntegrityError):
                if not await self._explain(known):
                    raise
            else:
                append.commit()
                break
        if append.is_rest or known.step - known.filed >= FILE_AFTER:
            await self._file(known)
        return is_new

    async def _learn_event_ids(self, known: FileKnowledge) -> None:
        def work(connection: sqlite3.Connection) -> list[Row]:
            return connection.execute(_EVENT_IDS, steps_of(known.number)).fetchall()

        known.event_ids.update(row[0] for row in await self._connection.read(work, []))
        known.knows_all_ids = True

    async def _file(self, known: FileKnowledge) -> None:
        number = known.number
        assert number is not None  # something was appended

        def work(connection: sqlite3.Connection) -> None:
            file_records(connection, number)

        await self._connection.write(work)
        known.filed = known.step
        self._connection.check_in_place()

    async def _take_number(self, known: FileKnowledge) -> None:
        """Learn the number of a session of which only the time of its last update is known.

        So it is with listed sessions, and with a file that only google-adk has written to: it gets our layout now.
        """
        found = await self._connection.write(lambda connection: connection.execute(_VERSION, known.key).fetchone())
        if found is None:
            known.is_deleted = True
        elif found[2] != known.time:
            known.is_stale = True
        else:
            known.take_version(found)
        known.check(self._connection.file)

    async def _explain(self, known: FileKnowledge) -> bool:
        """Say why an append failed, if another process is the reason.

        `True` when its place was taken by an append of our own, broken off after its commit.
        """

        def work(connection: sqlite3.Connection) -> tuple[Row | None, bool]:
            version = connection.execute(_VERSION, known.key).fetchone()
            return version, version is not None and _is_own(connection, known, version)

        version, is_own = await self._connection.read(work, (None, False))
        if version is None or version[0] != known.number:
            known.is_deleted = True
            raise SessionNotFoundError(not_found(known.key, f"in {self._connection.file}"))
        if is_own:
            known.take_version(version)
            known.forget_details()
        elif version[1] != known.step:
            known.is_stale = True
            raise stale(known.key)
        known.attempted = None
        return is_own

    def _knowledge(self, connection: sqlite3.Connection, key: Key, version: Row) -> FileKnowledge:
        """Return what is known of a session whose version has just been read."""
        known = self._known.get(key)
        if known is not None and known.attempted is not None and _is_own(connection, known, version):
            known.take_version(version)
            known.forget_details()
        if known is not None and (known.version != version[:3] or known.is_stale):
            known.is_stale = True
            known = None
        if known is None:
            known = FileKnowledge(key, self._read_events)
        known.take_version(version)
        known.attempted = None
        return self._remember(known)

    def _remember(self, known: FileKnowledge) -> FileKnowledge:
        self._known[known.key] = known
        if known not in self._recent:
            self._recent.append(known)
        return known

    def _of(self, session: Any) -> FileKnowledge:
        """Return what is known of a session object, one that user code built included."""
        key = key_of(session)
        known = handle_of(session)
        if not isinstance(known, FileKnowledge):

            def work(connection: sqlite3.Connection) -> FileKnowledge | None:
                row = _session(connection, key)
                return None if row is None else self._knowledge(connection, key, row[1:])

            known = self._connection.read_now(work, None)
            if known is None:
                raise SessionNotFoundError(not_found(key, f"in {self._connection.file}"))
            adopt(session, known)
        known.check(self._connection.file)
        return known

    def _read_events(self, key: Key) -> list[Event]:
        return self._connection.read_now(lambda connection: _events(connection, key, None), [])

    def _listed(self, key: Key, row: Any, connection: sqlite3.Connection) -> Session:
        known = self._known.get(key)
        if known is None:
            known = FileKnowledge(key, self._read_events)
            known.time = row[3]
        state = {**unpack_each(load_state(row[2])), **_shared_state(connection, key)}
        return new_session(known, key, state, last_update_time=row[3], events=[])


def _is_own(connection: sqlite3.Connection, known: FileKnowledge, version: Row) -> bool:
    """Say whether the newest step is that of our append which was begun last, and perhaps broken off."""
    is_next = version[1] == known.step + 1
    return is_next and bool(connection.execute(_STEP, (version[1],)).fetchone() == known.attempted)


def _session(connection: sqlite3.Connection, key: Key) -> Row | None:
    """Return a session's state and version, also from a file in which only google-adk has written."""
    try:
        row: Row | None = connection.execute(_SESSION, key).fetchone()
    except sqlite3.OperationalError as error:
        if not str(error).startswith("no such table"):
            raise
        found = connection.execute(_ADK_SESSION, key).fetchone()
        row = None if found is None else (found[0], None, 0, found[1], 0)
    return row


def _shared_state(connection: sqlite3.Connection, key: Key) -> dict[str, Any]:
    """Return the state of a session's app and user, with prefixes."""
    app = connection.execute(_APP_STATE, key[:1]).fetchone()
    user = connection.execute(_USER_STATE, key[:2]).fetchone()
    if app is None and user is None:
        return {}
    return merge_scopes(
        unpack_each(load_state(app[0])) if app else {}, unpack_each(load_state(user[0])) if user else {}, {}
    )


def _events(connection: sqlite3.Connection, key: Key, config: GetSessionConfig | None) -> list[Event]:
    """Return a session's events in the order of their appends, sealed."""
    since = config.after_timestamp if config is not None else None
    count = config.num_recent_events if config is not None else None
    rows = connection.execute(_EVENTS, (*key, since, since, -1 if count is None else count))
    events = [event_from_json(text) for (text,) in rows]
    for event in events:
        event.seal()
    events.reverse()
    return events


_ONE = "app_name = ? AND user_id = ? AND id = ?"
_CREATE = (
    "INSERT INTO adk_nb_sessions (app_name, user_id, id, state, create_time, update_time) VALUES (?, ?, ?, ?, ?, ?)"
)
_NEWEST = (
    "FROM adk_nb_sessions AS session JOIN adk_nb_steps AS newest ON newest.number = ("
    "SELECT max(number) FROM adk_nb_steps AS step WHERE step.number < (session.number + 1) << 32) "
    f"WHERE {_ONE}"
)
_NUMBERS = (
    "session.number, newest.number, max(session.update_time, newest.time), max(session.filed, session.number << 32)"
)
_VERSION = f"SELECT {_NUMBERS} {_NEWEST}"
_SESSION = f"SELECT session.state, {_NUMBERS} {_NEWEST}"
_ADK_SESSION = f"SELECT state, update_time FROM sessions WHERE {_ONE}"
_STEP = "SELECT number, time, event_id, timestamp, event_data, records FROM adk_nb_steps WHERE number = ?"
_EVENT_IDS = "SELECT event_id FROM adk_nb_steps WHERE number BETWEEN ? AND ? AND event_id IS NOT NULL"
_DELETE = f"DELETE FROM adk_nb_sessions WHERE {_ONE}"
_FIND = "SELECT app_name, user_id, id, update_time FROM sessions WHERE TRUE"
_COLUMNS = "SELECT user_id, id, state, update_time FROM sessions"
_LIST_ALL = f"{_COLUMNS} WHERE app_name = ? ORDER BY update_time, rowid"
_LIST = f"{_COLUMNS} WHERE app_name = ? AND user_id = ? ORDER BY update_time, rowid"
_APP_STATE = "SELECT state FROM app_states WHERE app_name = ?"
_USER_STATE = "SELECT state FROM user_states WHERE app_name = ? AND user_id = ?"
_EVENTS = (
    "SELECT event_data FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? "
    "AND (? IS NULL OR timestamp >= ?) ORDER BY rowid DESC LIMIT ?"
)
