"""Agents as tools: what they are given, what comes back, and what stays in their own session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel, ValidationError

from adk_nb.agents import Agent, BaseAgent
from adk_nb.artifacts import InMemoryArtifactService
from adk_nb.errors import ConfigurationError, LlmCallsLimitExceededError
from adk_nb.events import Event, RequestInput
from adk_nb.events.event import content_text
from adk_nb.plugins import BasePlugin
from adk_nb.testing import FunctionModel, ScriptedModel
from adk_nb.tools import AgentTool
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import RunConfig
from tests.workflow.driving import Conversation, run


class Trip(BaseModel):
    """What an agent is given."""

    city: str
    days: int = 1


class Price(BaseModel):
    """What an agent answers."""

    euros: int
    note: str | None = None


class Speaker(BaseAgent):
    """An agent whose body is a function of the context."""

    body: Any

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncIterator[Any]:  # type: ignore[override]
        async for item in self.body(ctx):
            yield item


def calling(tool: AgentTool, **args: Any) -> Workflow:
    """A workflow that calls a tool and shows what comes back."""
    return Workflow(name="wf", edges=[("START", lambda_of(args), tool)])


def lambda_of(args: dict[str, Any]) -> Any:
    """A node that gives the arguments of the call."""

    def give() -> dict[str, Any]:
        return args

    return give


async def result_of(tool: AgentTool, talk: Conversation | None = None, **args: Any) -> Any:
    """What a call of a tool gives."""
    talk = talk or Conversation(calling(tool, **args))
    return (await talk.say())[-1].output


def test_declaration() -> None:
    """A model is told the agent's name and description, and to give a text, or what the first input schema says."""

    def told(agent: Any) -> Any:
        return AgentTool(agent).declaration()

    plain = told(Agent(name="plain", description="Plain.", model="m"))
    assert (plain.name, plain.description) == ("plain", "Plain.")
    assert plain.parameters_json_schema["required"] == ["request"]
    typed = told(Agent(name="typed", model="m", input_schema=Trip))
    assert typed.parameters_json_schema["properties"]["days"]["default"] == 1
    assert typed.parameters_json_schema["required"] == ["city"]


def test_what_is_no_agent_is_refused() -> None:
    """What isn't an agent is refused where it is written."""
    wrong: Any = str.upper
    with pytest.raises(ConfigurationError, match="needs an agent"):
        AgentTool(wrong)


def test_the_answer_is_the_result() -> None:
    """The agent reads the request as the user's message, and its words without thoughts are the result."""
    parts = [types.Part(text="hm", thought=True), types.Part(text="one"), types.Part(text="two")]
    model = ScriptedModel([parts])

    async def test() -> None:
        assert await result_of(AgentTool(Agent(name="inner", model=model)), request="please") == "one\ntwo"
        assert model.requests[0].last_user_text == "please"

    run(test)


def test_nothing_leaks() -> None:
    """None of the agent's events reaches the caller's session, and what the caller said is unknown to the agent."""
    model = ScriptedModel(["done"])

    async def test() -> None:
        talk = Conversation(calling(AgentTool(Agent(name="inner", model=model)), request="go"))
        events = await talk.say("a secret of the caller")
        assert [event.author for event in await talk.stored()] == ["user", "wf", "wf"]
        assert [event.node_info.path for event in events] == ["wf@1/give@1", "wf@1/inner@1"]
        assert "secret" not in model.requests[0].text

    run(test)


def test_input_schema() -> None:
    """With an input schema the agent reads the arguments as JSON, defaults filled in; others are told as an error."""
    model = ScriptedModel(["ok"])
    tool = AgentTool(Agent(name="inner", model=model, input_schema=Trip))

    async def test() -> None:
        assert await result_of(tool, city="Bern") == "ok"
        assert model.requests[0].last_user_text == '{"city": "Bern", "days": 1}'
        context: Any = None
        bad = await tool.run_async(args={"city": "Bern", "days": "few"}, tool_context=context)
        assert "days: Input should be a valid integer" in bad["error"]
        missing = await tool.run_async(args={}, tool_context=context)
        assert "lacks the mandatory parameter 'city'" in missing["error"]

    run(test)


def test_output_schema() -> None:
    """With an output schema the result is the checked data; an answer that doesn't fit fails the call."""

    def tool(answer: str) -> AgentTool:
        return AgentTool(Agent(name="inner", model=ScriptedModel([answer]), output_schema=Price))

    async def test() -> None:
        assert await result_of(tool('{"euros": 3}'), request="x") == {"euros": 3}
        talk = Conversation(calling(tool('{"dollars": 3}'), request="x"))
        error = await talk.fail(ValidationError, talk.say())
        assert "answer of agent 'inner'" in str(error)
        assert "Raised by agent 'inner', which was called as a tool." in error.__notes__

    run(test)


def test_state_goes_in_and_comes_back() -> None:
    """The agent sees a copy of the caller's state; what it writes is the caller's then, except `temp:` keys."""
    seen: dict[str, Any] = {}

    async def body(ctx: Context) -> AsyncIterator[Any]:
        seen.update(ctx.state.to_dict())
        ctx.state["own"] = 1
        ctx.state["user:name"] = "Ada"
        ctx.state["temp:scratch"] = 1
        yield Event(message="done", state={"told": [1]})

    async def test() -> None:
        talk = Conversation(calling(AgentTool(Speaker(name="inner", body=body)), request="x"))
        await talk.say(state_delta={"seed": {"a": 1}, "_adk_x": 1, "temp:t": 2})
        assert seen == {"seed": {"a": 1}, "temp:t": 2}
        assert await talk.state() == {"seed": {"a": 1}, "_adk_x": 1, "own": 1, "user:name": "Ada", "told": [1]}

    run(test)


def test_artifacts_are_the_callers() -> None:
    """What the agent saves is saved in the caller's session, which tells its version; the agent finds what is there."""

    async def body(ctx: Context) -> AsyncIterator[Any]:
        await ctx.save_artifact("new.txt", types.Part(text="new"))
        old = await ctx.load_artifact("old.txt")
        yield f"{await ctx.list_artifacts()} {old.text if old else None}"

    async def test() -> None:
        artifacts = InMemoryArtifactService()
        where: dict[str, Any] = {"app_name": "app", "user_id": "u", "session_id": "s"}
        await artifacts.save_artifact(**where, filename="old.txt", artifact=types.Part(text="old"))
        inner = AgentTool(Speaker(name="inner", body=body))
        outer = Workflow(name="wf", edges=[("START", lambda_of({"request": "x"}), inner)])
        talk = Conversation(outer, artifact_service=artifacts)
        event = (await talk.say())[-1]
        assert event.output == "['new.txt', 'old.txt'] old"
        assert event.actions.artifact_delta == {"new.txt": 0}
        assert await artifacts.list_artifact_keys(**where) == ["new.txt", "old.txt"]

    run(test)


def test_failures_are_the_agents_own() -> None:
    """What the agent fails with fails the call as it is, with a note that names the agent."""

    async def body(ctx: Context) -> AsyncIterator[Any]:
        raise LookupError("no such city")
        yield

    async def test() -> None:
        talk = Conversation(calling(AgentTool(Speaker(name="inner", body=body)), request="x"))
        error = await talk.fail(LookupError, talk.say())
        assert error.__notes__[-1] == "Raised by agent 'inner', which was called as a tool."

    run(test)


def test_a_question_cannot_be_answered() -> None:
    """An agent that asks a person stops: the result says what it asked, and nothing waits for an answer."""

    async def body(ctx: Context) -> AsyncIterator[Any]:
        yield RequestInput(interrupt_id="q", message="Which city?")

    async def test() -> None:
        talk = Conversation(calling(AgentTool(Speaker(name="inner", body=body)), request="x"))
        result = (await talk.say())[-1].output
        assert "'inner' stopped, as it waits for a person: Which city? (q)" in result["error"]
        assert await talk.questions() == []

    run(test)


def test_its_model_calls_are_counted_apart() -> None:
    """The agent may make as many model calls as a run of its own; the caller's count doesn't know of them."""

    async def test() -> None:
        tool = AgentTool(Agent(name="inner", model=ScriptedModel(["a"])))
        outer = Agent(name="outer", model=ScriptedModel(["b"]))
        flow = Workflow(name="wf", edges=[("START", lambda_of({"request": "x"}), tool, outer)])
        talk = Conversation(flow)
        assert content_text((await talk.say(run_config=RunConfig(max_llm_calls=1)))[-1].content) == "b"

        async def twice(ctx: Context) -> AsyncIterator[Any]:
            for name in "ab":
                yield str(await ctx.run_node(Agent(name=name, model=ScriptedModel(["x"])), "x"))

        talk = Conversation(calling(AgentTool(Speaker(name="inner", body=twice, rerun_on_resume=True)), request="x"))
        await talk.fail(LlmCallsLimitExceededError, talk.say(run_config=RunConfig(max_llm_calls=1)))

    run(test)


@pytest.mark.parametrize("is_seen", [True, False])
def test_plugins(is_seen: bool) -> None:
    """The runner's plugins see the agent's run, unless they are told not to; they stay open after it."""

    class Watcher(BasePlugin):
        def __init__(self) -> None:
            super().__init__("watcher")
            self.seen: list[str] = []

        async def before_run_callback(self, *, invocation_context: Any) -> None:
            self.seen.append(invocation_context.root.name)

        async def close(self) -> None:
            self.seen.append("closed")

    async def test() -> None:
        watcher = Watcher()
        tool = AgentTool(Agent(name="inner", model=ScriptedModel(["a"])), include_plugins=is_seen)
        talk = Conversation(calling(tool, request="x"), plugins=[watcher])
        await talk.say()
        assert watcher.seen == (["wf", "inner"] if is_seen else ["wf"])

    run(test)


def test_grounding_is_handed_on_for_the_run() -> None:
    """On request, what the answer is grounded on stands in the state for the rest of the run, and isn't stored."""
    grounding = types.GroundingMetadata(web_search_queries=["q"])

    async def body(ctx: Context) -> AsyncIterator[Any]:
        yield Event(message="done", grounding_metadata=grounding)

    def look(ctx: Context) -> bool:
        return "temp:_adk_grounding_metadata" in ctx.state

    async def test() -> None:
        for is_wanted in (True, False):
            tool = AgentTool(Speaker(name="inner", body=body), propagate_grounding_metadata=is_wanted)
            talk = Conversation(Workflow(name="wf", edges=[("START", lambda_of({"request": "x"}), tool, look)]))
            assert (await talk.say())[-1].output is is_wanted
            assert await talk.state() == {}

    run(test)


def test_skip_summarization_goes_with_the_result() -> None:
    """With `skip_summarization` the event with the result says so; one that tells of an error doesn't."""

    async def test() -> None:
        for answer, expected in (("fine", True), (None, None)):

            async def body(ctx: Context, answer: Any = answer) -> AsyncIterator[Any]:
                yield RequestInput(message="?") if answer is None else answer

            tool = AgentTool(Speaker(name="inner", body=body), skip_summarization=True)
            talk = Conversation(calling(tool, request="x"))
            assert (await talk.say())[-1].actions.skip_summarization is expected

    run(test)


def test_agents_for_one_turn() -> None:
    """An agent whose mode is `single_turn` can be a tool, too."""

    async def test() -> None:
        tool = AgentTool(Agent(name="inner", mode="single_turn", model=ScriptedModel(["a"])))
        assert await result_of(tool, request="x") == "a"

    run(test)


def test_calls_side_by_side() -> None:
    """One tool called many times at once keeps each call's request and answer apart."""

    async def test() -> None:
        model = FunctionModel(lambda request: f"<{request.last_user_text}>")
        tool = AgentTool(Agent(name="inner", model=model))

        @node(rerun_on_resume=True)
        async def many(ctx: Context) -> list[Any]:
            return list(await asyncio.gather(*(ctx.run_node(tool, {"request": f"{n}"}) for n in range(20))))

        talk = Conversation(Workflow(name="wf", edges=[("START", many)]))
        assert (await talk.say())[-1].output == [f"<{n}>" for n in range(20)]

    run(test)
