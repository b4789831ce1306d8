"""google-adk's own session services under our runner, and its sessions: read, gone on with, and handed back."""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from adk_nb import Runner, Workflow
from adk_nb.events import RequestInput
from adk_nb.events.record import Status
from adk_nb.events.request_input import answer_content
from adk_nb.frames import nodes_frame
from adk_nb.workflow import JoinNode, node
from adk_nb.workflow.replay import replay

adk: Any = importlib.import_module("google.adk")
adk_apps: Any = importlib.import_module("google.adk.apps")
adk_events: Any = importlib.import_module("google.adk.events")
adk_sessions: Any = importlib.import_module("google.adk.sessions")
adk_sqlite: Any = importlib.import_module("google.adk.sessions.sqlite_session_service")
adk_workflow: Any = importlib.import_module("google.adk.workflow")

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL.*"),
    pytest.mark.filterwarnings("ignore:Binding 1:DeprecationWarning"),
    # google-adk leaves some of its connections to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
WHERE: dict[str, Any] = {"user_id": "ada", "session_id": "s"}


@pytest.fixture(autouse=True)
def their_connections_are_collected() -> Iterator[None]:
    """Collect google-adk's left-over connections here, where their warning is expected, and not in a later test."""
    yield
    gc.collect()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return a session service of google-adk."""
    if request.param == "memory":
        return adk_sessions.InMemorySessionService()
    return adk_sqlite.SqliteSessionService(str(tmp_path / "theirs.db"))


class Words:
    """The names of one of the two libraries."""

    def __init__(self, is_ours: bool) -> None:
        self.is_ours = is_ours
        self.runner = Runner if is_ours else adk.Runner
        self.workflow = Workflow if is_ours else adk.Workflow
        self.node = node if is_ours else adk_workflow.node
        self.join = JoinNode if is_ours else adk_workflow.JoinNode
        self.ask = RequestInput if is_ours else adk_events.RequestInput


OURS, THEIRS = Words(True), Words(False)
Make = Callable[[Words, list[str]], Any]


def shop(words: Words, ran: list[str]) -> Any:
    """Return a workflow with a silent node, a nested one, a question and a join."""

    def start(node_input: Any) -> dict[str, str]:
        ran.append("start")
        return {"who": "ada"}

    def charge() -> None:
        ran.append("charge")

    def price() -> int:
        ran.append("price")
        return 7

    def ask() -> Any:
        ran.append("ask")
        return words.ask(interrupt_id="sure", message="Sure?", response_schema=bool)

    def end(node_input: Any) -> str:
        ran.append("end")
        return repr(sorted(node_input.items()))

    inner = words.workflow(
        name="inner", edges=[("START", price, words.node(lambda node_input: node_input + 1, name="tax"))]
    )
    edges = [("START", start, charge, (inner, ask), words.join(name="both"), end)]
    return words.workflow(name="shop", edges=edges)


def dynamic(words: Words, ran: list[str]) -> Any:
    """Return a workflow whose first node runs others from code, a workflow with a question among them."""

    def double(node_input: int) -> int:
        ran.append(f"double {node_input}")
        return node_input * 2

    child = words.node(double, name="double")
    ask = words.node(lambda: words.ask(interrupt_id="sure"), name="ask")
    inner = words.workflow(
        name="inner", edges=[("START", ask, words.node(lambda node_input: node_input + 1, name="plus"))]
    )

    async def parent(ctx: Any) -> list[int]:
        one = await ctx.run_node(child, 1)
        two = await ctx.run_node(inner, 5)
        return [one, two, await ctx.run_node(child, two)]

    return words.workflow(
        name="code",
        edges=[
            ("START", words.node(parent, rerun_on_resume=True), words.node(lambda node_input: node_input, name="end"))
        ],
    )


async def turn(words: Words, make: Make, store: Any, message: types.Content) -> tuple[list[str], list[Any]]:
    """Do one turn; return what ran, and the outputs."""
    ran: list[str] = []
    runner = words.runner(node=make(words, ran), app_name="app", session_service=store, auto_create_session=True)
    outputs = [
        event.output async for event in runner.run_async(**WHERE, new_message=message) if event.output is not None
    ]
    return ran, outputs


HELLO = types.UserContent("hello")
YES = answer_content({"sure": True})
PATHS = [(OURS, OURS), (THEIRS, OURS), (OURS, THEIRS)]
NAMES = ["ours alone", "begun by google-adk", "ended by google-adk"]


@pytest.mark.parametrize(("first", "second"), PATHS, ids=NAMES)
def test_a_paused_run_goes_on(store: Any, first: Words, second: Words) -> None:
    """A run in google-adk's store pauses in one library and goes on in either; what had finished doesn't run again."""

    async def steps() -> None:
        ran, _ = await turn(first, shop, store, HELLO)
        assert sorted(ran) == ["ask", "charge", "price", "start"]
        ran, outputs = await turn(second, shop, store, YES)
        assert ran == ["end"]
        assert outputs[-1] == "[('ask', True), ('inner', 8)]"

    asyncio.run(steps())


@pytest.mark.parametrize(("first", "second"), PATHS, ids=NAMES)
def test_a_run_of_code_goes_on(store: Any, first: Words, second: Words) -> None:
    """Children that code started are known by path in either library, graphs below them are gone on with."""

    async def steps() -> None:
        ran, _ = await turn(first, dynamic, store, HELLO)
        assert ran == ["double 1"]
        ran, outputs = await turn(second, dynamic, store, answer_content({"sure": 4}))
        assert ran == ["double 5"]
        assert outputs[-1] == [2, 5, 10]

    asyncio.run(steps())


def test_a_session_goes_there_and_back(store: Any) -> None:
    """Within one run, each turn in the other library goes on from what the one before left."""

    def long(words: Words, ran: list[str]) -> Any:
        def step(name: str) -> list[Any]:
            def note(node_input: str) -> str:
                ran.append(f"{name} {node_input}")
                return name

            ask = words.node(lambda: words.ask(interrupt_id=f"q {name}"), name=f"ask_{name}")
            return [ask, words.node(note, name=f"note_{name}")]

        begin = words.node(lambda: ran.append("begin"), name="begin")
        return words.workflow(name="long", edges=[("START", begin, *step("a"), *step("b"), *step("c"), *step("d"))])

    async def steps() -> None:
        assert await turn(OURS, long, store, HELLO) == (["begin"], [])
        for words, name in ((THEIRS, "a"), (OURS, "b"), (THEIRS, "c"), (OURS, "d")):
            ran, _ = await turn(words, long, store, answer_content({f"q {name}": name}))
            assert ran == [f"{name} {name}"]
        root = await Runner(node=long(OURS, []), app_name="app", session_service=store).root_run(**WHERE)
        assert root is not None
        assert root.status is Status.COMPLETED

    asyncio.run(steps())


def test_a_finished_run_of_theirs_is_finished(store: Any) -> None:
    """A run that google-adk finished is completed here, its questions are closed, and going on with it does nothing."""

    async def steps() -> None:
        await turn(THEIRS, shop, store, HELLO)
        await turn(THEIRS, shop, store, YES)
        ran: list[str] = []
        ours = Runner(node=shop(OURS, ran), app_name="app", session_service=store)
        root = await ours.root_run(**WHERE)
        assert root is not None
        assert root.status is Status.COMPLETED
        assert await ours.open_questions(**WHERE) == []
        assert [event async for event in ours.run_async(**WHERE, invocation_id=root.invocation_id)] == []
        with pytest.raises(ValueError, match="answered already"):
            await turn(OURS, shop, store, answer_content({"sure": False}))
        assert ran == []

    asyncio.run(steps())


def test_a_bad_answer_that_google_adk_stored_counts_for_nothing() -> None:
    """An answer that doesn't fit its question leaves it open, though google-adk stored it; a good one goes on here."""

    async def steps() -> None:
        store = adk_sessions.InMemorySessionService()
        await turn(THEIRS, shop, store, HELLO)
        with pytest.raises(ValueError, match="Validation failed"):
            await turn(THEIRS, shop, store, answer_content({"sure": "perhaps"}))
        ran, outputs = await turn(OURS, shop, store, answer_content({"sure": False}))
        assert (ran, outputs[-1]) == (["end"], "[('ask', False), ('inner', 8)]")

    asyncio.run(steps())


def test_checkpoints_tell_which_silent_nodes_have_ended() -> None:
    """In a resumable app of google-adk, a silent node that nothing followed doesn't run again here."""

    def quiet(words: Words, ran: list[str]) -> Any:
        ask = words.node(lambda: words.ask(interrupt_id="sure"), name="ask")
        return words.workflow(name="shop", edges=[("START", (words.node(lambda: ran.append("log"), name="log"), ask))])

    async def steps() -> None:
        store, ran = adk_sessions.InMemorySessionService(), list[str]()
        resumable = adk_apps.ResumabilityConfig(is_resumable=True)
        app = adk_apps.App(name="app", root_agent=quiet(THEIRS, ran), resumability_config=resumable)
        runner = adk.Runner(app=app, session_service=store, auto_create_session=True)
        async for _ in runner.run_async(**WHERE, new_message=HELLO):
            pass
        assert ran == ["log"]
        assert await turn(OURS, quiet, store, YES) == ([], [])

    asyncio.run(steps())


def test_a_session_of_google_adk_gives_a_frame_of_nodes(store: Any) -> None:
    """Events of google-adk and the graph give one row a node run, with times, inputs and outputs."""

    async def steps() -> None:
        await turn(THEIRS, shop, store, HELLO)
        await turn(THEIRS, shop, store, YES)
        session = await store.get_session(app_name="app", **WHERE)
        frame: Any = nodes_frame(replay(session.events, shop(OURS, [])), session.events).set_index("path")
        nodes = ["start@1", "charge@1", "inner@1", "inner@1/price@1", "inner@1/tax@1", "ask@1", "both@1", "end@1"]
        assert set(frame.index) == {"shop@1", *(f"shop@1/{one}" for one in nodes)}
        assert set(frame["status"]) == {"completed"}
        assert frame.loc["shop@1/inner@1/tax@1", ["input", "output"]].tolist() == ["7", "8"]
        assert frame.loc["shop@1/ask@1", "output"] == "true"
        assert frame.loc["shop@1/ask@1", "waiting_s"] > 0
        assert frame["end"].notna().all()
        without_graph = nodes_frame(replay(session.events), session.events).set_index("path")
        assert set(without_graph.index) == set(frame.index) - {"shop@1/charge@1"}
        assert set(without_graph["status"]) == {"completed"}

    asyncio.run(steps())
