"""`LiteLlm`: models of any provider, through the package litellm."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
from collections.abc import AsyncGenerator
from typing import Any

from google.genai import types
from pydantic import PrivateAttr

from adk_nb.errors import ConfigurationError
from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.chat_messages import answer_of, chat_arguments
from adk_nb.models.folding import StreamFold
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.models.registry import LITE_LLM_NAMES


class LiteLlm(BaseLlm):
    """A model of any provider that litellm knows; needs `pip install 'adk-nb[litellm]'`.

    Args:
        model: litellm's name of it, `provider/model`.
        arguments: More arguments for `litellm.acompletion`, for instance `api_base`, `api_key`, `num_retries`.
            Without `num_retries` the server is asked once.

    Example:
        >>> LiteLlm(model="ollama_chat/llama3.2", api_base="http://localhost:11434").model
        'ollama_chat/llama3.2'
    """

    _arguments: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(self, model: str, **arguments: Any) -> None:
        super().__init__(model=model)
        self._arguments = arguments

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return regular expressions of names with the provider in front."""
        return list(LITE_LLM_NAMES)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask the model.

        A blocked, empty or malformed answer, and a stream that breaks off after its first piece, are responses with
        `error_code` and `error_message`.

        Raises:
            ConfigurationError: litellm isn't installed.
            Exception: what litellm raises, as it is.
        """
        litellm = _litellm()
        asked = {"max_retries": 0, "num_retries": 0, **chat_arguments(llm_request), **self._arguments}
        name = llm_request.model if llm_request.model not in (None, "") else self.model
        if not stream:
            yield _whole(await litellm.acompletion(model=name, **asked))
            return
        options = {"include_usage": True, **(asked.pop("stream_options", None) or {})}
        chunks = await litellm.acompletion(model=name, stream=True, stream_options=options, **asked)
        async with contextlib.aclosing(_streamed(chunks)) as responses:
            async for response in responses:
                yield response


def _litellm() -> Any:
    if importlib.util.find_spec("litellm") is None:
        raise ConfigurationError(
            "LiteLlm needs the package litellm, which isn't installed: pip install 'adk-nb[litellm]', or use a Gemini "
            "model, or a BaseLlm subclass of your own."
        )
    # Its price list comes with the package; without this it is fetched from the network while it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm: Any = importlib.import_module("litellm")  # an extra, and slow to load
    litellm.suppress_debug_info = True  # otherwise it prints adverts beside each error
    return litellm


def _whole(answer: Any) -> LlmResponse:
    choice = answer.choices[0] if answer.choices else None
    message = choice.message if choice is not None else None
    calls = [
        (call.id or "", call.function.name or "", call.function.arguments or "")
        for call in (getattr(message, "tool_calls", None) or ())
    ]
    return answer_of(
        text=getattr(message, "content", None),
        thought=getattr(message, "reasoning_content", None),
        calls=calls,
        finish=choice.finish_reason if choice is not None else None,
        usage=getattr(answer, "usage", None),
        model=answer.model,
    )


class _Calls:
    """The calls of a stream, whose arguments come in pieces."""

    def __init__(self) -> None:
        self._found: dict[int, list[str]] = {}

    def add(self, pieces: Any) -> None:
        """Take in the pieces of a chunk."""
        for piece in pieces or ():
            call = self._found.setdefault(piece.index or 0, ["", "", ""])
            call[0] = piece.id or call[0]
            call[1] = piece.function.name or call[1]
            call[2] += piece.function.arguments or ""

    @property
    def whole(self) -> list[tuple[str, str, str]]:
        """Id, name and arguments of each."""
        return [(call[0], call[1], call[2]) for _, call in sorted(self._found.items())]


async def _streamed(chunks: Any) -> AsyncGenerator[LlmResponse, None]:
    """Give pieces of text and thought, then the whole with calls and token counts."""
    fold, calls = StreamFold(), _Calls()
    facts: dict[str, Any] = {"finish": None, "usage": None, "model": None}
    try:
        async for chunk in chunks:
            facts["usage"] = getattr(chunk, "usage", None) or facts["usage"]
            facts["model"] = chunk.model or facts["model"]
            for choice in chunk.choices or ():
                facts["finish"] = choice.finish_reason or facts["finish"]
                calls.add(getattr(choice.delta, "tool_calls", None))
                piece = fold.add(_said(choice.delta))
                if piece is not None:
                    yield piece
    except Exception as error:  # every provider has its own classes
        if not fold.shown:
            raise
        yield fold.broken_off(type(error).__name__, str(error))
        return
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()
    yield _folded(fold, answer_of(text=None, thought=None, calls=calls.whole, **facts))


def _folded(fold: StreamFold, end: LlmResponse) -> LlmResponse:
    """The whole answer: what was streamed as text, with the calls and facts of its end."""
    if end.error_code == "MODEL_RETURNED_NO_CONTENT" or (end.error_code == "MAX_TOKENS" and fold.shown):
        end = end.model_copy(update={"error_code": None, "error_message": None} if fold.shown else {})
    fold.add(end)
    if end.error_code == "MALFORMED_FUNCTION_CALL":
        return end.model_copy(update={"partial": False})
    return fold.response()


def _said(delta: Any) -> LlmResponse:
    thought, text = getattr(delta, "reasoning_content", None), getattr(delta, "content", None)
    parts = [types.Part(text=thought, thought=True)] if thought else []
    if text:
        parts.append(types.Part(text=text))
    return LlmResponse(content=types.Content(role="model", parts=parts) if parts else None)
