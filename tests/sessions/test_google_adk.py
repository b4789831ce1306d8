"""google-adk's SQLite service and ours on one file, each run as it is."""

from __future__ import annotations

import asyncio
import gc
import importlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adk_nb.errors import StaleSessionError
from adk_nb.events import Event, Status
from adk_nb.sessions import SqliteSessionService
from adk_nb.testing.samples import APP, record

sqlite_module: Any = importlib.import_module("google.adk.sessions.sqlite_session_service")
events_module: Any = importlib.import_module("google.adk.events.event")

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL.*"),
    pytest.mark.filterwarnings("ignore:Binding 1:DeprecationWarning"),
    # google-adk leaves some of its connections to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True)
def their_connections_are_collected() -> Iterator[None]:
    """Collect google-adk's left-over connections here, where their warning is expected, and not in a later test."""
    yield
    gc.collect()


def theirs(path: Path) -> Any:
    """Return google-adk's service on a file."""
    return sqlite_module.SqliteSessionService(str(path))


def their_event(**fields: Any) -> Any:
    """Return an event of google-adk."""
    return events_module.Event(**fields)


async def outputs(service: Any) -> list[Any]:
    """Return the outputs of all events of session "s"."""
    return [event.output for event in (await service.get_session(**APP, session_id="s")).events]


def test_google_adk_reads_and_continues_ours(tmp_path: Path) -> None:
    """A session of ours shows the same events and state in google-adk, which appends to it; then ours reads both."""
    path = tmp_path / "sessions.db"

    async def steps() -> None:
        async with SqliteSessionService(path) as ours:
            session = await ours.create_session(**APP, session_id="s", state={"a": 1, "user:b": [2], "app:c": None})
            event = Event(author="wf", invocation_id="e-1", message="hi", output={"n": [1, None]}, route="R")
            event.node_info.path, event.long_running_tool_ids = "wf@1/a@1", {"x"}
            event.actions.state_delta = {"a": 2}
            await ours.open_log(session).append(event, [record("a", status=Status.COMPLETED)])
            found = await theirs(path).get_session(**APP, session_id="s")
            assert found.state == {"a": 2, "user:b": [2], "app:c": None}
            assert found.events[0].model_dump(mode="json", exclude_none=True) == event.model_dump(
                mode="json", exclude_none=True
            )
            assert [listed.id for listed in (await theirs(path).list_sessions(app_name="app")).sessions] == ["s"]
            later = their_event(author="x", output=7, state={"user:b": 3})
            await theirs(path).append_event(found, later)
            with pytest.raises(StaleSessionError):
                await ours.append_event(session, Event(author="wf", output=8))
            newer = await ours.get_session(**APP, session_id="s")
            assert newer is not None
            assert newer.state == {"a": 2, "user:b": 3, "app:c": None}
            await ours.append_event(newer, Event(author="wf", output=8))
            assert await outputs(ours) == [{"n": [1, None]}, 7, 8]
            assert await outputs(theirs(path)) == [{"n": [1, None]}, 7, 8]
            assert await ours.open_log(newer).open_runs("e-1") == []
            await theirs(path).delete_session(**APP, session_id="s")
            assert await ours.get_session(**APP, session_id="s") is None
            again = ours.open_log(await ours.create_session(**APP, session_id="s"))
            assert await again.child_runs("e-1", "wf@1") == []

    asyncio.run(steps())


def test_ours_reads_theirs_without_touching_it(tmp_path: Path) -> None:
    """Reading a file of google-adk changes nothing; the first write adds our tables, and google-adk goes on."""
    path = tmp_path / "sessions.db"

    async def steps() -> None:
        session = await theirs(path).create_session(**APP, session_id="s", state={"a": {"b": None}, "user:u": 1})
        await theirs(path).append_event(session, their_event(author="user", output=[1], state={"$adk_nb": {"v": 1}}))
        before = path.read_bytes()
        ours = SqliteSessionService(path)
        found = await ours.get_session(**APP, session_id="s")
        assert found is not None
        assert found.state == {"a": {"b": None}, "user:u": 1, "$adk_nb": {"v": 1}}
        assert [event.output for event in found.events] == [[1]]
        assert len((await ours.list_sessions(app_name="app")).sessions) == 1
        log = ours.open_log(found)
        assert await log.root_run() is None
        assert await log.open_runs("e-1") == []
        assert await log.asking_run("q") is None
        await ours.close()
        assert path.read_bytes() == before
        await log.append(Event(author="wf", output=2), [record("a")])
        assert await outputs(theirs(path)) == [[1], 2]
        assert [run.name for run in await log.open_runs("e-1")] == ["a"]
        await ours.close()

    asyncio.run(steps())


def test_values_look_alike_where_json_has_them(tmp_path: Path) -> None:
    """What JSON can hold stands in the file as plain JSON; only other types are marked."""
    path = tmp_path / "sessions.db"

    async def steps() -> None:
        async with SqliteSessionService(path) as ours:
            session = await ours.create_session(**APP, session_id="s", state={"plain": {"a": [1, 2.5, None]}})
            await ours.append_event(session, Event(author="x", output=(1,), id="e"))

    asyncio.run(steps())
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT state FROM sessions").fetchone() == ('{"plain":{"a":[1,2.5,null]}}',)
    ((text,),) = connection.execute("SELECT event_data FROM events").fetchall()
    connection.close()
    assert '"output":{"$adk_nb":"tuple","v":[1]}' in text


def test_google_adk_cannot_store_an_event_twice(tmp_path: Path) -> None:
    """An event id that is in the session is refused to google-adk, too, and nothing changes."""
    path = tmp_path / "sessions.db"

    async def steps() -> None:
        async with SqliteSessionService(path) as ours:
            session = await ours.create_session(**APP, session_id="s")
            await ours.append_event(session, Event(author="x", output=1, id="e"))
            found = await theirs(path).get_session(**APP, session_id="s")
            with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
                await theirs(path).append_event(found, their_event(author="x", output=2, id="e"))
            assert await outputs(theirs(path)) == [1]
            assert await outputs(ours) == [1]

    asyncio.run(steps())
