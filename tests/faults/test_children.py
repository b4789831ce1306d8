"""Children that a node runs itself: one output, no lost failure, no stall when a rerun takes another way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from adk_nb.errors import DynamicNodeFailError
from adk_nb.events import RequestInput
from adk_nb.events.record import Status
from adk_nb.workflow import BaseNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.faults.ways import Staged, Way, asker, giver, show
from tests.workflow.driving import claimed, run

Stage = Callable[[Callable[[], Workflow]], Staged]


@pytest.mark.parametrize("returned", ["parent", None])
@pytest.mark.parametrize("child_kind", ["function", "workflow"])
def test_the_output_of_a_child_is_the_callers(stage: Stage, returned: Any, child_kind: str) -> None:
    """With `use_as_output`, event, record and successor say the child's value, whatever the caller returns."""
    seen: list[Any] = []

    def build() -> Workflow:
        def child() -> Any:
            one = giver("child", "child")
            return one if child_kind == "function" else Workflow(name="child", edges=[("START", giver("child", "in"))])

        async def par(ctx: Context) -> Any:
            await ctx.run_node(child(), use_as_output=True)
            return returned

        def down(ctx: Context, node_input: Any) -> Any:
            seen.append(node_input)
            return "ok" if ctx.resume_inputs else RequestInput(interrupt_id="q")

        return Workflow(name="wf", edges=[("START", node(par, rerun_on_resume=True), node(down, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        (told,) = [event for event in staged.events if event.output is not None]
        assert any(path.endswith("wf@1/par@1") for path in claimed(told))
        assert (await staged.records())["par@1"].output == "child"
        root = await staged.answer(q=1)
        assert seen == ["child", "child"]
        assert root.output == "ok"
        await staged.close()

    run(test)


@pytest.mark.parametrize("turns", [0, 3])
def test_a_child_that_nobody_awaits(stage: Stage, turns: int) -> None:
    """It ends before its caller does, and its output isn't lost when the caller runs again."""

    def build() -> Workflow:
        async def slow() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)
            done.append("child")

        async def par(ctx: Context) -> Any:
            tasks.append(asyncio.create_task(ctx.run_node(slow)))
            return await ctx.run_node(asker("q"))

        after = node(lambda: done.append("after"), name="after")
        return Workflow(name="wf", edges=[("START", node(par, rerun_on_resume=True), after)])

    tasks: list[asyncio.Task[Any]] = []
    done: list[str] = []

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert done == ["child"]
        await staged.answer(q=1)
        assert done == ["child", "after"]
        await staged.close()

    run(test)


@pytest.mark.parametrize("turns", [0, 1, 10])
def test_the_failure_of_a_child_that_nobody_awaits(stage: Stage, turns: int) -> None:
    """It fails the run, quick or slow, with the child's own error and path; a continued run tries again."""

    def build() -> Workflow:
        async def boom() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)
            raise ValueError("x")

        async def par(ctx: Context) -> str:
            tasks.append(asyncio.create_task(ctx.run_node(boom)))
            return "ok"

        return Workflow(name="wf", edges=[("START", node(par, rerun_on_resume=True), show())])

    tasks: list[asyncio.Task[Any]] = []

    async def test() -> None:
        staged = stage(build)
        for begin in (staged.say, staged.go_on):
            root = await begin()
            assert isinstance(staged.error, ValueError)
            assert root.status is Status.FAILED
            assert root.error_path is not None
            assert root.error_path.endswith("wf@1/par@1/boom@1")
        assert "show@1" not in await staged.records()
        await staged.close()

    run(test)


@pytest.mark.parametrize("change", ["left out", "added", "swapped"])
def test_other_calls_on_the_rerun(stage: Stage, change: str) -> None:
    """Children are found by path: calls that are gone, new or in another order neither stall nor mix results."""
    executions: list[str] = []
    rounds: list[int] = []

    def build() -> Workflow:
        def child(name: str) -> Any:
            def work() -> str:
                executions.append(name)
                return name

            return node(work, name=name)

        async def par(ctx: Context) -> Any:
            rounds.append(1)
            first, later = {
                "left out": (["a", "b"], ["b"]),
                "added": (["a"], ["c", "a"]),
                "swapped": (["a", "b"], ["b", "a"]),
            }[change]
            given = [await ctx.run_node(child(name)) for name in (first if len(rounds) == 1 else later)]
            return [*given, await ctx.run_node(asker("q"))]

        return Workflow(name="wf", edges=[("START", node(par, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q=1)
        expected = {"left out": ["b", 1], "added": ["c", "a", 1], "swapped": ["b", "a", 1]}[change]
        assert root.output == expected
        assert executions == {"left out": ["a", "b"], "added": ["a", "c"], "swapped": ["a", "b"]}[change]
        await staged.close()

    run(test)


class Silent(BaseNode):
    """Waits for output that it never gives."""

    wait_for_output: bool = True

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        return
        yield


def test_a_caller_that_stops_with_its_silent_child(stage: Stage, way: Way) -> None:
    """With `raise_on_wait` the caller isn't completed: what follows it doesn't run, and the run says so."""

    def build() -> Workflow:
        async def par(ctx: Context) -> Any:
            return await ctx.run_node(Silent(name="w"), raise_on_wait=True)

        return Workflow(name="wf", edges=[("START", asker("q"), node(par, rerun_on_resume=True), show())])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q=1)
        assert root.status is (Status.FAILED if way.place == "dynamic" else Status.INCOMPLETE)
        records = await staged.records()
        assert records["par@1"].status is Status.INCOMPLETE
        assert "show@1" not in records
        assert "par ended without output" in await staged.warnings()
        await staged.close()

    run(test)


def test_the_same_id_twice(stage: Stage) -> None:
    """A second call under the id of a run gets its result, or waits for it, also on a rerun: it executes once."""
    executions: list[int] = []

    def build() -> Workflow:
        async def slow(node_input: int) -> int:
            await asyncio.sleep(0)
            executions.append(node_input)
            return node_input

        async def par(ctx: Context) -> Any:
            both = await asyncio.gather(*(ctx.run_node(slow, i, run_id="order-1") for i in (1, 2)))
            third = await ctx.run_node(slow, 3, run_id="order-1")
            return [*both, third, await ctx.run_node(asker("q"))]

        return Workflow(name="wf", edges=[("START", node(par, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q="end")
        assert root.output == [1, 1, 1, "end"]
        assert executions == [1]
        await staged.close()

    run(test)


def test_a_failed_child_called_again(stage: Stage) -> None:
    """A caller that caught the failure may call again: the child executes again, and its result is then final."""
    tries: list[int] = []
    caught: list[Any] = []

    def build() -> Workflow:
        def flaky() -> int:
            tries.append(1)
            if len(tries) == 1:
                raise ConnectionError("gone")
            return len(tries)

        async def par(ctx: Context) -> Any:
            try:
                first = await ctx.run_node(flaky, run_id="once")
            except DynamicNodeFailError as error:
                caught.append((type(error.error), error.error_node_path.rpartition("wf@1/")[2]))
                first = await ctx.run_node(flaky, run_id="once")
            return [first, await ctx.run_node(asker("q"))]

        return Workflow(name="wf", edges=[("START", node(par, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q=1)
        assert root.output == [2, 1]
        assert len(tries) == 2
        assert caught == [(ConnectionError, "par@1/flaky@once")]
        await staged.close()

    run(test)


def test_a_child_left_asking(stage: Stage, way: Way) -> None:
    """A question in a task that nobody awaits fails the caller with what to write, instead of hanging the run."""

    def build() -> Workflow:
        async def par(ctx: Context) -> str:
            tasks.append(asyncio.create_task(ctx.run_node(asker("q"))))
            return "ok"

        return Workflow(name="wf", edges=[("START", node(par, rerun_on_resume=True))])

    tasks: list[asyncio.Task[Any]] = []

    async def test() -> None:
        staged = stage(build)
        root = await staged.say()
        assert "without awaiting ctx.run_node()" in str(staged.error)
        assert root.status is Status.FAILED
        await asyncio.gather(*tasks, return_exceptions=True)
        await staged.close()

    run(test)


def test_a_caller_that_cannot_run_again(stage: Stage) -> None:
    """A node without `rerun_on_resume` that runs a child fails with the decorator to write, at any depth."""

    def build() -> Workflow:
        async def par(ctx: Context) -> Any:
            return await ctx.run_node(giver(1, "child"))

        return Workflow(name="wf", edges=[("START", node(par))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert isinstance(staged.error, ValueError)
        assert "must have rerun_on_resume=True" in str(staged.error)
        assert "@node(rerun_on_resume=True)" in str(staged.error)
        await staged.close()

    run(test)


def test_a_workflow_called_twice(stage: Stage) -> None:
    """Each call is a run of its own, with its own nodes, input and question."""

    def build() -> Workflow:
        def inner() -> Workflow:
            def ask(ctx: Context, node_input: str) -> Any:
                name = f"about_{node_input}"
                return ctx.resume_inputs.get(name) or RequestInput(interrupt_id=name)

            return Workflow(name="inner", edges=[("START", node(ask, rerun_on_resume=True), show())])

        async def par(ctx: Context) -> Any:
            return list(await asyncio.gather(*(ctx.run_node(inner(), text) for text in ("one", "two"))))

        return Workflow(name="wf", edges=[("START", node(par, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert sorted(await staged.questions()) == ["about_one", "about_two"]
        await staged.answer(about_two="2")
        root = await staged.answer(about_one="1")
        assert root.output == ["1", "2"]
        assert {"par@1/inner@1/show@1", "par@1/inner@2/show@1"} <= set(await staged.records())
        await staged.close()

    run(test)
