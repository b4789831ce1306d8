"""Nested workflows and what a workflow hands on."""

from __future__ import annotations

from typing import Any

from tests.parity.pieces import fails, flow, gives, routes, shows
from tests.parity.side import Side


def inner_flow(adk: Side, *nodes: Any, name: str = "inner") -> Any:
    """Return an inner workflow that is one chain."""
    return adk.Workflow(name=name, edges=[("START", *nodes)])


async def a_workflow_is_a_node(adk: Side) -> None:
    """A workflow in a chain gets its input and hands on what its last node gave."""
    await adk.play(flow(adk, gives(adk, "a", 0), inner_flow(adk, shows(adk, "b"), shows(adk, "c")), shows(adk, "d")))


async def a_last_workflow_gives_the_output(adk: Side) -> None:
    """The output of the last inner node is the inner and the outer workflow's."""
    await adk.play(flow(adk, gives(adk, "a", 0), inner_flow(adk, gives(adk, "b", 1), shows(adk, "c"))))


async def workflows_nest_deeply(adk: Side) -> None:
    """Workflows in workflows have the path of all of them, and the innermost workflow as author."""
    deep = inner_flow(adk, inner_flow(adk, inner_flow(adk, gives(adk, "a", 1), name="w3"), name="w2"), name="w1")
    await adk.play(flow(adk, deep, shows(adk)))


async def a_workflow_in_a_lane(adk: Side) -> None:
    """A workflow in a lane has its lanes below the lane's branch, and its join back on it."""
    inner = adk.Workflow(
        name="inner", edges=[("START", (gives(adk, "b", 1), gives(adk, "c", 2)), adk.JoinNode(name="ij"))]
    )
    await adk.play(flow(adk, (inner, gives(adk, "x", 1)), adk.JoinNode(name="oj")))


async def one_workflow_used_twice(adk: Side) -> None:
    """A workflow may stand in two places of different workflows at the same time."""
    inner = inner_flow(adk, shows(adk, "b"))
    first, second = inner_flow(adk, inner, name="first"), inner_flow(adk, inner, name="second")
    await adk.play(flow(adk, first, second))


async def a_nested_failure_ends_all(adk: Side) -> None:
    """A failure in an inner workflow leaves all of them, unchanged, with one error event where it happened."""
    await adk.play(flow(adk, inner_flow(adk, gives(adk, "b", 1), fails(adk)), shows(adk)))


async def an_inner_workflow_may_give_nothing(adk: Side) -> None:
    """A workflow whose last node gives nothing hands on `None`."""
    await adk.play(flow(adk, inner_flow(adk, gives(adk, "b", 1), gives(adk, "c")), shows(adk)))


async def one_of_several_last_nodes_gives(adk: Side) -> None:
    """Of several last nodes the one that gave something has the workflow's output."""
    inner = adk.Workflow(name="inner", edges=[("START", gives(adk, "a", 1), (gives(adk, "b"), gives(adk, "c", 3)))])
    await adk.play(flow(adk, inner, shows(adk)))


async def two_outputs_are_too_many(adk: Side) -> None:
    """Two different last nodes that both gave something fail the workflow, after all their events."""
    inner = adk.Workflow(name="inner", edges=[("START", gives(adk, "a", 1), (gives(adk, "b", 2), gives(adk, "c", 3)))])
    adk.listen("multiple terminal nodes produced output", "2")
    await adk.play(flow(adk, inner, shows(adk)))


async def two_outputs_of_the_root(adk: Side) -> None:
    """The root workflow, too, hands on one output at most."""
    adk.listen("multiple terminal nodes produced output")
    await adk.play(flow(adk, gives(adk, "a", 1), (gives(adk, "b", 2), gives(adk, "c", 3))))


async def a_last_node_run_twice_gives_its_last(adk: Side) -> None:
    """A last node that ran several times gives the output of its last run."""
    inner = inner_flow(adk, (gives(adk, "b", 2), gives(adk, "c", 3)), shows(adk, "m"))
    await adk.play(flow(adk, inner, shows(adk)))


async def a_last_node_may_take_back_its_output(adk: Side) -> None:
    """A last node whose last run gave nothing has no output."""
    times = 0

    def last() -> Any:
        nonlocal times
        times += 1
        return times if times == 1 else None

    inner = inner_flow(adk, (gives(adk, "b", 2), gives(adk, "c", 3)), adk.node(last))
    await adk.play(flow(adk, inner, shows(adk)))


async def routes_choose_the_last_node(adk: Side) -> None:
    """The last node of the route that was taken gives the output."""
    inner = inner_flow(adk, routes(adk, "r", "y"), {"x": gives(adk, "x", "X"), "y": gives(adk, "y", "Y")})
    await adk.play(flow(adk, inner, shows(adk)))


async def a_bare_node_is_a_root(adk: Side) -> None:
    """A node without a workflow may be the root; it is its own author."""
    await adk.play(gives(adk, "a", 1))


async def the_inner_input_is_no_message(adk: Side) -> None:
    """The first node of an inner workflow gets the outer node's output, of the root the user's message."""
    await adk.play(flow(adk, shows(adk, "outer"), inner_flow(adk, shows(adk, "first"))))
