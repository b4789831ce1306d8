"""The connections of a service to its PostgreSQL server: short transactions, and one sentence for what goes wrong."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, DisconnectionError, IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from adk_nb.errors import SessionStoreError
from adk_nb.sessions.opened_session import unbroken
from adk_nb.sessions.postgres_tables import LAYOUT, TABLES

T = TypeVar("T")
Rows = Sequence[Any]
Values = dict[str, Any]
_IS_THERE = "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'adk_nb_about' AND pg_table_is_visible(oid))"
"""Not `to_regclass`: it looks in a cache, which still says no when another process has just made the tables."""
_DRIVERS = ("postgresql", "postgres", "postgresql+asyncpg")


class Database:
    """A PostgreSQL database, with connections for each event loop that uses it.

    Args:
        given: Its address, `postgresql://user:password@host/name`.
        options: Further arguments of SQLAlchemy's `create_async_engine`.

    Raises:
        SessionStoreError: it isn't the address of a PostgreSQL database.
    """

    def __init__(self, given: str, options: dict[str, Any]) -> None:
        self._url = _url_of(given)
        self._options = options
        self._pools: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool] = weakref.WeakKeyDictionary()
        self._is_prepared = False
        self.place = self._url.set(drivername="postgresql").render_as_string(hide_password=True)
        """How to name the database in a message, without its password."""

    async def one(self, statement: str, values: Values) -> Any:
        """Execute one statement, which is a transaction of its own; return its first row, `None` without one."""
        rows = await self.all(statement, values)
        return rows[0] if rows else None

    async def all(self, statement: str, values: Values) -> Rows:
        """Execute one statement, which is a transaction of its own, and return its rows."""

        async def work(connection: AsyncConnection) -> Rows:
            return await rows_of(connection, statement, values)

        return await self._do(work, is_transaction=False)

    async def transaction(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Do `work` in a transaction: all that it writes is stored, or nothing."""
        return await self._do(work, is_transaction=True)

    async def take_lock(self, statement: str, values: Values) -> bool:
        """Take a lock that lasts until it is given back or this process is gone; `False` when another one has it."""
        return bool(await self.unbroken(self._said(self._pool().locker.ask(statement, values))))

    async def give_lock(self, statement: str, values: Values) -> None:
        """Give a lock back."""
        await self.unbroken(self._said(self._pool().locker.ask(statement, values)))

    async def unbroken(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something to its end, also when the caller is cancelled meanwhile; `close` waits for it."""
        return await unbroken(work, self._pool().at_work)

    async def close(self) -> None:
        """Close the connections of the present event loop, once all is written; the next use opens new ones."""
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is not None:
            while pool.at_work:
                await asyncio.wait(pool.at_work)
            self._pools.pop(loop, None)
            await pool.locker.close()
            await pool.engine.dispose()

    def engine_for_reading(self) -> AsyncEngine:
        """Return a new engine for whoever reads the tables and disposes of it; nothing is prepared for it."""
        return create_async_engine(self._url, **self._options)

    async def _do(self, work: Callable[[AsyncConnection], Awaitable[T]], is_transaction: bool) -> T:
        async def steps() -> T:
            pool = self._pool()
            if not self._is_prepared:
                async with pool.transactions.begin() as connection:
                    await self._prepare(connection)
                self._is_prepared = True
            if is_transaction:
                async with pool.transactions.begin() as connection:
                    return await work(connection)
            async with pool.engine.connect() as connection:
                return await work(connection)

        return await self._said(steps())

    async def _said(self, steps: Awaitable[T]) -> T:
        """Do something; what goes wrong is said in one sentence."""
        try:
            return await steps
        except IntegrityError:
            raise  # a value that is there already: the caller knows what it means
        except (SQLAlchemyError, OSError) as error:
            raise self._refusal(error) from error

    def _pool(self) -> _Pool:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            pool = self._pools[loop] = _Pool(self._url, self._options)
        return pool

    async def _prepare(self, connection: AsyncConnection) -> None:
        """Make the tables, once a service; of several processes that want to, one does."""
        if not (await rows_of(connection, _IS_THERE, {}))[0][0]:
            await rows_of(connection, "SELECT pg_advisory_xact_lock(hashtext('adk_nb tables'))", {})
            if not (await rows_of(connection, _IS_THERE, {}))[0][0]:
                for statement in TABLES:
                    await rows_of(connection, statement, {})
        layout = (await rows_of(connection, "SELECT value FROM adk_nb_about WHERE name = 'layout'", {}))[0][0]
        if layout != LAYOUT:
            raise SessionStoreError(
                f"Sessions can't be kept in {self.place!r}: it has layout {layout}, from a later adk_nb (this one "
                f"writes {LAYOUT}). Upgrade adk_nb."
            )

    def _refusal(self, error: BaseException) -> SessionStoreError:
        cause = getattr(error, "orig", None) or error
        found = str(cause).strip().partition("\n")[0].partition(">: ")
        said = found[2] or found[0] or type(cause).__name__
        return SessionStoreError(
            f"Sessions can't be kept in {self.place!r}: {said.rstrip('.')}. Check that the server runs, that the "
            f"address is right and that its user may make and write tables."
        )


class _Pool:
    """The connections of one event loop."""

    def __init__(self, url: sa.URL, options: dict[str, Any]) -> None:
        self.engine = create_async_engine(url, **{"isolation_level": "AUTOCOMMIT", **options})
        sa.event.listen(self.engine.sync_engine, "checkout", _replace_closed)
        self.transactions = self.engine.execution_options(isolation_level="READ COMMITTED")
        self.locker = _Locker(self.engine)
        self.at_work: set[asyncio.Task[Any]] = set()
        """What is done to its end, whatever becomes of who asked for it."""


class _Locker:
    """The one connection that holds the locks of an event loop: the server gives them back when it ends."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._connection: AsyncConnection | None = None
        self._lock = asyncio.Lock()

    async def ask(self, statement: str, values: Values) -> Any:
        async with self._lock:
            if self._connection is not None and await _is_closed(self._connection):
                await self.close()
            if self._connection is None:
                self._connection = await self._engine.connect()
            try:
                rows = await rows_of(self._connection, statement, values)
            except DBAPIError:
                await self.close()
                raise
            return rows[0][0]

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # Back in the pool it would keep its locks.
            await connection.invalidate()
            await connection.close()


def _replace_closed(connection: Any, record: Any, proxy: Any) -> None:
    """Have the pool open another connection for one that the server has closed, as in a restart.

    The driver has noticed it by itself, so this needs no way to the server.
    """
    if connection.driver_connection.is_closed():
        raise DisconnectionError


async def _is_closed(connection: AsyncConnection) -> bool:
    """Say whether the server has closed a connection."""
    theirs = await connection.get_raw_connection()
    return theirs.driver_connection is None or bool(theirs.driver_connection.is_closed())


async def rows_of(connection: AsyncConnection, statement: str, values: Values) -> Rows:
    """Execute a statement on a connection, and return its rows."""
    result = await connection.execute(_text(statement), values)
    return result.all() if result.returns_rows else []


_TEXTS: dict[str, sa.TextClause] = {}


def _text(statement: str) -> sa.TextClause:
    found = _TEXTS.get(statement)
    if found is None:
        found = _TEXTS[statement] = sa.text(statement)
    return found


def _url_of(given: str) -> sa.URL:
    try:
        url = sa.make_url(given)
    except SQLAlchemyError:
        raise SessionStoreError(
            "DatabaseSessionService was given an address that can't be read: give one such as "
            "'postgresql://user:password@host/database', or 'sqlite:///sessions.db' for a file."
        ) from None
    if url.drivername not in _DRIVERS:
        raise SessionStoreError(
            f"DatabaseSessionService was given {url.drivername}://…: it keeps sessions in PostgreSQL, through asyncpg. "
            f"Give 'postgresql://user:password@host/database', or 'sqlite:///sessions.db' for a file."
        )
    query = dict(url.query)
    if "sslmode" in query:  # the name that other PostgreSQL clients give it
        query["ssl"] = query.pop("sslmode")
    return url.set(drivername="postgresql+asyncpg", query=query)
