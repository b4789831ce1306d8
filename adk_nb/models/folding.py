"""Pieces of a streamed answer become one whole answer, with every call under one id from its first piece on."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adk_nb.models.failures import NO_CONTENT
from adk_nb.models.llm_response import LlmResponse
from adk_nb.models.streamed_calls import CallPieces

_LATEST = (
    "usage_metadata",
    "grounding_metadata",
    "citation_metadata",
    "finish_reason",
    "model_version",
    "avg_logprobs",
    "logprobs_result",
)
"""What the whole answer has from the last piece that says it."""


class StreamFold:
    """Collects a streamed answer.

    Neighbouring texts of one kind, thought or said, become one part; everything else keeps its place. A part with a
    thought signature is never joined with another one, since the signature belongs to exactly its bytes.

    Example:
        >>> fold = StreamFold()
        >>> for word in ("Hel", "lo"):
        ...     _ = fold.add(LlmResponse(content=types.Content(parts=[types.Part(text=word)])))
        >>> fold.response().content.parts[0].text
        'Hello'
    """

    def __init__(self) -> None:
        self.shown = 0
        """How many pieces there were to show."""
        self._parts: list[types.Part] = []
        self._calls = CallPieces(self._parts)
        self._latest: dict[str, Any] = {}
        self._error: LlmResponse | None = None

    def add(self, chunk: LlmResponse) -> LlmResponse | None:
        """Take in a chunk; return what to show of it with `partial=True`, `None` when it says nothing."""
        for field in _LATEST:
            if (value := getattr(chunk, field)) is not None:
                self._latest[field] = value
        if chunk.error_code and (self._error is None or self._error.error_code == NO_CONTENT):
            self._error = chunk
        parts = (chunk.content.parts if chunk.content else None) or ()
        shown = [piece for part in parts if (piece := self._take(part)) is not None]
        if not shown:
            return None
        self.shown += 1
        content = types.Content(role="model", parts=shown)
        update = {"content": content, "partial": True, "error_code": None, "error_message": None}
        return chunk.model_copy(update=update)

    def response(self) -> LlmResponse:
        """Return the whole answer with `partial=False`; its error when it ended without content or was stopped."""
        error = self._error
        unfinished = self._calls.unfinished
        if unfinished:
            return self.broken_off("MALFORMED_FUNCTION_CALL", f"the call of {unfinished!r} ended within an argument")
        if not self._parts:
            if error is None and not self._latest:
                error = LlmResponse(error_code=NO_CONTENT, error_message="The model's stream held nothing.")
            found = error or LlmResponse()
            return found.model_copy(update={"partial": False, **self._latest})
        whole = LlmResponse(content=types.Content(role="model", parts=self._parts), partial=False, **self._latest)
        if error is not None and error.error_code not in (NO_CONTENT, types.FinishReason.MAX_TOKENS.value):
            whole.error_code, whole.error_message = error.error_code, error.error_message
        return whole

    def broken_off(self, code: str, why: str) -> LlmResponse:
        """Return the last response of a stream that didn't come to its end; what was shown is no answer."""
        usage = {name: self._latest[name] for name in ("usage_metadata", "model_version") if name in self._latest}
        pieces = f"{self.shown} piece{'' if self.shown == 1 else 's'}"
        message = f"The answer broke off after {pieces}: {why}"
        return LlmResponse(error_code=code, error_message=message, partial=False, **usage)

    def _take(self, part: types.Part) -> types.Part | None:
        if part.function_call is not None:
            return self._calls.take(part)
        if not _is_plain_text(part):
            self._parts.append(part)
            return part
        if not part.text and part.thought_signature is None:
            return None
        before = self._parts[-1] if self._parts else None
        if before is None or not _joins(before, part):
            self._parts.append(part)
        else:
            self._parts[-1] = before.model_copy(update={"text": f"{before.text}{part.text}"})
        return part


def _joins(before: types.Part, part: types.Part) -> bool:
    is_signed = before.thought_signature is not None or part.thought_signature is not None
    return _is_plain_text(before) and not is_signed and bool(before.thought) == bool(part.thought)


def _is_plain_text(part: types.Part) -> bool:
    return part.text is not None and set(part.model_dump(exclude_none=True)) <= {"text", "thought", "thought_signature"}
