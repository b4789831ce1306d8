"""Workflows and nodes as tools of an agent: what they are given, what comes back, and questions on the way."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from adk_nb.agents import Agent
from adk_nb.errors import ConfigurationError
from adk_nb.events import Event, RequestInput
from adk_nb.events.event import content_text
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import AgentTool, NodeTool
from adk_nb.workflow import FunctionNode, Workflow
from tests.workflow.driving import Conversation, run


class Trip(BaseModel):
    """What a node is given."""

    city: str
    days: int = 1


def shout(node_input: str) -> str:
    """Say it loudly."""
    return node_input.upper()


def plan(node_input: Trip) -> str:
    """Plan a trip."""
    return f"{node_input.days} days in {node_input.city}"


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def fails(node_input: Any) -> None:
    """Fail."""
    raise LookupError("nowhere")


def asks(node_input: Any) -> RequestInput:
    """Ask."""
    return RequestInput(interrupt_id="q", message="Sure?")


def told(node_input: Any) -> str:
    """Tell."""
    return f"told {node_input}"


def asking(tool: Any, *calls: Any, sessions: Any = None) -> tuple[Conversation, ScriptedModel]:
    """A conversation with an agent that has one tool."""
    model = ScriptedModel([*calls, "done"])
    return Conversation(Agent(name="bot", model=model, tools=[tool]), sessions), model


def responses(events: list[Event]) -> list[Any]:
    """What the calls gave."""
    return [one.response for event in events for one in event.get_function_responses()]


@pytest.mark.parametrize(
    ("tool", "args", "result", "names"),
    [
        (Workflow(name="flow", edges=[("START", shout)]), {"request": "hi"}, {"result": "HI"}, ["request"]),
        (Workflow(name="flow", edges=[("START", add)], input_schema=int), {"request": 4}, {"result": 5}, ["request"]),
        (
            Workflow(name="flow", edges=[("START", plan)], input_schema=Trip),
            {"city": "Bern"},
            {"result": "1 days in Bern"},
            ["city", "days"],
        ),
        (FunctionNode(shout), {"node_input": "hi"}, {"result": "HI"}, ["node_input"]),
        (FunctionNode(plan), {"city": "Bern", "days": 2}, {"result": "2 days in Bern"}, ["city", "days"]),
        (FunctionNode(add), {"a": 2, "b": 3}, {"result": 5}, ["a", "b"]),
    ],
    ids=["flow", "number", "model", "function", "function of a model", "function of several"],
)
def test_what_it_is_given(tool: Any, args: dict[str, Any], result: Any, names: list[str]) -> None:
    """A node's input are the fields of its model, its function's arguments, or one `request`."""

    async def test() -> None:
        talk, model = asking(tool, call(tool.name, **args))
        assert responses(await talk.say()) == [result]
        tools: list[Any] = list(model.requests[0].config.tools or [])
        (declared,) = tools[0].function_declarations
        assert list(declared.parameters_json_schema["properties"]) == names

    run(test)


def test_arguments_that_do_not_fit() -> None:
    """Arguments that are missing or don't fit are told to the model, and the node doesn't run."""

    async def test() -> None:
        flow = Workflow(name="flow", edges=[("START", fails)], input_schema=Trip)
        talk, _ = asking(flow, call("flow", city="Bern", days="few"), call("flow", days=1))
        wrong, missing = responses(await talk.say())
        assert "days: Input should be a valid integer" in wrong["error"]
        assert "lacks the mandatory parameter 'city'" in missing["error"]

    run(test)


def test_its_events_are_seen() -> None:
    """What the nodes say is stored and yielded, on a lane that is named after the call; the model doesn't read it."""

    def speaks(node_input: str) -> Event:
        return Event(message="on my way", output=node_input)

    async def test() -> None:
        flow = Workflow(name="flow", edges=[("START", speaks, shout)])
        talk, model = asking(flow, call("flow", request="hi"))
        events = await talk.say()
        (call_id,) = [one.id for one in events[0].get_function_calls()]
        assert {event.branch for event in events if event.author == "flow"} == {f"flow@{call_id}"}
        assert "on my way" in [content_text(event.content) for event in events]
        assert "on my way" not in model.requests[1].text

    run(test)


def test_failures() -> None:
    """What a node raises fails the call as it is."""

    async def test() -> None:
        talk, _ = asking(Workflow(name="flow", edges=[("START", fails)]), call("flow", request="hi"))
        await talk.fail(LookupError, talk.say())

    run(test)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_question_pauses_the_agent(kind: str, tmp_path: Any) -> None:
    """A node that asks pauses the agent; the answer, also in a new process, goes to the node, and the agent goes on."""

    def store() -> Any:
        return SqliteSessionService(tmp_path / "s.db")

    async def test() -> None:
        sessions = InMemorySessionService() if kind == "memory" else store()
        flow = Workflow(name="flow", edges=[("START", asks, told)])
        talk, _ = asking(flow, call("flow", request="hi"), sessions=sessions)
        await talk.say()
        assert [question.message for _, question in await talk.questions()] == ["Sure?"]
        if kind == "sqlite":
            await sessions.close()
            sessions = store()
        again, model = asking(flow, sessions=sessions)
        events = await again.answer(q="yes")
        assert responses(events) == [{"result": "told yes"}]
        assert content_text(events[-1].content) == "done"
        assert len(model.requests) == 1
        if kind == "sqlite":
            await sessions.close()

    run(test)


def test_what_is_an_agent_is_refused() -> None:
    """An agent is no node for a NodeTool: it needs an AgentTool."""
    with pytest.raises(ConfigurationError, match=r"write AgentTool\(bot\)"):
        NodeTool(Agent(name="bot", model="m"))


def test_agent_tools_in_an_agents_turn() -> None:
    """An agent calls another as a tool and reads its answer; with `skip_summarization` that is the last word."""

    async def test() -> None:
        for skips in (False, True):
            inner = AgentTool(Agent(name="inner", model=ScriptedModel(["42"])), skip_summarization=skips)
            talk, model = asking(inner, call("inner", request="?"))
            events = await talk.say()
            assert responses(events) == [{"result": "42"}]
            assert content_text(events[-1].content) == ("42" if skips else "done")
            assert events[-1].is_final_response()
            assert len(model.requests) == (1 if skips else 2)
            assert [event.author for event in await talk.stored()][1:] == ["bot"] * len(events)

    run(test)
