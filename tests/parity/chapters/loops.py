"""Loops: nodes that run again."""

from __future__ import annotations

from typing import Any

from tests.parity.pieces import answers, asks, counts_to, flow, gives, shows
from tests.parity.side import Side


async def a_node_leads_back_to_itself(adk: Side) -> None:
    """A node runs again for as long as its route leads back to it, with a new run id each time."""
    count = counts_to(adk, 3)
    await adk.play(flow(adk, count, {"again": count, "done": shows(adk)}))


async def a_loop_goes_through_several_nodes(adk: Side) -> None:
    """A loop of several nodes counts each of their runs."""
    count, work = counts_to(adk, 3), shows(adk, "work")
    await adk.play(adk.Workflow(name="wf", edges=[("START", work, count, {"again": work, "done": shows(adk)})]))


async def a_join_in_a_loop_fires_each_time(adk: Side) -> None:
    """A join in a loop waits for new arrivals each time round."""
    head, count = shows(adk, "head"), counts_to(adk, 2)
    lanes = (gives(adk, "b", 2), gives(adk, "c", 3))
    await adk.play(
        adk.Workflow(
            name="wf",
            edges=[("START", head, lanes, adk.JoinNode(name="j"), count, {"again": head, "done": shows(adk)})],
        )
    )


async def a_loop_is_left_by_an_unknown_route(adk: Side) -> None:
    """A loop whose last route has no edge ends there; what the workflow hands on."""
    count = counts_to(adk, 3)
    inner = adk.Workflow(name="inner", edges=[("START", count, {"again": count})])
    await adk.play(flow(adk, inner, shows(adk)))


async def a_loop_is_left_by_the_default(adk: Side) -> None:
    """The default edge leaves a loop."""
    count = counts_to(adk, 3)
    await adk.play(flow(adk, count, {"again": count, adk.DEFAULT_ROUTE: shows(adk)}))


async def a_loop_that_fans_out(adk: Side) -> None:
    """A looping node with a second target: each round of the loop lies on a branch."""
    count, tee = counts_to(adk, 3), gives(adk, "tee", "t")
    await adk.play(adk.Workflow(name="wf", edges=[("START", count), (count, tee), (count, {"again": count})]))


async def a_question_in_a_loop(adk: Side) -> None:
    """A node in a loop asks each time round, under an id of its own."""

    def ask(ctx: Any) -> Any:
        return adk.RequestInput(interrupt_id=f"q{ctx.run_id}")

    def judge(node_input: Any) -> Any:
        return adk.Event(output=node_input, route="done" if node_input == "stop" else "again")

    question = adk.node(ask)
    root = flow(adk, question, judge, {"again": question, "done": shows(adk)})
    await adk.play(root, "hi", answers(q1="more"), answers(q2="more"), answers(q3="stop"))


async def one_question_asked_again(adk: Side) -> None:
    """A node in a loop may use the same question id in each round."""

    def judge(node_input: Any) -> Any:
        return adk.Event(output=node_input, route="done" if node_input == "stop" else "again")

    question = asks(adk, "q", name="ask")
    root = flow(adk, question, adk.node(judge), {"again": question, "done": shows(adk)})
    await adk.play(root, "hi", answers(q="more"), answers(q="stop"))


async def a_nested_workflow_loops(adk: Side) -> None:
    """A nested workflow that is run again starts its inner runs at 1, below its own new run id."""
    count = counts_to(adk, 2)
    inner = adk.Workflow(name="inner", edges=[("START", shows(adk, "work"), gives(adk, "more", "m"))])
    await adk.play(adk.Workflow(name="wf", edges=[("START", inner, count, {"again": inner, "done": shows(adk)})]))


async def a_loop_counts_in_the_state(adk: Side) -> None:
    """A counter in the state is seen by the next round."""

    def count(ctx: Any) -> Any:
        ctx.state["n"] = ctx.state.get("n", 0) + 1
        return adk.Event(output=ctx.state["n"], route="again" if ctx.state["n"] < 3 else "done")

    node = adk.node(count)
    await adk.play(flow(adk, node, {"again": node, "done": shows(adk)}))
