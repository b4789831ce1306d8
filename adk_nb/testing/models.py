"""Models without a network: `ScriptedModel` says what it was told to, `FunctionModel` what a function returns.

Both count tokens by one stated rule, so that usage can be shown and tested: four characters are one token, rounded up;
the prompt is the system text and all contents, the answer its text and calls.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from google.genai import types
from pydantic import BaseModel, PrivateAttr

from adk_nb.errors import ConfigurationError, one_of
from adk_nb.events.event import content_text
from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse

_CHARACTERS_PER_TOKEN = 4


def call(tool_name: str, /, **args: Any) -> types.Part:
    """Return a reply in which the model calls a tool.

    Example:
        >>> call("add", a=1, b=2).function_call.args
        {'a': 1, 'b': 2}
    """
    return types.Part(function_call=types.FunctionCall(name=tool_name, args=args))


class ScriptedModel(BaseLlm):
    """A model that gives prepared replies in order and keeps what it was asked.

    A reply is a text; a dictionary, list, number or pydantic model, said as JSON; `call(...)` or a list of parts; a
    whole `LlmResponse`; or an exception, which is raised. A script given as a dictionary has one list for each agent
    name, for agents that run at the same time.

    Args:
        script: The replies, or `{agent name: replies}`.
        model: The name to go by.
        delay: Seconds to wait before each reply.

    Example:
        >>> model = ScriptedModel(["hello", {"category": "BUG"}])
        >>> model.requests
        []
    """

    model: str = "scripted"
    delay: float = 0.0
    _queues: dict[str | None, list[Any]] = PrivateAttr(default_factory=dict)
    _given: dict[str | None, int] = PrivateAttr(default_factory=dict)
    _requests: list[LlmRequest] = PrivateAttr(default_factory=list)

    def __init__(
        self, script: Sequence[Any] | Mapping[str, Sequence[Any]], *, model: str = "scripted", delay: float = 0.0
    ) -> None:
        super().__init__(model=model, delay=delay)  # type: ignore[call-arg]  # a field of this class
        lists = dict[str | None, Any](script) if isinstance(script, Mapping) else {None: script}
        for agent, replies in lists.items():
            if isinstance(replies, (str, bytes)) or not isinstance(replies, Sequence):
                where = "the script" if agent is None else f"the script of agent {agent!r}"
                raise ConfigurationError(
                    f"ScriptedModel: {where} is {replies!r}; allowed is a list of replies, for instance ['hello']."
                )
            self._queues[agent] = list(replies)
            self._given[agent] = 0
            for reply in replies:
                if not isinstance(reply, BaseException) and not _is_exception_class(reply):
                    _to_response(reply)

    @property
    def requests(self) -> list[LlmRequest]:
        """Copies of what was asked, oldest first; see `text`, `system` and `last_user_text` of each."""
        return self._requests

    @property
    def left(self) -> int:
        """How many replies were not given yet."""
        return sum(len(queue) - self._given[agent] for agent, queue in self._queues.items())

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Give the next reply of the script.

        Raises:
            ConfigurationError: the script has no reply left, or none for this agent.
        """
        self._requests.append(llm_request.copied())
        reply = self._next_reply(llm_request)
        await asyncio.sleep(self.delay)
        if isinstance(reply, BaseException) or _is_exception_class(reply):
            raise reply
        for response in _spoken(_to_response(reply), llm_request, self.model, stream):
            yield response

    def _next_reply(self, request: LlmRequest) -> Any:
        agent = None if None in self._queues else request.agent_name
        asked = f"asked by {request.agent_name or 'nobody named'}: {_short(request.last_user_text)!r}"
        if agent not in self._queues:
            raise ConfigurationError(
                f"ScriptedModel has no script for agent {agent!r} ({asked}); scripts: "
                f"{one_of(agent, [name for name in self._queues if name])}. Add a list under that name."
            )
        queue, given = self._queues[agent], self._given[agent]
        if given >= len(queue):
            whose = "" if agent is None else f" for agent {agent!r}"
            raise ConfigurationError(
                f"ScriptedModel ran out of replies{whose}: its script has {len(queue)} and this is call {given + 1} "
                f"({asked}). Add a reply, or look into why there was one call more."
            )
        self._given[agent] = given + 1
        return queue[given]


class FunctionModel(BaseLlm):
    """A model whose every reply is what a function returns for the request.

    The function may be async, and may return whatever a `ScriptedModel` reply may be; what it raises is raised.

    Args:
        function: Called with the `LlmRequest`.
        model: The name to go by.

    Example:
        >>> echo = FunctionModel(lambda request: request.last_user_text.upper())
        >>> echo.model
        'function'
    """

    model: str = "function"
    _function: Callable[[LlmRequest], Any] = PrivateAttr()

    def __init__(self, function: Callable[[LlmRequest], Any], *, model: str = "function") -> None:
        super().__init__(model=model)
        if not callable(function):
            raise ConfigurationError(
                f"FunctionModel got {function!r}; allowed is a function that takes an LlmRequest and returns a reply."
            )
        self._function = function

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Give what the function returns for this request."""
        reply = self._function(llm_request)
        if inspect.isawaitable(reply):
            reply = await reply
        for response in _spoken(_to_response(reply), llm_request, self.model, stream):
            yield response


def _is_exception_class(reply: Any) -> bool:
    return isinstance(reply, type) and issubclass(reply, BaseException)


def _to_response(reply: Any) -> LlmResponse:
    if isinstance(reply, LlmResponse):
        return reply
    if isinstance(reply, types.Content):
        return LlmResponse(content=reply)
    is_parts = isinstance(reply, list) and reply and all(isinstance(item, types.Part) for item in reply)
    parts = reply if is_parts else [reply if isinstance(reply, types.Part) else types.Part(text=_to_text(reply))]
    return LlmResponse(content=types.Content(role="model", parts=parts))


def _to_text(reply: Any) -> str:
    if isinstance(reply, str):
        return reply
    if isinstance(reply, BaseModel):
        return reply.model_dump_json()
    try:
        if reply is None:
            raise TypeError
        return json.dumps(reply, ensure_ascii=False, default=lambda item: item.model_dump(mode="json"))
    except (TypeError, ValueError, AttributeError):
        raise ConfigurationError(
            f"A scripted model can't say {reply!r}; allowed are text, JSON values, pydantic models, call(...), lists "
            f"of parts, LlmResponse and exceptions."
        ) from None


def _spoken(reply: LlmResponse, request: LlmRequest, model: str, stream: bool) -> list[LlmResponse]:
    usage = reply.usage_metadata or _usage(request, reply)
    whole = reply.model_copy(
        update={
            "content": reply.content.model_copy(deep=True) if reply.content else None,
            "usage_metadata": usage,
            "model_version": reply.model_version or model,
            "finish_reason": reply.finish_reason or (None if reply.error_code else types.FinishReason.STOP),
        }
    )
    if not stream:
        return [whole]
    pieces = re.findall(r"\s*\S+|\s+$", content_text(whole.content))
    partial = [
        LlmResponse(partial=True, content=types.Content(role="model", parts=[types.Part(text=piece)]))
        for piece in pieces
    ]
    return [*partial, whole.model_copy(update={"partial": False})]


def _usage(request: LlmRequest, reply: LlmResponse) -> types.GenerateContentResponseUsageMetadata:
    asked = _tokens(request.system) + sum(_tokens(_said(content)) for content in request.contents)
    answered = _tokens(_said(reply.content))
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=asked, candidates_token_count=answered, total_token_count=asked + answered
    )


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def _said(content: types.Content | None) -> str:
    said = []
    for part in (content.parts if content else None) or ():
        if part.text:
            said.append(part.text)
        for passed in (part.function_call, part.function_response):
            if passed:
                said.append(passed.model_dump_json(exclude_none=True, include={"name", "args", "response"}))
    return "".join(said)


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
