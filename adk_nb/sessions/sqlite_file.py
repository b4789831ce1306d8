"""Where a session file is, and why another file is refused; nothing here writes to it."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from adk_nb.errors import SessionStoreError
from adk_nb.sessions.sqlite_tables import LAYOUT, layout_of

_READ_LAYOUTS = ("1", LAYOUT)
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
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
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
    layout = layout_of(connection)
    if layout is not None and layout not in _READ_LAYOUTS:
        raise _refusal(path, f"has layout {layout}, from a later adk_nb (this one writes {LAYOUT})", "Upgrade adk_nb.")
    unknown = sorted(name for table in expected for name in columns[table].keys() - expected[table] - {"rowid"})
    if unknown:
        raise _refusal(
            path,
            f"has columns that this adk_nb doesn't know ({', '.join(unknown)}), from a later google-adk",
            "Upgrade adk_nb, or give another file.",
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
