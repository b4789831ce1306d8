"""`Gemini` on the real google-genai client, against a scripted HTTP server on loopback."""

from __future__ import annotations

import asyncio
import gc
import importlib
import importlib.util
import json
import threading
import warnings
from typing import Any, Literal

import pytest
from google import genai
from google.genai import errors, types
from pydantic import BaseModel, ConfigDict

from adk_nb.errors import MissingApiKeyError, ModelConnectionError
from adk_nb.models import Gemini, LlmRequest, LlmResponse
from tests.models.gemini_server import CUT, GeminiServer, candidate, failure, quick, raw, serving

# The client derives a class in a way that its optional HTTP package, where installed, discourages.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")


HTTPX = importlib.import_module("httpx" if importlib.util.find_spec("httpx") else "httpx2")
"""The HTTP package that this release of the client brings along."""


@pytest.fixture(params=["default", "httpx"])
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Fields of a model for each HTTP package that the client may use."""
    if request.param == "default":
        return {}
    arguments = {"transport": HTTPX.AsyncHTTPTransport()}
    http_options = types.HttpOptions(async_client_args=arguments)
    return {"client_kwargs": {"api_key": "test-key", "http_options": http_options}}


def question(text: str = "hi", schema: Any = None, **config: Any) -> LlmRequest:
    """Return a request with one user message."""
    content = types.Content(role="user", parts=[types.Part(text=text)])
    asked = LlmRequest(contents=[content], config=types.GenerateContentConfig(**config))
    if schema is not None:
        asked.set_output_schema(schema)
    return asked


async def ask(model: Gemini, request: LlmRequest | None = None, *, stream: bool = False) -> list[LlmResponse]:
    """Return all responses to one request."""
    return [response async for response in model.generate_content_async(request or question(), stream)]


def text_of(response: LlmResponse) -> str:
    """Return the text of a response."""
    assert response.content is not None
    return "".join(part.text or "" for part in response.content.parts or ())


def test_text_with_usage(options: dict[str, Any]) -> None:
    """A good answer is one response with its text, token counts, model version and finish reason."""
    with serving(candidate("hello")) as server:
        (response,) = asyncio.run(ask(server.gemini(**options)))
    assert text_of(response) == "hello"
    assert response.usage_metadata is not None
    assert response.usage_metadata.total_token_count == 12
    assert response.model_version == "gemini-test-001"
    assert response.finish_reason is types.FinishReason.STOP
    assert response.error_code is None
    assert server.paths[0].endswith("/models/gemini-test:generateContent")
    assert server.headers[0]["x-goog-api-key"] == "test-key"
    assert "adk-nb/" in server.headers[0]["x-goog-api-client"]


def test_settings_reach_the_server() -> None:
    """System text and settings are sent; labels, which this API refuses, are not."""
    with serving(candidate("ok")) as server:
        request = question(temperature=0.5, system_instruction="Be brief.", labels={"adk_agent_name": "a"})
        asyncio.run(ask(server.gemini(), request))
    sent = server.requests[0]
    assert sent["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert sent["generationConfig"] == {"temperature": 0.5}
    assert "labels" not in json.dumps(sent)
    assert request.config.labels == {"adk_agent_name": "a"}


@pytest.mark.parametrize(("roles", "nudged"), [([], True), (["user"], False), (["user", "model"], True)])
def test_last_word_is_the_users(roles: list[str], nudged: bool) -> None:
    """A request that doesn't end with a user message gets a short one added, without changing the request."""
    contents = [types.Content(role=role, parts=[types.Part(text=role)]) for role in roles]
    with serving(candidate("ok")) as server:
        request = LlmRequest(contents=contents)
        asyncio.run(ask(server.gemini(), request))
    sent = server.requests[0]["contents"]
    assert len(sent) == len(roles) + nudged
    assert sent[-1]["role"] == "user"
    assert len(request.contents) == len(roles)


class Category(BaseModel):
    """A plain model."""

    name: str
    score: int | None = None


class Tree(BaseModel):
    """A model that contains itself."""

    kids: list[Tree] = []


class Closed(BaseModel):
    """A model with what the client can't convert: free keys, a union of models, no extra keys."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["a", "b"]
    tags: dict[str, str]


@pytest.mark.parametrize(
    ("schema", "key"),
    [
        (Category, "responseSchema"),
        (list[Category], "responseSchema"),
        (list[int], "responseSchema"),
        (Closed, "responseJsonSchema"),
        (Tree, "responseJsonSchema"),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, "responseJsonSchema"),
    ],
)
def test_declared_shape_is_sent_whole(schema: Any, key: str) -> None:
    """Any declared shape reaches the server, as JSON schema where the client's own form would lose part of it."""
    with serving(candidate("{}")) as server:
        asyncio.run(ask(server.gemini(), question(schema=schema)))
    config = server.requests[0]["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert [name for name in config if "Schema" in name] == [key]
    if schema is Closed:
        assert config[key]["properties"]["tags"]["additionalProperties"] == {"type": "string"}
    if schema is Tree:
        assert "$ref" in json.dumps(config[key]["$defs"])


def test_no_key_is_said_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key one sentence names the variable and the way to work offline; building the object is fine."""
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    model = Gemini(model="gemini-test")
    with pytest.raises(MissingApiKeyError, match=r"GOOGLE_API_KEY.*use_model") as caught:
        asyncio.run(ask(model))
    assert "\n" not in str(caught.value)


def test_corrected_key_is_used_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key set or changed in the environment counts from the next call, on the same object and loop."""

    async def both(server: GeminiServer) -> None:
        model = server.gemini(client_kwargs=None)
        for key in ("wrong", "right"):
            monkeypatch.setenv("GOOGLE_API_KEY", key)
            await ask(model)

    with serving(candidate("1"), candidate("2")) as server:
        asyncio.run(both(server))
    assert [headers["x-goog-api-key"] for headers in server.headers] == ["wrong", "right"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "PROHIBITED_CONTENT", "prompt was blocked"),
        (
            candidate(None, "SAFETY", safetyRatings=[{"category": "HARM_CATEGORY_HARASSMENT", "probability": "HIGH"}]),
            "SAFETY",
            "HARASSMENT HIGH",
        ),
        (candidate(None, "MALFORMED_FUNCTION_CALL"), "MALFORMED_FUNCTION_CALL", "10 prompt tokens"),
        (
            {
                "candidates": [{"finishReason": "MAX_TOKENS"}],
                "usageMetadata": {"promptTokenCount": 10, "thoughtsTokenCount": 200, "totalTokenCount": 210},
            },
            "MAX_TOKENS",
            "200 thinking tokens",
        ),
        (
            {"candidates": [{"finishReason": "MAX_TOKENS", "content": {"role": "model"}}]},
            "MAX_TOKENS",
            "",
        ),
        ({"candidates": []}, "MODEL_RETURNED_NO_CONTENT", "neither"),
        ({}, "MODEL_RETURNED_NO_CONTENT", "neither"),
    ],
)
def test_blocked_and_empty_answers(answer: dict[str, Any], code: str, words: str, stream: bool) -> None:
    """Each kind of missing answer has its own code and says why; it is asked once, whatever the retry options."""
    with serving([answer] if stream else answer) as server:
        responses = asyncio.run(ask(server.gemini(retry_options=quick()), stream=stream))
    assert [response.error_code for response in responses] == [code]
    assert words in (responses[0].error_message or "")
    assert responses[0].content is None
    assert server.calls == 1


def test_cut_text_is_kept_and_marked() -> None:
    """Text cut at the output limit is an answer whose finish reason says so."""
    with serving(candidate("half a sen", "MAX_TOKENS")) as server:
        (response,) = asyncio.run(ask(server.gemini()))
    assert text_of(response) == "half a sen"
    assert response.finish_reason is types.FinishReason.MAX_TOKENS
    assert response.error_code is None


@pytest.mark.parametrize("stream", [False, True])
def test_retries_cover_every_way_of_asking(options: dict[str, Any], stream: bool) -> None:
    """503 and 429 are asked again with the server's waiting time obeyed; attempts and waiting are in the metadata."""
    answer = candidate("hello")
    with serving(failure(503), failure(429, headers={"Retry-After": "0.05"}), [answer] if stream else answer) as server:
        responses = asyncio.run(ask(server.gemini(**options, retry_options=quick()), stream=stream))
    assert text_of(responses[-1]) == "hello"
    assert server.calls == 3
    assert responses[-1].custom_metadata == {"http_attempts": 3, "wait_s": 0.05}


def test_retry_delay_in_the_error_is_obeyed() -> None:
    """A waiting time in the error's details counts like the header."""
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s"}]
    with serving(failure(429, "RESOURCE_EXHAUSTED", details=details), candidate("ok")) as server:
        (response,) = asyncio.run(ask(server.gemini(retry_options=quick())))
    assert response.custom_metadata == {"http_attempts": 2, "wait_s": 0.05}


def test_waiting_time_beyond_the_limit_is_not_waited_for() -> None:
    """When the server asks for a longer wait than max_delay, the call fails at once."""
    with serving(failure(429, headers={"Retry-After": "3600"})) as server, pytest.raises(errors.ClientError):
        asyncio.run(ask(server.gemini(retry_options=quick(max_delay=1.0))))
    assert server.calls == 1


def test_options_of_a_request_win() -> None:
    """Retry options in a request's settings replace the model's, and attempts don't multiply."""
    with serving(*[failure(503)] * 9) as server:
        request = question(http_options=types.HttpOptions(retry_options=quick(2)))
        with pytest.raises(errors.ServerError) as caught:
            asyncio.run(ask(server.gemini(retry_options=quick(4)), request))
    assert server.calls == 2
    assert "2 attempts were made" in "".join(caught.value.__notes__)


@pytest.mark.parametrize(
    ("answer", "error", "status"),
    [
        (failure(400, "INVALID_ARGUMENT"), errors.ClientError, "INVALID_ARGUMENT"),
        (failure(429, "RESOURCE_EXHAUSTED"), errors.ClientError, "RESOURCE_EXHAUSTED"),
        (failure(503, "UNAVAILABLE"), errors.ServerError, "UNAVAILABLE"),
    ],
)
def test_api_errors_keep_their_class_and_status(answer: Any, error: type[errors.APIError], status: str) -> None:
    """Without retry options the API's error comes at once, with its own class and status; 429 adds what to do."""
    with serving(answer) as server, pytest.raises(error) as caught:
        asyncio.run(ask(server.gemini()))
    assert caught.value.status == status
    assert server.calls == 1
    assert ("retry_options" in str(caught.value)) is (status == "RESOURCE_EXHAUSTED")


def test_bad_requests_are_never_asked_again() -> None:
    """A 4xx other than 408 and 429 is not retried."""
    with serving(failure(400)) as server, pytest.raises(errors.ClientError):
        asyncio.run(ask(server.gemini(retry_options=quick())))
    assert server.calls == 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("answer", "words"), [(CUT, "could not be reached"), (raw("<html>no"), "isn't an answer")])
def test_broken_transport(options: dict[str, Any], answer: Any, words: str, stream: bool) -> None:
    """A connection cut half-way and a body that isn't JSON are one class of error, each with its own sentence."""
    with serving(answer) as server, pytest.raises(ModelConnectionError, match=words):
        asyncio.run(ask(server.gemini(**options), stream=stream))
    assert server.calls == 1


def test_cut_connection_is_asked_again(options: dict[str, Any]) -> None:
    """A lost connection counts as an attempt and is asked again."""
    with serving(CUT, candidate("ok")) as server:
        (response,) = asyncio.run(ask(server.gemini(**options, retry_options=quick())))
    assert text_of(response) == "ok"
    assert server.calls == 2


def test_nobody_listens() -> None:
    """A server that can't be reached is named by its model, with what to check."""
    with serving() as server:
        model = server.gemini()
    with pytest.raises(ModelConnectionError, match=r"'gemini-test' could not be reached.*base_url"):
        asyncio.run(ask(model))


def test_stream_gives_pieces_then_the_whole() -> None:
    """Pieces are partial; the last response holds thoughts and text joined, in order, with the last usage."""
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "hm ", "thought": True}]}}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "well", "thought": True}]}}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hel"}]}}]},
        candidate("lo"),
    ]
    with serving(chunks) as server:
        responses = asyncio.run(ask(server.gemini(), stream=True))
    assert [response.partial for response in responses] == [True, True, True, True, False]
    whole = responses[-1]
    assert whole.content is not None
    assert [(part.text, part.thought) for part in whole.content.parts or ()] == [("hm well", True), ("Hello", None)]
    assert whole.usage_metadata is not None
    assert whole.usage_metadata.total_token_count == 12
    assert whole.finish_reason is types.FinishReason.STOP


def test_every_loop_has_its_own_client() -> None:
    """One object works on one event loop after another, from several threads, and leaves nothing unclosed."""
    said: list[str] = []

    def talk(model: Gemini) -> None:
        def once() -> None:
            said.append(text_of(asyncio.run(ask(model))[0]))

        for _ in range(3):
            once()
        threads = [threading.Thread(target=once) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    with serving(*[candidate("hi")] * 5) as server, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        talk(server.gemini())
        gc.collect()
    assert said == ["hi"] * 5
    assert [str(one.message) for one in caught if "nclosed" in str(one.message)] == []


def test_client_is_closed_with_its_loop() -> None:
    """When the loop shuts down, the client that was made on it is closed."""

    class Watched(Gemini):
        def _new_client(self) -> Any:  # where the client is made: no public name hands it out
            client = super()._new_client()
            made.append(client)
            return client

    made: list[Any] = []
    with serving(candidate("hi")) as server:
        model = Watched(model="gemini-test", base_url=server.url, client_kwargs={"api_key": "k"})
        closed: list[str] = []

        async def session() -> None:
            await ask(model)
            close = made[0].aio.aclose

            async def noted() -> None:
                closed.append("closed")
                await close()

            object.__setattr__(made[0].aio, "aclose", noted)

        asyncio.run(session())
    assert closed == ["closed"]


def test_own_client_is_used_and_left_open() -> None:
    """A client given by the user is asked and not closed."""
    with serving(candidate("hi"), candidate("again")) as server:
        client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=server.url))

        async def twice() -> list[str]:
            first = await ask(Gemini(model="gemini-test", client=client))
            second = await ask(Gemini(model="gemini-test", client=client))
            await client.aio.aclose()
            return [text_of(first[0]), text_of(second[0])]

        assert asyncio.run(twice()) == ["hi", "again"]
        client.close()


@pytest.mark.parametrize(
    ("fields", "url", "version"),
    [
        ({"base_url": "https://x.googleapis.com/v1"}, "https://x.googleapis.com/", "v1"),
        ({"base_url": "https://x.googleapis.com/v1", "api_version": "v2"}, "https://x.googleapis.com/", "v2"),
        ({"base_url": "https://proxy.example/v1"}, "https://proxy.example/v1/", None),
    ],
)
def test_version_in_the_address(fields: dict[str, str], url: str, version: str | None) -> None:
    """A version at the end of a googleapis.com address becomes the API version; other addresses stay whole."""
    # Where an address is split can be seen in the client's own settings only: no test may ask googleapis.com.
    client = Gemini(model="gemini-test", client_kwargs={"api_key": "k"}, **fields)._new_client()  # type: ignore[arg-type]
    options = client._api_client._http_options
    client.close()
    assert (options.base_url or "").rstrip("/") == url.rstrip("/")
    assert version in (None, options.api_version)


def test_unknown_field_is_refused() -> None:
    """A misspelt option of Gemini is an error, not silence."""
    with pytest.raises(ValueError, match="retry_option"):
        Gemini(model="gemini-test", retry_option=quick())  # type: ignore[call-arg]


def test_spoken_answers() -> None:
    """The model's speech setting goes into each request, and an agent's own comes before it."""

    def voice(language: str) -> types.SpeechConfig:
        return types.SpeechConfig(language_code=language)

    with serving(candidate("1"), candidate("2")) as server:
        model = server.gemini(speech_config=voice("de-DE"))
        asyncio.run(ask(model, question()))
        asyncio.run(ask(model, question(speech_config=voice("en-US"))))
    sent = [*(value for one in server.requests for value in one["generationConfig"]["speechConfig"].values())]
    assert sent == ["de-DE", "en-US"]


def test_conversations_kept_by_the_server_are_refused() -> None:
    """`use_interactions_api` may be said, and True is refused with what happens in its place."""
    assert not Gemini(use_interactions_api=False).use_interactions_api
    with pytest.raises(ValueError, match=r"use_interactions_api=True.*leave it out"):
        Gemini(use_interactions_api=True)
