"""Children: nodes that other nodes run."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.parity.pieces import Ticket, answers, asks, flow, gives, runs, shows
from tests.parity.side import Side


async def children_are_numbered(adk: Side) -> None:
    """Children of one name are numbered in the order of their calls; a run id of one's own is taken instead."""
    child = shows(adk, "child")

    async def parent(ctx: Any) -> list[Any]:
        return [await ctx.run_node(child, 1), await ctx.run_node(child, 2), await ctx.run_node(child, 3, run_id="mine")]

    await adk.play(flow(adk, runs(adk, parent)))


async def a_childs_output_may_be_the_parents(adk: Side) -> None:
    """With `use_as_output` the child's output is the parent's, who has no event of its own."""
    child = shows(adk, "child")

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(child, 1, use_as_output=True)

    await adk.play(flow(adk, runs(adk, parent), shows(adk)))
    await adk.play(flow(adk, runs(adk, parent)), session_id="last")


async def a_childs_output_against_the_parents(adk: Side) -> None:
    """With `use_as_output`, a parent that returns something else."""
    child = gives(adk, "child", "child's")

    async def parent(ctx: Any) -> str:
        await ctx.run_node(child, use_as_output=True)
        return "parent's"

    await adk.play(flow(adk, runs(adk, parent), asks(adk, "q"), shows(adk)), "hi", answers(q=1))
    await adk.play(flow(adk, runs(adk, parent), shows(adk)), session_id="s2")


async def a_childs_output_is_enough(adk: Side) -> None:
    """With `use_as_output`, a parent that returns nothing."""
    child = gives(adk, "child", "child's")

    async def parent(ctx: Any) -> None:
        await ctx.run_node(child, use_as_output=True)

    await adk.play(flow(adk, runs(adk, parent), shows(adk)))


async def one_child_is_the_output(adk: Side) -> None:
    """Only one child can be the output."""
    child = shows(adk, "child")

    async def parent(ctx: Any) -> None:
        await ctx.run_node(child, 1, use_as_output=True)
        await ctx.run_node(child, 2, use_as_output=True)

    adk.listen("already has a use_as_output delegate")
    await adk.play(flow(adk, runs(adk, parent)))


async def claims_go_through_levels(adk: Side) -> None:
    """A child that is the output of a child that is the output is the output of all."""
    leaf = gives(adk, "leaf", 1)

    async def middle(ctx: Any) -> Any:
        return await ctx.run_node(leaf, use_as_output=True)

    middle_node = runs(adk, middle, "middle")

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(middle_node, use_as_output=True)

    await adk.play(flow(adk, runs(adk, parent)))


async def a_child_may_have_a_branch(adk: Side) -> None:
    """A child lies on the caller's branch, below it, or on a branch of its own."""
    child = shows(adk, "child")

    async def parent(ctx: Any) -> list[Any]:
        return [
            await ctx.run_node(child, 1),
            await ctx.run_node(child, 2, use_sub_branch=True),
            await ctx.run_node(child, 3, override_branch="other"),
            await ctx.run_node(child, 4, override_branch="other", use_sub_branch=True),
        ]

    await adk.play(flow(adk, runs(adk, parent), shows(adk)))
    await adk.play(flow(adk, (runs(adk, parent), gives(adk, "b", 1)), adk.JoinNode(name="j")), session_id="lanes")


async def a_claimed_output_lies_on_the_parents_branch(adk: Side) -> None:
    """With `use_as_output` and a branch of its own, the child's output is published on the parent's."""
    child = shows(adk, "child")

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(child, 1, use_as_output=True, use_sub_branch=True)

    await adk.play(flow(adk, runs(adk, parent), shows(adk)))


async def a_run_id_isnt_a_number(adk: Side) -> None:
    """A run id of digits only is refused."""
    child = shows(adk, "child")

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(child, 1, run_id="7")

    adk.listen("must contain non-numeric characters")
    await adk.play(flow(adk, runs(adk, parent)))


async def a_run_id_runs_once(adk: Side) -> None:
    """The same run id twice gives the first result without running again."""
    child = shows(adk, "child")

    async def parent(ctx: Any) -> list[Any]:
        return [await ctx.run_node(child, 1, run_id="once"), await ctx.run_node(child, 2, run_id="once")]

    await adk.play(flow(adk, runs(adk, parent)))


async def a_child_may_be_a_workflow(adk: Side) -> None:
    """A workflow as child has its nodes below it; each call is a run of its own."""
    inner = adk.Workflow(name="inner", edges=[("START", shows(adk, "b"), shows(adk, "c"))])

    async def parent(ctx: Any) -> list[Any]:
        return [await ctx.run_node(inner, 1), await ctx.run_node(inner, 2)]

    await adk.play(flow(adk, runs(adk, parent)))


async def a_child_may_be_a_function(adk: Side) -> None:
    """A function as child becomes a node of its name; a lambda has none that will do."""

    def double(node_input: int) -> int:
        return node_input * 2

    async def parent(ctx: Any) -> Any:
        return await ctx.run_node(double, 4)

    async def nameless(ctx: Any) -> Any:
        return await ctx.run_node(lambda: 1)

    await adk.play(flow(adk, runs(adk, parent)))
    await adk.play(flow(adk, runs(adk, nameless)), session_id="lambda")


async def children_have_children(adk: Side) -> None:
    """Children may run children."""
    leaf = shows(adk, "leaf")

    async def middle(ctx: Any, node_input: Any) -> list[Any]:
        return [await ctx.run_node(leaf, [node_input, 1]), await ctx.run_node(leaf, [node_input, 2])]

    middle_node = runs(adk, middle, "middle")

    async def parent(ctx: Any) -> list[Any]:
        return [await ctx.run_node(middle_node, "x"), await ctx.run_node(middle_node, "y")]

    await adk.play(flow(adk, runs(adk, parent)))


async def children_gathered(adk: Side) -> None:
    """Children may run side by side; results are in the order of the calls."""

    async def wait(node_input: float) -> float:
        await asyncio.sleep(node_input)
        return node_input

    child = adk.node(wait)

    async def parent(ctx: Any) -> list[Any]:
        calls = (ctx.run_node(child, delay, use_sub_branch=True) for delay in (0.03, 0.0))
        return list(await asyncio.gather(*calls))

    await adk.play(flow(adk, runs(adk, parent)))


async def a_bare_root_has_children(adk: Side) -> None:
    """A root without a workflow may run children, and goes on after their questions."""
    first, ask = gives(adk, "first", 1), asks(adk, "q")

    async def parent(ctx: Any) -> list[Any]:
        return [await ctx.run_node(first), await ctx.run_node(ask)]

    await adk.play(runs(adk, parent), "hi", answers(q="x"))


async def a_childs_input_is_checked(adk: Side) -> None:
    """An input that doesn't fit the child's model is an error that the parent may catch."""

    def child(node_input: Ticket) -> str:
        return node_input.title

    checked = adk.node(child)

    async def parent(ctx: Any) -> Any:
        try:
            await ctx.run_node(checked, {"count": 1})
        except Exception:  # noqa: BLE001  # what the package raises differs; that it can be caught is the rule
            return "caught"

    await adk.play(flow(adk, runs(adk, parent)))


async def children_and_state(adk: Side) -> None:
    """Children see and change the same state as their parent."""

    def child(ctx: Any) -> Any:
        ctx.state["n"] = ctx.state["n"] + 1
        return ctx.state["n"]

    one = adk.node(child)

    async def parent(ctx: Any) -> list[Any]:
        ctx.state["n"] = 1
        return [await ctx.run_node(one), await ctx.run_node(one), ctx.state["n"]]

    await adk.play(flow(adk, runs(adk, parent)))


async def children_arent_counted(adk: Side) -> None:
    """`max_concurrency` counts the nodes of the graph only: a node may run children though the limit is one."""
    child = shows(adk, "child")

    async def parent(ctx: Any) -> list[Any]:
        calls = (ctx.run_node(child, number, use_sub_branch=True) for number in (1, 2))
        return list(await asyncio.gather(*calls))

    await adk.play(flow(adk, runs(adk, parent), max_concurrency=1))
