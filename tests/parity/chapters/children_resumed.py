"""Children that ask, fail and are run again."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.parity.pieces import Boom, answers, asks, fails, flow, gives, runs, shows
from tests.parity.side import Side


async def a_parent_is_run_again_after_answers(adk: Side) -> None:
    """Without `rerun_on_resume` a node can't run children."""
    child = gives(adk, "child", 1)

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(child)

    adk.listen("must have rerun_on_resume=True")
    await adk.play(flow(adk, adk.node(parent)))


async def a_childs_failure_can_be_caught(adk: Side) -> None:
    """A child's failure raises an error that names it, which the parent may catch and go on."""
    child = fails(adk)

    async def parent(ctx: Any) -> list[Any]:
        try:
            await ctx.run_node(child)
        except Exception as error:  # noqa: BLE001  # what the package raises is what is looked at
            held: Any = error
            return [type(error).__name__, type(held.error).__name__, held.error_node_path, "boom" in str(error)]
        return []

    await adk.play(flow(adk, runs(adk, parent)))


async def an_uncaught_failure_is_the_childs_own(adk: Side) -> None:
    """A child's failure that nobody catches leaves the run as it was raised, with one error event."""
    child = fails(adk)

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(child)

    await adk.play(flow(adk, runs(adk, parent), shows(adk)))


async def a_child_is_retried(adk: Side) -> None:
    """A child has its own retry config."""
    times = 0

    def flaky() -> int:
        nonlocal times
        times += 1
        if times < 2:
            raise Boom("no")
        return times

    child = adk.node(flaky, retry_config=adk.RetryConfig(initial_delay=0.001, jitter=0))

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(child)

    await adk.play(flow(adk, runs(adk, parent)))


async def a_parents_retry_replays_its_children(adk: Side) -> None:
    """A parent that is retried because a child failed gets finished children's results without running them."""
    times = {"first": 0, "second": 0}

    def first() -> int:
        times["first"] += 1
        return times["first"]

    def second() -> int:
        times["second"] += 1
        if times["second"] < 2:
            raise Boom("no")
        return times["second"]

    one, two = adk.node(first), adk.node(second)

    async def parent(ctx: Any) -> list[int]:
        return [await ctx.run_node(one), await ctx.run_node(two)]

    await adk.play(flow(adk, runs(adk, parent, retry_config=adk.RetryConfig(initial_delay=0.001, jitter=0))))
    adk.note("times", times)


async def a_parents_own_failure_and_its_children(adk: Side) -> None:
    """A parent that is retried because it failed itself, and its finished children."""
    times = 0

    def child() -> int:
        nonlocal times
        times += 1
        return times

    one = adk.node(child)

    async def parent(ctx: Any) -> int:
        found = await ctx.run_node(one)
        if ctx.attempt_count < 2:
            raise Boom("own")
        return int(found)

    await adk.play(flow(adk, runs(adk, parent, retry_config=adk.RetryConfig(initial_delay=0.001, jitter=0))))


async def a_child_asks(adk: Side) -> None:
    """A child's question pauses the parent; after the answer the parent runs again and finished children don't."""
    times = 0

    def work() -> int:
        nonlocal times
        times += 1
        return times

    first, ask = adk.node(work), asks(adk, "q")

    async def parent(ctx: Any) -> list[Any]:
        return [await ctx.run_node(first), await ctx.run_node(ask)]

    await adk.play(flow(adk, runs(adk, parent), shows(adk)), "hi", answers(q="x"))
    adk.note("times", times)


async def a_child_asks_again(adk: Side) -> None:
    """A child that runs again after an answer finds it by its id."""

    def ask(ctx: Any, node_input: Any) -> Any:
        return [node_input, ctx.resume_inputs] if ctx.resume_inputs else adk.RequestInput(interrupt_id="q")

    child = adk.node(ask, rerun_on_resume=True)

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(child, 5)

    await adk.play(flow(adk, runs(adk, parent), shows(adk)), "hi", answers(q="x"))


async def children_ask_one_after_the_other(adk: Side) -> None:
    """A parent whose children ask one after the other goes on with each answer."""
    one, two = asks(adk, "q1"), asks(adk, "q2")

    async def parent(ctx: Any) -> list[Any]:
        return [await ctx.run_node(one), await ctx.run_node(two)]

    await adk.play(flow(adk, runs(adk, parent), shows(adk)), "hi", answers(q1=1), answers(q2=2))


async def a_workflow_as_child_asks(adk: Side) -> None:
    """A question in a workflow that is a child."""
    inner = adk.Workflow(name="inner", edges=[("START", gives(adk, "b", 1), asks(adk, "q"), shows(adk, "c"))])

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(inner, 1)

    await adk.play(flow(adk, runs(adk, parent), shows(adk)), "hi", answers(q="x"))


async def gathered_children_ask(adk: Side) -> None:
    """Children that run side by side and ask at different times."""
    quick = asks(adk, "k1")

    async def late() -> Any:
        await asyncio.sleep(0.15)
        return adk.RequestInput(interrupt_id="k2")

    slow = adk.node(late)

    async def parent(ctx: Any) -> list[Any]:
        return list(await asyncio.gather(ctx.run_node(quick), ctx.run_node(slow)))

    await adk.play(flow(adk, runs(adk, parent)), "hi", answers(k1=1, k2=2))


async def a_child_without_output_gives_none(adk: Side) -> None:
    """A child that gives nothing gives `None`, and on each answer it."""
    times = 0

    def work() -> None:
        nonlocal times
        times += 1

    silent, ask = adk.node(work), asks(adk, "q")

    async def parent(ctx: Any) -> list[Any]:
        return [await ctx.run_node(silent), await ctx.run_node(ask)]

    await adk.play(flow(adk, runs(adk, parent)), "hi", answers(q="x"))
    adk.note("times", times)


async def a_task_left_alone_is_waited_for(adk: Side) -> None:
    """A child in a task that the parent doesn't await finishes before the run ends."""

    async def late() -> str:
        await asyncio.sleep(0.02)
        return "late"

    child, tasks = adk.node(late), []

    async def parent(ctx: Any) -> str:
        tasks.append(asyncio.create_task(ctx.run_node(child)))
        await asyncio.sleep(0)
        return "parent"

    await adk.play(flow(adk, runs(adk, parent)))
    adk.note("done", [task.done() for task in tasks])


async def a_task_that_fails_early(adk: Side) -> None:
    """A child in a task that the parent doesn't await, and that fails at once."""
    child, tasks = fails(adk), []

    async def parent(ctx: Any) -> str:
        tasks.append(asyncio.create_task(ctx.run_node(child)))
        await asyncio.sleep(0.1)
        return "ok"

    await adk.play(flow(adk, runs(adk, parent), shows(adk)))
    for task in tasks:
        adk.note("failed", task.done() and task.exception() is not None)


async def other_children_after_an_answer(adk: Side) -> None:
    """A parent that runs other children after an answer than before it."""
    times = 0
    a, b, ask = gives(adk, "a", "A"), gives(adk, "b", "B"), asks(adk, "q")

    async def parent(ctx: Any) -> Any:
        nonlocal times
        times += 1
        if times > 1:
            await ctx.run_node(b)
        await ctx.run_node(a)
        return await ctx.run_node(ask)

    await adk.play(flow(adk, runs(adk, parent)), "hi", answers(q=1))


async def a_waiting_child_gives_none(adk: Side) -> None:
    """A child that waits for output and gives none gives `None` to its parent."""
    waiting = gives(adk, "w")
    waiting.wait_for_output = True

    async def parent(ctx: Any) -> str:
        return f"got {await ctx.run_node(waiting)}"

    await adk.play(flow(adk, runs(adk, parent), shows(adk)))


async def a_waiting_child_may_stop_its_parent(adk: Side) -> None:
    """With `raise_on_wait`, a child that waits for output and gives none stops its parent."""
    waiting = gives(adk, "w")
    waiting.wait_for_output = True

    async def parent(ctx: Any) -> str:
        return f"got {await ctx.run_node(waiting, raise_on_wait=True)}"

    await adk.play(flow(adk, runs(adk, parent), shows(adk)))
