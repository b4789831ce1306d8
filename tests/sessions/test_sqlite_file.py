"""Files that SqliteSessionService takes and refuses."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from adk_nb.errors import SessionBusyError, SessionStoreError
from adk_nb.events import Event
from adk_nb.sessions import SqliteSessionService
from adk_nb.testing.samples import APP

ADK_EVENTS = (
    "CREATE TABLE events (id TEXT, app_name TEXT, user_id TEXT, session_id TEXT, invocation_id TEXT, "
    "timestamp {time}, {data}, PRIMARY KEY (app_name, user_id, session_id, id))"
)
ADK_SESSIONS = (
    "CREATE TABLE sessions (app_name TEXT, user_id TEXT, id TEXT, state TEXT, create_time {time}, update_time {time}, "
    "PRIMARY KEY (app_name, user_id, id))"
)


def database(path: Path, *statements: str) -> bytes:
    """Make a database, and return its bytes."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path.read_bytes()


async def use(service: SqliteSessionService) -> list[Any]:
    """Write one event, and return all outputs of the session."""
    async with service:
        session = await service.get_session(**APP, session_id="s") or await service.create_session(
            **APP, session_id="s"
        )
        await service.append_event(session, Event(author="x", output=len(session.events)))
        return [event.output for event in session.events]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"id,text\n1,hello\n", ["isn't an SQLite database"]),
        (b"\x00", ["isn't an SQLite database"]),
        (b"SQLite format 3\x00" + b"junk" * 200, ["isn't an SQLite database"]),
    ],
)
def test_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes, words: list[str]) -> None:
    """A file that isn't a database gets one sentence with its name, and keeps every byte."""
    path = tmp_path / "tickets.csv"
    path.write_bytes(content)
    with pytest.raises(SessionStoreError) as caught:
        SqliteSessionService(path)
    assert str(path) in str(caught.value)
    assert all(word in str(caught.value) for word in [*words, "Give another file"])
    assert "\n" not in str(caught.value)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (content, ["tickets.csv"])


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["CREATE TABLE albums (id INTEGER)"], ["another program's", "albums"]),
        (["CREATE TABLE sessions (id TEXT, ip TEXT)"], ["another program's"]),
        (
            [
                ADK_SESSIONS.format(time="DATETIME"),
                ADK_EVENTS.format(time="DATETIME", data="event_data TEXT"),
                "CREATE TABLE adk_internal_metadata (key VARCHAR(128) PRIMARY KEY, value VARCHAR(256))",
            ],
            ["DatabaseSessionService"],
        ),
        (
            [ADK_SESSIONS.format(time="DATETIME"), ADK_EVENTS.format(time="DATETIME", data="event_data TEXT")],
            ["DatabaseSessionService"],
        ),
        ([ADK_SESSIONS.format(time="REAL"), ADK_EVENTS.format(time="REAL", data="actions BLOB")], ["ADK 1.x"]),
        (
            [
                ADK_SESSIONS.format(time="REAL"),
                ADK_EVENTS.format(time="REAL", data="event_data TEXT"),
                "CREATE TABLE adk_nb_about (name TEXT, value TEXT)",
                "INSERT INTO adk_nb_about VALUES ('layout', '99')",
            ],
            ["later adk_nb", "99"],
        ),
    ],
)
def test_database_of_another_kind_is_refused(tmp_path: Path, statements: list[str], words: list[str]) -> None:
    """Another program's, service's or version's database gets one sentence, and keeps every byte."""
    path = tmp_path / "other.db"
    content = database(path, *statements)
    with pytest.raises(SessionStoreError) as caught:
        SqliteSessionService(path)
    assert all(word in str(caught.value) for word in [str(path), *words])
    assert (path.read_bytes(), os.listdir(tmp_path)) == (content, ["other.db"])


def test_file_that_becomes_another_database_is_refused_when_written(tmp_path: Path) -> None:
    """A file that another program made after the service was built is refused too, and left as it is."""
    path = tmp_path / "late.db"
    service = SqliteSessionService(path)
    content = database(path, "CREATE TABLE albums (id INTEGER)")
    with pytest.raises(SessionStoreError, match="another program's"):
        asyncio.run(use(service))
    assert path.read_bytes() == content


def test_folder_is_refused(tmp_path: Path) -> None:
    """A folder gets a sentence that proposes a file in it."""
    with pytest.raises(SessionStoreError, match=r"is a folder.*sessions\.db"):
        SqliteSessionService(tmp_path)


@pytest.mark.parametrize("given", ["", "   ", "a\0b", 7, None])
def test_what_is_no_path_is_refused(given: Any) -> None:
    """Something that can't be a path gets a sentence with examples."""
    with pytest.raises(SessionStoreError, match=r"give a path such as 'sessions\.db'"):
        SqliteSessionService(given)


def test_other_databases_addresses_are_refused() -> None:
    """The address of a database server says which service this isn't, and doesn't show the password."""
    with pytest.raises(SessionStoreError, match="postgresql://") as caught:
        SqliteSessionService("postgresql://ada:secret@host/db")
    assert "secret" not in str(caught.value)


def test_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """A place below a file, and a file opened for reading only, get a sentence at the first write."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(SessionStoreError, match="can't be opened or created"):
        asyncio.run(use(SqliteSessionService(tmp_path / "file" / "sessions.db")))
    path = tmp_path / "sessions.db"
    asyncio.run(use(SqliteSessionService(path)))
    content = path.read_bytes()
    service = SqliteSessionService(f"sqlite:///{path}?mode=ro")
    with pytest.raises(SessionStoreError, match="can be read but not written"):
        asyncio.run(use(service))

    async def read() -> Any:
        async with service:
            session = await service.get_session(**APP, session_id="s")
            return session and [event.output for event in session.events]

    assert asyncio.run(read()) == [0]
    assert path.read_bytes() == content


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "sqlite+aiosqlite:///{}", "sqlite:///{}?cache=private"])
def test_paths_and_addresses_name_the_same_file(tmp_path: Path, form: str) -> None:
    """A path and the forms of an SQLite address work, odd characters and missing folders included."""
    path = tmp_path / "a b" / "ü#%" / "sessions.db"
    given = str(path) if form == "{}" else form.format(str(path).replace("%", "%25").replace("#", "%23"))
    assert asyncio.run(use(SqliteSessionService(given))) == [0]
    assert asyncio.run(use(SqliteSessionService(path))) == [0, 1]


def test_nothing_is_created_by_reading(tmp_path: Path) -> None:
    """Reading where nothing has been stored finds nothing, and makes no file or folder."""

    async def steps() -> None:
        async with SqliteSessionService(tmp_path / "deep" / "sessions.db") as service:
            assert await service.get_session(**APP, session_id="s") is None
            assert (await service.list_sessions(app_name="app")).sessions == []
            assert await service.get_user_state(**APP) == {}
            await service.delete_session(**APP, session_id="s")
            await service.flush()

    asyncio.run(steps())
    assert os.listdir(tmp_path) == []


def test_closed_service_opens_again(tmp_path: Path) -> None:
    """After `close` no helper files are left, events not yet read can be read, and the service goes on working."""

    async def steps() -> None:
        service = SqliteSessionService(tmp_path / "sessions.db")
        session = await service.create_session(**APP, session_id="s")
        await service.append_event(session, Event(author="x", output=1))
        await service.close()
        assert os.listdir(tmp_path) == ["sessions.db"]
        await service.append_event(session, Event(author="x", output=2))
        await service.close()
        assert [event.output for event in session.events] == [1, 2]
        await service.close()

    asyncio.run(steps())


def test_closing_waits_for_the_log_to_be_moved(tmp_path: Path) -> None:
    """When `close` returns nothing works on the file any more, so that it can be copied or moved at once."""

    async def steps() -> None:
        service = SqliteSessionService(tmp_path / "s.db")
        session = await service.create_session(**APP, session_id="s")
        other = sqlite3.connect(tmp_path / "s.db")
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM sessions").fetchall()  # who reads keeps the log from being moved at once
        for number in range(1000):
            await service.append_event(session, Event(author="x", output=number))
        await service.close()
        assert [one.name for one in threading.enumerate() if one.name == "adk_nb checkpoint"] == []
        other.close()

    asyncio.run(steps())
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]


def test_empty_file_is_taken(tmp_path: Path) -> None:
    """An empty file, as `mktemp` makes it, becomes a store."""
    path = tmp_path / "empty"
    path.touch()
    assert asyncio.run(use(SqliteSessionService(path))) == [0]


def test_locked_file_leaves_the_loop_free(tmp_path: Path) -> None:
    """While another program locks the file, other tasks go on; then one sentence says so and nothing is written."""
    path = tmp_path / "sessions.db"
    asyncio.run(use(SqliteSessionService(path)))
    viewer = sqlite3.connect(path, isolation_level=None)

    async def steps() -> None:
        async with SqliteSessionService(path, lock_timeout=0.2) as service:
            session = await service.get_session(**APP, session_id="s")
            assert session is not None
            viewer.execute("BEGIN IMMEDIATE")
            waiting = asyncio.ensure_future(service.append_event(session, Event(author="x", output=1)))
            gaps, before = [], time.monotonic()
            while not waiting.done():
                await asyncio.sleep(0)
                gaps.append(time.monotonic() - before)
                before = time.monotonic()
            assert len(gaps) > 10, "the loop stood still"
            with pytest.raises(SessionBusyError, match=r"locked by another program for 0\.2 s"):
                await waiting
            waiting = asyncio.ensure_future(service.append_event(session, Event(author="x", output=2)))
            await asyncio.sleep(0)
            viewer.execute("ROLLBACK")
            await waiting
            assert [event.output for event in session.events] == [0, 2]

    asyncio.run(steps())
    viewer.close()


def test_damaged_file_is_named(tmp_path: Path) -> None:
    """A damaged store gives one sentence, not SQLite's own error."""
    path = tmp_path / "sessions.db"
    asyncio.run(use(SqliteSessionService(path)))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(SessionStoreError, match=r"is damaged|isn't an SQLite database"):
        asyncio.run(use(SqliteSessionService(path)))
