"""What frames are made from: the same rows from every store, from google-adk's sessions, and from text."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adk_nb import Agent, Event, Runner, Workflow
from adk_nb.errors import ConfigurationError, SessionStoreError
from adk_nb.events import RequestInput
from adk_nb.events.event import to_content
from adk_nb.frames import events_frame, nodes_frame, read_sessions, timeline_frame, usage_frame
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel, call

adk: Any = importlib.import_module("google.adk")
adk_events: Any = importlib.import_module("google.adk.events")
adk_sessions: Any = importlib.import_module("google.adk.sessions")
adk_sqlite: Any = importlib.import_module("google.adk.sessions.sqlite_session_service")

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


def shop(workflow: Any, ask: Any) -> Any:
    """Return a workflow of one of the two libraries: a silent node, state, nested values, a question."""

    def count(ctx: Any, node_input: Any) -> dict[str, Any]:
        ctx.state["seen"] = {"n": 1}
        return {"lines": [1, {"price": 2}]}

    def silent(node_input: Any) -> None:
        return None

    def sure(node_input: Any) -> Any:
        return ask(interrupt_id="sure", message="Sure?")

    return workflow(name="shop", edges=[("START", count, silent, sure)])


async def fill(service: Any, runner: Any, root: Any) -> None:
    """Run a root in three sessions of two users."""
    made = runner(app_name="shop", node=root, session_service=service)
    for name, user in (("s1", "ada"), ("s2", "ada"), ("s3", "bo")):
        await service.create_session(app_name="shop", user_id=user, session_id=name, state={"user:lang": "en"})
        async for _ in made.run_async(user_id=user, session_id=name, new_message=to_content("hi")):
            pass


def comparable(frame: Any) -> Any:
    """Return a frame without times and ids, which differ from run to run."""
    names = ["time", "seconds", "invocation", "id", "start", "end", "framework_s", "waiting_s", "retry_s", "stopped_s"]
    return frame.drop(columns=[name for name in names if name in frame]).reset_index(drop=True)


@pytest.fixture(params=["memory", "sqlite", "memory sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return an empty store of ours."""
    if request.param == "memory":
        return InMemorySessionService()
    return SqliteSessionService(":memory:" if request.param == "memory sqlite" else str(tmp_path / "s.db"))


def test_every_store_gives_the_same_frames(store: Any) -> None:
    """Events and node runs of a store have the same rows, columns and types wherever they are kept, filtered or not."""
    plain = InMemorySessionService()
    for service in (store, plain):
        asyncio.run(fill(service, Runner, shop(Workflow, RequestInput)))
    for make in (events_frame, nodes_frame):
        whole = make(store)
        assert set(whole["session"]) == {"s1", "s2", "s3"}
        assert comparable(whole).equals(comparable(make(plain)))
        assert set(make(store, user="ada")["session"]) == {"s1", "s2"}
        assert set(make(store, session=["s3", "s1"], app="shop")["session"]) == {"s1", "s3"}
        nobody = make(store, user="nobody")
        assert len(nobody) == 0
        assert nobody.dtypes.to_dict() == whole.dtypes.to_dict()
    asyncio.run(store.close())


def test_frames_are_made_inside_a_running_loop() -> None:
    """A notebook cell, where a loop runs, gets frames of a store without awaiting; `read_sessions` awaits."""

    async def main() -> None:
        service = InMemorySessionService()
        await fill(service, Runner, shop(Workflow, RequestInput))
        found = await read_sessions(service, user="bo")
        assert comparable(events_frame(found)).equals(comparable(events_frame(service, user="bo")))

    asyncio.run(main())


def test_filters_of_time_and_invocation() -> None:
    """`since` and `until` take times in any form, `invocation` one or several; an unknown filter is refused by name."""
    events = [Event(invocation_id=name, timestamp=at) for name, at in (("e1", 10.0), ("e1", 20.0), ("e2", 30.0))]
    assert events_frame(events, since=15)["invocation"].tolist() == ["e1", "e2"]
    assert events_frame(events, since=15)["seconds"].tolist() == [10.0, 0.0]
    assert (
        events_frame(events, until="1970-01-01 00:00:20")["time"].tolist() == events_frame(events[:2])["time"].tolist()
    )
    assert events_frame(events, invocation="e2")["seconds"].tolist() == [0.0]
    with pytest.raises(ConfigurationError, match="allowed: app, user, session"):
        events_frame(events, nobody=1)
    with pytest.raises(ConfigurationError, match="isn't a time"):
        events_frame(events, since="someday")
    with pytest.raises(ConfigurationError, match="allowed: a Run, a list of events"):
        events_frame(3)


def test_files_that_are_no_stores_are_refused(tmp_path: Path) -> None:
    """A missing file, a file that isn't SQLite and one without sessions are each told apart, and nothing is made."""
    with pytest.raises(SessionStoreError, match="isn't a file"):
        events_frame(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("no database at all, but long enough to be looked at")
    with pytest.raises(SessionStoreError, match="can't be read"):
        events_frame(tmp_path / "text.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(SessionStoreError, match="without sessions"):
        events_frame(tmp_path / "empty.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.db", "text.db"]


@pytest.mark.parametrize("kind", ["sqlite", "sqlalchemy", "memory"])
def test_sessions_of_google_adk_are_read_and_not_touched(kind: str, tmp_path: Path) -> None:
    """Sessions that google-adk ran give the frames that ours give, from files and services; files stay as they are."""
    path = tmp_path / "theirs.db"
    if kind == "memory":
        service = adk_sessions.InMemorySessionService()
    elif kind == "sqlite":
        service = adk_sqlite.SqliteSessionService(str(path))
    else:
        service = adk_sessions.DatabaseSessionService(f"sqlite+aiosqlite:///{path}")
    asyncio.run(fill(service, adk.Runner, shop(adk.Workflow, adk_events.RequestInput)))
    ours = InMemorySessionService()
    asyncio.run(fill(ours, Runner, shop(Workflow, RequestInput)))
    before = None if kind == "memory" else hashlib.sha256(path.read_bytes()).hexdigest()
    for source in [service] if kind == "memory" else [service, str(path), path, f"sqlite:///{path}"]:
        frame = events_frame(source, user="ada")
        expected = events_frame(ours, user="ada")
        columns = ["path", "kind", "output", "question", "text", "session", "user", "app", "route"]
        assert frame[columns].equals(expected[columns])
        nodes: Any = nodes_frame(source, session="s3").set_index("path")
        assert nodes.loc["shop@1/sure@1", "status"] == "waiting"
        assert nodes.loc["shop@1/count@1", "output"] == '{"lines": [1, {"price": 2}]}'
    if before is not None:
        assert hashlib.sha256(path.read_bytes()).hexdigest() == before
        assert [one.name for one in tmp_path.iterdir()] == ["theirs.db"]


def test_live_events_of_google_adk_are_read() -> None:
    """A list of google-adk's event objects gives the rows that the same events of ours give."""
    said: dict[str, Any] = {
        "author": "wf",
        "invocation_id": "e",
        "node_path": "wf@1/a@1",
        "output": {"n": [1]},
        "route": "x",
    }
    theirs, ours = events_frame([adk_events.Event(**said)]), events_frame([Event(**said)])
    names = ["node", "path", "kind", "output", "route", "author", "invocation"]
    assert theirs[names].equals(ours[names])


def test_a_file_that_is_open_elsewhere_is_read_as_far_as_it_was_written(tmp_path: Path) -> None:
    """A store in use is read without a lock of its own; one at rest gets no file beside it."""
    service = SqliteSessionService(str(tmp_path / "s.db"))

    async def main() -> None:
        await fill(service, Runner, shop(Workflow, RequestInput))
        assert len(events_frame(tmp_path / "s.db", session="s1")) == 3
        await service.close()

    asyncio.run(main())
    assert [one.name for one in tmp_path.iterdir()] == ["s.db"]
    assert len(nodes_frame(tmp_path / "s.db")) == 12
    assert [one.name for one in tmp_path.iterdir()] == ["s.db"]


def test_calls_and_replies_are_readable() -> None:
    """The text of a tool call is how it would be written in code, that of its reply what came back, both shortened."""

    def get_weather(city: str) -> dict[str, Any]:
        return {"temp": 3, "note": "x" * 500}

    model = ScriptedModel([call("get_weather", city="Oslo"), "cold"])
    agent = Agent(name="a", model=model, tools=[get_weather])
    service = InMemorySessionService()
    asyncio.run(fill_one(service, agent))
    frame = events_frame(service)
    text = frame["text"].tolist()
    assert text[1] == 'get_weather(city="Oslo")'
    assert text[2].startswith('get_weather → {temp: 3, note: "xxx')
    assert len(text[2]) == 160
    assert usage_frame(service)["model_calls"].tolist() == [2]
    assert timeline_frame(service)["session"].unique().tolist() == ["s"]


async def fill_one(service: Any, root: Any) -> None:
    """Run a root once, in session `s`."""
    await service.create_session(app_name="app", user_id="u", session_id="s")
    made = Runner(app_name="app", node=root, session_service=service)
    async for _ in made.run_async(user_id="u", session_id="s", new_message=to_content("hi")):
        pass
