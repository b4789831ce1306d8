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
from tests.workflow.driving import Conversation, lines, outputs, run

ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")


def boom() -> None:
    """Fail."""
    raise ValueError("x")


def test_gathered_children_that_ask_at_different_times() -> None:
    """A question doesn't keep siblings from coming to theirs; both are open, both are answered, in any order."""

    async def late() -> RequestInput:
        for _ in range(5):
            await asyncio.sleep(0)
        return RequestInput(interrupt_id="k2")

    k1 = node(lambda: RequestInput(interrupt_id="k1"), name="k1")

    @node(rerun_on_resume=True)
    async def par(ctx: Context) -> list[Any]:
        return list(await asyncio.gather(ctx.run_node(k1), ctx.run_node(late)))

    async def test() -> None:
        for root in (par, Workflow(name="wf", edges=[("START", par)])):
            talk = Conversation(root)
            await talk.say()
            assert sorted(q.interrupt_id for _, q in await talk.questions()) == ["k1", "k2"]
            await talk.answer(k2=2)
            await talk.answer(k1=1)
            assert (await talk.root()).output == [1, 2]

    run(test)


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


def test_a_rerun_may_call_other_children_in_another_order() -> None:
    """Recorded children are found by their path: neither a missing nor an added call stalls the rerun."""

    async def test() -> None:
        n = [0]
        a, b = node(lambda: "a", name="a"), node(lambda: "b", name="b")

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> Any:
            n[0] += 1
            if n[0] == 1:
                await ctx.run_node(a)
            await ctx.run_node(b)
            return await ctx.run_node(ask)

        talk = Conversation(Workflow(name="wf", edges=[("START", parent)]))
        await talk.say()
        await asyncio.wait_for(talk.answer(q=1), 5)
        assert (await talk.root()).output == 1

    run(test)


def test_the_same_run_id_is_the_same_run() -> None:
    """A second call with an explicit id gets the first result, or waits for the run that is under way."""

    async def test() -> None:
        ran: list[int] = []

        async def slow() -> int:
            ran.append(1)
            await asyncio.sleep(0)
            return len(ran)

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> list[Any]:
            both = await asyncio.gather(ctx.run_node(slow, run_id="x"), ctx.run_node(slow, run_id="x"))
            return [*both, await ctx.run_node(slow, run_id="x")]

        talk = Conversation(Workflow(name="wf", edges=[("START", parent)]))
        await talk.say()
        assert (await talk.root()).output == [1, 1, 1]

    run(test)


def test_the_childs_output_is_the_callers_live_and_resumed() -> None:
    """With `use_as_output` the successor gets the child's value, whatever the caller returns, now and after a pause."""

    async def test() -> None:
        child = node(lambda: "child", name="child")
        for returned in ("parent", None):

            @node(rerun_on_resume=True)
            async def parent(ctx: Context, returned: Any = returned) -> Any:
                await ctx.run_node(child, use_as_output=True)
                return returned

            seen: list[Any] = []

            @node(rerun_on_resume=True)
            def down(ctx: Context, node_input: Any, seen: list[Any] = seen) -> Any:
                seen.append(node_input)
                return "ok" if ctx.resume_inputs else RequestInput(interrupt_id="q")

            talk = Conversation(Workflow(name="wf", edges=[("START", parent, down)]))
            events = await talk.say()
            assert outputs(events) == {"wf@1/parent@1/child@1": "child"}
            await talk.answer(q=1)
            assert seen == ["child", "child"]

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


def test_a_caller_must_be_able_to_run_again() -> None:
    """Without rerun_on_resume a node can't run children; the message says what to write."""

    async def test() -> None:
        async def parent(ctx: Context) -> None:
            await ctx.run_node(ask)

        talk = Conversation(Workflow(name="wf", edges=[("START", parent)]))
        assert "must have rerun_on_resume=True" in str(await talk.fail(WorkflowConfigurationError, talk.say()))

    run(test)


@pytest.mark.parametrize("delay", [0, 1, 10])
def test_a_detached_child_is_waited_for_and_its_failure_is_told(delay: int) -> None:
    """A task that isn't awaited belongs to the run: it ends before its parent does, and its failure fails the run."""

    async def test() -> None:
        done: list[str] = []

        async def slowly() -> None:
            for _ in range(delay):
                await asyncio.sleep(0)
            done.append("child")

        async def fails() -> None:
            for _ in range(delay):
                await asyncio.sleep(0)
            raise ValueError("x")

        kept: list[Any] = []

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> str:
            kept.append(asyncio.create_task(ctx.run_node(slowly)))
            return "ok"

        @node(rerun_on_resume=True)
        async def unlucky(ctx: Context) -> str:
            kept.append(asyncio.create_task(ctx.run_node(fails)))
            return "ok"

        talk = Conversation(Workflow(name="wf", edges=[("START", parent)]))
        await talk.say()
        assert done == ["child"]
        talk = Conversation(Workflow(name="wf", edges=[("START", unlucky)]))
        await talk.fail(ValueError, talk.say())
        assert (await talk.root()).error_path == "wf@1/unlucky@1/fails@1"

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
