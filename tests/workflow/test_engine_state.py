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
