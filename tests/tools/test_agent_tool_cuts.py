"""Agents as tools when a run is cut, aborted, or nested in others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from adk_nb.agents import Agent, BaseAgent
from adk_nb.artifacts import InMemoryArtifactService
from adk_nb.events.event import content_text
from adk_nb.sessions import SqliteSessionService
from adk_nb.testing import FunctionModel, ScriptedModel, call
from adk_nb.tools import AgentTool, ToolContext
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, run


def test_agents_in_agents_in_agents() -> None:
    """What the innermost agent saves and writes is the outermost caller's."""

    async def save(tool_context: ToolContext) -> int:
        """Save."""
        tool_context.state["saved"] = True
        return await tool_context.save_artifact("a.txt", types.Part(text="x"))

    deep = Agent(name="deep", model=ScriptedModel([call("save"), "d"]), tools=[save])
    middle = Agent(name="middle", model=ScriptedModel([call("deep", request="x"), "m"]), tools=[AgentTool(deep)])
    top = Agent(name="top", model=ScriptedModel([call("middle", request="x"), "t"]), tools=[AgentTool(middle)])

    async def test() -> None:
        artifacts = InMemoryArtifactService()
        talk = Conversation(top, artifact_service=artifacts)
        events = await talk.say()
        assert [event.actions.artifact_delta for event in events] == [{}, {"a.txt": 0}, {}]
        assert await artifacts.list_artifact_keys(app_name="app", **talk.where) == ["a.txt"]
        assert await talk.state() == {"saved": True}

    run(test)


@pytest.mark.parametrize("seen", [1, 2])
def test_a_cut(seen: int, tmp_path: Path) -> None:
    """A new process makes the call that hadn't ended, and never again one that had."""
    asked: list[str] = []

    def answer(request: Any) -> str:
        asked.append(request.last_user_text)
        return "42"

    def top(*replies: Any) -> Agent:
        inner = Agent(name="inner", model=FunctionModel(answer))
        return Agent(name="top", model=ScriptedModel(replies), tools=[AgentTool(inner)])

    async def test() -> None:
        async with SqliteSessionService(tmp_path / "s.db") as sessions:
            await Conversation(top(call("inner", request="how much?"), "unheard"), sessions).cut_after(seen)
        async with SqliteSessionService(tmp_path / "s.db") as sessions:
            events = await Conversation(top("done"), sessions).go_on()
            assert content_text(events[-1].content) == "done"
        assert asked == ["how much?"]

    run(test)


def test_an_abort() -> None:
    """An abort stops the agent in the tool as well, and leaves nothing that runs."""
    started = asyncio.Event()

    class Slow(BaseAgent):
        async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncIterator[Any]:  # type: ignore[override]
            started.set()
            await asyncio.Event().wait()
            yield None

    async def test() -> None:
        tool = AgentTool(Slow(name="slow"))
        talk = Conversation(Agent(name="top", model=ScriptedModel([call("slow", request="x")]), tools=[tool]))
        signal = asyncio.Event()
        turn = asyncio.create_task(talk.say(abort_signal=signal))
        await started.wait()
        signal.set()
        assert (await turn)[-1].error_code == "INVOCATION_ABORTED"

    run(test)
