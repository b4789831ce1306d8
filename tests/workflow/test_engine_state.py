"""State in a run: seen at once, kept with events, by scope, the same live and resumed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from adk_nb.errors import StateSchemaError
from adk_nb.events import Event, RequestInput
from adk_nb.events.record import NodeRun
from adk_nb.plugins import BasePlugin
from adk_nb.sessions import InMemorySessionService
from adk_nb.workflow import JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, run

ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")


class Slow(InMemorySessionService):
    """Sessions whose writes take a few turns of the loop."""

    def open_log(self, session: Any) -> Any:
        """Return a log that is slow."""
        log = super().open_log(session)
        append = log.append

        async def slowly(event: Event | None, runs: Sequence[NodeRun]) -> None:
            for _ in range(3):
                await asyncio.sleep(0)
            await append(event, runs)

        log.append = slowly  # type: ignore[method-assign]
        return log


@pytest.mark.parametrize("service", [InMemorySessionService, Slow])
def test_a_read_sees_the_newest_write_before_it(service: Any) -> None:
    """However slow storage is, the next node reads what the one before wrote, and storing never writes back."""

    async def test() -> None:
        async def a(ctx: Context) -> str:
            ctx.state["n"] = 0
            return "a"

        async def b(ctx: Context) -> str:
            ctx.state["n"] += 1
            return "b"

        async def c(ctx: Context) -> Any:
            await asyncio.sleep(0)
            return ctx.state["n"]

        talk = Conversation(Workflow(name="wf", edges=[("START", a, b, c)]), service())
        await talk.say()
        assert (await talk.root()).output == 1
        assert (await talk.state())["n"] == 1

    run(test)


def test_writes_are_seen_by_siblings_and_leave_with_the_next_event() -> None:
    """A write is visible at once to who runs beside; it is stored with the writer's own next event."""

    async def test() -> None:
        wrote, seen = asyncio.Event(), asyncio.Event()

        async def writer(ctx: Context) -> None:
            ctx.state["k"] = 1
            wrote.set()
            await seen.wait()

        async def reader(ctx: Context) -> Any:
            await wrote.wait()
            value = ctx.state["k"]
            seen.set()
            return value

        events = await Conversation(Workflow(name="wf", edges=[("START", (writer, reader), JoinNode(name="j"))])).say()
        by_node = {event.node_info.name: event for event in events}
        assert by_node["reader"].output == 1
        assert by_node["writer"].actions.state_delta == {"k": 1}
        assert by_node["reader"].actions.state_delta == {}

    run(test)


def test_scopes() -> None:
    """Session, user and app values are kept where they belong; temp: lives for one call and stands in no event."""

    async def test() -> None:
        def write(ctx: Context) -> None:
            ctx.state.update({"own": 1, "user:u": 2, "app:a": 3, "temp:t": 4})

        def read(ctx: Context) -> list[Any]:
            return [ctx.state.get(key) for key in ("own", "user:u", "app:a", "temp:t")]

        flow = Workflow(name="wf", edges=[("START", write, node(read, name="r1"), ask, node(read, name="r2"))])
        talk = Conversation(flow)
        events = await talk.say()
        assert events[0].actions.state_delta == {"own": 1, "user:u": 2, "app:a": 3}
        assert events[1].output == [1, 2, 3, 4]
        assert (await talk.answer(q=1))[-1].output == [1, 2, 3, None]
        only_read = Workflow(name="wf2", edges=[("START", node(read, name="r"))])
        other = Conversation(only_read, talk.service, session_id="t")
        assert (await other.say())[-1].output == [None, 2, 3, None]
        stranger = Conversation(only_read, talk.service, session_id="t", user_id="v")
        assert (await stranger.say())[-1].output == [None, None, 3, None]

    run(test)


def test_a_value_changed_in_place_is_noticed() -> None:
    """A list read from the state and changed counts as written, also between two events of a generator."""

    async def test() -> None:
        @node
        async def grow(ctx: Context) -> AsyncGenerator[Event, None]:
            ctx.state["l"] = []
            items = ctx.state["l"]
            for i in range(2):
                items.append(i)
                yield Event(message=str(i))

        talk = Conversation(Workflow(name="wf", edges=[("START", grow)]))
        assert [event.actions.state_delta for event in await talk.say()] == [{"l": [0]}, {"l": [0, 1]}]
        assert (await talk.state())["l"] == [0, 1]

    run(test)


def test_event_state_and_context_state_of_one_event() -> None:
    """Both are kept; on a conflict what was written through the context wins."""

    async def test() -> None:
        def a(ctx: Context) -> Event:
            ctx.state["k"] = "context"
            return Event(output=1, state={"k": "event", "e": 1})

        talk = Conversation(Workflow(name="wf", edges=[("START", a)]))
        assert (await talk.say())[0].actions.state_delta == {"k": "context", "e": 1}
        assert await talk.state() == {"k": "context", "e": 1}

    run(test)


class Allowed(BaseModel):
    """The declared state."""

    n: int = 0
    items: list[int] = []


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda ctx: ctx.state.update({"m": 1}), "is not declared in state schema"),
        (lambda ctx: ctx.state.update({"n": "x"}), "does not satisfy field"),
        (lambda ctx: Event(output=1, state={"m": 1}), "is not declared in state schema"),
        (lambda ctx: ctx.state["items"].append("x"), "does not satisfy field"),
    ],
    ids=["undeclared", "wrong type", "in an event", "changed in place"],
)
def test_state_that_the_schema_refuses(write: Any, words: str) -> None:
    """Every way to write is checked, in nested workflows too; the node fails at its path and the run ends in order."""

    async def test() -> None:
        inner = Workflow(name="inner", edges=[("START", node(write, name="writes"))])
        talk = Conversation(Workflow(name="wf", edges=[("START", inner)], state_schema=Allowed))
        error = await asyncio.wait_for(talk.fail(StateSchemaError, talk.say(state_delta={"items": [1]})), 10)
        assert words in str(error)
        assert lines(talk.last) == [("wf@1/inner@1/writes@1", "!StateSchemaError")]
        assert (await talk.root()).error_path == "wf@1/inner@1/writes@1"
        assert "m" not in await talk.state()

    run(test)


def _change(ctx: Context, how: str, i: int) -> None:
    state = ctx.state
    if how == "append":
        state["k"].append(i)
    elif how == "key":
        state["k"][str(i)] = i
    elif how == "nested":
        state["k"]["all"].append(i)
    elif how == "assign":
        state["k"] = [*state["k"], i]
    else:
        state["k"] += 1


@pytest.mark.parametrize("is_sync", [False, True])
@pytest.mark.parametrize("has_plugin", [False, True])
@pytest.mark.parametrize("how", ["append", "key", "nested", "assign", "count"])
def test_siblings_that_change_one_value_lose_nothing(how: str, has_plugin: bool, is_sync: bool) -> None:
    """What lanes add to one list or dictionary, or count, is all there: live, stored and resumed."""
    begin: Any = {"append": [], "key": {}, "nested": {"all": []}, "assign": [], "count": 0}[how]
    seen: list[Any] = []

    def lane(i: int) -> Any:
        async def change(ctx: Context) -> None:
            for _ in range(i * 7 % 5):
                await asyncio.sleep(0)
            _change(ctx, how, i)
            for _ in range(i * 5 % 7):
                await asyncio.sleep(0)
            _change(ctx, how, i + 10)

        def change_at_once(ctx: Context) -> None:
            _change(ctx, how, i)
            _change(ctx, how, i + 10)

        return node(change_at_once if is_sync else change, name=f"lane{i}")

    def look(ctx: Context) -> None:
        seen.append(ctx.state["k"])

    async def test() -> None:
        edges: list[Any] = [("START", tuple(lane(i) for i in range(8)), JoinNode(name="j"), node(look, name="a"), ask)]
        edges.append((ask, node(look, name="b")))
        talk = Conversation(Workflow(name="w", edges=edges), plugins=[BasePlugin("p")] if has_plugin else None)
        await talk.say(state_delta={"k": begin})
        seen.append((await talk.state())["k"])
        await talk.answer(q=1)
        assert seen[0] == seen[1] == seen[2]
        every = [*range(8), *range(10, 18)]
        parts = seen[0]["all"] if how == "nested" else seen[0]
        assert parts == 16 if how == "count" else sorted(map(int, parts)) == every
        assert not [note for note in (await talk.root()).notes if "lost" in note]

    run(test)


@pytest.mark.parametrize("how", ["blind", "stale", "in place", "event"])
def test_a_lost_write_is_told(how: str) -> None:
    """Where a write takes the place of a sibling's that it didn't know, the last stored counts, and a note says so."""

    def lane(name: str, turns: int) -> Any:
        async def write(ctx: Context) -> Any:
            value = ctx.state["k"] if how in ("stale", "in place") else []
            for _ in range(turns):
                await asyncio.sleep(0)
            if how == "event":
                return Event(state={"k": [name]})
            if how == "in place":
                value[0] = name
            else:
                ctx.state["k"] = [name]
            return None

        return node(write, name=name)

    async def test() -> None:
        lanes = (lane("a", 5), lane("b", 50))
        talk = Conversation(Workflow(name="w", edges=[("START", lanes, JoinNode(name="j"))]))
        await talk.say(state_delta={"k": ["x"]})
        assert (await talk.state())["k"] == ["b"]
        [note] = [note for note in (await talk.root()).notes if "lost" in note]
        assert "w@1/b@1 wrote state['k'] without knowing what w@1/a@1" in note

    run(test)


def test_one_after_the_other_loses_nothing() -> None:
    """Nodes of a chain, and children and their callers, may write a key again without a note."""

    def child(ctx: Context) -> None:
        ctx.state["k"] = 2

    @node(rerun_on_resume=True)
    async def caller(ctx: Context) -> None:
        ctx.state["k"] = 1
        await ctx.run_node(node(child))
        ctx.state["k"] = 3

    async def test() -> None:
        talk = Conversation(Workflow(name="w", edges=[("START", node(child, name="a"), caller, node(child, name="b"))]))
        await talk.say()
        assert (await talk.state())["k"] == 2
        assert not [note for note in (await talk.root()).notes if "lost" in note]

    run(test)
