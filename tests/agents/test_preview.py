"""The preview of a request: what would be sent, and what is missing, before any model is asked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types

from adk_nb.agents import Agent, ReadonlyContext
from adk_nb.errors import ConfigurationError
from adk_nb.testing import ScriptedModel
from tests.agents.asking import Category, run
from tests.agents.histories import lines, user


def test_it_is_what_a_run_asks() -> None:
    """Preview and run agree on system text and conversation."""
    model = ScriptedModel(["ok"])
    agent = Agent(
        name="a",
        model=model,
        description="Helps.",
        instruction="Say {k}, {none?}.",
        global_instruction="All {k}.",
        output_schema=Category,
        static_instruction="Always {k}.",
    )
    preview = agent.preview({"k": "v"}, "hello")
    run(agent, "hello", state={"k": "v"})
    (request,) = model.requests
    assert (preview.system, preview.contents) == (request.system, request.contents)
    assert preview.request.config == request.config
    assert preview.is_complete


def look(city: str, days: int = 1) -> str:
    """Look at the weather."""
    return city


def test_it_shows_tools_and_hand_overs() -> None:
    """Tools and whom the agent can hand over to are in a preview as they are in a run, also beside a schema."""
    model = ScriptedModel(["ok"])
    helper = Agent(name="helper", model=model, mode="single_turn", description="Helps.")
    sales = Agent(name="sales", model=model, description="Sells.")
    root = Agent(name="root", model=model, tools=[look], sub_agents=[helper, sales])
    preview = root.preview({}, "hello")
    run(root, "hello")
    (request,) = model.requests
    assert preview.system == request.system
    assert preview.request.config == request.config
    assert [one.name for one in preview.tools] == ["transfer_to_agent", "look", "helper"]
    assert "    look(city, days): Look at the weather." in str(preview).splitlines()
    assert [one.name for one in sales.preview({}, "hello").tools] == ["transfer_to_agent"]
    assert "hand back to root" in sales.preview({}, "hello").system
    shaped = Agent(name="a", model=model, tools=[look], output_schema=Category).preview({}, "hello")
    assert [one.name for one in shaped.tools] == ["set_model_response", "look"]
    assert "set_model_response" in shaped.system


def test_missing_keys_are_listed() -> None:
    """Every missing key and artifact is named once, in the order of the texts, and its place stays."""
    template = "{a} {b?} {k} {artifact.n.txt} {a} {artifact.m.txt?}"
    agent = Agent(name="a", global_instruction="{g}", instruction=template)
    preview = agent.preview({"k": 1, "aa": 2})
    assert preview.missing == ("g", "a", "artifact.n.txt")
    assert preview.system.startswith("{g}\n\n{a}  1 {artifact.n.txt} {a} ")
    assert not preview.is_complete
    assert "missing: {a}; the state has 'aa' (did you mean this?), 'k'" in str(preview)


def test_artifacts_and_history() -> None:
    """Artifacts and earlier events can be given."""
    agent = Agent(name="a", instruction="{artifact.n.txt}|{artifact.m.txt}")
    artifacts: dict[str, Any] = {"n.txt": "note", "m.txt": types.Part(text="more")}
    preview = agent.preview({}, "now", events=[user("before", invocation_id="e-0")], artifacts=artifacts)
    assert preview.system.startswith("note|more\n\n")
    assert lines(preview.contents) == ["user: before", "user: now"]


def test_functions_are_called() -> None:
    """An instruction given as a function, async or not, is called with the state; what it raises is raised."""

    async def later(context: ReadonlyContext) -> str:
        await asyncio.sleep(0)
        return f"For {context.state['k']} by {context.agent_name}"

    def broken(context: ReadonlyContext) -> Any:
        return None

    assert Agent(name="a", instruction=later).preview({"k": 1}).system.startswith("For 1 by a")
    with pytest.raises(ConfigurationError, match="'a' returned None"):
        Agent(name="a", instruction=broken).preview()


def test_in_a_running_loop() -> None:
    """It works in a cell, where an event loop runs already."""

    async def test() -> str:
        return Agent(name="a", instruction="Say {k}.").preview({"k": "v"}).system

    assert asyncio.run(test()).startswith("Say v.")


def test_no_model_is_needed() -> None:
    """Neither is a model asked, nor has it to be known; the agent isn't changed."""
    agent = Agent(name="a", model="unknown-model", mode="single_turn", instruction="Sort.")
    preview = agent.preview({}, {"x": 1}, events=[user("before")])
    assert (preview.system, lines(preview.contents)) == ("Sort.", ['user: {"x": 1}'])
    assert agent.mode == "single_turn"
