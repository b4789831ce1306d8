"""Agents that run at the same time, wait for approvals and go on in new processes: none reads what is another's."""

from __future__ import annotations

import asyncio
import random
import re
from typing import Any

import pytest

from adk_nb.agents import Agent, Context
from adk_nb.events.event import content_text
from adk_nb.models.llm_request import LlmRequest
from adk_nb.testing import FunctionModel, call
from adk_nb.tools import FunctionTool
from adk_nb.workflow import Workflow, node
from tests.workflow.driving import Conversation
from tests.workflow.mortal_stores import OnlyEvents, SqliteStore, Store

COUNT = 3


class Scene:
    """One repetition: a graph as each process builds it, and what was found mixed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.mixed: list[Any] = []

    async def wait(self) -> None:
        """Let others go first, or not."""
        for _ in range(self.random.choice((0, 0, 1, 3, 7))):
            await asyncio.sleep(0)

    def flow(self) -> Workflow:
        """Return the graph: one node gathers an agent that looks something up, which a person has to approve."""

        async def look(key: str) -> str:
            """Look a key up."""
            await self.wait()
            return f"found {key}"

        async def answer(request: LlmRequest) -> Any:
            parts = [part for content in request.contents for part in content.parts or ()]
            told = " ".join(part.model_dump_json(exclude_none=True) for part in parts)
            found = sorted(set(re.findall(r"SECRET-\d+", told)))
            if len(found) != 1:
                self.mixed.append(found)
            await self.wait()
            is_told = any(part.function_response for part in parts)
            return f"answer {found[0]}" if is_told else call("look", key=found[0])

        tools = [FunctionTool(look, require_confirmation=True)]
        one = Agent(name="one", model=FunctionModel(answer), tools=tools, include_contents="default")

        async def fan(ctx: Context) -> list[Any]:
            return list(await asyncio.gather(*(ctx.run_node(one, f"SECRET-{i}") for i in range(COUNT))))

        return Workflow(name="w", edges=[("START", node(fan, rerun_on_resume=True))])


async def play(scene: Scene, made: type[Store]) -> list[Any]:
    """Ask, and approve one call after the other, in any order, each in a process of its own; return the output."""
    store = made()
    try:
        talk = Conversation(scene.flow(), await store.open())
        await talk.say("go")
        for _ in range(COUNT):
            talk = Conversation(scene.flow(), await store.open())
            asked = [question.interrupt_id for _, question in await talk.questions()]
            await talk.answer({scene.random.choice(asked): {"confirmed": True}})
        output: list[Any] = (await talk.root()).output
        said = " ".join(content_text(event.content) for event in await talk.stored() if event.content)
        assert all(f"answer SECRET-{i}" in said for i in range(COUNT))
        return output
    finally:
        await store.close()


@pytest.mark.parametrize(
    ("made", "repetitions"),
    [
        (Store, 100),
        (SqliteStore, 10),
        (OnlyEvents, 10),
        pytest.param(SqliteStore, 100, marks=pytest.mark.slow),
        pytest.param(OnlyEvents, 100, marks=pytest.mark.slow),
    ],
)
def test_agents_that_wait_stay_apart(made: type[Store], repetitions: int) -> None:
    """In every store, whatever the order of approvals: each request holds one agent's data, and each its own result."""

    async def main() -> None:
        for seed in range(repetitions):
            scene = Scene(seed)
            assert await play(scene, made) == [f"answer SECRET-{i}" for i in range(COUNT)], seed
            assert scene.mixed == [], seed

    asyncio.run(main())
