"""What assembling a request costs: about what is sent, however long the session is."""

from __future__ import annotations

from typing import Any

import pytest

from adk_nb.agents import Agent
from adk_nb.events.rewinds import visible_events
from adk_nb.models.llm_request import LlmRequest
from adk_nb.testing import FunctionModel, call
from tests.agents.calling import Talk


def test_present_turn_alone_costs_the_same_after_any_history() -> None:
    """A root that reads only the present turn looks at no event of the turns before."""
    looked: list[str] = []

    def tool() -> str:
        """Do something."""
        return "done"

    def answer(request: LlmRequest) -> Any:
        return "ok" if (request.contents[-1].parts or [])[-1].function_response else call("tool")

    model = FunctionModel(answer)
    agent = Agent(name="bot", model=model, tools=[tool], include_contents="none")
    talk = Talk(agent)
    for number in range(5):
        talk.turn(f"turn {number}")

    def counting(events: Any) -> Any:
        looked.append(str(len(events)))
        return visible_events(events)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adk_nb.agents.reading.contents.visible_events", counting)
        talk.turn("last")
    assert looked == ["1", "3"]
