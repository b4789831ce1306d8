"""State: every read sees the newest write before it, and what a run sees is what is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import adk_nb as adk
from adk_nb.errors import WorkflowDataError
from adk_nb.events import Event
from adk_nb.events.request_input import answer_content
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import JoinNode, RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from tests.faults.ways import Staged, asker
from tests.workflow.driving import run

Stage = Callable[[Callable[[], Workflow]], Staged]


def test_starting_state(stage: Stage) -> None:
    """State given with the first message is on the first event, seen by the first node, and there after a pause."""
    seen: list[Any] = []

    def build() -> Workflow:
        def look(ctx: Context, test_state: str = "missing") -> None:
            seen.append((test_state, ctx.state.get("test_state"), ctx.state.get("user:name")))

        return Workflow(name="w", edges=[("START", node(look, name="first"), asker("q"), node(look, name="second"))])

    async def test() -> None:
        staged = stage(build)
        await staged.say(state_delta={"test_state": "x", "user:name": "Ada"})
        first = (await staged.talk.stored())[0]
        assert first.actions.state_delta == {"test_state": "x", "user:name": "Ada"}
        await staged.answer(q=1)
        assert seen == [("x", "x", "Ada")] * 2
        await staged.close()

    run(test)


def test_starting_state_of_any_root() -> None:
    """A workflow, an agent and a function as root see the state that is given with the message."""

    async def test() -> None:
        model = ScriptedModel(["ok"])
        agent = adk.Agent(name="a", model=model, instruction="value is {test_state}")
        ran = await adk.run(agent, "hi", state={"test_state": "x"}, sessions="memory", view=False)
        assert "value is x" in str(model.requests[0].config.system_instruction)
        assert ran.events[0].actions.state_delta == {"test_state": "x"}

        def show(test_state: str) -> str:
            return test_state

        for root in (show, Workflow(name="w", edges=[("START", show)])):
            ran = await adk.run(root, "hi", state={"test_state": "x"}, sessions="memory", view=False)
            assert ran.output == "x"
            assert ran.events[0].actions.state_delta == {"test_state": "x"}

    run(test)


def test_a_counter_down_a_chain(stage: Stage) -> None:
    """Each node reads what the one before wrote, also over a pause."""

    def build() -> Workflow:
        async def a(ctx: Context) -> None:
            ctx.state["n"] = 0

        async def b(ctx: Context) -> None:
            ctx.state["n"] += 1

        async def c(ctx: Context) -> Any:
            await asyncio.sleep(0)
            return ctx.state["n"]

        return Workflow(name="w", edges=[("START", a, b, asker("q"), node(b, name="again"), c)])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q=1)
        assert root.output == 2
        assert (await staged.talk.state())["n"] == 2
        await staged.close()

    run(test)


@pytest.mark.parametrize("first", ["a", "b"])
@pytest.mark.parametrize("how", ["context", "event"])
def test_two_writers_at_once(stage: Stage, first: str, how: str) -> None:
    """Of siblings that write one key, the one stored last counts: for who reads now, and after a pause."""
    seen: list[Any] = []

    def build() -> Workflow:
        def writer(name: str) -> Any:
            async def write(ctx: Context) -> Any:
                if how == "context":
                    ctx.state["k"] = [name]
                for _ in range(5 if name == first else 50):
                    await asyncio.sleep(0)
                return Event(state={"k": [name]}) if how == "event" else None

            return node(write, name=name)

        def look(ctx: Context) -> None:
            seen.append(ctx.state["k"])

        lanes = (writer("a"), writer("b"))
        looks = (node(look, name="now"), asker("q"), node(look, name="later"))
        return Workflow(name="w", edges=[("START", lanes, JoinNode(name="j"), *looks)])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        last = "b" if first == "a" else "a"
        assert (await staged.talk.state())["k"] == [last]
        await staged.answer(q=1)
        assert seen == [[last], [last]]
        await staged.close()

    run(test)


def test_a_child_writes_after_its_caller(stage: Stage) -> None:
    """What a child wrote isn't undone by what its caller had written before it: not now, not in the store."""
    seen: list[Any] = []

    def build() -> Workflow:
        def add(ctx: Context) -> None:
            ctx.state["n"] += 1

        async def caller(ctx: Context) -> Any:
            if "n" not in ctx.state:
                ctx.state["n"] = 0
            await ctx.run_node(add)
            await ctx.run_node(Workflow(name="inner", edges=[("START", add)]))
            return ctx.state["n"]

        def look(ctx: Context) -> Any:
            seen.append(ctx.state["n"])
            return ctx.state["n"]

        return Workflow(
            name="w",
            edges=[
                (
                    "START",
                    node(caller, rerun_on_resume=True),
                    node(look, name="now"),
                    asker("q"),
                    node(look, name="end"),
                )
            ],
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert (await staged.talk.state())["n"] == 2
        root = await staged.answer(q=1)
        assert seen == [2, 2]
        assert root.output == 2
        await staged.close()

    run(test)


def test_a_caller_that_writes_again_before_a_replayed_child(stage: Stage) -> None:
    """What a finished child, or a node below it, wrote holds though its caller runs again and writes the key before."""

    def build() -> Workflow:
        def add(ctx: Context) -> None:
            ctx.state["n"] += 1

        flow = Workflow(name="flow", edges=[("START", node(add, name="first"), node(add, name="second"))])

        @node(rerun_on_resume=True, retry_config=RetryConfig(initial_delay=0))
        async def caller(ctx: Context) -> Any:
            ctx.state["n"] = 0
            await ctx.run_node(add)
            await ctx.run_node(flow, run_id="flow")
            ctx.state["n"] *= 10
            await ctx.run_node(flow, run_id="flow")
            await ctx.run_node(asker("q"))
            if ctx.attempt_count == 1:
                raise ValueError("try again")
            return ctx.state["n"]

        return Workflow(name="wf", edges=[("START", caller)])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q=1)
        assert root.output == 30
        await staged.close()

    run(test)


def test_what_a_failed_try_wrote(stage: Stage) -> None:
    """There is no rollback: the next try, and a continued run, see it; it is stored with the error."""
    seen: list[Any] = []

    def build() -> Workflow:
        def work(ctx: Context) -> str:
            seen.append(ctx.state.get("tries", 0))
            ctx.state["tries"] = len(seen)
            if len(seen) < 4:
                raise ValueError("not yet")
            return "done"

        rule = RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
        return Workflow(name="w", edges=[("START", node(work, retry_config=rule))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert (await staged.talk.state())["tries"] == 2
        root = await staged.go_on()
        assert root.output == "done"
        assert seen == [0, 1, 2, 3]
        await staged.close()

    run(test)


def test_a_list_changed_in_place(stage: Stage) -> None:
    """A list read from state and appended to is written, whoever reads it next, now or later."""

    def build() -> Workflow:
        def begin(ctx: Context) -> None:
            ctx.state["seen"] = ["a"]

        def append(ctx: Context) -> Any:
            ctx.state["seen"].append("b")
            return ctx.state["seen"]

        return Workflow(
            name="w", edges=[("START", begin, node(append, name="now"), asker("q"), node(append, name="later"))]
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert (await staged.talk.state())["seen"] == ["a", "b"]
        root = await staged.answer(q=1)
        assert root.output == ["a", "b", "b"]
        await staged.close()

    run(test)


def test_state_that_cannot_be_stored_with_an_answer(stage: Stage) -> None:
    """It is refused before anything is stored: the question stays open, and the answer can be given again."""

    def build() -> Workflow:
        return Workflow(name="wf", edges=[("START", asker("q"), node(lambda node_input: node_input, name="end"))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        before = len(await staged.talk.stored())
        await staged.send(answer_content({"q": 1}), state_delta={"k": object()})
        assert isinstance(staged.error, WorkflowDataError)
        assert "state_delta['k']" in str(staged.error)
        assert len(await staged.talk.stored()) == before
        root = await staged.send(answer_content({"q": 1}), state_delta={"k": (1,)})
        assert root.output == 1
        assert (await staged.talk.state())["k"] == (1,)
        await staged.close()

    run(test)
