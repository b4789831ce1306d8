"""Children started with `ctx.run_node`: recorded, replayed, gathered, detached, refused."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from adk_nb.errors import DynamicNodeFailError, WorkflowConfigurationError
from adk_nb.events import RequestInput
from adk_nb.events.record import Status
from adk_nb.workflow import JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, run

ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")


def boom() -> None:
    """Fail."""
    raise ValueError("x")


def test_finished_children_are_not_run_again() -> None:
    """On a rerun a recorded child gives its result at once, also one that returned None."""

    async def test() -> None:
        ran: list[str] = []

        def a() -> str:
            ran.append("a")
            return "A"

        def none() -> None:
            ran.append("none")

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> list[Any]:
            return [await ctx.run_node(a), await ctx.run_node(none), await ctx.run_node(ask), await ctx.run_node(a)]

        talk = Conversation(Workflow(name="wf", edges=[("START", parent)]))
        await talk.say()
        await talk.answer(q=1)
        assert (await talk.root()).output == ["A", None, 1, "A"]
        assert ran == ["a", "none", "a"]

    run(test)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"run_id": "7"}, "must contain non-numeric characters"),
        ({"use_as_output": True}, "already has a use_as_output"),
    ],
)
def test_calls_that_are_refused(options: dict[str, Any], words: str) -> None:
    """A number as id, and a second child that gives the output, are refused with what to write."""

    async def test() -> None:
        child = node(lambda: 1, name="child")

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> None:
            await ctx.run_node(child, use_as_output=True)
            await ctx.run_node(child, **options)

        talk = Conversation(Workflow(name="wf", edges=[("START", parent)]))
        assert words in str(await talk.fail(WorkflowConfigurationError, talk.say()))

    run(test)


def test_a_task_group_of_children() -> None:
    """In a TaskGroup a question pauses the caller, and a failure is the child's own, not a group."""

    async def test() -> None:
        @node(rerun_on_resume=True)
        async def asks(ctx: Context) -> Any:
            async with asyncio.TaskGroup() as group:
                task = group.create_task(ctx.run_node(ask))
            return task.result()

        talk = Conversation(asks)
        await talk.say()
        await talk.answer(q=5)
        assert (await talk.root()).output == 5

        @node(rerun_on_resume=True)
        async def fails(ctx: Context) -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(ctx.run_node(ask))
                group.create_task(ctx.run_node(boom))

        talk = Conversation(fails)
        assert str(await talk.fail(ValueError, talk.say())) == "x"
        assert (await talk.root()).error_path == "fails@1/boom@1"

    run(test)


def test_a_child_given_up_by_its_caller_stays_given_up() -> None:
    """A child that a caller stopped, or whose failure it caught, doesn't make the caller run again on later turns."""

    async def test() -> None:
        runs: list[str] = []

        async def slow() -> None:
            await asyncio.sleep(60)

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> Any:
            runs.append("parent")
            for child in (boom, slow):
                try:
                    await asyncio.wait_for(ctx.run_node(child), 0.01)
                except (DynamicNodeFailError, TimeoutError):
                    runs.append("caught")
            return await ctx.run_node(ask)

        other = node(lambda: RequestInput(interrupt_id="o"), name="other")
        talk = Conversation(Workflow(name="wf", edges=[("START", (parent, other), JoinNode(name="j"))]))
        await talk.say()
        assert runs == ["parent", "caught", "caught"]
        await talk.answer(o=1)
        await talk.go_on()
        assert runs == ["parent", "caught", "caught"]

    run(test)


def test_a_finished_root_never_runs_again() -> None:
    """Continuing a completed bare root does nothing, even when a child of it was stopped on the way."""

    async def test() -> None:
        runs: list[int] = []

        async def slow() -> None:
            await asyncio.sleep(60)

        @node(rerun_on_resume=True)
        async def root(ctx: Context) -> str:
            runs.append(1)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ctx.run_node(slow), 0.01)
            return "done"

        talk = Conversation(root)
        await talk.say()
        assert await talk.go_on() == []
        assert runs == [1]
        assert (await talk.root()).status is Status.COMPLETED

    run(test)


def test_branches_of_children() -> None:
    """Children lie on their caller's lane, on one of their own if asked, or where they are put."""

    async def test() -> None:
        child = node(lambda: 1, name="c")

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> None:
            await ctx.run_node(child)
            await ctx.run_node(child, use_sub_branch=True)
            await ctx.run_node(child, use_sub_branch=True, override_branch="mine")

        talk = Conversation(Workflow(name="wf", edges=[("START", (parent, node(lambda: None, name="n")))]))
        assert [event.branch for event in await talk.say()] == ["parent@1", "parent@1.c@2", "mine.c@3"]

    run(test)


def test_callers_in_callers() -> None:
    """Recursion works: each level is recorded under its own path."""

    async def test() -> None:
        @node(rerun_on_resume=True)
        async def down(ctx: Context, node_input: int) -> Any:
            return node_input if node_input == 0 else await ctx.run_node(down, node_input - 1)

        @node(rerun_on_resume=True)
        async def top(ctx: Context) -> Any:
            return await ctx.run_node(down, 3)

        events = await Conversation(top).say()
        assert lines(events)[0] == ("top@1/down@1/down@1/down@1/down@1", 0)
        assert len(events) == 5

    run(test)


@pytest.mark.parametrize("how", ["sync function in a thread", "asyncio.to_thread"])
def test_a_child_is_not_run_on_another_loop(how: str) -> None:
    """`asyncio.run(ctx.run_node(...))` in a thread fails with one sentence, and the run ends."""

    def outside(ctx: Context) -> Any:
        return asyncio.run(ctx.run_node(node(lambda: 1, name="child")))

    async def inside(ctx: Context) -> Any:
        return await asyncio.to_thread(outside, ctx)

    async def test() -> None:
        is_sync = how == "sync function in a thread"
        body = node(outside, timeout=60, rerun_on_resume=True) if is_sync else node(inside, rerun_on_resume=True)
        talk = Conversation(Workflow(name="w", edges=[("START", body)]))
        error = await talk.fail(WorkflowConfigurationError, talk.say())
        assert "called ctx.run_node on another event loop" in str(error)
        assert (await talk.root()).status is Status.FAILED

    run(test)
