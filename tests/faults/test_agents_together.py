"""Several agents in one run: none meets another's words, and a coordinator gets its turn back once a delegation."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from pydantic import PrivateAttr

from adk_nb.agents import LlmAgent
from adk_nb.apps import App, ResumabilityConfig
from adk_nb.events import Event
from adk_nb.models import BaseLlm, LlmRequest, LlmResponse
from adk_nb.runners import Runner
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel, call
from adk_nb.workflow import JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.agents.asking import arun
from tests.agents.calling import short


class Dawdler(BaseLlm):
    """A model that calls `lookup` with its own key and then answers, after turns of the loop that chance chooses."""

    number: int
    seed: int
    _requests: list[str] = PrivateAttr(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Call, then answer."""
        self._requests.append(str(llm_request.contents) + str(llm_request.config.system_instruction))
        chance = random.Random(self.seed * 100 + self.number * 10 + len(self._requests))
        for _ in range(chance.randrange(8)):
            await asyncio.sleep(0)
        part = call("lookup", q=f"k{self.number}!") if len(self._requests) == 1 else None
        text = types.Part(text=f"answer {self.number}")
        yield LlmResponse(content=types.Content(role="model", parts=[part or text]))

    @property
    def requests(self) -> list[str]:
        """What it was asked."""
        return self._requests


async def lookup(q: str) -> str:
    """Look up."""
    await asyncio.sleep(0)
    return f"found {q.upper()}"


@pytest.mark.parametrize("place", ["gathered", "called", "lanes"])
@pytest.mark.parametrize("history", ["none", "default"])
def test_concurrent_agents_with_tools_never_meet(place: str, history: str) -> None:
    """A hundred times, at random speed: no request holds another agent's task, call or result, and outputs fit."""

    async def once(seed: int) -> None:
        models = [Dawdler(model="dawdler", number=i, seed=seed) for i in range(4)]
        agents = [
            LlmAgent(name=f"a{i}", model=model, tools=[lookup], include_contents=history)  # type: ignore[arg-type]
            for i, model in enumerate(models)
        ]

        @node(rerun_on_resume=True)
        async def fan(ctx: Context, node_input: Any) -> Any:
            return await asyncio.gather(*(ctx.run_node(agent, f"task {i}.") for i, agent in enumerate(agents)))

        @node(rerun_on_resume=True)
        async def fan_of_copies(ctx: Context, node_input: Any) -> Any:
            calls = (ctx.run_node(one, f"task {i}.", use_sub_branch=True) for i, one in enumerate(agents))
            return await asyncio.gather(*calls)

        edges: list[Any] = [("START", fan if place == "gathered" else fan_of_copies)]
        if place == "lanes":
            givers = [node(lambda i=i: f"task {i}.", name=f"g{i}") for i in range(4)]
            join = JoinNode(name="j")
            edges = [("START", giver, agent, join) for giver, agent in zip(givers, agents, strict=True)]
        turns = await arun(Workflow(name="w", edges=edges), "go")
        answers = [f"answer {i}" for i in range(4)]
        outputs = turns.output
        assert (list(outputs.values()) if isinstance(outputs, dict) else outputs) == answers
        for i, model in enumerate(models):
            asked = " ".join(model.requests)
            assert f"task {i}." in asked
            for other in set(range(4)) - {i}:
                words = (f"task {other}.", f"k{other}!", f"K{other}!", f"answer {other}")
                assert not [word for word in words if word in asked]

    async def main() -> None:
        for seed in range(100 if place == "gathered" else 20):
            await once(seed)

    asyncio.run(main())


@pytest.mark.parametrize("ending", ["good", "failing"])
def test_a_coordinator_gets_its_turn_back_once(ending: str, tmp_path: Path) -> None:
    """Resumable or not, in one process or several, the same is said: one delegation, one result, one next word."""

    def tree() -> LlmAgent:
        bad = [call("finish_task", wrong=1)] if ending == "failing" else []
        sub = LlmAgent(
            name="order_collector",
            description="Takes orders.",
            mode="task",
            model=ScriptedModel(["which pizza?", *bad, call("finish_task", result="1 margherita")][stage["sub"] :]),
        )
        ends = [call("order_collector", request="take an order"), "ordered: 1 margherita", "bye"]
        return LlmAgent(name="root", sub_agents=[sub], model=ScriptedModel(ends[stage["root"] :]))

    stage = {"sub": 0, "root": 0}

    async def told(is_resumable: bool, is_new: bool) -> list[str]:
        stage.update(sub=0, root=0)
        sessions: Any = InMemorySessionService()
        runner = None
        events: list[Event] = []
        for text, reached in (("I want pizza", {}), ("margherita", {"sub": 1, "root": 1}), ("thanks", {"root": 2})):
            if runner is None or is_new:
                stage.update(reached)
                if is_new:
                    sessions = SqliteSessionService(str(tmp_path / f"{is_resumable}.db"))
                config = ResumabilityConfig(is_resumable=is_resumable)
                app = App(name="x", root_agent=tree(), resumability_config=config)
                runner = Runner(app=app, session_service=sessions, auto_create_session=True)
            said = types.Content(role="user", parts=[types.Part(text=text)])
            events += [event async for event in runner.run_async(user_id="u", session_id="s", new_message=said)]
        return [short(event) for event in events if event.content is not None]

    async def main() -> None:
        ways = [await told(is_resumable, is_new) for is_resumable in (False, True) for is_new in (False, True)]
        first = ways[0]
        assert all(way == first for way in ways)
        assert sum("calls order_collector" in line for line in first) == 1
        assert sum("order_collector={" in line for line in first) == 1
        assert [line for line in first if line.startswith("root '")] == ["root 'ordered: 1 margherita'", "root 'bye'"]

    asyncio.run(main())
