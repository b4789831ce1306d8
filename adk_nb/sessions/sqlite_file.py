"""Where a session file is, what it holds, and why another file is refused; nothing here writes to it."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from adk_nb.errors import SessionStoreError

ADK_TABLES = """
CREATE TABLE IF NOT EXISTS app_states (app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL);
CREATE TABLE IF NOT EXISTS user_states (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL, update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id));
CREATE TABLE IF NOT EXISTS sessions (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL,
    state TEXT NOT NULL, create_time REAL NOT NULL, update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id, id));
CREATE TABLE IF NOT EXISTS events (
    id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
    invocation_id TEXT NOT NULL, timestamp REAL NOT NULL, event_data TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id, id),
    FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
"""
"""google-adk's own tables: both programs read and write them."""

OWN_TABLES = """
CREATE TABLE IF NOT EXISTS adk_nb_about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT OR IGNORE INTO adk_nb_about VALUES ('layout', '1');
CREATE TABLE IF NOT EXISTS adk_nb_invocations (
    number INTEGER PRIMARY KEY,
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, invocation_id TEXT NOT NULL,
    UNIQUE (app_name, user_id, session_id, invocation_id),
    FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS adk_nb_runs (
    number INTEGER PRIMARY KEY,
    invocation INTEGER NOT NULL REFERENCES adk_nb_invocations (number) ON DELETE CASCADE,
    path TEXT NOT NULL, parent TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
    is_open INTEGER NOT NULL, completed REAL, record TEXT NOT NULL,
    UNIQUE (invocation, path));
CREATE INDEX IF NOT EXISTS adk_nb_runs_order ON adk_nb_runs (invocation, is_open, parent, name, completed);
CREATE TABLE IF NOT EXISTS adk_nb_questions (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, interrupt_id TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES adk_nb_runs (number) ON DELETE CASCADE,
    PRIMARY KEY (app_name, user_id, session_id, interrupt_id, run)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS adk_nb_questions_run ON adk_nb_questions (run);
CREATE TABLE IF NOT EXISTS adk_nb_locks (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
    host TEXT NOT NULL, pid INTEGER NOT NULL, process_start TEXT NOT NULL, invocation_id TEXT, since REAL NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id),
    FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
"""

_LAYOUT = "1"
_MAGIC = b"SQLite format 3\x00"
_SCHEMES = ("sqlite:", "sqlite+aiosqlite:")


@dataclass(frozen=True, slots=True)
class Location:
    """Where the sessions are."""

    given: str
    """As the user wrote it."""
    path: str | None
    """The file, `None` in memory."""
    query: str = ""
    """SQLite's own parameters, for instance `mode=ro`."""

    @property
    def is_read_only(self) -> bool:
        """The user asked for reading only."""
        return ("mode", "ro") in parse_qsl(self.query) or ("immutable", "1") in parse_qsl(self.query)

    def uri(self, **more: str) -> str:
        """Return the address that `sqlite3.connect(..., uri=True)` takes."""
        if self.path is None:
            return ":memory:"
        query = "&".join([*([self.query] if self.query else []), *(f"{name}={value}" for name, value in more.items())])
        return Path(self.path).absolute().as_uri() + (f"?{query}" if query else "")


def locate(given: str | os.PathLike[str]) -> Location:
    """Return the location in a path, `:memory:` or an URL.

    Example:
        >>> locate("sqlite:///sessions.db?mode=ro").path
        'sessions.db'
    """
    try:
        text = os.fsdecode(given)
    except TypeError:
        text = ""
    if not text.strip() or "\0" in text:
        raise SessionStoreError(
            f"SqliteSessionService was given {given!r} as its file: give a path such as 'sessions.db', "
            f"':memory:', or an URL such as 'sqlite:///sessions.db'."
        )
    path, query = text, ""
    scheme = next((scheme for scheme in _SCHEMES if text.startswith(scheme)), None)
    if scheme is not None:
        path, _, query = text.removeprefix(scheme).partition("?")
        path = unquote(path.removeprefix("//").removeprefix("/")) or ":memory:"
    elif "://" in text:
        raise SessionStoreError(
            f"SqliteSessionService was given {text.partition('://')[0]}://…: it keeps sessions in an SQLite file. "
            f"Give a path such as 'sessions.db', or an URL such as 'sqlite:///sessions.db'."
        )
    if path == ":memory:" or ("mode", "memory") in parse_qsl(query):
        return Location(text, None)
    return Location(text, os.path.expanduser(path), query)


def check_file(location: Location) -> None:
    """Refuse a file that isn't a store of sessions, without touching it; a missing or empty one is fine."""
    path = location.path
    if path is None or not os.path.lexists(path):
        return
    if os.path.isdir(path):
        raise _refusal(path, "is a folder", f"Give a file in it, for instance {os.path.join(path, 'sessions.db')!r}.")
    try:
        with open(path, "rb") as file:
            start = file.read(len(_MAGIC))
    except OSError as error:
        raise _refusal(
            path, f"can't be read ({error.strerror})", "Check its permissions, or give another file."
        ) from None
    if not start:
        return
    if start != _MAGIC:
        raise _refusal(path, "isn't an SQLite database", "Give another file; this one was left as it is.")
    try:
        connection = sqlite3.connect(location.uri(mode="ro") if not location.is_read_only else location.uri(), uri=True)
        try:
            check_tables(connection, path)
        finally:
            connection.close()
    except sqlite3.OperationalError:
        return  # locked, or to be recovered after a crash: the first use says what is wrong
    except sqlite3.DatabaseError as error:
        raise store_error(path, error) from error


def check_tables(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a database whose tables are another program's, another service's or a later version's."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not names - {"sqlite_sequence"}:
        return
    columns = {name: _columns(connection, name) for name in ("sessions", "events")}
    if "adk_internal_metadata" in names or columns["events"].get("timestamp") == "DATETIME":
        raise _refusal(
            path,
            "was written by ADK's DatabaseSessionService, whose tables have the same names and other contents",
            "Open it there, or give another file.",
        )
    if "actions" in columns["events"] and "event_data" not in columns["events"]:
        raise _refusal(
            path,
            "has the layout of ADK 1.x, with one column for each field of an event",
            "Migrate it with google-adk's own tool, or give another file.",
        )
    expected = {"sessions": {"app_name", "user_id", "id", "state", "create_time", "update_time"}}
    expected["events"] = {"id", "app_name", "user_id", "session_id", "invocation_id", "timestamp", "event_data"}
    if any(not needed <= columns[name].keys() for name, needed in expected.items()):
        shown = ", ".join(sorted(names)[:4])
        raise _refusal(path, f"is another program's database (tables {shown})", "Give another file.")
    if "adk_nb_about" in names:
        layout = connection.execute("SELECT value FROM adk_nb_about WHERE name = 'layout'").fetchone()
        if layout is not None and layout[0] != _LAYOUT:
            raise _refusal(
                path, f"has layout {layout[0]}, from a later adk_nb (this one writes {_LAYOUT})", "Upgrade adk_nb."
            )


def store_error(path: str | None, error: sqlite3.Error) -> SessionStoreError:
    """Return SQLite's error as one sentence with what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    found, advice = _CAUSES.get(code, (f"gave an error: {error}", "Check the disk, or give another file."))
    return _refusal(path or ":memory:", found, advice)


_CAUSES = {
    sqlite3.SQLITE_NOTADB: ("isn't an SQLite database", "Give another file; this one was left as it is."),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "Restore a backup, or try `sqlite3 FILE .recover`."),
    sqlite3.SQLITE_READONLY: (
        "can be read but not written",
        "Make the file and its folder writable, or give another file.",
    ),
    sqlite3.SQLITE_CANTOPEN: ("can't be opened or created", "Check that its folder is writable, or give another file."),
    sqlite3.SQLITE_FULL: ("can't grow: the disk is full", "Free some space and run again; nothing was half-written."),
}


def _columns(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    return {row[1]: str(row[2]).upper() for row in connection.execute(f"PRAGMA table_info({table})")}


def _refusal(path: str, found: str, advice: str) -> SessionStoreError:
    return SessionStoreError(f"Sessions can't be kept in {path!r}: it {found}. {advice}")
