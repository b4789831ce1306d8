"""What agents that are called as tools use of models counts for whoever called them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types

import adk_nb
from adk_nb.agents import Agent
from adk_nb.events.prices import Price
from adk_nb.events.record import Status
from adk_nb.frames.calls import calls_frame
from adk_nb.frames.reading import total_usage
from adk_nb.frames.usage import usage_frame
from adk_nb.models import LlmResponse
from adk_nb.sessions import InMemorySessionService
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import AgentTool
from adk_nb.workflow import Workflow
from adk_nb.workflow.limits import Limits
from adk_nb.workflow.run_config import RunConfig
from tests.workflow.driving import Conversation
from tests.workflow.mortal_stores import OnlyEvents, SqliteStore, Store


def says(what: Any, tokens: int, model: str = "m") -> LlmResponse:
    """Return a response that used so many tokens."""
    part = what if isinstance(what, types.Part) else types.Part(text=what)
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=tokens - 1, candidates_token_count=1, total_token_count=tokens
    )
    content = types.Content(role="model", parts=[part])
    return LlmResponse(content=content, usage_metadata=usage, model_version=model)


def team() -> Agent:
    """Return an agent that calls an agent, which calls another one."""
    deep = Agent(name="deep", model=ScriptedModel([says("deep says", 100, "costly")] * 9))
    helper = Agent(
        name="helper",
        model=ScriptedModel([says(call("deep", request="x"), 20), says("helper says", 20)] * 9),
        tools=[AgentTool(deep)],
    )
    script = [says(call("helper", request="x"), 3), says("done", 3)]
    return Agent(name="bot", model=ScriptedModel(script), tools=[AgentTool(helper)])


@pytest.mark.parametrize("made", [Store, SqliteStore, OnlyEvents])
def test_sums_count_what_is_called(made: type[Store]) -> None:
    """Calls and tokens of agents below agents that are tools count once each, also where a session is read anew."""

    async def main() -> None:
        store = made()
        talk = Conversation(team(), await store.open())
        events = await talk.say("go")
        again = await Conversation(team(), await store.open()).stored()
        for told in (events, again):
            usage = total_usage(told)
            assert (usage.model_calls, usage.tokens) == (5, 146)
            frame = calls_frame([], told)
            assert sorted(zip(frame["agent"], frame["model"], frame["prompt_tokens"], strict=True)) == [
                ("bot", "m", 2),
                ("bot", "m", 2),
                ("helper", "costly", 99),
                ("helper", "m", 19),
                ("helper", "m", 19),
            ]
            sums = usage_frame(told, by="model")
            assert dict(zip(sums["model"], sums["tokens"], strict=True)) == {"m": 46, "costly": 100}
        await store.close()

    asyncio.run(main())


def test_a_run_counts_what_is_called() -> None:
    """`run.usage` and `run.calls_frame()` have them, with request and reply, and each call once."""

    async def main() -> None:
        run = await adk_nb.run(team(), "go", sessions=InMemorySessionService(), view=False)
        assert (run.usage.model_calls, run.usage.tokens) == (5, 146)
        frame = run.calls_frame()
        assert sorted(frame["agent"]) == ["bot", "bot", "deep", "helper", "helper"]
        assert set(frame["source"]) == {"model"}
        assert frame["request"].notna().all()
        nodes = run.nodes_frame()
        assert nodes["tokens"].sum() == 146

    asyncio.run(main())


def test_limits_hold_for_what_is_called() -> None:
    """Tokens of an agent that is a tool are the caller's tokens: its run stops there, and the caller's too."""

    async def main() -> None:
        talk = Conversation(team())
        await talk.say("go", run_config=RunConfig(limits=Limits(max_tokens=100)))
        root = await talk.root()
        assert root.status is Status.STOPPED
        assert total_usage(await talk.stored()).tokens == 123
        free = Price(input=0, output=0)
        talk = Conversation(team())
        prices = {"m": free, "costly": Price(input=1_000_000, output=0)}
        await talk.say("go", run_config=RunConfig(limits=Limits(max_cost=50), prices=prices))
        assert (await talk.root()).status is Status.STOPPED

    asyncio.run(main())


def test_tool_nodes_count_too() -> None:
    """An agent that stands as a tool in a workflow counts with the event of its node."""

    async def main() -> None:
        tool = AgentTool(Agent(name="helper", model=ScriptedModel([says("hello", 20)])))
        talk = Conversation(Workflow(name="wf", edges=[("START", tool)]))
        assert total_usage(await talk.say("go")).tokens == 20

    asyncio.run(main())
