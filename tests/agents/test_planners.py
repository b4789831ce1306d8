"""Planners: the model's own thinking, a plan in words, and planners of one's own."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from adk_nb.agents import Agent
from adk_nb.errors import ConfigurationError
from adk_nb.planners import BasePlanner, BuiltInPlanner, PlanReActPlanner
from adk_nb.testing import ScriptedModel, call
from tests.agents.asking import run

THINKING = types.ThinkingConfig(thinking_budget=5)


def told(*parts: types.Part | str) -> list[tuple[str | None, bool | None, str | None]]:
    """Return what the planner makes of parts: text, whether it is a thought, which tool is called."""
    said = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
    planned: Any = PlanReActPlanner().process_planning_response(None, said)  # type: ignore[arg-type]
    return [(part.text, part.thought, part.function_call and part.function_call.name) for part in planned]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["/*PLANNING*/ do", call("look")], [(" do", True, None), (None, None, "look")]),
        (["/*REASONING*/ so /*FINAL_ANSWER*/ yes"], [(" so ", True, None), (" yes", None, None)]),
        (["/*FINAL_ANSWER*/yes"], [("yes", None, None)]),
        (["plain"], [("plain", None, None)]),
        (
            ["/*ACTION*/x", "/*REPLANNING*/y", "plain", "/*REASONING*/z"],
            [("x", True, None), ("y", True, None), ("plain", None, None), ("z", True, None)],
        ),
        (
            ["a", call("look"), call("add"), "made up", call("look")],
            [("a", None, None), (None, None, "look"), (None, None, "add")],
        ),
        (["pre /*PLANNING*/ a"], [("pre /*PLANNING*/ a", None, None)]),
        (["/*PLANNING*/ q /*FINAL_ANSWER*/"], [(" q ", True, None)]),
    ],
)
def test_tags_tell_thoughts_from_answers(parts: list[Any], expected: list[Any]) -> None:
    """Text behind a planning tag is a thought; what follows the first calls was made up and goes."""
    assert told(*parts) == expected


def test_a_plan_in_words() -> None:
    """The planner's instruction follows the agent's, thoughts are no output, and the model reads its plan again."""
    model = ScriptedModel(["/*PLANNING*/do this /*FINAL_ANSWER*/yes", "/*FINAL_ANSWER*/again"])
    turns = run(Agent(name="a", model=model, planner=PlanReActPlanner(), instruction="Ask.", output_key="o"), "1", "2")
    assert turns.state["o"] == "again"
    assert turns.output == "again"
    system = model.requests[0].system
    assert system.index("Ask.") < system.index('"a"') < system.index("/*PLANNING*/")
    plan = model.requests[1].contents[1]
    assert [(part.text, part.thought) for part in plan.parts or ()] == [("do this ", None), ("yes", None)]


def test_thinking_of_the_model_itself() -> None:
    """The built-in planner's setting goes into each request, and before the agent's own, with a warning."""
    settings = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(thinking_budget=9), temperature=0.5)
    model = ScriptedModel(["ok"])
    with pytest.warns(UserWarning, match="'a' has a thinking_config both"):
        agent = Agent(
            name="a", model=model, planner=BuiltInPlanner(thinking_config=THINKING), generate_content_config=settings
        )
    assert run(agent).output == "ok"
    assert model.requests[0].config.thinking_config == THINKING
    assert model.requests[0].config.temperature == 0.5
    assert settings.thinking_config.thinking_budget == 9  # type: ignore[union-attr]


def test_own_planners() -> None:
    """A planner of one's own adds to the system text and changes the response; the event holds what it made of it."""

    class Shout(BasePlanner):
        def build_planning_instruction(self, readonly_context: Any, llm_request: Any) -> str:
            return f"Shout, {readonly_context.agent_name}."

        def process_planning_response(self, callback_context: Any, response_parts: Any) -> Any:
            callback_context.state["shouted"] = True
            for part in response_parts:
                part.text = part.text.upper()
            return response_parts

    model = ScriptedModel(["yes"])
    turns = run(Agent(name="a", model=model, planner=Shout()))
    assert turns.output == "YES"
    assert turns.state["shouted"] is True
    assert model.requests[0].system.endswith("Shout, a.")


def test_what_is_no_planner_is_refused() -> None:
    """Anything else is refused when the agent is built."""
    with pytest.raises(ConfigurationError, match=r"'a' has planner=.*PlanReActPlanner\(\)"):
        Agent(name="a", planner="think")
