"""Tools that an agent's model calls: the events, what the model is told, errors, ids, state, streaming."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from adk_nb.agents import Agent, RunConfig
from adk_nb.agents.run_config import StreamingMode
from adk_nb.errors import ConfigurationError, LlmCallsLimitExceededError, UnusableAnswerError
from adk_nb.events import Event
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import BaseTool, BaseToolset, FunctionTool, ToolContext
from adk_nb.workflow.limits import Limits
from tests.agents.asking import flow
from tests.agents.calling import Talk, calls


def weather(city: str, tool_context: ToolContext) -> dict[str, Any]:
    """Tell the weather."""
    tool_context.state["last_city"] = city
    return {"temp": 21}


def fails() -> None:
    """Fail."""
    raise ValueError("no")


async def five() -> int:
    """Give five."""
    return 5


def test_call_response_answer() -> None:
    """The model calls, the response carries what the tool wrote to the state, the model answers."""
    agent = Agent(
        name="bot", model=ScriptedModel([call("weather", city="Oslo"), "21."]), tools=[weather], output_key="a"
    )
    talk = Talk(agent)
    assert talk.turn("weather?") == [
        "bot calls weather",
        "bot weather={'temp': 21} state_delta={'last_city': 'Oslo'}",
        "bot '21.' state_delta={'a': '21.'}",
    ]
    asked, answered, last = talk.events
    assert [event.node_info.path for event in talk.events] == ["bot@1"] * 3
    assert asked.get_function_calls()[0].id == answered.get_function_responses()[0].id
    assert str(asked.get_function_calls()[0].id).startswith("adk-")
    assert [event.is_final_response() for event in talk.events] == [False, False, True]
    assert talk.root.output == last.content.parts[0].text == "21."  # type: ignore[union-attr, index]
    assert dict(talk.session.state) == {"last_city": "Oslo", "a": "21."}


def test_the_model_is_told_of_the_tools() -> None:
    """Functions, tools and what toolsets find are declared in their order, in one list."""

    class Desk(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
            """Find one."""
            return [FunctionTool(five)]

    model = ScriptedModel(["hi"])
    Talk(Agent(name="bot", model=model, tools=[weather, Desk(), FunctionTool(fails)])).turn("hello")
    (listed,) = model.requests[0].config.tools or []
    declared = listed.function_declarations  # type: ignore[union-attr]
    assert [one.name for one in declared or ()] == ["weather", "five", "fails"]
    assert list(model.requests[0].tools_dict) == ["weather", "five", "fails"]


def test_calls_run_side_by_side() -> None:
    """All calls of one message run at the same time; one event holds the responses in the order of the calls."""
    all_here = asyncio.Barrier(3)

    async def slow(n: int) -> int:
        await all_here.wait()
        return n * 10

    model = ScriptedModel([[call("slow", n=1), call("slow", n=2), call("slow", n=3)], "done"])
    found = Talk(Agent(name="bot", model=model, tools=[slow])).turn("go")
    assert found[1] == "bot slow={'result': 10} slow={'result': 20} slow={'result': 30}"


def test_calls_side_by_side_count_in_one_key() -> None:
    """What calls add to one value of the state is all kept."""

    async def add(n: int, tool_context: ToolContext) -> None:
        await asyncio.sleep(0)
        tool_context.state["sum"] = tool_context.state.get("sum", 0) + n

    model = ScriptedModel([[call("add", n=1), call("add", n=2), call("add", n=4)], "done"])
    talk = Talk(Agent(name="bot", model=model, tools=[add]))
    talk.turn("go")
    assert talk.session.state["sum"] == 7


def test_an_unknown_tool_is_told_to_the_model() -> None:
    """A name that no tool has, and arguments that are missing, come back as errors, and the model goes on."""
    model = ScriptedModel([call("wether"), call("weather"), "sorry"])
    found = Talk(Agent(name="bot", model=model, tools=[weather])).turn("go")
    assert "'wether' not found" in found[1]
    assert "did you mean this?" in found[1]
    assert "mandatory parameter 'city'" in found[3]
    assert found[4] == "bot 'sorry'"


def test_an_agent_without_tools_cant_be_made_to_call() -> None:
    """A call of an agent that has no tools at all ends the run with an error that says so."""
    with pytest.raises(UnusableAnswerError, match="has no tools"):
        Talk(Agent(name="bot", model=ScriptedModel([call("x")]))).turn("go")


@pytest.mark.parametrize("replies", [[call("fails")], [[call("five"), call("fails"), call("five")]]])
def test_a_failing_tool_ends_the_run(replies: list[Any]) -> None:
    """What siblings gave is told, then the error, which is raised; the next turn works."""
    talk = Talk(Agent(name="bot", model=ScriptedModel([*replies, "fine"]), tools=[fails, five]))
    with pytest.raises(ValueError, match="no"):
        talk.turn("go")
    found = [(event.author, event.error_code, len(event.get_function_responses())) for event in talk.events[1:]]
    assert found[-1] == ("bot", "ValueError", 0)
    assert found[:-1] == ([("bot", None, 2)] if isinstance(replies[0], list) else [])
    assert talk.turn("again") == ["bot 'fine'"]


def test_a_failed_run_goes_on_without_repeating_what_finished() -> None:
    """When a failed run is continued, finished calls keep their result, and only the failed one is made again."""
    made: list[str] = []

    def once() -> str:
        made.append("once")
        return "kept"

    def flaky() -> str:
        made.append("flaky")
        if made.count("flaky") == 1:
            raise OSError("down")
        return "up"

    talk = Talk(Agent(name="bot", model=ScriptedModel([[call("once"), call("flaky")], "done"]), tools=[once, flaky]))
    with pytest.raises(OSError, match="down"):
        talk.turn("go")
    found = talk.turn(None, invocation_id=talk.events[0].invocation_id)
    assert found == ["bot flaky={'result': 'up'}", "bot 'done'"]
    assert made == ["once", "flaky", "flaky"]


def test_an_error_can_be_told_to_the_model() -> None:
    """With `on_tool_error="tell_model"` the model reads what a tool failed with, and the run goes on."""
    agent = Agent(name="bot", model=ScriptedModel([call("fails"), "ok"]), tools=[fails], on_tool_error="tell_model")
    assert Talk(agent).turn("go")[1:] == ["bot fails={'error': 'ValueError: no'}", "bot 'ok'"]


def test_results_as_the_model_reads_them() -> None:
    """A dictionary is the response itself, anything else its `result`; models become dictionaries."""

    class Place(BaseModel):
        name: str

    def nothing() -> None:
        """Give nothing."""

    def place() -> Place:
        return Place(name="Oslo")

    def both() -> list[Any]:
        return [Place(name="a"), 1]

    model = ScriptedModel([[call("nothing"), call("place"), call("both")], "ok"])
    found = Talk(Agent(name="bot", model=model, tools=[nothing, place, both])).turn("go")
    assert found[1] == "bot nothing={'result': None} place={'name': 'Oslo'} both={'result': [{'name': 'a'}, 1]}"


def test_skip_summarization_ends_the_turn() -> None:
    """A tool that sets it has the last word; the model isn't asked again."""

    def last(tool_context: ToolContext) -> str:
        tool_context.actions.skip_summarization = True
        return "that's it"

    talk = Talk(Agent(name="bot", model=ScriptedModel([call("last")]), tools=[last]))
    assert talk.turn("go")[1] == """bot last={'result': "that's it"} skip_summarization=True"""
    assert talk.root.status == "completed"


def test_a_tool_can_end_the_invocation() -> None:
    """After `end_invocation` the response is still told, and no model is asked."""

    def stop(tool_context: ToolContext) -> str:
        tool_context.get_invocation_context().end_invocation = True
        return "over"

    talk = Talk(Agent(name="bot", model=ScriptedModel([call("stop")]), tools=[stop]))
    assert talk.turn("go") == ["bot calls stop", "bot stop={'result': 'over'}"]


def test_model_calls_are_limited() -> None:
    """A loop of calls ends at `max_llm_calls` with an error, and at a limit of tokens in order."""
    agent = Agent(name="bot", model=ScriptedModel([call("five")] * 5), tools=[five])
    with pytest.raises(LlmCallsLimitExceededError):
        Talk(agent).turn("go", RunConfig(max_llm_calls=2))
    again = Agent(name="bot", model=ScriptedModel([call("five"), "done"]), tools=[five])
    talk = Talk(again)
    assert talk.turn("go", RunConfig(limits=Limits(max_tokens=1))) == ["bot calls five"]
    assert (talk.root.status, talk.root.stopped_by) == ("stopped", "max_tokens")
    assert talk.turn(None, invocation_id=talk.root.invocation_id) == ["bot five={'result': 5}", "bot 'done'"]


def test_streaming() -> None:
    """Pieces come as partial events with the id of the whole; only the whole is stored, and calls aren't made twice."""
    agent = Agent(name="bot", model=ScriptedModel([call("five"), "well done"]), tools=[five])
    talk = Talk(agent)
    found = talk.heard("go", RunConfig(streaming_mode=StreamingMode.SSE))
    pieces = [event for event in found if event.partial]
    assert [event.content.parts[0].text for event in pieces] == ["well", " done"]  # type: ignore[union-attr, index]
    assert {event.id for event in pieces} == {found[-1].id}
    assert [event.id for event in talk.session.events[1:]] == [event.id for event in found if not event.partial]


def test_the_same_id_for_two_calls_and_odd_ids() -> None:
    """Ids that models give may be anything that can't name a run; each call is made once."""
    made: list[int] = []

    def note(n: int) -> int:
        made.append(n)
        return n

    replies = [[calls("note", "1", n=1), calls("note", "a/b@c", n=2)], calls("note", "2", n=3), "ok"]
    Talk(Agent(name="bot", model=ScriptedModel(replies), tools=[note])).turn("go")
    assert made == [1, 2, 3]


def test_what_cant_be_a_tool() -> None:
    """An agent, a class or a value in `tools` is refused when the agent is built."""
    with pytest.raises(ConfigurationError, match=r"cannot be used directly as a tool.*sub_agents"):
        Agent(name="bot", tools=[Agent(name="other")])
    for wrong in (int, "weather", 5):
        with pytest.raises(ConfigurationError, match="in tools"):
            Agent(name="bot", tools=[wrong])


def test_an_agent_with_tools_in_a_workflow() -> None:
    """As a node an agent calls tools on its own path, and its answer is its output."""
    model = ScriptedModel([call("five"), "done"])
    talk = Talk(flow(Agent(name="bot", model=model, tools=[five])))
    assert talk.turn("go") == ["bot calls five", "bot five={'result': 5}", "bot 'done'"]
    assert talk.root.output == "done"
    assert {event.node_info.path for event in talk.events} == {"wf@1/bot@1"}


def test_ids_that_come_again() -> None:
    """A provider that numbers its calls anew with each message gets each of them made, not an earlier result."""
    made: list[int] = []

    def note(n: int) -> int:
        made.append(n)
        return n

    replies = [[calls("note", "0", n=1), calls("note", "0", n=2)], calls("note", "0", n=3), "ok"]
    found = Talk(Agent(name="bot", model=ScriptedModel(replies), tools=[note])).turn("go")
    assert made == [1, 2, 3]
    assert found[3] == "bot note={'result': 3}"


def test_what_runs_inside_of_a_tool() -> None:
    """A generator's messages and nodes that a tool runs are seen on the call's lane; the model reads the result."""

    def works() -> Any:
        yield Event(message="working")
        yield 5

    async def runs(tool_context: ToolContext) -> Any:
        def inner(node_input: str) -> str:
            return f"{node_input}!"

        return await tool_context.run_node(inner, "hey")

    model = ScriptedModel([calls("works", "C1"), calls("runs", "C2"), "done"])
    found = Talk(Agent(name="bot", model=model, tools=[works, runs])).heard("go")
    working = found[1]
    assert (working.author, working.branch, working.message.parts[0].text) == ("works", "works@C1", "working")  # type: ignore[union-attr, index]
    assert [event.output for event in found if event.output is not None] == [5, "hey!"]
    assert {event.author for event in found} == {"bot", "works", "inner"}
    assert "working" not in str(model.requests[1].contents)
    assert [content.role for content in model.requests[2].contents] == ["user", "model", "user", "model", "user"]
