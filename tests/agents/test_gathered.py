"""Agents that run at the same time never read each other, whatever happens to them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import adk_nb as adk
from adk_nb import Agent, Context
from adk_nb.errors import DynamicNodeFailError
from adk_nb.events import RequestInput
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import RetryConfig, Workflow, node

AGAIN = RetryConfig(initial_delay=0.01, jitter=0)
COUNT = 4


def agents(*, late: int | None = None) -> list[Agent]:
    """Return agents that read the conversation; one of them fails at first, and answers after all others."""
    return [
        Agent(
            name=f"a{i}",
            include_contents="default",
            retry_config=AGAIN,
            model=ScriptedModel(([ConnectionError("x")] if i == late else []) + [f"answer {i}"]),
        )
        for i in range(COUNT)
    ]


def assert_apart(those: list[Agent]) -> None:
    """Refuse any request that holds another one's input or answer."""
    for i, agent in enumerate(those):
        assert isinstance(agent.model, ScriptedModel)
        assert agent.model.requests
        for request in agent.model.requests:
            others = [
                j for j in range(COUNT) if j != i and (f"answer {j}" in request.text or f"task {j}" in request.text)
            ]
            assert others == []
            assert request.last_user_text == f"task {i}"


async def start(body: Any, **options: Any) -> Any:
    """Run a workflow of one dynamic node in memory."""
    flow = Workflow(name="w", edges=[("START", node(body, name="fan", rerun_on_resume=True))])
    return await adk.run(flow, "go", sessions="memory", view=False, **options)


@pytest.mark.parametrize("late", [None, *range(COUNT)])
def test_gathered_agents(late: int | None) -> None:
    """An agent with history that is tried again doesn't see what those beside it said meanwhile."""

    async def test() -> None:
        those = agents(late=late)

        async def fan(ctx: Context) -> Any:
            return list(await asyncio.gather(*(ctx.run_node(a, f"task {i}") for i, a in enumerate(those))))

        ran = await start(fan)
        assert ran.output == [f"answer {i}" for i in range(COUNT)]
        assert_apart(those)

    asyncio.run(test())


def test_those_that_began_earlier_and_are_not_over() -> None:
    """An agent that starts while another waits for a person doesn't see what that one said, also after the answer."""

    async def test() -> None:
        those, has_spoken = agents(), asyncio.Event()

        async def asks(ctx: Context, node_input: str) -> Any:
            said = await ctx.run_node(those[0], node_input)
            has_spoken.set()
            if "q" in ctx.resume_inputs:
                yield ctx.resume_inputs["q"]
            else:
                yield RequestInput(interrupt_id="q", message=said)

        async def late(ctx: Context) -> Any:
            await has_spoken.wait()
            return await ctx.run_node(those[1], "task 1")

        inner = node(asks, rerun_on_resume=True)

        async def both(ctx: Context) -> Any:
            return list(await asyncio.gather(ctx.run_node(inner, "task 0"), late(ctx)))

        ran = await start(both)
        assert ran.status == "waiting"
        await ran.respond("yes")
        assert ran.output == ["yes", "answer 1"]
        assert_apart(those[:2])

    asyncio.run(test())


def test_one_after_the_other_they_do_read() -> None:
    """An agent reads what those before it said, also one that failed and was caught."""

    async def test() -> None:
        model = ScriptedModel(["one", ValueError("no"), "three"])

        async def chain(ctx: Context) -> Any:
            for number in range(3):
                try:
                    said = await ctx.run_node(
                        Agent(name=f"a{number}", model=model, include_contents="default"), f"task {number}"
                    )
                except DynamicNodeFailError:
                    continue
            return said

        ran = await start(chain)
        assert ran.output == "three"
        assert "[a0] said:\n<<<said\none\nsaid>>>" in model.requests[2].text
        assert model.requests[2].last_user_text == "task 2"

    asyncio.run(test())


def test_nested_side_by_side() -> None:
    """Two nodes that each run agents one after the other at the same time stay apart; each reads its own."""

    async def test() -> None:
        models = [ScriptedModel([f"{side} one", f"{side} two"]) for side in ("left", "right")]

        def line(side: int) -> Any:
            async def body(ctx: Context, node_input: str) -> Any:
                await ctx.run_node(Agent(name=f"x{side}", model=models[side], include_contents="default"), "first")
                return await ctx.run_node(
                    Agent(name=f"y{side}", model=models[side], include_contents="default"), "last"
                )

            return node(body, name=f"line{side}", rerun_on_resume=True)

        async def fan(ctx: Context) -> Any:
            return list(await asyncio.gather(*(ctx.run_node(line(side), "go") for side in (0, 1))))

        ran = await start(fan)
        assert ran.output == ["left two", "right two"]
        for own, other, model in (("left", "right", models[0]), ("right", "left", models[1])):
            assert f"{own} one" in model.requests[1].text
            assert other not in model.requests[1].text

    asyncio.run(test())
