"""What an agent asks its model: the order of its system text, and what stands beside the conversation."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types

from adk_nb.agents import Agent, RunConfig
from adk_nb.apps import App
from adk_nb.errors import MissingVariableError, PluginError
from adk_nb.plugins.global_instruction_plugin import GlobalInstructionPlugin
from adk_nb.runners import InMemoryRunner
from adk_nb.testing import ScriptedModel, call
from tests.agents.asking import flow, run
from tests.agents.histories import lines


def look(q: str) -> str:
    """Look something up."""
    return q.upper()


def message(text: str) -> types.Content:
    """Return a user message."""
    return types.Content(role="user", parts=[types.Part(text=text)])


def in_order(text: str, *words: str) -> None:
    """Refuse a text in which words don't stand in this order."""
    places = [text.index(word) for word in words]
    assert places == sorted(places), text


def test_order_of_the_system_text() -> None:
    """The tree's instruction, then the agent's, then who it is, each after a blank line."""
    model = ScriptedModel(["ok"])
    run(
        Agent(name="a", description="Helps.", model=model, instruction="Own.", global_instruction="For {all}."),
        state={"all": "you"},
    )
    assert model.requests[0].system == 'For you.\n\nOwn.\n\nYou are an agent named "a". What you are here for: Helps.'


def test_nothing_to_say_is_nothing() -> None:
    """A node without instruction has no system text at all."""
    model = ScriptedModel(["ok"])
    run(flow(Agent(name="a", model=model)))
    assert model.requests[0].config.system_instruction is None


def test_a_static_instruction_is_never_filled_and_the_changing_one_follows() -> None:
    """The static text is system text as it stands; `instruction` is a marked message before what is to be answered."""
    model = ScriptedModel(["one", call("look", q="a"), "two"])
    agent = Agent(name="a", model=model, static_instruction="Always {k}.", instruction="Now {k}.", tools=[look])
    run(agent, "first", "second", state={"k": "v"})
    assert all(one.system.startswith("Always {k}.\n\n") for one in model.requests)
    last = lines(model.requests[2].contents)
    assert [line.split(":")[0] for line in last] == ["user", "model", "user", "user", "model", "user"]
    assert last[:2] == ["user: first", "model: one"]
    assert "<<<instruction/Now v./instruction>>>" in last[2]
    assert last[3] == "user: second"


def test_a_static_instruction_with_a_picture() -> None:
    """What isn't text stands at the front of the conversation, named in the system text."""
    picture = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))
    model = ScriptedModel(["ok"])
    run(Agent(name="a", model=model, static_instruction=types.Content(parts=[types.Part(text="Look:"), picture])))
    in_order(model.requests[0].system, "Look:", "attachment 1", '"a"')
    assert lines(model.requests[0].contents) == ["user: [attachment 1] | <image/png>", "user: hello"]


@pytest.mark.parametrize("static", ["S", types.Part(text="S"), ["S"], types.Content(parts=[types.Part(text="S")])])
def test_forms_of_a_static_instruction(static: Any) -> None:
    """Text, part, list and content say the same."""
    model = ScriptedModel(["ok"])
    run(Agent(name="a", model=model, static_instruction=static))
    assert model.requests[0].system.startswith("S\n\n")
    assert lines(model.requests[0].contents) == ["user: hello"]


def test_context_of_one_call() -> None:
    """Messages given with the call stand before what is to be answered, in each request, and aren't stored."""
    model = ScriptedModel(["one", call("look", q="a"), "two"])
    given = [message("Today is Monday.")]
    turns = run(Agent(name="a", model=model, tools=[look]), "1", "2", config=RunConfig(model_input_context=given))
    assert [lines(one.contents)[:-1] for one in model.requests[:2]] == [
        ["user: Today is Monday."],
        ["user: 1", "model: one", "user: Today is Monday."],
    ]
    assert lines(model.requests[2].contents)[2:4] == ["user: Today is Monday.", "user: 2"]
    assert "Monday" not in str(turns.events)
    model.requests[0].contents[0].parts = []
    assert given == [message("Today is Monday.")]


def test_labels() -> None:
    """Each request is signed with the agent's name, whatever labels the call adds."""
    model = ScriptedModel(["ok"])
    run(Agent(name="a", model=model), config=RunConfig(labels={"team": "x", "adk_agent_name": "forged"}))
    assert model.requests[0].config.labels == {"team": "x", "adk_agent_name": "a"}


def asked_with(plugin: GlobalInstructionPlugin, root: Any, state: dict[str, Any]) -> Exception | None:
    """Ask a root in an app with a plugin; return what the run failed with."""

    async def test() -> Exception | None:
        runner = InMemoryRunner(app=App(name="x", root_agent=root, plugins=[plugin]))
        session = await runner.session_service.create_session(app_name="x", user_id="u", state=state)
        try:
            async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message("hello")):
                pass
        except Exception as error:  # noqa: BLE001  # any error of the run under test is part of its outcome
            return error
        return None

    return asyncio.run(test())


def test_one_instruction_for_all_agents() -> None:
    """The plugin's instruction is filled and stands in front of the system text of each agent."""
    model = ScriptedModel(["one", "two"])
    root = flow(Agent(name="a", model=model, instruction="Own."), Agent(name="b", model=model))
    assert asked_with(GlobalInstructionPlugin("In {language}."), root, {"language": "Latin"}) is None
    assert [one.system for one in model.requests] == ["In Latin.\n\nOwn.", "In Latin."]


def test_an_instruction_for_all_that_cant_be_filled() -> None:
    """A missing key is named before any model is asked."""
    model = ScriptedModel([])
    error = asked_with(GlobalInstructionPlugin("In {language}."), Agent(name="a", model=model), {})
    assert isinstance(error, PluginError)
    assert isinstance(error.__cause__, MissingVariableError)
    assert "{language}" in str(error)
    assert model.requests == []
