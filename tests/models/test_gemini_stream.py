"""Streaming from Gemini: the real google-genai client against a scripted server that sends server-sent events."""

from __future__ import annotations

import asyncio
import base64
import gc
import importlib
import importlib.util
import json
import warnings
from typing import Any

import pytest
from google.genai import errors, types

from adk_nb.errors import ModelConnectionError
from adk_nb.models import Gemini, LlmRequest, LlmResponse
from tests.models.gemini_server import broken, candidate, failure, piece, quick, raw, serving

# The client derives a class in a way that its optional HTTP package, where installed, discourages.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

HTTPX = importlib.import_module("httpx" if importlib.util.find_spec("httpx") else "httpx2")
USAGE = {
    "promptTokenCount": 30,
    "cachedContentTokenCount": 20,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 7,
    "totalTokenCount": 42,
}


@pytest.fixture(params=["default", "httpx"])
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Fields of a model for each HTTP package that the client may use."""
    if request.param == "default":
        return {}
    http_options = types.HttpOptions(async_client_args={"transport": HTTPX.AsyncHTTPTransport()})
    return {"client_kwargs": {"api_key": "test-key", "http_options": http_options}}


def question(**config: Any) -> LlmRequest:
    """Return a request with one user message."""
    content = types.Content(role="user", parts=[types.Part(text="hi")])
    return LlmRequest(contents=[content], config=types.GenerateContentConfig(**config))


async def listen(model: Gemini) -> list[LlmResponse]:
    """Return all responses of a stream."""
    return [response async for response in model.generate_content_async(question(), stream=True)]


def heard(*answers: Any, **fields: Any) -> list[LlmResponse]:
    """Return what a model says when the server gives these answers."""
    with serving(*answers) as server:
        return asyncio.run(listen(server.gemini(**fields)))


def parts(response: LlmResponse) -> list[types.Part]:
    """Return the parts of a response, none when it has no content."""
    return (response.content.parts if response.content else None) or []


def texts(responses: list[LlmResponse]) -> list[str]:
    """Return the text of each response."""
    return ["".join(part.text or "" for part in parts(response)) for response in responses]


def called(response: LlmResponse) -> list[tuple[str | None, str | None, Any]]:
    """Return id, name and arguments of the calls in a response."""
    found = [part.function_call for part in parts(response) if part.function_call]
    return [(call.id, call.name, call.args) for call in found]


def fc(name: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a part with a function call."""
    return {"functionCall": {**({"name": name} if name else {}), **fields}}


def test_kinds_of_text_keep_their_order() -> None:
    """Neighbouring texts of one kind are joined; thought, text, thought stay three parts in this order."""
    thought = [{"text": word, "thought": True} for word in ("a", "b", "d")]
    responses = heard([piece(thought[0]), piece(thought[1], "c"), piece("c"), piece(thought[2], finish="STOP")])
    assert [response.partial for response in responses] == [True, True, True, True, False]
    assert [(part.text, part.thought) for part in parts(responses[-1])] == [("ab", True), ("cc", None), ("d", True)]


def test_last_facts_go_to_the_whole() -> None:
    """Usage, grounding, citations and finish reason seen last are in the whole answer, with every kind of token."""
    first = piece("Hel", usageMetadata={"promptTokenCount": 30, "totalTokenCount": 30}, modelVersion="gemini-test-001")
    grounded = {"groundingMetadata": {"webSearchQueries": ["x"]}, "citationMetadata": {"citationSources": []}}
    last = {"candidates": [{"finishReason": "STOP", **grounded}], "usageMetadata": USAGE}
    *_, whole = heard([first, piece("lo"), last])
    assert texts([whole]) == ["Hello"]
    assert whole.usage_metadata is not None
    assert whole.usage_metadata.cached_content_token_count == 20
    assert whole.usage_metadata.thoughts_token_count == 7
    assert whole.grounding_metadata is not None
    assert whole.grounding_metadata.web_search_queries == ["x"]
    assert whole.citation_metadata is not None
    assert (whole.finish_reason, whole.model_version) == (types.FinishReason.STOP, "gemini-test-001")


def test_signatures_stay_with_their_bytes() -> None:
    """A part with a thought signature is kept as it came, never joined with another, byte for byte."""
    signature = bytes(range(256))
    signed = {"thoughtSignature": base64.urlsafe_b64encode(signature).decode()}
    chunks = [
        piece("a"),
        piece({"text": "b", **signed}),
        piece("c"),
        piece({**fc("look", args={}), **signed}),
        piece({"text": "", **signed}, finish="STOP"),
    ]
    *_, whole = heard(chunks)
    assert [(part.text, part.thought_signature) for part in parts(whole)] == [
        ("a", None),
        ("b", signature),
        ("c", None),
        (None, signature),
        ("", signature),
    ]


def test_signatures_are_sent_back_unchanged() -> None:
    """What came with a signature goes back to the server with the same one."""
    signature = b"\x00\xff\xfesig"
    encoded = base64.urlsafe_b64encode(signature).decode()
    stream = [piece({**fc("look", args={"q": "x"}), "thoughtSignature": encoded}, finish="STOP")]
    with serving(stream, candidate("ok")) as server:
        model = server.gemini()

        async def both() -> None:
            *_, whole = await listen(model)
            request = question()
            assert whole.content is not None
            reply = types.FunctionResponse(name="look", id=called(whole)[0][0], response={"r": 1})
            request.contents += [
                whole.content,
                types.Content(role="user", parts=[types.Part(function_response=reply)]),
            ]
            async for _ in model.generate_content_async(request):
                pass

        asyncio.run(both())
    sent = server.requests[1]["contents"][1]["parts"][0]
    assert base64.urlsafe_b64decode(sent["thoughtSignature"]) == signature


def test_parallel_calls_have_one_id_each_from_the_first_piece() -> None:
    """Calls get their ids on arrival, so that piece and whole agree; text around them keeps its place."""
    chunks = [
        piece("let me see"),
        piece(fc("look", args={"q": "a"}), fc("look", args={"q": "b"})),
        piece(finish="STOP"),
    ]
    responses = heard(chunks)
    in_pieces = [call for response in responses[:-1] for call in called(response)]
    assert in_pieces == called(responses[-1])
    assert [args for _, _, args in in_pieces] == [{"q": "a"}, {"q": "b"}]
    ids = [call_id or "" for call_id, _, _ in in_pieces]
    assert len(set(ids)) == 2
    assert all(call_id.startswith("adk-") for call_id in ids)
    assert texts(responses[-1:]) == ["let me see"]


def test_repeated_call_is_dropped() -> None:
    """A call that comes again under the same provider id counts once, in pieces as in the whole."""
    again = fc("look", id="p1", args={"q": "a"})
    responses = heard([piece(again), piece(again, fc("look", id="p2", args={})), piece(again, finish="STOP")])
    assert [call[0] for response in responses[:-1] for call in called(response)] == ["p1", "p2"]
    assert [call[0] for call in called(responses[-1])] == ["p1", "p2"]
    assert [response.partial for response in responses] == [True, True, False]


def test_streamed_arguments_are_put_together() -> None:
    """Arguments that come in pieces by JSON path become one call, in its place, under one id."""

    def bit(path: str, more: bool = False, **value: Any) -> dict[str, Any]:
        return {"jsonPath": path, **value, **({"willContinue": True} if more else {})}

    chunks = [
        piece("so: ", fc("book", willContinue=True)),
        piece(fc(partialArgs=[bit("$.city", True, stringValue="New ")], willContinue=True)),
        piece(fc(partialArgs=[bit("$.city", stringValue="York")], willContinue=True)),
        piece(fc(partialArgs=[bit("$.days[0].n", numberValue=2), bit("$['a b']", boolValue=True)], willContinue=True)),
        piece(fc(partialArgs=[bit("$.days[1].n", numberValue=2.5), bit("$.none", nullValue="NULL_VALUE")])),
        piece(fc("pay", args={"x": 1}), finish="STOP"),
    ]
    responses = heard(chunks)
    whole = called(responses[-1])
    assert [name for _, name, _ in whole] == ["book", "pay"]
    assert whole[0][2] == {"city": "New York", "days": [{"n": 2}, {"n": 2.5}], "a b": True, "none": None}
    booked = [call for response in responses[:-1] for call in called(response) if call[1] == "book"]
    assert {call_id for call_id, _, _ in booked} == {whole[0][0]}


def test_interleaved_streamed_calls() -> None:
    """Two calls whose pieces come in turns are told apart by their provider ids; a whole after pieces replaces them."""

    def bit(text: str) -> list[dict[str, Any]]:
        return [{"jsonPath": "$.q", "stringValue": text, "willContinue": True}]

    chunks = [
        piece(fc("look", id="1", partialArgs=bit("a"), willContinue=True)),
        piece(fc("look", id="2", partialArgs=bit("x"), willContinue=True)),
        piece(fc("look", id="1", partialArgs=bit("b"), willContinue=True)),
        piece(fc("look", id="2", args={"q": "xyz"})),
        piece(fc("look", id="1"), finish="STOP"),
    ]
    *_, whole = heard(chunks)
    assert called(whole) == [("1", "look", {"q": "ab"}), ("2", "look", {"q": "xyz"})]


def test_a_call_cut_within_an_argument_is_an_error() -> None:
    """A call whose argument never came to its end is no call that a tool could be run with."""
    half = [{"jsonPath": "$.amount", "stringValue": "10", "willContinue": True}]
    *_, whole = heard([piece(fc("refund", willContinue=True)), piece(fc(partialArgs=half, willContinue=True))])
    assert (whole.error_code, whole.content, whole.partial) == ("MALFORMED_FUNCTION_CALL", None, False)
    assert "'refund'" in (whole.error_message or "")


@pytest.mark.parametrize(
    ("finish", "code"),
    [("STOP", None), ("MAX_TOKENS", None), ("SAFETY", "SAFETY"), ("MALFORMED_FUNCTION_CALL",) * 2],
)
def test_how_an_answer_ended(finish: str, code: str | None) -> None:
    """Streamed or not: an answer cut at the output limit is one; one that was stopped keeps its text, as an error."""
    *_, whole = heard([piece("half"), candidate(None, finish)])
    with serving(candidate("half", finish)) as server:
        (unary,) = asyncio.run(_asked(server.gemini()))
    for response in (whole, unary):
        assert texts([response]) == ["half"]
        assert response.error_code == code
        assert response.finish_reason == types.FinishReason(finish)


async def _asked(model: Gemini) -> list[LlmResponse]:
    return [response async for response in model.generate_content_async(question())]


@pytest.mark.parametrize("answer", [[], [{}], raw("", "text/event-stream")])
def test_a_stream_of_nothing(answer: Any) -> None:
    """A stream without a word is one response with its own code, not silence."""
    (response,) = heard(answer)
    assert (response.error_code, response.partial) == ("MODEL_RETURNED_NO_CONTENT", False)


def test_empty_texts_are_no_pieces() -> None:
    """Chunks that say nothing aren't shown; a last one with the counts alone only adds these."""
    responses = heard([piece(""), piece("hi"), piece("", finish="STOP"), {"usageMetadata": USAGE}])
    assert [response.partial for response in responses] == [True, False]
    assert texts(responses) == ["hi", "hi"]
    assert responses[-1].error_code is None
    assert responses[-1].usage_metadata is not None


IN_STREAM = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}


@pytest.mark.parametrize(
    "first",
    [
        failure(503),
        failure(429, headers={"Retry-After": "0"}),
        broken(),
        broken(piece(""), then="cut"),
        broken(then="data: garbage\r\n\r\n"),
        raw("<html>"),
        [IN_STREAM],
        [piece(""), IN_STREAM],
    ],
    ids=["503", "429", "cut", "cut after nothing", "garbage", "html", "in stream", "in stream after nothing"],
)
def test_what_breaks_before_the_first_piece_is_asked_again(options: dict[str, Any], first: Any) -> None:
    """As long as nothing was shown, a failed or broken stream is asked for again, by the retry options."""
    with serving(first, [piece("hello", finish="STOP")]) as server:
        responses = asyncio.run(listen(server.gemini(**options, retry_options=quick())))
    assert server.calls == 2
    assert texts(responses) == ["hello", "hello"]
    assert responses[-1].custom_metadata is not None
    assert responses[-1].custom_metadata["http_attempts"] == 2


@pytest.mark.parametrize(
    ("then", "code"),
    [("cut", "CONNECTION_FAILED"), ("data: {garbage\r\n\r\n", "CONNECTION_FAILED"), (None, "UNAVAILABLE")],
)
def test_what_breaks_after_a_piece_is_one_last_error(options: dict[str, Any], then: str | None, code: str) -> None:
    """A stream that breaks after something was shown isn't asked again: the last response is an error without text."""
    said = [piece("Hel"), piece("lo", usageMetadata=USAGE)]
    answer = [*said, IN_STREAM] if then is None else broken(*said, then=then)
    with serving(answer, [piece("never")]) as server:
        responses = asyncio.run(listen(server.gemini(**options, retry_options=quick())))
    assert server.calls == 1
    assert texts(responses) == ["Hel", "lo", ""]
    last = responses[-1]
    assert (last.error_code, last.partial, last.content) == (code, False, None)
    assert "broke off after 2 pieces" in (last.error_message or "")
    assert last.usage_metadata is not None


def test_errors_without_retries_are_raised() -> None:
    """Before the first piece an API error is raised as itself, with its status and how often the server was asked."""
    with serving(failure(503, "UNAVAILABLE")) as server, pytest.raises(errors.ServerError) as caught:
        asyncio.run(listen(server.gemini()))
    assert (caught.value.status, server.calls) == ("UNAVAILABLE", 1)
    with serving(*[failure(503)] * 3) as server, pytest.raises(errors.ServerError) as caught:
        asyncio.run(listen(server.gemini(retry_options=quick(3))))
    assert (vars(caught.value)["http_attempts"], server.calls) == (3, 3)
    with serving(broken()) as server, pytest.raises(ModelConnectionError):
        asyncio.run(listen(server.gemini()))


@pytest.mark.parametrize("how", ["cancelled", "left", "timeout"])
def test_a_slow_stream_that_nobody_waits_for_leaves_nothing(options: dict[str, Any], how: str) -> None:
    """A stream that is cancelled, left or timed out in the middle leaves no task and no open transport."""

    async def session(model: Gemini) -> set[asyncio.Task[Any]]:
        responses = model.generate_content_async(question(), stream=True)
        assert texts([await anext(responses)]) == ["one"]
        if how == "left":
            await responses.aclose()
        elif how == "timeout":
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(responses), 0.05)
        else:
            waiting = asyncio.ensure_future(anext(responses))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        del responses
        for _ in range(20):  # the client's own generators end one after the other
            await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}

    with serving(broken(piece("one"), then="hang")) as server, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        left = asyncio.run(session(server.gemini(**options)))
        gc.collect()
    assert left == set()
    assert [str(one.message) for one in caught if "nclosed" in str(one.message)] == []


def test_streams_side_by_side_dont_mix() -> None:
    """Streams on one loop and client each get their own answer."""

    async def both(model: Gemini) -> list[list[LlmResponse]]:
        return list(await asyncio.gather(*(listen(model) for _ in range(8))))

    answers = [[piece(f"{n}-"), piece(f"{n}", finish="STOP")] for n in range(8)]
    with serving(*answers) as server:
        found = asyncio.run(both(server.gemini()))
    assert sorted(texts(responses)[-1] for responses in found) == [f"{n}-{n}" for n in range(8)]
    assert json.dumps(server.paths).count("streamGenerateContent") == 8
