"""Sessions in PostgreSQL databases of adk_nb and of google-adk, read in read-only transactions."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from adk_nb.errors import ConfigurationError, SessionStoreError
from adk_nb.events.stored import event_from_json, run_from_json, unpack_each
from adk_nb.frames.own_loop import OwnLoop
from adk_nb.frames.stored_session import StoredSession, Where, shown
from adk_nb.workflow.replay import replay

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

PAGE = 1_000
"""Rows held at once."""


def is_address(source: str) -> bool:
    """Say whether a text is the address of a PostgreSQL database.

    Example:
        >>> is_address("postgresql+asyncpg://ada@localhost/shop"), is_address("shop.db")
        (True, False)
    """
    return source.startswith(("postgresql://", "postgresql+asyncpg://", "postgres://"))


def engine_of(address: str) -> AsyncEngine:
    """Return an engine for a PostgreSQL database.

    Raises:
        SessionStoreError: the address can't be read.
        ConfigurationError: the extra isn't installed.
    """
    if any(importlib.util.find_spec(name) is None for name in ("sqlalchemy", "asyncpg")):
        raise ConfigurationError("Frames of a PostgreSQL database need an extra: run pip install 'adk-nb[postgres]'.")
    from sqlalchemy import exc, make_url  # the extra, which takes a while to load
    from sqlalchemy.ext.asyncio import create_async_engine  # as above

    try:
        url = make_url(address)
    except exc.ArgumentError:
        raise SessionStoreError(
            "Frames were asked of an address that can't be read: give one such as 'postgresql://user@host/database'."
        ) from None
    query = {"ssl" if name == "sslmode" else name: value for name, value in url.query.items()}
    return create_async_engine(url.set(drivername="postgresql+asyncpg", query=query))


def sessions_in(make_engine: Callable[[], AsyncEngine], wanted: Where) -> Iterator[StoredSession]:
    """Give the sessions in a database, the one updated longest ago first; each is readable until the next is asked for.

    Args:
        make_engine: Makes the engine to read with; it is disposed of at the end.
        wanted: Which sessions.

    Raises:
        SessionStoreError: it can't be reached, or holds no sessions.
    """
    with OwnLoop() as loop:
        reader = _Reader(loop, make_engine())
        try:
            tables = reader.tables()
            for row in list(reader.rows(tables.sessions, {})):
                times = _epoch(row[4]), _epoch(row[5])
                if wanted.wants_session(row[0], row[1], row[2], times[1]):
                    yield _session(reader, tables, row, times)
        finally:
            reader.close()


def _session(reader: _Reader, tables: _Tables, row: Any, times: tuple[float, float]) -> StoredSession:
    key = {"app": row[0], "user": row[1], "id": row[2]}

    def texts(statement: str) -> Iterator[str]:
        return (one[0] for one in reader.rows(statement, key))

    state = _state(row[3])
    for scope, statement, names in (
        ("app:", tables.app_state, ("app",)),
        ("user:", tables.user_state, ("app", "user")),
    ):
        for shared in reader.rows(statement, {name: key[name] for name in names}):
            state |= {f"{scope}{name}": value for name, value in _state(shared[0]).items()}
    records = tables.records
    return StoredSession(
        app=row[0],
        user=row[1],
        id=row[2],
        state=state,
        created_at=times[0],
        updated_at=times[1],
        read_events=lambda: shown(map(event_from_json, texts(tables.events))),
        read_records=(lambda: replay(map(event_from_json, texts(tables.events))))
        if records is None
        else (lambda: map(run_from_json, texts(records))),
    )


class _Reader:
    def __init__(self, loop: OwnLoop, engine: AsyncEngine) -> None:
        self._loop = loop
        self.engine = engine
        self._reading = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._reading_from: dict[int, Any] = {}

    def rows(self, statement: str, values: dict[str, Any]) -> Iterator[Any]:
        """Give the rows of a query, a page at a time, as they were when the first was read."""
        from sqlalchemy import exc, text  # the extra, which is there when an engine is

        async def pages() -> Any:
            async with self._reading.connect() as connection:
                found = await connection.stream(text(statement), values)
                async for page in found.partitions(PAGE):
                    yield page

        left = pages()
        self._reading_from[id(left)] = left
        try:
            while (page := self._loop.run(_next(left))) is not None:
                yield from page
        except (exc.SQLAlchemyError, OSError) as error:
            cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
            place = self.engine.url.set(drivername="postgresql").render_as_string(hide_password=True)
            raise SessionStoreError(
                f"Sessions in {place!r} can't be read: {cause.rstrip('.')}. Check that the server runs, that the "
                f"address is right and that its user may read the tables."
            ) from error
        finally:
            if self._reading_from.pop(id(left), None) is not None:
                self._loop.run(_closed(left))

    def close(self) -> None:
        """End what is still read from and the connections; who goes on reading gets nothing more."""
        while self._reading_from:
            self._loop.run(_closed(self._reading_from.popitem()[1]))
        self._loop.run(self.engine.dispose())

    def tables(self) -> _Tables:
        """Return how this database is read.

        Raises:
            SessionStoreError: it has no sessions, or those of google-adk 1.x.
        """
        found = {(row[0], row[1]) for row in self.rows(_COLUMNS, {})}
        if ("adk_nb_events", "event_data") in found:
            return _OURS
        if ("events", "event_data") in found and ("sessions", "app_name") in found:
            return _THEIRS
        place = self.engine.url.set(drivername="postgresql").render_as_string(hide_password=True)
        if ("events", "actions") in found:
            raise SessionStoreError(
                f"{place!r} has the layout of google-adk 1.x, whose events are in columns: migrate a copy of it with "
                f"google-adk and give that."
            )
        raise SessionStoreError(f"{place!r} holds no sessions: give the address of a session service's database.")


async def _next(pages: Any) -> Any:
    return await anext(pages, None)


async def _closed(pages: Any) -> None:
    async with aclosing(pages):
        pass


@dataclass(frozen=True, slots=True)
class _Tables:
    """The queries that read one layout."""

    sessions: str
    app_state: str
    user_state: str
    events: str
    records: str | None


_COLUMNS = """
SELECT relname, attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relname IN ('adk_nb_events', 'events', 'sessions') AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    AND pg_table_is_visible(pg_class.oid)
"""
_SESSIONS = """
SELECT app_name, user_id, id, state::text, create_time, update_time FROM {} ORDER BY update_time
"""
_OF_SESSION = "session = (SELECT number FROM adk_nb_sessions WHERE app_name = :app AND user_id = :user AND id = :id)"
_OURS = _Tables(
    sessions=_SESSIONS.format("adk_nb_sessions"),
    app_state="SELECT state::text FROM adk_nb_app_states WHERE app_name = :app",
    user_state="SELECT state::text FROM adk_nb_user_states WHERE app_name = :app AND user_id = :user",
    events=f"SELECT event_data::text FROM adk_nb_events WHERE {_OF_SESSION} ORDER BY step",
    records=f"SELECT record::text FROM adk_nb_runs WHERE {_OF_SESSION} ORDER BY number",
)
_THEIRS = _Tables(
    sessions=_SESSIONS.format("sessions"),
    app_state="SELECT state::text FROM app_states WHERE app_name = :app",
    user_state="SELECT state::text FROM user_states WHERE app_name = :app AND user_id = :user",
    # Of events of the same microsecond, the one that was written first: rows lie in the order in which they came.
    events=(
        "SELECT event_data::text FROM events WHERE app_name = :app AND user_id = :user AND session_id = :id "
        "ORDER BY timestamp, ctid"
    ),
    records=None,
)


def _state(text: str | None) -> dict[str, Any]:
    return unpack_each(from_json(text)) if text else {}


def _epoch(moment: Any) -> float:
    """Return a stored time as seconds since the epoch; google-adk stores UTC without saying so."""
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(moment)
