"""`Gemini`: Google's models through the google-genai client, with one client for each event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import warnings
import weakref
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any

from google import genai
from google.genai import errors, types
from pydantic import ConfigDict, PrivateAttr, field_validator

from adk_nb.errors import ConfigurationError, MissingApiKeyError, ModelConnectionError
from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.folding import StreamFold
from adk_nb.models.gemini_schema import check_for_gemini, fit_for_gemini
from adk_nb.models.llm_request import LlmRequest, copy_settings
from adk_nb.models.llm_response import LlmResponse
from adk_nb.models.registry import GEMINI_NAMES
from adk_nb.models.signatures import wants_signatures, with_stand_ins
from adk_nb.models.transport import Attempts, asking
from adk_nb.version import __version__

_KEY_VARIABLES = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
_CLOUD_SWITCHES = ("GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI")
_CLOUD_VARIABLES = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_API_VERSION")
# How an answer ends that can be used: by itself, at the output limit, or without a word about it.
_WHOLE = (
    None,
    types.FinishReason.STOP,
    types.FinishReason.MAX_TOKENS,
    types.FinishReason.FINISH_REASON_UNSPECIFIED,
)
_BEGIN = "Begin, as your instructions say."
_CONTINUE = "Go on, as your instructions say."


class Gemini(BaseLlm):
    """A Gemini model. Credentials are google-genai's: `GOOGLE_API_KEY`, or a Google Cloud project.

    Example:
        >>> Gemini(model="gemini-2.5-flash", retry_options=types.HttpRetryOptions(attempts=3)).model
        'gemini-2.5-flash'
    """

    model_config = ConfigDict(extra="forbid")

    model: str = "gemini-2.5-flash"
    client: genai.Client | None = None
    """Your own client; it is used on every loop and never closed by us."""
    client_kwargs: dict[str, Any] | None = None
    """More arguments for `genai.Client`, for instance `api_key`, `vertexai`, `project`, `http_options`."""
    base_url: str | None = None
    """Another server than Google's; a version at the end of a googleapis.com address is taken as `api_version`."""
    api_version: str | None = None
    """Version of the API; `None` takes the environment's `GOOGLE_GENAI_API_VERSION` or the client's default."""
    retry_options: types.HttpRetryOptions | None = None
    """Whether to ask again after 408, 429, 5xx and lost connections; `None` asks once. `Retry-After` is obeyed."""
    speech_config: types.SpeechConfig | None = None
    """How answers are spoken, for models that speak; an agent's own setting comes before it."""
    use_interactions_api: bool = False
    """Only for code that says so: the conversation is always sent whole, and True is refused."""
    _clients: dict[asyncio.AbstractEventLoop, _LoopClient] = PrivateAttr(default_factory=dict)
    _warned_of: set[str] = PrivateAttr(default_factory=set)
    """Names of the agents whose unsigned calls were told."""

    @field_validator("use_interactions_api")
    @classmethod
    def _refuse_interactions(cls, wanted: bool) -> bool:
        if wanted:
            raise ConfigurationError(
                "Gemini(use_interactions_api=True) would keep the conversation on the server, which adk_nb doesn't do: "
                "leave it out; the session's store keeps the conversation, and each request sends it whole."
            )
        return wanted

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return regular expressions of the names of Google's models."""
        return list(GEMINI_NAMES)

    @classmethod
    def check_shape(cls, shape: Any, what: str) -> None:
        """Refuse a shape that the API can't take, also not in another form; see `check_for_gemini`."""
        check_for_gemini(shape, what)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask the model.

        A blocked or empty answer is a response with `error_code` and `error_message`, not an exception. So is a stream
        that breaks off after its first piece: what was shown isn't asked for again, and the last response is the error.

        Raises:
            MissingApiKeyError: there is no key; nothing was sent.
            google.genai.errors.APIError: the API refused; its `status` says why.
            ModelConnectionError: the server could not be reached or broke off.
        """
        held = None if self.client else await self._client_of_this_loop()
        client = self.client or held.client  # type: ignore[union-attr]  # one of both is set
        name = llm_request.model or self.model
        request = self._prepared(llm_request, client)
        attempts = Attempts(name, self._retries(llm_request))
        arguments: dict[str, Any] = {"model": name, "contents": request.contents, "config": request.config}
        if stream:
            async with contextlib.aclosing(self._stream(client, arguments, attempts)) as responses:
                async for response in responses:
                    yield response
            return
        answer = await attempts.run(lambda: client.aio.models.generate_content(**arguments))
        yield attempts.noted_on(_to_response(answer))

    async def aclose(self) -> None:
        """Close the client of the running event loop; the next call makes a new one."""
        held = self._clients.pop(asyncio.get_running_loop(), None)
        if held is not None:
            await held.lifetime.aclose()

    async def _stream(
        self, client: genai.Client, arguments: dict[str, Any], attempts: Attempts
    ) -> AsyncGenerator[LlmResponse, None]:
        """Give pieces, then the whole; a stream that breaks before its first piece is asked for again, later never."""
        fold = StreamFold()
        chunks: AsyncIterator[Any] | None = None

        async def first_piece() -> LlmResponse | None:
            nonlocal fold, chunks
            fold = StreamFold()
            chunks = await client.aio.models.generate_content_stream(**arguments)
            return await _next_piece(chunks, fold)

        try:
            piece = await attempts.run(first_piece)
            while piece is not None and chunks is not None:
                yield piece
                try:
                    with asking(attempts.model):
                        piece = await _next_piece(chunks, fold)
                except (errors.APIError, ModelConnectionError) as error:
                    yield attempts.noted_on(fold.broken_off(error.status or type(error).__name__, str(error)))
                    return
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()
        yield attempts.noted_on(fold.response())

    def _retries(self, llm_request: LlmRequest) -> types.HttpRetryOptions | None:
        options = llm_request.config.http_options
        return (options.retry_options if options else None) or self.retry_options

    def _prepared(self, llm_request: LlmRequest, client: genai.Client) -> LlmRequest:
        contents = list(llm_request.contents)
        if not contents or contents[-1].role != "user":
            nudge = _CONTINUE if contents else _BEGIN
            contents.append(types.Content(role="user", parts=[types.Part(text=nudge)]))
        config = copy_settings(llm_request.config)
        options = config.http_options or types.HttpOptions()
        # One attempt a call: asking again is counted and timed by us, never by the client as well.
        config.http_options = options.model_copy(update={"retry_options": types.HttpRetryOptions(attempts=1)})
        if self.speech_config is not None and config.speech_config is None:
            config.speech_config = self.speech_config
        if wants_signatures(llm_request.model or self.model):
            contents = self._signed(contents, llm_request.agent_name)
        if not client.vertexai:
            fit_for_gemini(config)
            config.labels = None
            contents = [_without_display_names(content) for content in contents]
        return LlmRequest(model=llm_request.model, contents=contents, config=config)

    def _signed(self, contents: list[types.Content], agent: str) -> list[types.Content]:
        """Return a conversation that a model takes that wants its own calls back as it signed them."""
        signed, unsigned = with_stand_ins(contents)
        if unsigned and agent not in self._warned_of:
            self._warned_of.add(agent)
            warnings.warn(
                f"The conversation that {f'agent {agent!r}' if agent else 'a request'} sends to model {self.model!r} "
                f"holds calls without a thought signature ({', '.join(dict.fromkeys(unsigned))}), as another model "
                f"made them: they are sent with the documented stand-in, and the model reasons a little worse on them.",
                UserWarning,
                stacklevel=2,
            )
        return signed

    async def _client_of_this_loop(self) -> _LoopClient:
        loop = asyncio.get_running_loop()
        for known in [known for known in self._clients if known.is_closed()]:
            del self._clients[known]
        surroundings = _surroundings()
        held = self._clients.get(loop)
        if held is None or held.surroundings != surroundings:
            client = self._new_client()
            lifetime = _lifetime(client)
            # Started here so that the loop knows the generator and ends it, and with it the client, when it shuts down.
            await anext(lifetime)
            held = self._clients[loop] = _LoopClient(client, lifetime, surroundings)
            for ended in [known for known in _OPEN if known.is_closed()]:
                del _OPEN[ended]
            opened = _OPEN.setdefault(loop, [])
            await _close_unheld(opened)
            opened.append((weakref.ref(held), lifetime))
        return held

    def _new_client(self) -> genai.Client:
        arguments = dict(self.client_kwargs or {})
        _require_key(self.model, arguments)
        given = arguments.pop("http_options", None) or types.HttpOptions()
        options = types.HttpOptions.model_validate(given).model_copy()
        base_url, version = _split_version(self.base_url or options.base_url)
        options.base_url = base_url
        options.api_version = (
            self.api_version or version or options.api_version or os.environ.get("GOOGLE_GENAI_API_VERSION") or None
        )
        options.headers = {**(options.headers or {}), "x-goog-api-client": f"adk-nb/{__version__}"}
        return genai.Client(http_options=options, **arguments)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class _LoopClient:
    client: genai.Client
    lifetime: AsyncGenerator[None, None]
    """Ends with the event loop, or some time after the last model that asks with it; ending it closes the client."""
    surroundings: tuple[str | None, ...]
    """The environment variables it was made with: a corrected API key takes effect at the next call."""


_OPEN: weakref.WeakKeyDictionary[
    asyncio.AbstractEventLoop, list[tuple[weakref.ref[_LoopClient], AsyncGenerator[None, None]]]
] = weakref.WeakKeyDictionary()
"""The open clients of each loop. Without it, one that is let go as its loop ends would be closed halfway."""


async def _close_unheld(opened: list[tuple[weakref.ref[_LoopClient], AsyncGenerator[None, None]]]) -> None:
    """Close the clients that no model asks with any more."""
    for entry in [entry for entry in opened if entry[0]() is None]:
        opened.remove(entry)
        await entry[1].aclose()


async def _lifetime(client: genai.Client) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await client.aio.aclose()
        client.close()


async def _next_piece(chunks: AsyncIterator[Any], fold: StreamFold) -> LlmResponse | None:
    """Return the next piece that says something, `None` at the end of the stream."""
    async for chunk in chunks:
        piece = fold.add(_to_response(chunk))
        if piece is not None:
            return piece
    return None


def _surroundings() -> tuple[str | None, ...]:
    return tuple(os.environ.get(name) for name in (*_KEY_VARIABLES, *_CLOUD_SWITCHES, *_CLOUD_VARIABLES))


def _require_key(model: str, arguments: dict[str, Any]) -> None:
    switches = [os.environ.get(name, "").lower() in ("1", "true") for name in _CLOUD_SWITCHES]
    if any(switches) or any(arguments.get(name) for name in ("vertexai", "enterprise")):
        return
    if not any((key or "").strip() for key in (arguments.get("api_key"), *map(os.environ.get, _KEY_VARIABLES))):
        raise MissingApiKeyError(
            f"Model {model!r} needs an API key and none is set: put it into the environment variable GOOGLE_API_KEY, "
            f"or work offline with adk_nb.use_model(...) and a stand-in model, or adk_nb.replay(...) and a tape."
        )


def _split_version(base_url: str | None) -> tuple[str | None, str | None]:
    match = re.fullmatch(r"(https?://[^/]*googleapis\.com)/(v\d\w*)/?", base_url or "")
    return (match[1], match[2]) if match else (base_url, None)


def _without_display_names(content: types.Content) -> types.Content:
    """The Gemini API refuses the names of attachments that Google Cloud takes."""
    parts = content.parts or []
    if not any((part.inline_data or part.file_data) for part in parts):
        return content
    bare = [
        part.model_copy(
            update={
                field: data.model_copy(update={"display_name": None})
                for field in ("inline_data", "file_data")
                if (data := getattr(part, field)) is not None
            }
        )
        for part in parts
    ]
    return types.Content(role=content.role, parts=bare)


def _to_response(answer: types.GenerateContentResponse) -> LlmResponse:
    response = LlmResponse.create(answer)
    if response.content and response.content.parts and response.finish_reason not in _WHOLE:
        # What was said until then stays in the content; it is no answer.
        first = answer.candidates[0] if answer.candidates else types.Candidate()
        response.error_code = response.finish_reason.value if response.finish_reason else None
        response.error_message = first.finish_message
    if response.error_code:
        response.error_message = "; ".join(_reasons(answer, response)) or None
    return response


def _reasons(answer: types.GenerateContentResponse, response: LlmResponse) -> list[str]:
    reasons = []
    if response.error_message:
        reasons.append(response.error_message.rstrip("."))
    elif answer.prompt_feedback and not answer.candidates:
        reasons.append("the prompt was blocked")
    rated = list(answer.prompt_feedback.safety_ratings or ()) if answer.prompt_feedback else []
    for candidate in answer.candidates or ():
        rated += candidate.safety_ratings or ()
    for rating in rated:
        category = rating.category.value if rating.category else "UNKNOWN"
        reasons.append(f"{category} {rating.probability.value if rating.probability else ''}".rstrip())
    usage = answer.usage_metadata
    if usage:
        used = [
            (usage.prompt_token_count, "prompt"),
            (usage.thoughts_token_count, "thinking"),
            (usage.candidates_token_count, "answer"),
        ]
        counts = [f"{count} {kind} tokens" for count, kind in used if count]
        if counts:
            reasons.append(f"used {', '.join(counts)}")
    return reasons
