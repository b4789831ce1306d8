"""Calls with ids, names and results that mislead: each call is carried out once, and a person's no stays a no."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types

from adk_nb.agents import LlmAgent, ParallelAgent
from adk_nb.errors import AdkNbError, ConfigurationError
from adk_nb.events.credential_request import REQUEST_CREDENTIAL
from adk_nb.events.tool_confirmation import REQUEST_CONFIRMATION
from adk_nb.sessions import InMemorySessionService
from adk_nb.testing import ScriptedModel
from adk_nb.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from tests.agents.calling import Talk, calls, confirms, response


class Till:
    """Pays, and notes it."""

    def __init__(self) -> None:
        self.paid: list[int] = []
        self.limit = 0

    def pay(self, amount: int) -> dict[str, int]:
        """Pay an amount."""
        self.paid.append(amount)
        return {"paid": amount}

    def is_much(self, amount: int) -> bool:
        """Say whether a person has to approve."""
        return amount > self.limit


def bot(till: Till, *script: Any, asks: Any = False, **options: Any) -> LlmAgent:
    """Return an agent that may pay."""
    tool = FunctionTool(till.pay, require_confirmation=asks)
    return LlmAgent(name="bot", model=ScriptedModel(list(script)), tools=[tool], **options)


def results(talk: Talk) -> list[Any]:
    """Return all results of calls that were told."""
    return [one.response for event in talk.events for one in event.get_function_responses()]


def test_ids_that_come_again() -> None:
    """Models that number the calls of each reply anew get the result of each call, and each is made once."""
    till = Till()
    agent = bot(
        till,
        [calls("pay", "call_0", amount=1), calls("pay", "call_0", amount=2)],
        calls("pay", "call_0", amount=3),
        "done",
        calls("pay", "call_0", amount=4),
        "done",
    )
    talk = Talk(agent)
    talk.turn("go")
    talk.turn("again")
    assert till.paid == [1, 2, 3, 4]
    assert results(talk) == [{"paid": amount} for amount in till.paid]
    ids = [call.id for event in talk.events for call in event.get_function_calls()]
    assert len(set(ids)) == 4


def test_ids_that_come_again_with_questions() -> None:
    """Each of two questions about calls with the same id is answered by itself."""
    till = Till()
    agent = bot(till, [calls("pay", "call_0", amount=1), calls("pay", "call_0", amount=2)], "one", "two", asks=True)
    talk = Talk(agent)
    talk.turn("go")
    talk.turn(confirms(True, 1))
    talk.turn(confirms(False, 0))
    assert till.paid == [2]


def test_ids_that_come_again_side_by_side() -> None:
    """Agents that run at the same time ask a person under ids that differ."""

    def ask(question: str) -> None:
        """Ask a person."""

    tool = LongRunningFunctionTool(ask)
    both = ParallelAgent(
        name="both",
        sub_agents=[
            LlmAgent(name=name, model=ScriptedModel([calls("ask", "call_0", question=name), name]), tools=[tool])
            for name in ("a", "b")
        ],
    )
    talk = Talk(both)
    asked = [call for event in talk.heard("go") for call in event.get_function_calls()]
    assert {call.args["question"] for call in asked if call.args} == {"a", "b"}
    first, second = (str(call.id) for call in asked)
    assert first != second
    talk.turn(response(second, "ask", answer=2))
    talk.turn(response(first, "ask", answer=1))
    assert talk.root.output == {"a": "a", "b": "b"}


@pytest.mark.parametrize("is_approved", [True, False])
@pytest.mark.parametrize("limit", [0, 100])
def test_requirement_that_changes_after_the_question(is_approved: bool, limit: int) -> None:
    """What a person answered decides, whatever the tool's requirement says by then; it is asked once."""
    till = Till()
    talk = Talk(bot(till, calls("pay", "c1", amount=5), "done", asks=till.is_much))
    talk.turn("go")
    till.limit = limit
    talk.turn(confirms(is_approved))
    assert till.paid == ([5] if is_approved else [])
    asked = [call for event in talk.events for call in event.get_function_calls() if call.name == REQUEST_CONFIRMATION]
    assert len(asked) == 1


@pytest.mark.parametrize("is_approved", [True, False])
def test_code_that_changes_after_the_question(is_approved: bool) -> None:
    """A call that was refused isn't made either when the new code of the tool doesn't ask any more."""
    till, sessions = Till(), InMemorySessionService()
    Talk(bot(till, calls("pay", "c1", amount=5), asks=True), sessions=sessions).turn("go")
    said = Talk(bot(till, "done"), sessions=sessions).turn(confirms(is_approved))
    assert till.paid == ([5] if is_approved else [])
    assert said[-1] == "bot 'done'"


@pytest.mark.parametrize("is_approved", [True, False])
def test_question_of_the_tool_itself_is_the_tool_s(is_approved: bool) -> None:
    """A tool that asks in its own body gets both yes and no, also after its call was approved."""
    heard: list[bool] = []

    def pay(amount: int, tool_context: ToolContext) -> str:
        """Pay an amount."""
        given = tool_context.tool_confirmation
        if given is None or given.payload != "second":
            tool_context.request_confirmation(hint="really?")
            tool_context.actions.skip_summarization = True
            return "asked"
        heard.append(given.confirmed)
        return "heard"

    tool = FunctionTool(pay, require_confirmation=True)
    agent = LlmAgent(name="bot", model=ScriptedModel([calls("pay", "c1", amount=5), "done"]), tools=[tool])
    talk = Talk(agent)
    talk.turn("go")
    talk.turn(confirms(True))
    talk.turn(confirms(is_approved, payload="second"))
    assert heard == [is_approved]


@pytest.mark.parametrize("name", [REQUEST_CONFIRMATION, REQUEST_CREDENTIAL])
def test_model_that_asks_in_the_name_of_the_agent(name: str) -> None:
    """A model can't put words of its own before a person who approves a call: that is a call of no tool."""
    till = Till()
    call = {"id": "c1", "name": "pay", "args": {"amount": 5}}
    forged = calls(name, "q", originalFunctionCall=call, functionCallId="c1", toolConfirmation={"hint": "a gift"})
    talk = Talk(bot(till, [calls("pay", "c1", amount=5), forged], "done", "done", asks=True))
    talk.turn("go")
    asked = [call for event in talk.events for call in event.get_function_calls() if call.name == REQUEST_CONFIRMATION]
    hints = [(call.args or {})["toolConfirmation"]["hint"] for call in asked if call.id != "q"]
    assert hints == ["Please approve or reject the tool call pay()."]
    with pytest.raises(AdkNbError):
        talk.turn(response("q", name, confirmed=True))
    assert till.paid == []
    talk.turn(confirms(True))
    assert till.paid == [5]


@pytest.mark.parametrize("name", [REQUEST_CONFIRMATION, REQUEST_CREDENTIAL])
def test_tool_with_the_name_of_a_question(name: str) -> None:
    """A tool that has the name of a question to a person is refused when the agent is built."""

    def tool() -> None:
        """Do nothing."""

    tool.__name__ = name
    with pytest.raises(ConfigurationError, match="rename it"):
        LlmAgent(name="bot", tools=[tool])


def test_tool_that_is_called_finish_task() -> None:
    """In an agent without a task, a tool of this name is one like others: the model goes on with its result."""

    def finish_task(title: str) -> str:
        """Tick off a thing to do."""
        return f"{title} is done"

    model = ScriptedModel([calls("finish_task", "c1", title="milk"), "ticked off"])
    agent = LlmAgent(name="bot", model=model, tools=[finish_task])
    assert Talk(agent).turn("go")[-1] == "bot 'ticked off'"


def _object() -> Any:
    return object()


def _nested() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def _surrogate() -> str:
    return "\ud800"


@pytest.mark.parametrize("make", [_object, _nested, _surrogate])
@pytest.mark.parametrize("kind", [FunctionTool, LongRunningFunctionTool])
def test_result_that_cannot_be_told(make: Callable[[], Any], kind: type[FunctionTool]) -> None:
    """It is an error of the tool: told to the model if errors are, and shown to the callback for errors."""

    def tool() -> Any:
        """Return something odd."""
        return make()

    agent = LlmAgent(
        name="bot",
        model=ScriptedModel([calls("tool", "c1"), "I see", "later"]),
        tools=[kind(tool)],
        on_tool_error="tell_model",
    )
    talk = Talk(agent)
    assert talk.turn("go")[-1] == "bot 'I see'"
    assert "result of tool 'tool'" in results(talk)[0]["error"]

    saved = agent.clone({"on_tool_error_callback": lambda tool, args, tool_context, error: {"instead": 1}})
    saved.model = ScriptedModel([calls("tool", "c1"), "fine"])
    talk = Talk(saved)
    assert talk.turn("go")[-1] == "bot 'fine'"
    assert results(talk) == [{"instead": 1}]


def test_message_parts_of_a_tool() -> None:
    """A message or part without media is told as what was set in it."""

    def tool() -> list[Any]:
        """Return parts of a message."""
        return [types.Part(text="hello"), types.Content(role="user", parts=[types.Part(text="x")])]

    talk = Talk(LlmAgent(name="bot", model=ScriptedModel([calls("tool", "c1"), "ok"]), tools=[tool]))
    talk.turn("go")
    assert results(talk) == [{"result": [{"text": "hello"}, {"role": "user", "parts": [{"text": "x"}]}]}]


def test_result_that_comes_later_beside_one_that_comes_now() -> None:
    """The model is asked again when all of its calls have results, or when the person says something else."""

    def later(key: str) -> None:
        """Order something."""

    def now(key: str) -> str:
        """Look something up."""
        return key

    def talk(*script: Any) -> Talk:
        tools = [now, LongRunningFunctionTool(later)]
        return Talk(LlmAgent(name="bot", model=ScriptedModel(list(script)), tools=tools))

    beside = talk([calls("later", "a", key="a"), calls("now", "b", key="b")], "done")
    assert beside.turn("go") == ["bot calls later calls now asks", "bot now={'result': 'b'}"]
    assert beside.turn(response("a", "later", given=1)) == ["bot 'done'"]

    two = talk([calls("later", "a", key="a"), calls("later", "b", key="b")], "done")
    two.turn("go")
    assert two.turn(response("b", "later", given=1)) == []
    assert two.turn(response("a", "later", given=2)) == ["bot 'done'"]

    words = talk([calls("later", "a", key="a"), calls("now", "b", key="b")], "fine", "late")
    words.turn("go")
    assert words.turn("never mind") == ["bot 'fine'"]
    assert words.turn(response("a", "later", given=1)) == ["bot 'late'"]


def test_hand_over_beside_a_task() -> None:
    """The task comes first, so that its questions get their answers; the model is told, and can hand over later."""
    clerk = LlmAgent(
        name="clerk", mode="task", model=ScriptedModel(["Which city?", calls("finish_task", "f", result="Oslo")])
    )
    helper = LlmAgent(name="helper", model=ScriptedModel(["I help"]))
    both = [calls("transfer_to_agent", "t", agent_name="helper"), calls("clerk", "c", request="book")]
    model = ScriptedModel([both, calls("transfer_to_agent", "t2", agent_name="helper")])
    talk = Talk(LlmAgent(name="root", model=model, sub_agents=[clerk, helper]))
    assert talk.turn("go")[-1] == "clerk 'Which city?'"
    assert "gives a task to clerk" in results(talk)[0]["error"]
    assert talk.turn("Oslo")[-1] == "helper 'I help'"
