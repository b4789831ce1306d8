"""Routes and loops: no label is lost in silence, every loop has an end and an output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adk_nb as adk
from adk_nb.events import Event
from adk_nb.events.record import Status
from adk_nb.workflow import DEFAULT_ROUTE, Limits, Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import RunConfig
from tests.faults.ways import Staged, asker, giver, show
from tests.workflow.driving import run

Stage = Callable[[Callable[[], Workflow]], Staged]


def test_a_label_that_no_edge_has(stage: Stage) -> None:
    """The run isn't completed: it names node, label and known labels, the nearest first, also after a pause."""

    def build() -> Workflow:
        def router(node_input: str) -> Event:
            return Event(output=node_input, route=node_input.strip())

        return Workflow(
            name="w",
            edges=[
                (
                    "START",
                    asker("q", response_schema=str),
                    router,
                    {"BUG": giver("bug desk", "bug"), "SALES": giver("sales desk", "sales")},
                )
            ],
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q='["BUG"]')
        assert root.status is Status.INCOMPLETE
        told = await staged.warnings()
        assert "router" in told
        assert "BUG" in told
        assert "SALES" in told
        assert {"bug@1", "sales@1"}.isdisjoint(await staged.records())
        await staged.close()

    run(test)


def test_such_a_label_on_the_handle() -> None:
    """`run` comes back incomplete with the node in its warnings; a default edge takes every other label."""

    async def test() -> None:
        def router(node_input: str) -> Event:
            return Event(output=node_input, route=node_input.strip())

        def bug(node_input: str) -> str:
            return "bug desk"

        def sales(node_input: str) -> str:
            return "sales desk"

        flow = Workflow(name="w", edges=[("START", router, {"BUG": bug, "SALES": sales})])
        ran = await adk.run(flow, "BUGS", sessions="memory", view=False)
        assert ran.status == "incomplete"
        (told,) = ran.warnings
        assert "router" in told
        assert "'BUGS'" in told
        assert "'BUG' (did you mean this?), 'SALES'" in told
        other = Workflow(name="w2", edges=[("START", router, {"BUG": bug, DEFAULT_ROUTE: sales})])
        assert (await adk.run(other, "??", sessions="memory", view=False)).output == "sales desk"

    run(test)


def test_a_route_on_an_event_of_another_author(stage: Stage) -> None:
    """The author is the engine's to set, so the route on such an event is followed like any other."""

    def build() -> Workflow:
        router = node(lambda: Event(author="bot", output=1, route="x"), name="r")
        return Workflow(name="wf", edges=[("START", router, {"x": show()})])

    async def test() -> None:
        staged = stage(build)
        assert (await staged.say()).output == "1"
        await staged.close()

    run(test)


@pytest.mark.parametrize("asks", [False, True])
def test_a_loop_left_by_a_label_without_an_edge(stage: Stage, asks: bool) -> None:
    """What the loop came to is the workflow's output, its successor gets it, and the run says that it ended short."""

    def build() -> Workflow:
        def it(ctx: Context) -> Event:
            ctx.state["n"] = ctx.state.get("n", 0) + 1
            return Event(output=ctx.state["n"], route="again" if ctx.state["n"] < 3 else "stop")

        loop = node(it)
        between = asker("q") if asks else node(lambda node_input: node_input, name="between")
        inner = Workflow(name="inner", edges=[("START", loop, {"again": between}), (between, loop)])
        return Workflow(name="wf", edges=[("START", inner, show())])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        if asks:
            await staged.answer(q=1)
            await staged.answer(q=1)
        root = await staged.talk.root()
        assert (root.status, root.output) == (Status.INCOMPLETE, "3")
        assert "'stop'" in await staged.warnings()
        await staged.close()

    run(test)


def test_the_branch_of_a_loop_that_fans_out(stage: Stage) -> None:
    """It doesn't grow with the passes, and each lane has its own."""

    def build() -> Workflow:
        def lp(ctx: Context) -> Event:
            ctx.state["n"] = ctx.state.get("n", 0) + 1
            return Event(output=ctx.state["n"], route="again" if ctx.state["n"] < 20 else "stop")

        loop, tee = node(lp), node(lambda: Event(message="tee"), name="tee")
        return Workflow(name="wf", edges=[("START", loop), (loop, tee), (loop, {"again": loop})])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        branches = {event.node_info.path: event.branch or "" for event in staged.events}
        longest = max(len(branch.split(".")) for branch in branches.values())
        assert longest <= 2
        tees = [branch for path, branch in branches.items() if "/tee@" in path]
        assert len(set(tees)) == len(tees) == 20
        await staged.close()

    run(test)


def test_a_loop_without_an_end(stage: Stage) -> None:
    """A limit ends it in order: what was worked out is kept, the run is stopped, and goes on when it is let."""
    thoughts: list[str] = []

    def build() -> Workflow:
        def think(node_input: Any) -> str:
            thoughts.append(".")
            return (node_input if isinstance(node_input, str) else "") + "."

        def again(node_input: str) -> Event:
            return Event(output=node_input, route="again" if len(node_input) < 30 else "done")

        thinker = node(think)
        return Workflow(name="w", edges=[("START", thinker, again, {"again": thinker, "done": show()})])

    async def test() -> None:
        staged = stage(build)
        root = await staged.say("", run_config=RunConfig(limits=Limits(max_node_runs=20)))
        assert (root.status, root.stopped_by) == (Status.STOPPED, "max_node_runs")
        assert staged.error is None
        done = len(thoughts)
        assert 8 <= done <= 10
        records = await staged.records()
        assert records[f"think@{done}"].output == "." * done
        root = await staged.go_on()
        assert root.status is Status.COMPLETED
        assert len(thoughts) == 30
        await staged.close()

    run(test)


def test_such_a_loop_has_an_end_anyway() -> None:
    """Without a limit of one's own there is one, and a loop of routed edges is told before the run."""

    async def test() -> None:
        def tick(node_input: Any) -> Event:
            return Event(output=1, route="again")

        loop = node(tick)
        flow = Workflow(name="w", edges=[("START", loop, {"again": loop, "done": show()})])
        assert Limits().max_node_runs is not None
        assert any("loop" in hint.text or "limit" in hint.text for hint in flow.check())
        ran = await adk.run(flow, "", sessions="memory", view=False, limits=Limits(max_node_runs=5))
        assert (ran.status, ran.stopped_by) == ("stopped", "max_node_runs")
        assert ran.outputs("tick") == [1] * 5

    run(test)
