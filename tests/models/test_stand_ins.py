"""`ScriptedModel`, `FunctionModel`, `call` and `outline`: what tests and offline notebooks stand on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from adk_nb.errors import ConfigurationError
from adk_nb.events import Event
from adk_nb.models import BaseLlm, LlmRequest, LlmResponse
from adk_nb.testing import FunctionModel, ScriptedModel, call, outline


class Ticket(BaseModel):
    """A reply in the form of a model."""

    category: str


def question(text: str = "hi", agent: str = "") -> LlmRequest:
    """Return a request with one user message, signed by an agent."""
    config = types.GenerateContentConfig(labels={"adk_agent_name": agent} if agent else None)
    return LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text=text)])], config=config)


def ask(model: BaseLlm, request: LlmRequest | None = None, *, stream: bool = False) -> list[LlmResponse]:
    """Return all responses to one request."""

    async def collected() -> list[LlmResponse]:
        return [response async for response in model.generate_content_async(request or question(), stream)]

    return asyncio.run(collected())


def event(**fields: Any) -> Event:
    """Return an event made with the constructor's shortcuts, which type checkers don't know."""
    return Event(**fields)


def parts_of(response: LlmResponse) -> list[types.Part]:
    """Return the parts of a response."""
    assert response.content is not None
    assert response.content.role == "model"
    return response.content.parts or []


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("hello", "hello"),
        ({"ort": "Zürich"}, '{"ort": "Zürich"}'),
        ([1, 2], "[1, 2]"),
        (3, "3"),
        (Ticket(category="BUG"), '{"category":"BUG"}'),
        ([Ticket(category="BUG")], '[{"category": "BUG"}]'),
    ],
)
def test_what_a_reply_may_be(reply: Any, text: str) -> None:
    """Texts are said as they are, data as JSON with its letters kept, by both stand-ins alike."""
    for model in (ScriptedModel([reply]), FunctionModel(lambda _: reply)):
        (response,) = ask(model)
        assert [part.text for part in parts_of(response)] == [text]
        assert response.finish_reason is types.FinishReason.STOP


def test_calls_and_mixed_parts() -> None:
    """A call is a function call part; a list of parts is one message."""
    model = ScriptedModel([call("add", a=1), [types.Part(text="one moment"), call("add", a=2)]])
    (first,) = ask(model)
    (second,) = ask(model)
    assert [part.function_call and part.function_call.args for part in parts_of(first)] == [{"a": 1}]
    assert [part.text for part in parts_of(second)] == ["one moment", None]
    assert call("f", tool_name="x").function_call == types.FunctionCall(name="f", args={"tool_name": "x"})


def test_whole_responses_and_exceptions() -> None:
    """An LlmResponse is given as it is, an exception is raised, and the script goes on after it."""
    model = ScriptedModel([LlmResponse(error_code="SAFETY"), OSError("down"), "up"])
    (blocked,) = ask(model)
    assert (blocked.error_code, blocked.content, blocked.finish_reason) == ("SAFETY", None, None)
    with pytest.raises(OSError, match="down"):
        ask(model)
    assert parts_of(ask(model)[0])[0].text == "up"


def test_a_reply_is_never_changed_through_a_response() -> None:
    """Changing a response changes neither the script nor a later reply that shares its content."""
    shared = LlmResponse(content=types.Content(role="model", parts=[types.Part(text="a")]))
    model = ScriptedModel([shared, shared])
    parts_of(ask(model)[0])[0].text = "changed"
    assert parts_of(ask(model)[0])[0].text == "a"


def test_end_of_script_is_loud() -> None:
    """A call too many says how long the script was, who asked, and what."""
    model = ScriptedModel(["only one"])
    ask(model)
    with pytest.raises(ConfigurationError, match=r"script has 1 and this is call 2 \(asked by a: 'why\?'\)"):
        ask(model, question("why?", "a"))
    assert model.left == 0


def test_scripts_by_agent() -> None:
    """With a script for each agent, replies don't depend on the order in which the agents ask."""
    model = ScriptedModel({"a": ["a1", "a2"], "b": ["b1"]})
    said = [parts_of(ask(model, question(agent=agent))[0])[0].text for agent in ("b", "a", "a")]
    assert said == ["b1", "a1", "a2"]
    with pytest.raises(ConfigurationError, match="no script for agent 'c'"):
        ask(model, question(agent="c"))


@pytest.mark.parametrize("script", ["hello", {"a": "hello"}, [None], [object()], [{"k": object()}]])
def test_impossible_scripts_are_refused_when_written(script: Any) -> None:
    """What can't be said is refused when the model is made, not when it is asked."""
    with pytest.raises(ConfigurationError, match="allowed"):
        ScriptedModel(script)


def test_requests_are_copies_with_views() -> None:
    """What was asked is kept as it was, with text, system, last_user_text and agent_name to look at."""
    model = ScriptedModel(["ok"])
    request = question("topic", "a")
    request.append_instructions(["Be brief."])
    ask(model, request)
    request.contents.clear()
    request.append_instructions(["Changed."])
    (kept,) = model.requests
    assert (kept.text, kept.system, kept.last_user_text, kept.agent_name) == ("topic", "Be brief.", "topic", "a")


def test_usage_by_the_stated_rule() -> None:
    """Four characters are one token, rounded up: prompt from system and contents, answer from the reply."""
    request = question("12345")
    request.append_instructions(["1234"])
    usage = ask(ScriptedModel(["123456789"]), request)[0].usage_metadata
    assert usage is not None
    assert (usage.prompt_token_count, usage.candidates_token_count, usage.total_token_count) == (3, 3, 6)


@given(st.text())
def test_streamed_pieces_make_the_whole(text: str) -> None:
    """With streaming, the pieces joined are the text of the last response, which alone isn't partial."""
    *pieces, whole = ask(ScriptedModel([text]), stream=True)
    assert all(piece.partial for piece in pieces)
    assert whole.partial is False
    assert "".join(parts_of(piece)[0].text or "" for piece in pieces) == text
    assert [part.text for part in parts_of(whole)] == [text]


def test_async_functions_and_their_errors() -> None:
    """A FunctionModel awaits an async function, and what the function raises is raised."""

    async def shout(request: LlmRequest) -> str:
        await asyncio.sleep(0)
        return request.last_user_text.upper()

    assert parts_of(ask(FunctionModel(shout), question("hey"))[0])[0].text == "HEY"

    def fails(request: LlmRequest) -> str:
        raise OSError("down")

    with pytest.raises(OSError, match="down"):
        ask(FunctionModel(fails))
    with pytest.raises(ConfigurationError, match="a function that takes an LlmRequest"):
        FunctionModel("hello")  # type: ignore[arg-type]


def test_outline_names_what_each_event_says() -> None:
    """Each event is one row: path, branch, and the first of error, output, call, answer, text, route, state."""
    asked = types.Content(role="model", parts=[call("look", q="x")])
    answered = types.Part(function_response=types.FunctionResponse(name="look", response={}))
    events = [
        event(message="hi"),
        event(node_path="w@1/a@1", branch="a@1", output={"n": 1}),
        event(content=asked),
        event(message=[answered]),
        event(route="BUG"),
        event(state={"k": 1}),
        event(error_code="SAFETY", output=1),
        event(),
    ]
    assert outline(events) == [
        ("", None, "hi"),
        ("w@1/a@1", "a@1", {"n": 1}),
        ("", None, "call: look"),
        ("", None, "answer: look"),
        ("", None, "route: BUG"),
        ("", None, {"k": 1}),
        ("", None, "error: SAFETY"),
        ("", None, None),
    ]
