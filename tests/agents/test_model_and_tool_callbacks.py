"""Callbacks around models and tools: who is asked first, what an answer skips, what errors become."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from adk_nb.agents import Agent
from adk_nb.apps import App
from adk_nb.auth import APIKey, APIKeyIn, AuthConfig
from adk_nb.errors import ConfigurationError
from adk_nb.models import LlmResponse
from adk_nb.plugins import BasePlugin
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import FunctionTool, ToolContext
from tests.agents.asking import flow, run
from tests.agents.calling import Talk, calls, response


def five() -> int:
    """Give five."""
    return 5


def fails() -> None:
    """Fail."""
    raise ValueError("no")


class Notes(BasePlugin):
    """Notes its hooks, and answers one of them."""

    def __init__(self, log: list[str], **answers: Any) -> None:
        """Note in a list that others note in, too."""
        super().__init__("notes")
        self.log, self.answers = log, answers

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        """Note it."""
        self.log.append("plugin before_tool")
        return self.answers.get("before_tool")

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> Any:
        """Note it."""
        self.log.append("plugin after_tool")
        return self.answers.get("after_tool")

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception) -> Any:
        """Note it."""
        self.log.append("plugin tool_error")
        return self.answers.get("tool_error")


def noting(log: list[str], hook: str, answer: Any = None) -> Any:
    """Return a callback that notes itself and answers."""

    def callback(**_: Any) -> Any:
        log.append(hook)
        return answer

    return callback


@pytest.mark.parametrize(
    ("answers", "log", "told"),
    [
        ({}, ["plugin before_tool", "before", "plugin after_tool", "after"], {"result": 5}),
        ({"before_tool": {"p": 1}}, ["plugin before_tool", "plugin after_tool", "after"], {"p": 1}),
        ({"after_tool": {"p": 2}}, ["plugin before_tool", "before", "plugin after_tool"], {"p": 2}),
    ],
)
def test_plugins_come_before_the_agents_own(answers: Any, log: list[str], told: Any) -> None:
    """A plugin's answer skips what comes behind it in its hook, the agent's own callbacks too."""
    found: list[str] = []
    agent = Agent(
        name="bot",
        model=ScriptedModel([call("five"), "ok"]),
        tools=[five],
        before_tool_callback=noting(found, "before"),
        after_tool_callback=[noting(found, "after")],
    )
    talk = Talk(None, app=App(name="app", root_agent=agent, plugins=[Notes(found, **answers)]))
    (given,) = talk.heard("go")[1].get_function_responses()
    assert given.response == told
    assert found == log


def test_an_empty_dictionary_is_an_answer_of_tool_callbacks() -> None:
    """`{}` stands for the tool's result; only `None` means that a callback has nothing to say."""
    log: list[str] = []
    callbacks = [noting(log, "one"), noting(log, "two", {}), noting(log, "three")]
    agent = Agent(name="bot", model=ScriptedModel([call("fails"), "ok"]), tools=[fails], before_tool_callback=callbacks)
    assert Talk(agent).turn("go")[1] == "bot fails={}"
    assert log == ["one", "two"]


def test_callbacks_may_name_their_parameters_as_they_like() -> None:
    """Arguments go by name where the names fit, else in order; async callbacks are awaited."""
    seen: list[Any] = []

    async def after(a: Any, b: Any, c: Any, d: Any) -> Any:
        seen.append((a.name, b, c.function_call_id, d))
        return {"sum": d + 1}

    agent = Agent(
        name="bot",
        model=ScriptedModel([calls("five", "C1"), "ok"]),
        tools=[FunctionTool(five)],
        after_tool_callback=after,
    )
    assert Talk(agent).turn("go")[1] == "bot five={'sum': 6}"
    assert seen == [("five", {}, "C1", 5)]


def test_the_context_of_a_tool_is_the_agents() -> None:
    """A tool knows itself as a part of the agent that calls it."""
    seen: list[str] = []

    def look(tool_context: ToolContext) -> None:
        seen.append(tool_context.agent_name)

    Talk(Agent(name="bot", model=ScriptedModel([call("look"), "ok"]), tools=[look])).turn("go")
    assert seen == ["bot"]


def test_an_error_of_a_tool_may_be_saved() -> None:
    """The first answer of on_tool_error is the result; it is asked for unknown tools, too."""
    log: list[str] = []
    agent = Agent(
        name="bot",
        model=ScriptedModel([call("fails"), call("nothing"), "ok"]),
        tools=[fails],
        on_tool_error_callback=noting(log, "saved", {"saved": True}),
    )
    assert Talk(agent).turn("go")[1::2] == ["bot fails={'saved': True}", "bot nothing={'saved': True}"]
    assert log == ["saved", "saved"]


def test_one_tool_may_tell_its_errors() -> None:
    """`FunctionTool(on_tool_error=)` decides for one tool."""
    agent = Agent(
        name="bot",
        model=ScriptedModel([call("fails"), "ok"]),
        tools=[FunctionTool(fails, on_tool_error="tell_model")],
    )
    assert Talk(agent).turn("go")[1] == "bot fails={'error': 'ValueError: no'}"


def test_a_response_of_before_model_is_final_and_costs_no_call() -> None:
    """The model isn't asked, and after_model isn't called."""
    log: list[str] = []
    given = LlmResponse(content=types.Content(role="model", parts=[types.Part(text="cached")]))
    model = ScriptedModel([])
    agent = Agent(
        name="bot",
        model=model,
        before_model_callback=noting(log, "before", given),
        after_model_callback=noting(log, "after"),
    )
    assert Talk(agent).turn("go") == ["bot 'cached'"]
    assert (log, model.requests) == (["before"], [])


def test_what_isnt_a_callback() -> None:
    """A value that can't be called is refused when the agent is built."""
    wrong: Any = "print"
    with pytest.raises(ConfigurationError, match="before_tool_callback"):
        Agent(name="bot", before_tool_callback=wrong)


def test_an_agent_as_a_parallel_worker() -> None:
    """With `parallel_worker` an agent in a workflow answers each item of a list, on a lane of its own."""
    model = ScriptedModel(["one", "two"])

    def both(node_input: Any) -> list[str]:
        return ["a", "b"]

    turns = run(flow(both, Agent(name="bot", model=model, parallel_worker=True)))
    assert sorted(turns.output) == ["one", "two"]
    assert sorted(request.text for request in model.requests) == ["a", "b"]


def test_a_tool_asks_for_a_credential() -> None:
    """A tool's request for a credential is asked of the person; then the call is made again, with the credential."""
    wanted = AuthConfig(auth_scheme=APIKey(in_=APIKeyIn.header, name="X-Key"), credential_key="k")

    def look(tool_context: ToolContext) -> str:
        given = tool_context.get_auth_response(wanted)
        if given is None:
            tool_context.request_credential(wanted)
            return "no key yet"
        return f"a key of {len(given.api_key or '')} letters"

    talk = Talk(Agent(name="bot", model=ScriptedModel([calls("look", "C1"), "done"]), tools=[look]))
    asked = next(event for event in talk.heard("go") if event.long_running_tool_ids).get_function_calls()[0]
    assert asked.name == "adk_request_credential"
    found = talk.turn(response(str(asked.id), "adk_request_credential", result="secret-4711"))
    assert found == ["bot look={'result': 'a key of 11 letters'}", "bot 'done'"]
    assert "secret-4711" not in "".join(event.model_dump_json() for event in talk.session.events)
