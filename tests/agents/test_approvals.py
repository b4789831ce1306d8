"""Calls that a person approves, and results that come from outside: who is asked what, and what happens then."""

from __future__ import annotations

from typing import Any

import pytest

from adk_nb.agents import Agent
from adk_nb.errors import AnswerError
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from adk_nb.workflow import RetryConfig, Workflow, node
from tests.agents.calling import Talk, calls, confirms, response


def pay(amount: int) -> dict[str, int]:
    """Pay."""
    return {"paid": amount}


def payer(*replies: Any, tool: Any = None) -> tuple[Agent, ScriptedModel]:
    """Return an agent whose payments need an approval, and its model."""
    model = ScriptedModel(list(replies))
    return Agent(name="bot", model=model, tools=[tool or FunctionTool(pay, require_confirmation=True)]), model


def test_approved() -> None:
    """The call is asked for with name and arguments, made after the approval, and the model sees only its result."""
    agent, model = payer(calls("pay", "C1", amount=3), "Done.")
    talk = Talk(agent)
    found = talk.turn("pay")
    assert found[1] == "bot calls adk_request_confirmation asks"
    assert "requires confirmation" in found[2]
    ((_, question),) = talk.open_questions
    assert question.payload == {"tool_name": "pay", "args": {"amount": 3}}
    assert talk.turn(confirms(True)) == ["bot pay={'paid': 3}", "bot 'Done.'"]
    assert "requires confirmation" not in str(model.requests[1].contents)
    assert len({event.invocation_id for event in talk.session.events}) == 1


def test_rejected() -> None:
    """The call isn't made, and the model is told so."""
    agent, _ = payer(calls("pay", "C1", amount=3), "Not then.")
    talk = Talk(agent)
    talk.turn("pay")
    assert talk.turn(confirms(False)) == ["bot pay={'error': 'This tool call is rejected.'}", "bot 'Not then.'"]


def test_only_when_a_function_of_the_arguments_says_so() -> None:
    """A small amount is paid at once; arguments that don't fit are told to the model before a person is asked."""
    tool = FunctionTool(pay, require_confirmation=lambda amount: amount > 10)
    agent, _ = payer(calls("pay", "C1", amount=3), calls("pay", "C2", amount="many"), call("pay", amount=30), tool=tool)
    found = Talk(agent).turn("pay")
    assert found[1] == "bot pay={'paid': 3}"
    assert "amount" in found[3]
    assert found[5] == "bot calls adk_request_confirmation asks"


def test_beside_others() -> None:
    """What didn't need an approval is told first; several approvals are given one by one, each goes on at once."""

    def five() -> int:
        return 5

    replies = [[calls("pay", "C1", amount=1), calls("five", "C2"), calls("pay", "C3", amount=3)], "one", "two"]
    model = ScriptedModel(replies)
    talk = Talk(Agent(name="bot", model=model, tools=[five, FunctionTool(pay, require_confirmation=True)]))
    found = talk.turn("go")
    assert "five={'result': 5}" in found[1]
    assert found[2] == "bot calls adk_request_confirmation calls adk_request_confirmation asks"
    assert talk.turn(confirms(True, at=1)) == ["bot pay={'paid': 3}", "bot 'one'"]
    assert talk.root.status == "waiting"
    assert talk.turn(confirms(False, at=0))[-1] == "bot 'two'"
    assert talk.root.status == "completed"


def test_words_in_place_of_an_answer() -> None:
    """They begin a turn of their own; the approval can still be given."""
    agent, _ = payer(calls("pay", "C1", amount=3), "Yes?", "Paid.")
    talk = Talk(agent)
    talk.turn("pay")
    assert talk.turn("wait") == ["bot 'Yes?'"]
    assert talk.turn(confirms(True)) == ["bot pay={'paid': 3}", "bot 'Paid.'"]


def test_an_answer_counts_once() -> None:
    """A second answer to the same question is refused, and nothing is done."""
    agent, model = payer(calls("pay", "C1", amount=3), "Done.")
    talk = Talk(agent)
    talk.turn("pay")
    answer = confirms(True)(talk.session.events)
    talk.turn(answer)
    with pytest.raises(AnswerError, match="answered already"):
        talk.turn(answer)
    assert model.left == 0


def test_a_tool_asks_in_the_middle() -> None:
    """It is called again with the answer and its payload; until then the model isn't asked."""

    def order(tool_context: ToolContext) -> Any:
        given = tool_context.tool_confirmation
        if given is None:
            tool_context.request_confirmation(hint="How many?", payload={"most": 5})
            return None
        return given.payload if given.confirmed else "nothing"

    agent, model = payer(calls("order", "C1"), "Ordered.", tool=order)
    talk = Talk(agent)
    talk.turn("order")
    ((_, question),) = talk.open_questions
    assert question.message == "How many?"
    assert len(model.requests) == 1
    assert talk.turn(confirms(True, payload={"n": 2})) == ["bot order={'n': 2}", "bot 'Ordered.'"]


def test_a_result_from_outside() -> None:
    """A long-running call without a result ends the turn; the response that is posted goes to the model."""

    def order(item: str) -> None:
        """Order."""

    model = ScriptedModel([calls("order", "C1", item="tea"), "Here."])
    talk = Talk(Agent(name="bot", model=model, tools=[LongRunningFunctionTool(order)]))
    assert talk.turn("tea") == ["bot calls order asks"]
    assert talk.root.status == "waiting"
    assert talk.turn(response("C1", "order", status="here")) == ["bot 'Here.'"]
    assert "'status': 'here'" in str(model.requests[1].contents)


def test_a_retry_keeps_what_was_done() -> None:
    """An agent that is tried again goes on from its events: what was called is kept, the model isn't asked anew."""
    tries: list[int] = []

    def flaky() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("down")
        return len(tries)

    def five() -> int:
        return 5

    agent = Agent(name="bot", model=ScriptedModel([[call("five"), call("flaky")], "done"]), tools=[flaky, five])
    again = node(agent, retry_config=RetryConfig(max_attempts=2, initial_delay=0, jitter=0))
    found = Talk(Workflow(name="wf", edges=[("START", again)])).turn("go")
    assert found[1] == "bot five={'result': 5}"
    assert found[3:] == ["bot flaky={'result': 2}", "bot 'done'"]


def test_a_task_inside_of_a_tool() -> None:
    """A task agent in a workflow that is a tool asks the person, and its result comes back to the caller."""
    task = Agent(name="t", mode="task", model=ScriptedModel(["Which?", call("finish_task", result="red")]))
    inner = Workflow(name="inner", edges=[("START", task)])
    talk = Talk(Agent(name="bot", model=ScriptedModel([calls("inner", "C1", request="x"), "done"]), tools=[inner]))
    assert talk.turn("go")[-1] == "t 'Which?'"
    assert talk.turn("red")[-2:] == ["bot inner={'result': 'red'}", "bot 'done'"]
