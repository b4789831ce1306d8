"""The one connection of a service to its file: short transactions on the event loop that never wait for a lock.

SQLite needs 15 µs for an append and a thread hop costs several times that, so statements run where they are called.
Waiting is what would block: a locked file is asked again later, and the write-ahead log is moved into the file by a
worker thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from adk_nb.errors import SessionBusyError, SessionStoreError
from adk_nb.sessions.sqlite_file import Location, check_tables, store_error
from adk_nb.sessions.sqlite_sharing import Patience, sharing_of
from adk_nb.sessions.sqlite_tables import LAYOUT, bring_up_to_date, layout_of

T = TypeVar("T")
U = TypeVar("U")
_APPENDS_BETWEEN_CHECKPOINTS = 1000  # about 8 MB of log
_PAGES_FOR_EMERGENCY = 20_000  # SQLite's own checkpoint, should the thread's never get through: 80 MB of log


class Connection:
    """Runs functions on an SQLite connection, which is opened when first needed and again after `close`."""

    def __init__(self, location: Location, lock_timeout: float) -> None:
        self._location = location
        self._lock_timeout = lock_timeout
        self._sharing = sharing_of(self.place)
        self._open: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        """Of the file that was opened."""
        self._closer: weakref.finalize | None = None  # type: ignore[type-arg]
        self._is_prepared = False
        """The tables are known to be there, in the present layout."""
        self._since_checkpoint = 0
        self._checkpointer: threading.Thread | None = None

    @property
    def file(self) -> str:
        """How to name the file in a message."""
        return self._location.path or ":memory:"

    @property
    def place(self) -> str | int:
        """What names the file for the whole process."""
        return os.path.realpath(self._location.path) if self._location.path else id(self)

    async def write(
        self, work: Callable[[sqlite3.Connection], T], *, is_one_statement: bool = False, or_in_copy: bool = False
    ) -> T:
        """Run `work` in a transaction: all that it writes is stored, or nothing.

        Args:
            work: Reads and writes.
            is_one_statement: It writes with a single statement, which is a transaction of its own.
            or_in_copy: It writes only for its own reading, so a file that can't be written is copied into memory.

        Raises:
            SessionBusyError: another process held the file for too long; nothing was written.
            SessionStoreError: the file can't be written.
        """
        patience: Patience | None = None
        sharing = self._sharing
        while True:
            progress = sharing.progress
            try:
                with sharing.lock:
                    result = self._written(work, is_one_statement)
                    sharing.progress += 1
                break
            except sqlite3.IntegrityError:
                raise  # a value that is there already: the caller knows what it means
            except sqlite3.Error as error:
                if or_in_copy and _primary_code(error) == sqlite3.SQLITE_READONLY:
                    return self._in_copy(work)
                patience = patience or Patience(sharing, self._lock_timeout)
                pause = self._pause(error, patience, progress)
            await asyncio.sleep(pause)
        self._since_checkpoint += 1
        if self._since_checkpoint >= _APPENDS_BETWEEN_CHECKPOINTS and not sharing.is_checkpointing:
            self._start_checkpoint()
        return result

    async def read(self, work: Callable[[sqlite3.Connection], T], otherwise: U) -> T | U:
        """Return what `work` reads, or `otherwise` when there is no file yet, or not the tables."""
        patience: Patience | None = None
        while True:
            progress = self._sharing.progress
            try:
                return self._read(work, otherwise)
            except sqlite3.Error as error:
                patience = patience or Patience(self._sharing, self._lock_timeout)
                pause = self._pause(error, patience, progress)
            await asyncio.sleep(pause)

    def read_now(self, work: Callable[[sqlite3.Connection], T], otherwise: U) -> T | U:
        """Do what `read` does for callers that can't await; only a file locked for good makes it wait."""
        patience: Patience | None = None
        while True:
            progress = self._sharing.progress
            try:
                return self._read(work, otherwise)
            except sqlite3.Error as error:
                patience = patience or Patience(self._sharing, self._lock_timeout)
                pause = self._pause(error, patience, progress)
            time.sleep(pause)

    def check_in_place(self) -> None:
        """Raise when the file that was opened isn't at its path any more: what goes into it is in no file then.

        It costs a call of the file system, so it is asked when a run begins and rests, not at each append.

        Raises:
            SessionStoreError: the file was deleted, or another one was put in its place.
        """
        if self._identity is not None and _identity_of(self._location.path) != self._identity:
            raise SessionStoreError(
                f"The session file {self.file!r} was deleted or replaced while it was open, so what was stored since "
                f"then is in no file: put it back, or go on with what is there now after close() of the session "
                f"service (in a notebook: after a restart of the kernel), and run again."
            )

    def close(self) -> None:
        """Close the connection; the next use opens it again (sessions in memory are gone then).

        The thread that moves the log has ended then, so that the files beside the file are left alone.
        """
        if self._checkpointer is not None:
            self._checkpointer.join()
        with self._sharing.lock:
            if self._closer is not None:
                self._closer()
            self._open, self._closer, self._is_prepared, self._identity = None, None, False, None

    def _pause(self, error: sqlite3.Error, patience: Patience, progress: int) -> float:
        """Return how long to wait before asking again, or raise what the caller should see."""
        if _primary_code(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise store_error(self._location.path, error) from error
        pause = patience.pause(progress)
        if pause is None:
            raise SessionBusyError(
                f"The session file {self.file!r} has been locked by another program for {self._lock_timeout:g} s, so "
                f"nothing was written: end the transaction there (a database viewer with unsaved edits?) and run again."
            ) from error
        return pause

    def _read(self, work: Callable[[sqlite3.Connection], T], otherwise: U) -> T | U:
        with self._sharing.lock:
            path = self._location.path
            if self._open is None and path is not None and not Path(path).exists():
                return otherwise
            connection = self._connection()
            try:
                if not self._is_prepared and layout_of(connection) not in (None, LAYOUT):
                    return self._read_old(connection, work)
                return work(connection)
            except sqlite3.OperationalError as error:
                if str(error).startswith("no such table"):
                    return otherwise
                raise

    def _read_old(self, connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read a file of an earlier version, which is first brought to the present layout."""
        try:
            self._prepare(connection)
        except sqlite3.OperationalError as error:
            if _primary_code(error) != sqlite3.SQLITE_READONLY:
                raise
            return self._in_copy(work)
        return work(connection)

    def _in_copy(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on a copy of the file in memory, in the present layout."""
        with self._sharing.lock, contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
            self._connection().backup(copy)
            bring_up_to_date(copy)
            return work(copy)

    def _written(self, work: Callable[[sqlite3.Connection], T], is_one_statement: bool) -> T:
        connection = self._connection()
        if not self._is_prepared:
            self._prepare(connection)
        if is_one_statement:
            return work(connection)
        return _transaction(connection, work)

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            path = self._location.path
            if path is not None and not self._location.is_read_only:
                try:
                    Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    raise store_error(path, _cannot_open(error)) from error
            connection = sqlite3.connect(
                self._location.uri(),
                uri=path is not None,
                timeout=0,
                isolation_level=None,  # transactions are begun and ended here, by name
                check_same_thread=False,
                cached_statements=256,
            )
            self._open, self._closer = connection, weakref.finalize(self, connection.close)
            self._identity = _identity_of(path)
            connection.execute("PRAGMA foreign_keys = ON")
        return self._open

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables, or bring those of an earlier layout up to date, once a connection."""
        check_tables(connection, self.file)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_FOR_EMERGENCY}")
        _transaction(connection, bring_up_to_date)
        self._is_prepared = True

    def _start_checkpoint(self) -> None:
        self._since_checkpoint = 0
        if self._location.path is None:
            return
        self._sharing.is_checkpointing = True
        self._checkpointer = threading.Thread(target=self._checkpoint, name="adk_nb checkpoint", daemon=True)
        self._checkpointer.start()

    def _checkpoint(self) -> None:
        """Move the write-ahead log into the file, and let the log begin anew.

        Most of it is copied beside readers and writers; only for the rest writers are kept out, and ask again.
        """
        try:
            # A failure does no harm: the log stays longer, and the next checkpoint takes it along.
            with contextlib.suppress(sqlite3.Error):
                connection = sqlite3.connect(self._location.uri(), uri=True, timeout=0.05)
                try:
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                    connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
                finally:
                    connection.close()
        finally:
            self._sharing.progress += 1
            self._sharing.is_checkpointing = False


def _transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _identity_of(path: str | None) -> tuple[int, int] | None:
    """Return what names the file at a path for the file system; `None` in memory, and where there is no file."""
    try:
        found = None if path is None else os.stat(path)
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _cannot_open(error: OSError) -> sqlite3.Error:
    found = sqlite3.OperationalError(str(error))
    found.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
    return found
