"""`LiteLlm`: the form of a request for other providers, and litellm itself against a server that speaks it."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from adk_nb.errors import ConfigurationError
from adk_nb.models import LiteLlm, LLMRegistry, LlmRequest, LlmResponse
from adk_nb.models.chat_messages import answer_of, chat_arguments
from adk_nb.models.lite_llm import _Calls
from tests.models.chat_server import USAGE, ChatServer, chatting, chunk, completion, tool_call

needs_litellm = pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="the extra isn't installed")
# litellm and what it brings along warn of their own affairs while they are imported.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


class Answer(BaseModel):
    """The shape of an answer."""

    n: int


def question() -> LlmRequest:
    """Return a conversation with a tool call, its reply, a picture, a tool and settings."""
    call = types.FunctionCall(id="c1", name="look", args={"q": "ö"})
    reply = types.FunctionResponse(id="c1", name="look", response={"r": 1})
    picture = types.Blob(data=b"\x00\xff", mime_type="image/png")
    declared = types.FunctionDeclaration(name="look", description="Look.", parameters_json_schema={"type": "object"})
    request = LlmRequest(
        contents=[
            types.Content(role="user", parts=[types.Part(text="hi"), types.Part(inline_data=picture)]),
            types.Content(role="model", parts=[types.Part(text="hm", thought=True), types.Part(function_call=call)]),
            types.Content(role="user", parts=[types.Part(function_response=reply)]),
        ],
        config=types.GenerateContentConfig(
            temperature=0.5, max_output_tokens=9, tools=[types.Tool(function_declarations=[declared])]
        ),
    )
    request.append_instructions(["Be brief."])
    return request


async def ask(model: LiteLlm, request: LlmRequest | None = None, *, stream: bool = False) -> list[LlmResponse]:
    """Return all responses to one request."""
    return [response async for response in model.generate_content_async(request or question(), stream)]


def model_at(server: ChatServer, **arguments: Any) -> LiteLlm:
    """Return a model that asks this server."""
    return LiteLlm(model="openai/m", api_base=server.url, api_key="k", **arguments)


def heard(answer: Any, *, stream: bool = False) -> list[LlmResponse]:
    """Return what a model says when the server answers so."""
    with chatting(answer) as server:
        return asyncio.run(ask(model_at(server), stream=stream))


def parts(response: LlmResponse) -> list[types.Part]:
    """Return the parts of a response, none when it has no content."""
    return (response.content.parts if response.content else None) or []


def test_a_request_in_their_form() -> None:
    """System text, pictures, calls, replies, tools and settings are all told; thoughts are kept back."""
    assert chat_arguments(question()) == {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "hi"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AP8="}},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": "ö"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "name": "look", "content": '{"r": 1}'},
        ],
        "temperature": 0.5,
        "max_tokens": 9,
        "tools": [
            {
                "type": "function",
                "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}},
            }
        ],
    }


def test_a_shape_in_their_form() -> None:
    """A declared shape goes as its JSON schema."""
    request = LlmRequest()
    request.set_output_schema(Answer)
    told = chat_arguments(request)["response_format"]["json_schema"]["schema"]
    assert told["properties"]["n"]["type"] == "integer"


@pytest.mark.parametrize(
    ("finish", "calls", "text", "code"),
    [
        ("stop", [], "x", None),
        ("length", [], "x", None),
        ("length", [], None, "MAX_TOKENS"),
        ("stop", [], None, "MODEL_RETURNED_NO_CONTENT"),
        ("content_filter", [], None, "SAFETY"),
        ("tool_calls", [("1", "look", '{"a": ')], None, "MALFORMED_FUNCTION_CALL"),
        ("tool_calls", [("1", "look", "[1]")], None, "MALFORMED_FUNCTION_CALL"),
        ("tool_calls", [("1", "look", "")], None, None),
    ],
)
def test_kinds_of_answers(finish: str, calls: list[tuple[str, str, str]], text: str | None, code: str | None) -> None:
    """Blocked, empty, malformed and cut answers each have their own code."""
    response = answer_of(text=text, thought=None, calls=calls, finish=finish, usage=None, model="m")
    assert response.error_code == code


def test_call_pieces_come_together() -> None:
    """Pieces of several calls, in turns, make whole calls by their index."""

    class Piece(BaseModel):
        """A piece as the provider sends it."""

        index: int
        id: str | None = None
        function: Any

    class Function(BaseModel):
        """Its function."""

        name: str | None = None
        arguments: str | None = None

    calls = _Calls()
    calls.add([Piece(index=0, id="1", function=Function(name="a", arguments='{"x"'))])
    calls.add([Piece(index=1, id="2", function=Function(name="b"))])
    calls.add([Piece(index=0, function=Function(arguments=": 1}"))])
    assert calls.whole == [("1", "a", '{"x": 1}'), ("2", "b", "")]


def test_names_with_a_provider_belong_to_it() -> None:
    """`provider/model` and `LiteLlm:name` give this class, without the package being there."""
    for name, model in (("ollama_chat/llama3.2", "ollama_chat/llama3.2"), ("LiteLlm:own/x", "own/x")):
        found = LLMRegistry.new_llm(name)
        assert (type(found), found.model) == (LiteLlm, model)


def test_a_key_is_not_shown() -> None:
    """The text form of a model doesn't hold its key."""
    assert "secret" not in repr(LiteLlm(model="openai/m", api_key="secret"))


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without litellm the first call says how to install it; making the object is fine."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"adk-nb\[litellm\]"):
        asyncio.run(ask(LiteLlm(model="openai/m")))


@needs_litellm
def test_an_answer_with_thought_calls_and_usage() -> None:
    """Text, thought, calls with their ids, and all kinds of tokens come over; the request arrives whole."""
    answer = completion(
        "tool_calls", content="x", reasoning_content="hm", tool_calls=[tool_call(None, "c9", "look", '{"q": 1}')]
    )
    with chatting(answer) as server:
        (response,) = asyncio.run(ask(model_at(server)))
    assert [(part.text, part.thought) for part in parts(response)[:2]] == [("hm", True), ("x", None)]
    call = parts(response)[2].function_call
    assert call is not None
    assert (call.id, call.name, call.args) == ("c9", "look", {"q": 1})
    usage = response.usage_metadata
    assert usage is not None
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (30, 20)
    assert (usage.candidates_token_count, usage.thoughts_token_count, usage.total_token_count) == (5, 7, 42)
    assert [message["role"] for message in server.requests[0]["messages"]] == ["system", "user", "assistant", "tool"]


@needs_litellm
def test_a_stream() -> None:
    """Pieces of text, then the whole with joined text, assembled calls and token counts."""
    chunks = [
        chunk(content="Hel"),
        chunk(content="lo"),
        chunk(tool_calls=[tool_call(0, "c1", "look", '{"q"')]),
        chunk(tool_calls=[tool_call(0, None, None, ": 1}")]),
        chunk("tool_calls"),
        {**chunk(), "choices": [], "usage": USAGE},
    ]
    responses = heard(chunks, stream=True)
    assert [response.partial for response in responses] == [True, True, False]
    assert parts(responses[-1])[0].text == "Hello"
    call = parts(responses[-1])[1].function_call
    assert call is not None
    assert (call.id, call.args) == ("c1", {"q": 1})
    assert responses[-1].usage_metadata is not None
    assert responses[-1].usage_metadata.total_token_count == 42


@needs_litellm
def test_a_broken_stream_ends_in_an_error() -> None:
    """A stream that is cut after a piece ends in a response with an error and without text."""
    responses = heard([chunk(content="Hel"), None], stream=True)
    assert [bool(parts(response)) for response in responses] == [True, False]
    assert responses[-1].error_code


@needs_litellm
@pytest.mark.parametrize(
    ("code", "name"), [(429, "RateLimitError"), (401, "AuthenticationError"), (400, "BadRequestError")]
)
def test_errors_are_theirs(code: int, name: str) -> None:
    """Errors of litellm come through as they are, and nothing is asked again by itself."""
    with chatting(code, completion(content="never")) as server:
        with pytest.raises(Exception, match="simulated") as caught:
            asyncio.run(ask(model_at(server)))
        assert type(caught.value).__name__ == name
        assert len(server.requests) == 1


@needs_litellm
def test_one_loop_after_another() -> None:
    """One object works on several event loops."""
    with chatting(*[completion(content="hi")] * 3) as server:
        model = model_at(server)
        said = [parts(asyncio.run(ask(model))[0])[0].text for _ in range(3)]
    assert said == ["hi"] * 3
