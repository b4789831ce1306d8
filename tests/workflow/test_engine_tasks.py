"""Which task a run executes in: what alone follows goes on in the same one, and nobody notices but the clock."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

from adk_nb.events import Event
from adk_nb.workflow import JoinNode, Workflow, node
from tests.workflow.driving import Conversation


def test_a_chain_needs_one_task_and_siblings_one_each() -> None:
    """A run that alone follows goes on in the same task, which bears its path; those of a fan-out have their own."""
    tasks: dict[str, Any] = {}
    names: list[Any] = []

    async def look(ctx: Any) -> str:
        task = asyncio.current_task()
        assert task is not None
        tasks[ctx.node.name] = task
        names.append((task.get_name(), ctx.node_path))
        return "seen"

    a, b, c, d, e = (node(look, name=name) for name in "abcde")
    talk = Conversation(Workflow(name="wf", edges=[("START", a, b, (c, d), JoinNode(name="join"), e)]))
    asyncio.run(talk.say())
    assert all(name == path for name, path in names)
    assert tasks["a"] is tasks["b"]
    assert len({tasks["b"], tasks["c"], tasks["d"]}) == 3
    assert tasks["e"] in (tasks["c"], tasks["d"])


def test_a_cancellation_of_a_nodes_own_stays_with_it() -> None:
    """After a node that was cancelled by itself and went on, the next one starts in a task without that mark."""

    async def careless() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            return "went on"
        return "was never cancelled"

    async def clean(node_input: str) -> list[Any]:
        task = asyncio.current_task()
        assert task is not None
        await asyncio.sleep(0)
        return [node_input, task.cancelling()]

    talk = Conversation(Workflow(name="wf", edges=[("START", careless, clean)]))
    events = asyncio.run(talk.say())
    assert events[-1].output == ["went on", 0]


def test_silent_nodes_let_others_run() -> None:
    """A loop of nodes that neither await nor say anything leaves turns to other tasks, and can be stopped."""

    def again() -> Event:
        return Event(route="again")

    def silent() -> None:
        return None

    async def test() -> None:
        first, second = node(again, name="first"), node(silent, name="second")
        talk = Conversation(Workflow(name="wf", edges=[("START", first), (first, {"again": second}), (second, first)]))
        run = asyncio.create_task(talk.say())
        for _ in range(200):
            await asyncio.sleep(0)
        assert len(talk.changes) > 100
        run.cancel()
        await asyncio.wait([run])
        assert run.cancelled()

    asyncio.run(test())


def test_what_a_run_needed_is_freed_when_it_ends() -> None:
    """The context of a finished run is gone at once, without the garbage collector, though its workflow runs on."""
    contexts: list[weakref.ref[Any]] = []

    def first(ctx: Any) -> int:
        contexts.append(weakref.ref(ctx))
        return 1

    def second(ctx: Any) -> list[bool]:
        return [ref() is None for ref in contexts]

    was_on = gc.isenabled()
    gc.disable()
    try:
        events = asyncio.run(Conversation(Workflow(name="wf", edges=[("START", first, second)])).say())
    finally:
        if was_on:
            gc.enable()
    assert events[-1].output == [True]
