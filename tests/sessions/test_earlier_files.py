"""Files that an earlier version wrote, or google-adk: everything in them is kept, whatever happens on the way."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from adk_nb.errors import SessionStoreError
from adk_nb.events import Event, Status
from adk_nb.sessions import SqliteSessionService
from adk_nb.testing.samples import APP, record, stored_session

LAYOUT_1 = Path(__file__).with_name("layout_1.sql").read_text(encoding="utf-8")
DAY = (dt.date(2026, 2, 28),)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file of the first version: a loop, a join that gathers and a question, and a second run."""
    path = tmp_path / "sessions.db"
    connection = sqlite3.connect(path)
    connection.executescript(LAYOUT_1)
    connection.close()
    return path


async def check_all(service: SqliteSessionService) -> None:
    """Check that everything of the file of the first version is there, and found."""
    session = await stored_session(service, "first")
    assert session.state == {"a": 2, "day": DAY[0], "user:lang": "en", "app:v": 2}
    assert [(event.id, event.output) for event in session.events] == [
        ("u-1", None), ("l-1", DAY), ("l-2", 2), ("u-2", None)
    ]  # fmt: skip
    assert await service.get_user_state(**APP) == {"lang": "en"}
    listed = await service.list_sessions(app_name="app")
    assert [(one.user_id, one.id) for one in listed.sessions] == [("ada", "first"), ("bob", "first"), ("ada", "empty")]
    log = service.open_log(session)
    assert [run.name for run in await log.open_runs("e-1")] == ["wf", "held", "join", "ask"]
    latest = await log.latest_runs("e-1", "wf@1")
    assert [(run.path, run.output) for run in latest] == [("wf@1/loop@2", 2), ("wf@1/held@1", "kept")]
    assert [run.output for run in await log.child_runs("e-1", "wf@1")] == [DAY, 2, "kept", None, None]
    asking, root = await log.asking_run("q"), await log.root_run()
    assert asking is not None
    assert root is not None
    assert (asking.questions[0].message, root.invocation_id) == ("Sure?", "e-2")


def test_first_layout_is_brought_up_to_date(path: Path) -> None:
    """Everything in a file of the first version is found by the first use and by later ones, and goes on from there."""

    async def steps() -> None:
        async with SqliteSessionService(path) as service:
            await check_all(service)
        async with SqliteSessionService(path) as service:
            await check_all(service)
            session = await stored_session(service, "first")
            log = service.open_log(session)
            runs = await log.child_runs("e-1", "wf@1")
            loop, join = runs[0], runs[3]
            loop.notes, join.status = ("written again",), Status.COMPLETED
            third = record("loop", "3", status=Status.COMPLETED, output=3)
            await log.append(Event(author="wf", output=3, invocation_id="e-1", id="l-3"), [loop, third, join])
            latest = await log.latest_runs("e-1", "wf@1")
            assert [run.path for run in latest] == ["wf@1/held@1", "wf@1/loop@3", "wf@1/join@1"]
            assert [run.name for run in await log.open_runs("e-1")] == ["wf", "ask"]
            await service.delete_session(**APP, session_id="first")
            bobs = await service.get_session(app_name="app", user_id="bob", session_id="first")
            assert bobs is not None
            assert [event.id for event in bobs.events] == ["b-0"]

    asyncio.run(steps())
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert connection.execute("SELECT count(*) FROM adk_nb_runs").fetchone() == (0,)
    connection.close()


def test_first_layout_can_be_read_without_writing(path: Path) -> None:
    """A file of the first version that may only be read shows everything and keeps every byte."""
    content = path.read_bytes()

    async def steps() -> None:
        async with SqliteSessionService(f"sqlite:///{path}?mode=ro") as service:
            await check_all(service)

    asyncio.run(steps())
    assert (path.read_bytes(), os.listdir(path.parent)) == (content, ["sessions.db"])


def test_broken_off_conversion_leaves_the_file_as_it_was(path: Path) -> None:
    """A conversion that can't be finished changes nothing, and works when what was in its way is gone."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE adk_nb_locks_of_mine (name TEXT)")
    connection.execute("CREATE VIEW adk_nb_steps AS SELECT 1")
    before = list(connection.iterdump())

    async def steps() -> None:
        async with SqliteSessionService(path) as service:
            with pytest.raises(SessionStoreError, match="adk_nb_steps"):
                await service.open_log(await stored_session(service, "first")).open_runs("e-1")
        assert list(connection.iterdump()) == before
        connection.execute("DROP VIEW adk_nb_steps")
        async with SqliteSessionService(path) as service:
            await check_all(service)

    asyncio.run(steps())
    connection.close()


def test_columns_of_a_later_version_are_not_dropped(path: Path) -> None:
    """A file with columns that we don't know is refused, since bringing it up to date would lose them."""
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE events ADD COLUMN language TEXT")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(SessionStoreError, match=r"columns that this adk_nb doesn't know \(language\)"):
        SqliteSessionService(path)
    assert path.read_bytes() == content


async def append_unfiled(service: SqliteSessionService) -> None:
    """Append steps that nobody has looked up."""
    log = service.open_log(await service.create_session(**APP, session_id="s"))
    for i in range(5):
        run = record("n", str(i), status=Status.COMPLETED, output=i)
        await log.append(Event(author="wf", output=i), [run, record("n", str(i + 1))])


async def found_runs(service: SqliteSessionService) -> list[Any]:
    """Return the status of each run of the session."""
    log = service.open_log(await stored_session(service, "s"))
    return [run.status for run in await log.child_runs("e-1", "wf@1")]


EXPECTED = [*[Status.COMPLETED] * 5, Status.RUNNING]


def test_records_are_found_where_nothing_may_be_written(tmp_path: Path) -> None:
    """Records of a process that was killed are found in a file that may only be read."""
    path = tmp_path / "sessions.db"

    async def steps() -> None:
        async with SqliteSessionService(path) as service:
            await append_unfiled(service)
        content = path.read_bytes()
        async with SqliteSessionService(f"sqlite:///{path}?mode=ro") as reader:
            assert await found_runs(reader) == EXPECTED
        assert path.read_bytes() == content

    asyncio.run(steps())


def test_records_are_found_while_another_service_writes(tmp_path: Path) -> None:
    """Looking up the records of a session that another service appends to finds them and doesn't disturb it."""
    path = tmp_path / "sessions.db"

    async def steps() -> None:
        async with SqliteSessionService(path) as writer, SqliteSessionService(path) as reader:
            await append_unfiled(writer)
            assert await found_runs(reader) == EXPECTED
            session = await stored_session(writer, "s")
            await writer.open_log(session).append(None, [record("n", "5", status=Status.COMPLETED), record("n", "6")])
            assert await found_runs(reader) == [*[Status.COMPLETED] * 6, Status.RUNNING]
            assert await found_runs(writer) == await found_runs(reader)

    asyncio.run(steps())


def test_long_histories_are_filed_on_the_way(tmp_path: Path) -> None:
    """Steps are filed while a run goes on, so that the first look-up after a crash has few to read."""
    path = tmp_path / "sessions.db"

    async def steps() -> None:
        async with SqliteSessionService(path) as service:
            log = service.open_log(await service.create_session(**APP, session_id="s"))
            for i in range(600):
                await log.append(None, [record("n", str(i), status=Status.COMPLETED)])

    asyncio.run(steps())
    connection = sqlite3.connect(path)
    (filed,) = connection.execute("SELECT count(*) FROM adk_nb_runs").fetchone()
    connection.close()
    assert 600 - filed <= 256
