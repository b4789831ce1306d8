"""Fan-out and joins: several lanes, and where they meet."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

from tests.parity.pieces import Ticket, flow, gives, routes, shows
from tests.parity.side import Side


async def lanes_meet_in_a_join(adk: Side) -> None:
    """Lanes run on branches of their own; a join hands on what each gave, back on the trunk."""
    lanes = (gives(adk, "b", 2), gives(adk, "c", 3))
    await adk.play(flow(adk, gives(adk, "a", 1), lanes, adk.JoinNode(name="j"), shows(adk)))


async def lanes_start_at_the_start(adk: Side) -> None:
    """Several nodes after START are lanes, and what follows a lane stays on its branch."""
    a, b, c, j = gives(adk, "a", 1), gives(adk, "b", 2), shows(adk, "c"), adk.JoinNode(name="j")
    await adk.play(adk.Workflow(name="wf", edges=[("START", (a, b)), (a, c), ((b, c), j)]))


async def lanes_split_again(adk: Side) -> None:
    """A lane that splits has branches below its own; a join lands on what they have in common."""
    inner, outer = adk.JoinNode(name="inner"), adk.JoinNode(name="outer")
    a, b = gives(adk, "a", 1), gives(adk, "b", 2)
    await adk.play(
        adk.Workflow(
            name="wf",
            edges=[("START", (a, b)), (a, (gives(adk, "c", 3), gives(adk, "d", 4)), inner), ((inner, b), outer)],
        )
    )


async def an_ordinary_node_runs_once_an_arrival(adk: Side) -> None:
    """A node with several predecessors that is no join runs for each, one after the other."""
    await adk.play(flow(adk, gives(adk, "a", 1), (gives(adk, "b", 2), gives(adk, "c", 3)), shows(adk, "m")))


async def a_join_takes_none_for_nothing(adk: Side) -> None:
    """A predecessor that hands on nothing has `None` in the join."""
    await adk.play(flow(adk, (gives(adk, "b"), gives(adk, "c", 3)), adk.JoinNode(name="j"), shows(adk)))


async def a_join_of_one_fires(adk: Side) -> None:
    """A join with one predecessor fires at once."""
    await adk.play(flow(adk, gives(adk, "a", 1), adk.JoinNode(name="j")))


async def start_is_a_predecessor(adk: Side) -> None:
    """START before a join counts as done, and has the input as its value."""
    j = adk.JoinNode(name="j")
    await adk.play(adk.Workflow(name="wf", edges=[("START", gives(adk, "a", 1), j), ("START", j), (j, shows(adk))]))


async def a_join_checks_what_arrives(adk: Side) -> None:
    """A join's `input_schema` is applied to what each predecessor gave, except nothing."""
    lanes = (gives(adk, "b", {"title": "x"}), gives(adk, "c"))
    join = adk.JoinNode(name="j", input_schema=Ticket)
    await adk.play(flow(adk, lanes, join, shows(adk)))


async def a_join_behind_routes_may_starve(adk: Side) -> None:
    """A join one of whose predecessors isn't taken doesn't fire, and nothing after it runs."""
    r, x, y = routes(adk, "r", "x"), gives(adk, "x", "X"), gives(adk, "y", "Y")
    talk = await adk.play(flow(adk, r, {"x": x, "y": y}, adk.JoinNode(name="j"), shows(adk)))
    adk.note("status", await talk.status())


async def a_join_may_wait_for_less(adk: Side) -> None:
    """A join behind routes that is told to wait for those that were started."""
    r, x, y = routes(adk, "r", "x"), gives(adk, "x", "X"), gives(adk, "y", "Y")
    await adk.play(flow(adk, r, {"x": x, "y": y}, adk.JoinNode(name="j", wait_for="started"), shows(adk)))


async def a_repeated_arrival_updates_its_value(adk: Side) -> None:
    """A predecessor that finishes again before the join fires only changes its value."""

    async def late() -> int:
        await asyncio.sleep(0.2)
        return 9

    a = adk.node(late, name="late")
    b, c, m, j = gives(adk, "b", 2), gives(adk, "c", 3), shows(adk, "m"), adk.JoinNode(name="j")
    await adk.play(adk.Workflow(name="wf", edges=[("START", (a, b, c)), ((b, c), m), ((a, m), j)]))


async def one_lane_at_a_time(adk: Side) -> None:
    """`max_concurrency` bounds how many nodes of a workflow run at once."""
    running = most = 0

    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1

    for limit in (1, 2, 0, None):
        most = 0
        lanes = tuple(adk.node(work, name=name) for name in "abcd")
        await adk.play(flow(adk, lanes, adk.JoinNode(name="j"), max_concurrency=limit), session_id=f"limit {limit}")
        adk.note("most at once", most)


async def a_node_may_wait_for_more(adk: Side) -> None:
    """A node that waits for output and gives none is run again by the next arrival."""
    times = 0

    def gather(node_input: Any) -> Any:
        nonlocal times
        times += 1
        return None if times < 2 else f"got {times}"

    waiting = adk.node(gather)
    waiting.wait_for_output = True
    await adk.play(flow(adk, (gives(adk, "a", 1), gives(adk, "b", 2)), waiting, shows(adk)))


async def a_route_ends_the_waiting(adk: Side) -> None:
    """A node that waits for output is done when it gives a route."""
    BaseNode: Any = adk.BaseNode

    class Gate(BaseNode):
        async def _run_impl(self, *, ctx: Any, node_input: Any) -> AsyncIterator[Any]:
            yield adk.Event(route="open")

    await adk.play(flow(adk, gives(adk, "a", 1), Gate(name="gate", wait_for_output=True), {"open": shows(adk)}))


async def a_waiting_node_may_never_give(adk: Side) -> None:
    """A node that waits for output and never gives any: nothing after it runs, and the run ends."""
    waiting = gives(adk, "w")
    waiting.wait_for_output = True
    talk = await adk.play(flow(adk, gives(adk, "a", 1), waiting, shows(adk)))
    adk.note("status", await talk.status())


async def joins_keep_the_order_of_their_edges(adk: Side) -> None:
    """The keys of a join's output in the order of its edges."""
    names = [f"n{number}" for number in range(10)]

    def keys(node_input: dict[str, Any]) -> bool:
        return list(node_input) == names

    lanes = tuple(gives(adk, name, 1) for name in names)
    await adk.play(
        flow(adk, lanes, adk.JoinNode(name="j"), adk.node(lambda node_input: keys(node_input), name="in_order"))
    )


async def sync_lanes_and_time(adk: Side) -> None:
    """Sync functions in lanes: whether they meet while both are running."""
    meeting = threading.Barrier(2)

    def lane() -> str:
        try:
            meeting.wait(1.0)
        except threading.BrokenBarrierError:
            return "alone"
        return "met"

    await adk.play(flow(adk, (adk.node(lane, name="a"), adk.node(lane, name="b")), adk.JoinNode(name="j")))


async def lanes_really_run_at_once(adk: Side) -> None:
    """Async lanes run side by side: each sees that the other began before it ended."""
    begun = [asyncio.Event(), asyncio.Event()]

    def meet(mine: int) -> Any:
        async def lane() -> str:
            begun[mine].set()
            await asyncio.wait_for(begun[1 - mine].wait(), 5)
            return "met"

        return lane

    await adk.play(flow(adk, (adk.node(meet(0), name="a"), adk.node(meet(1), name="b")), adk.JoinNode(name="j")))
