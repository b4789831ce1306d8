"""A hundred times over, agents that run at the same time with random delays: no request holds another's data."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from google.genai import types

from adk_nb.agents import BaseAgent, Context, LlmAgent, ParallelAgent
from adk_nb.models.llm_request import LlmRequest
from adk_nb.runners import InMemoryRunner, Runner
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import FunctionModel, call
from adk_nb.tools import AgentTool
from adk_nb.workflow import Workflow, node

REPETITIONS = 100
COUNT = 5


def marks(*texts: str) -> list[str]:
    """Return whose data texts hold."""
    return sorted({mark for text in texts for mark in re.findall(r"SECRET-\d+", text)})


class Scene:
    """Agents of one repetition, which wait as long as chance will have it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.mixed: list[Any] = []
        """What holds the data of another one, or none."""
        self.told: list[Any] = []
        """The results that agents above were told, in the order of their calls."""

    async def wait(self) -> None:
        """Let others go first, or not."""
        for _ in range(self._random.choice((0, 0, 1, 2, 5, 13))):
            await asyncio.sleep(0)

    async def look(self, key: str) -> str:
        """Look a key up."""
        await self.wait()
        return f"found {key}"

    def worker(self, name: str, **options: Any) -> LlmAgent:
        """Return an agent that looks up the one mark that it may see, and answers with it."""

        async def answer(request: LlmRequest) -> Any:
            parts = [part for content in request.contents for part in content.parts or ()]
            found = marks(request.system, *(part.model_dump_json(exclude_none=True) for part in parts))
            if len(found) != 1:
                self.mixed.append((name, found))
            await self.wait()
            text = f"answer {found[0]}" if found else "nothing"
            if not parts[-1].function_response:
                return call("look", key=text.removeprefix("answer "))
            return call("finish_task", result=text) if options.get("mode") == "task" else text

        return LlmAgent(name=name, model=FunctionModel(answer), tools=[self.look], **options)

    def caller(self, workers: list[str], **options: Any) -> LlmAgent:
        """Return an agent that gives each worker its own data in one step, and notes what comes back."""

        async def answer(request: LlmRequest) -> Any:
            told = [
                part.function_response.response
                for content in request.contents
                for part in content.parts or ()
                if part.function_response
            ]
            if not told:
                return [call(workers[i % len(workers)], request=f"SECRET-{i}") for i in range(COUNT)]
            self.told = [one["result"] for one in told if one]
            return "done"

        return LlmAgent(name="root", model=FunctionModel(answer), **options)

    async def talk(self, root: BaseAgent) -> None:
        """Let a person talk with a root, who takes time to read."""
        runner = InMemoryRunner(root)
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
        said = types.UserContent("go")
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=said):
            await self.wait()


async def side_by_side(scene: Scene) -> None:
    """Let the members of a ParallelAgent run."""
    members: list[BaseAgent] = [scene.worker(f"a{i}", instruction=f"You keep SECRET-{i}.") for i in range(COUNT)]
    await scene.talk(ParallelAgent(name="all", sub_agents=members))
    scene.told = [f"answer SECRET-{i}" for i in range(COUNT)]


async def gathered(scene: Scene) -> None:
    """Let one agent object run many times from code."""
    one = scene.worker("one", include_contents="default")

    async def fan(ctx: Context) -> list[Any]:
        scene.told = list(await asyncio.gather(*(ctx.run_node(one, f"SECRET-{i}") for i in range(COUNT))))
        return scene.told

    runner = InMemoryRunner(Workflow(name="w", edges=[("START", node(fan, rerun_on_resume=True))]))
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    said = types.UserContent("go")
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=said):
        await scene.wait()


async def called(scene: Scene) -> None:
    """Let a model call two agents several times in one step."""
    reads = scene.worker("reads", mode="single_turn", include_contents="default")
    await scene.talk(scene.caller(["x", "reads"], sub_agents=[scene.worker("x", mode="single_turn"), reads]))


async def tasks(scene: Scene) -> None:
    """Let a model hand several tasks over in one step."""
    workers: list[BaseAgent] = [scene.worker("x", mode="task"), scene.worker("y", mode="task")]
    await scene.talk(scene.caller(["x", "y"], sub_agents=workers))


async def as_tools(scene: Scene) -> None:
    """Let a model call one agent as a tool several times in one step."""
    await scene.talk(scene.caller(["inner"], tools=[AgentTool(scene.worker("inner"))]))


@pytest.mark.parametrize("play", [side_by_side, gathered, called, tasks, as_tools])
def test_agents_at_the_same_time(play: Callable[[Scene], Awaitable[None]]) -> None:
    """Each request holds exactly the data of its own run, and each result comes back to the call that asked for it."""

    async def test() -> None:
        for seed in range(REPETITIONS):
            scene = Scene(seed)
            await play(scene)
            assert scene.mixed == [], seed
            assert scene.told == [f"answer SECRET-{i}" for i in range(COUNT)], seed

    asyncio.run(test())


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_sessions_at_the_same_time(kind: str, tmp_path: Any) -> None:
    """Conversations of many people with one agent object through one runner hold nothing of each other."""

    async def test() -> None:
        sessions = InMemorySessionService() if kind == "memory" else SqliteSessionService(tmp_path / "s.db")
        for seed in range(REPETITIONS // 5):
            scene = Scene(seed)
            agent = scene.worker("one", instruction="Remember {mark}.", output_key="answer")
            runner = Runner(app_name="app", agent=agent, session_service=sessions)
            where = {"app_name": "app", "session_id": f"s{seed}"}

            async def converse(i: int, runner: Any = runner, where: Any = where, scene: Scene = scene) -> None:
                await sessions.create_session(user_id=f"u{i}", state={"mark": f"SECRET-{i}"}, **where)
                for _ in range(2):
                    said = types.UserContent(f"I say SECRET-{i}")
                    async for _ in runner.run_async(user_id=f"u{i}", session_id=where["session_id"], new_message=said):
                        await scene.wait()
                session = await sessions.get_session(user_id=f"u{i}", **where)
                assert session is not None
                assert marks(*(event.model_dump_json() for event in session.events)) == [f"SECRET-{i}"]
                assert session.state["answer"] == f"answer SECRET-{i}"

            await asyncio.gather(*(converse(i) for i in range(COUNT)))
            assert scene.mixed == []
        await sessions.close()

    asyncio.run(test())
