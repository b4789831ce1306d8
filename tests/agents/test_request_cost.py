"""What assembling a request costs: about what is sent, however long the session is."""

from __future__ import annotations

from typing import Any

import pytest

from adk_nb.agents import Agent, contents
from adk_nb.testing import FunctionModel, call
from tests.agents.calling import Talk


def test_present_turn_alone_costs_the_same_after_any_history() -> None:
    """A root that reads only the present turn looks at no event of the turns before."""
    looked: list[str] = []

    def tool() -> str:
        """Do something."""
        return "done"

    model = FunctionModel(lambda request: "ok" if request.contents[-1].parts[-1].function_response else call("tool"))
    agent = Agent(name="bot", model=model, tools=[tool], include_contents="none")
    talk = Talk(agent)
    for number in range(5):
        talk.turn(f"turn {number}")
    seen = contents.visible_events

    def counting(events: Any) -> Any:
        looked.append(str(len(events)))
        return seen(events)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contents, "visible_events", counting)
        talk.turn("last")
    assert looked == ["1", "3"]
