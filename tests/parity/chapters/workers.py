"""Parallel workers: one node for every item of a list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from google.genai import types

from tests.parity.pieces import Boom, Ticket, answers, flow, gives, shows
from tests.parity.side import Side, said
from tests.parity.written import written


def worker(adk: Side, body: Any, **options: Any) -> Any:
    """Return a parallel worker."""
    return adk.node(body, parallel_worker=True, **options)


def square(node_input: int) -> int:
    """Return the square of an item."""
    return node_input * node_input


async def each_item_is_worked_on(adk: Side) -> None:
    """A parallel worker runs its node for each item of a list, on a branch each, and hands on a list in their order."""
    await adk.play(flow(adk, gives(adk, "a", [1, 2, 3]), worker(adk, square), shows(adk)))


async def an_empty_list_gives_an_empty_list(adk: Side) -> None:
    """A parallel worker with an empty list runs nothing and hands on an empty list."""
    await adk.play(flow(adk, gives(adk, "a", []), worker(adk, square), shows(adk)))


async def what_is_no_list_is_one_item(adk: Side) -> None:
    """A value that is no list, `None` included, is one item."""

    def tell(node_input: Any) -> str:
        return written(node_input)

    for number, value in enumerate([5, None, {"k": 1}, "text"]):
        await adk.play(flow(adk, gives(adk, "a", value), worker(adk, tell), shows(adk)), session_id=f"s{number}")


async def a_tuple_and_a_worker(adk: Side) -> None:
    """A tuple before a parallel worker: one item or several."""

    def tell(node_input: Any) -> str:
        return written(node_input)

    await adk.play(flow(adk, gives(adk, "a", (1, 2)), worker(adk, tell), shows(adk)))


async def a_message_is_read_as_a_list(adk: Side) -> None:
    """The text of a message is spread when it is a JSON list; else it is one item."""

    def tell(node_input: Any) -> str:
        return "a message" if isinstance(node_input, types.Content) else written(node_input)

    await adk.play(flow(adk, worker(adk, tell)), "[1, 2]")
    await adk.play(flow(adk, worker(adk, tell)), "one item", session_id="s2")


async def an_item_may_give_nothing(adk: Side) -> None:
    """An item whose run gives nothing stands in the list as `None`."""

    def odd(node_input: int) -> int | None:
        return node_input if node_input % 2 else None

    await adk.play(flow(adk, gives(adk, "a", [1, 2, 3]), worker(adk, odd), shows(adk)))


async def workers_are_limited(adk: Side) -> None:
    """`max_parallel_workers` bounds how many items are worked on at once."""
    running = most = 0

    async def work(node_input: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return node_input

    for limit in (1, 2, None):
        most = 0
        root = flow(adk, gives(adk, "a", [1, 2, 3, 4]), worker(adk, work, max_parallel_workers=limit), shows(adk))
        await adk.play(root, session_id=f"limit {limit}")
        adk.note("most at once", most)


async def a_limit_needs_a_worker(adk: Side) -> None:
    """A limit without a parallel worker, or below one, is refused."""
    adk.refused(
        "no worker", lambda: adk.node(square, max_parallel_workers=2), "can only be set when parallel_worker is True"
    )
    adk.refused("zero", lambda: worker(adk, square, max_parallel_workers=0), "greater than or equal to 1")


async def a_failing_item_fails_the_worker(adk: Side) -> None:
    """A failing item stops the others, and its error is the run's."""
    seen = []

    async def work(node_input: int) -> int:
        if node_input == 1:
            await asyncio.sleep(0.02)
            raise Boom("item 1")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append(node_input)
            raise
        return node_input

    await adk.play(flow(adk, gives(adk, "a", [1, 2]), worker(adk, work), shows(adk)))
    adk.note("stopped", seen)


async def a_failing_item_is_named(adk: Side) -> None:
    """Whether the error of a failing item says which item it was, and whether the others can be finished."""

    def work(node_input: int) -> int:
        if node_input == 7:
            raise Boom("no")
        return node_input

    talk = adk.talk(flow(adk, gives(adk, "a", [5, 7]), worker(adk, work)))
    try:
        async for _ in talk.runner.run_async(**talk.where, new_message=said("hi")):
            pass
    except Boom as error:
        adk.note("says which", bool(getattr(error, "__notes__", None)))
    adk.refused("collect", lambda: worker(adk, work, on_error="collect"))


async def an_item_asks(adk: Side) -> None:
    """An item may ask; after its answer the list is complete, and finished items aren't run again."""
    times = []

    def work(node_input: int) -> Any:
        times.append(node_input)
        return adk.RequestInput(interrupt_id="q") if node_input == 2 else node_input

    await adk.play(flow(adk, gives(adk, "a", [1, 2, 3]), worker(adk, work), shows(adk)), "hi", answers(q="two"))
    adk.note("ran", sorted(times))


async def every_item_asks(adk: Side) -> None:
    """Several items may ask, each under an id of its own; answers come in any order."""

    def work(node_input: int) -> Any:
        return adk.RequestInput(interrupt_id=f"q{node_input}")

    root = flow(adk, gives(adk, "a", [1, 2]), worker(adk, work), shows(adk))
    await adk.play(root, "hi", answers(q2="two"), answers(q1="one"))


async def a_worker_of_a_node_that_is_there(adk: Side) -> None:
    """A node that exists becomes a parallel worker; options are those of the node inside."""
    inner = adk.node(square, name="sq")
    made = adk.node(inner, parallel_worker=True)
    adk.note("names", [made.name, made.rerun_on_resume, inner.rerun_on_resume])
    await adk.play(flow(adk, gives(adk, "a", [2, 3]), made, shows(adk)))


async def a_worker_of_a_workflow(adk: Side) -> None:
    """A workflow may be run for each item."""
    inner = adk.Workflow(name="inner", edges=[("START", shows(adk, "b"), shows(adk, "c"))])
    await adk.play(flow(adk, gives(adk, "a", [1, 2]), worker(adk, inner), shows(adk)))


async def items_become_models(adk: Side) -> None:
    """Each item is converted by the hint of the node's parameter."""

    def title(node_input: Ticket) -> str:
        return node_input.title

    await adk.play(flow(adk, gives(adk, "a", [{"title": "x"}, {"title": "y"}]), worker(adk, title), shows(adk)))


async def a_worker_retries_its_items(adk: Side) -> None:
    """A retry config of a parallel worker is that of each item."""
    failed: list[int] = []

    def work(node_input: int) -> int:
        if node_input == 2 and not failed:
            failed.append(node_input)
            raise Boom("once")
        return node_input

    retry = adk.RetryConfig(initial_delay=0.001, jitter=0)
    await adk.play(flow(adk, gives(adk, "a", [1, 2]), worker(adk, work, retry_config=retry), shows(adk)))


async def a_worker_as_a_child(adk: Side) -> None:
    """A parallel worker may be run with `ctx.run_node`."""
    each = worker(adk, square)

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(each, [1, 2])

    await adk.play(flow(adk, adk.node(parent, rerun_on_resume=True), shows(adk)))


async def a_class_of_ones_own_is_a_worker(adk: Side) -> None:
    """A subclass of `Node` implements `run_node_impl`, and may be a parallel worker."""
    Node: Any = adk.Node

    class Own(Node):
        async def run_node_impl(self, *, ctx: Any, node_input: Any) -> AsyncIterator[Any]:
            yield f"own {node_input}"

    await adk.play(flow(adk, gives(adk, "a", 1), Own(name="own"), shows(adk)))
    await adk.play(
        flow(adk, gives(adk, "a", [1, 2]), Own(name="own", parallel_worker=True), shows(adk)), session_id="s2"
    )
    adk.refused(
        "limit", lambda: Own(name="own", max_parallel_workers=2), "can only be set when parallel_worker is True"
    )


async def a_class_of_ones_own_retries_its_items(adk: Side) -> None:
    """A retry config of a `Node` that is a parallel worker: how often an item is tried."""
    Node: Any = adk.Node
    tries: list[int] = []

    class Own(Node):
        async def run_node_impl(self, *, ctx: Any, node_input: Any) -> AsyncIterator[Any]:
            tries.append(node_input)
            raise Boom("no")
            yield

    retry = adk.RetryConfig(max_attempts=2, initial_delay=0.001, jitter=0)
    await adk.play(flow(adk, gives(adk, "a", [1]), Own(name="own", parallel_worker=True, retry_config=retry)))
    adk.note("tries", len(tries))


async def a_class_of_ones_own_asks_for_items(adk: Side) -> None:
    """An item of a `Node` that asks and isn't run again after an answer."""
    Node: Any = adk.Node

    class Own(Node):
        async def run_node_impl(self, *, ctx: Any, node_input: Any) -> AsyncIterator[Any]:
            yield adk.RequestInput(interrupt_id=f"q{node_input}")

    root = flow(adk, gives(adk, "a", [1]), Own(name="own", parallel_worker=True), shows(adk))
    await adk.play(root, "hi", answers(q1="x"))


async def an_unfinished_node_class_says_so(adk: Side) -> None:
    """A `Node` without a body is an error that names the method when it runs."""
    adk.listen("run_node_impl")
    await adk.play(flow(adk, adk.Node(name="empty")))
