"""What stores tell those who look back, and stored runs opened from the stores that need a server or google-adk."""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

import adk_nb
from adk_nb import Workflow
from adk_nb.events import Event, RequestInput, Status
from adk_nb.notebook.running.private_loop import run_blocking
from adk_nb.runners.records import with_records
from adk_nb.sessions import DatabaseSessionService, InMemorySessionService, SqliteSessionService
from adk_nb.sessions.looking_back import TellsRuns
from adk_nb.testing.samples import APP, record
from tests.sessions.plain_store import PlainStore

adk: Any = importlib.import_module("google.adk")
adk_sessions: Any = importlib.import_module("google.adk.sessions")
adk_sqlite: Any = importlib.import_module("google.adk.sessions.sqlite_session_service")
adk_events: Any = importlib.import_module("google.adk.events")
adk_workflow: Any = importlib.import_module("google.adk.workflow")

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL.*"),
    pytest.mark.filterwarnings("ignore:Binding 1:DeprecationWarning"),
    # google-adk leaves some of its connections to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
KINDS = ["memory", "sqlite", "plain", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(autouse=True)
def their_connections_are_collected() -> Iterator[None]:
    """Collect google-adk's left-over connections here, where their warning is expected, and not in a later test."""
    yield
    gc.collect()


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    """Return what makes a service on one store, as each process has its own."""
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
        return lambda: DatabaseSessionService(url)
    if request.param == "sqlite":
        return lambda: SqliteSessionService(tmp_path / "s.db")
    kept = InMemorySessionService() if request.param == "memory" else PlainStore()
    return lambda: kept


async def closed(*services: Any) -> None:
    """Close services on both loops that used them: this one and the one that `open_run` and `runs` wait for."""
    for service in services:
        await service.close()
        run_blocking(service.close())


def ask(node_input: str) -> RequestInput:
    """Ask a person."""
    return RequestInput(interrupt_id="q", message="Sure?", response_schema={"type": "string"})


def end(node_input: Any) -> str:
    """Go after the question."""
    return f"done {node_input}"


def flow() -> Workflow:
    """A workflow that asks once."""
    return Workflow(name="flow", edges=[("START", ask, end)])


def test_a_log_tells_of_all_runs(make: Callable[[], Any]) -> None:
    """Roots, records and numbers of events come in order, invocation by invocation, in every store alike."""

    async def steps() -> None:
        services = [make(), make()]
        sessions = with_records(services[0], None)
        session = await sessions.create_session(**APP, session_id="s")
        log = sessions.open_log(session)
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=3, candidates_token_count=4)
        said = Event(author="wf", invocation_id="e-1", output=1)
        said.usage_metadata = usage
        await log.append(Event(author="user", invocation_id="e-1"), [record("wf", parent="", status=Status.RUNNING)])
        await log.append(said, [record("a"), record("b")])
        await log.append(Event(author="wf", invocation_id="e-1", output=2), [record("a", status=Status.COMPLETED)])
        await log.append(Event(author="user", invocation_id="e-2"), [record("wf", parent="", invocation_id="e-2")])
        again = sessions.open_log(await sessions.get_session(**APP, session_id="s"))
        assert isinstance(again, TellsRuns)
        assert [(run.invocation_id, run.path) for run in await again.root_runs()] == [("e-1", "wf@1"), ("e-2", "wf@1")]
        runs = await again.all_runs("e-1")
        assert [(run.name, str(run.status)) for run in runs] == [
            ("wf", "running"),
            ("a", "completed"),
            ("b", "running"),
        ]
        assert await again.all_runs("e-9") == []
        counts: dict[str, int] = {}
        for one in await again.said():
            counts[one.invocation_id] = counts.get(one.invocation_id, 0) + one.events
        assert counts == {"e-1": 3, "e-2": 1}
        used = [one.usage for one in await again.said() if one.usage is not None]
        assert [types.GenerateContentResponseUsageMetadata.model_validate(one) for one in used] == [usage]
        other = services[1]
        if not isinstance(other, PlainStore):
            await sessions.create_session(app_name="other", user_id="bob", session_id="s")
            found = await other.find_sessions(session_id="s")
            assert sorted(one[:3] for one in found) == [("app", "ada", "s"), ("other", "bob", "s")]
            assert [one.user_id for one in await other.find_sessions(app_name="app")] == ["ada"]
            assert await other.find_sessions(user_id="nobody") == []
        await closed(*services)

    asyncio.run(steps())


def test_open_run_goes_on_in_every_store(make: Callable[[], Any]) -> None:
    """A stored run is opened by another service on the same store, answered, and its end is stored."""

    async def steps() -> None:
        services = [make() for _ in range(4)]
        first = adk_nb.run(flow(), "hi", sessions=services[0], session="s")
        await first
        opened = adk_nb.open_run("s", flow(), sessions=services[1])
        assert (opened.status, [one.interrupt_id for one in opened.pending]) == ("waiting", ["q"])
        assert [event.id for event in opened.events] == [event.id for event in first.events]
        await opened.respond("yes")
        assert (opened.status, opened.output, opened.warnings) == ("completed", "done yes", [])
        frame = adk_nb.runs(services[2], app="flow")
        assert frame[["session", "status", "events", "open_questions"]].values.tolist() == [["s", "completed", 4, 0]]
        looked_at = adk_nb.open_run("s", sessions=services[3], app="flow")
        assert (looked_at.output, looked_at.history.records.keys()) == ("done yes", opened.history.records.keys())
        await closed(*services)

    asyncio.run(steps())


@pytest.mark.parametrize("kind", ["memory", "sqlite", "our sqlite on their file"])
def test_runs_of_google_adk_open(kind: str, tmp_path: Path) -> None:
    """A run that google-adk began is listed, opened and answered, in its own stores and from its file."""
    path = tmp_path / "theirs.db"

    def their_ask(node_input: Any) -> Any:
        return adk_events.RequestInput(interrupt_id="q", message="Sure?", response_schema={"type": "string"})

    async def steps() -> None:
        memory = adk_sessions.InMemorySessionService()
        theirs = memory if kind == "memory" else adk_sqlite.SqliteSessionService(str(path))
        ask_node = adk_workflow.node(their_ask, name="ask")
        root = adk_workflow.Workflow(name="flow", edges=[("START", ask_node, adk_workflow.node(end, name="end"))])
        runner = adk.Runner(node=root, app_name="their_app", session_service=theirs)
        await theirs.create_session(app_name="their_app", user_id="ada", session_id="s")
        message = types.Content(role="user", parts=[types.Part(text="hi")])
        async for _ in runner.run_async(user_id="ada", session_id="s", new_message=message):
            pass
        store = SqliteSessionService(path) if kind.startswith("our") else theirs
        frame = adk_nb.runs(store, app="their_app")
        assert frame[["session", "user", "root", "status", "open_questions"]].values.tolist() == [
            ["s", "ada", "flow", "waiting", 1]
        ]
        ours = Workflow(name="flow", edges=[("START", adk_nb.workflow.node(ask), adk_nb.workflow.node(end))])
        opened = adk_nb.open_run("s", ours, sessions=store, app="their_app")
        assert (opened.user_id, opened.status, opened.warnings) == ("ada", "waiting", [])
        await opened.respond("yes")
        assert (opened.status, opened.output) == ("completed", "done yes")

    asyncio.run(steps())
