"""What an agent's model answered at the end of its turn: text or checked data, as the event that tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.agents.output_schema import parse_answer
from adk_nb.errors import InvalidAnswerError, UnusableAnswerError
from adk_nb.events.event import Event, content_text
from adk_nb.models.failures import NO_CONTENT, unusable
from adk_nb.models.llm_response import LlmResponse

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent


def facts(response: LlmResponse) -> dict[str, Any]:
    """Return everything a response says about itself, without its content and error."""
    left_out = {"content", "error_code", "error_message", "partial", "turn_complete"}
    given = {name: getattr(response, name) for name in LlmResponse.model_fields if name not in left_out}
    return {name: value for name, value in given.items() if value is not None}


def said_event(agent: str, response: LlmResponse, event_id: str, *, partial: bool | None = None) -> Event:
    """Return the event of what a model said, whole or a piece of it."""
    parts = response.content.parts if response.content else None
    return Event(
        id=event_id,
        author=agent,
        content=types.Content(role="model", parts=list(parts or ())),
        partial=partial,
        **facts(response),
    )


def unusable_event(agent: str, response: LlmResponse, event_id: str) -> Event | None:
    """Return what is told of an answer that can't be used, before the error: its text, if it was stopped, and usage."""
    if response.error_code and content_text(response.content):
        event = said_event(agent, response, event_id)
        event.error_code, event.error_message = response.error_code, response.error_message
        return event
    # The error event that follows is the engine's and has no token counts.
    return Event(author=agent, **facts(response)) if response.usage_metadata is not None else None


def answer_text(agent: LlmAgent, response: LlmResponse, has_tools: bool) -> str:
    """Return what was said without thoughts.

    Raises:
        UnusableAnswerError: the answer says nothing, was stopped before its end, or calls a tool though there is none.
    """
    parts = (response.content.parts if response.content else None) or []
    called = [part.function_call.name for part in parts if part.function_call]
    if called and not has_tools:
        raise UnusableAnswerError(
            f"Agent {agent.name!r} called {', '.join(map(repr, called))}, but it has no tools: give it tools=, say in "
            f"the instruction that it should answer in words, or let a function node do that step.",
            "UNEXPECTED_TOOL_CALL",
        )
    text = content_text(response.content)
    if response.error_code and not (text and response.error_code == types.FinishReason.MAX_TOKENS.value):
        raise unusable(agent.name, response)
    has_media = any(part.inline_data or part.file_data for part in parts)
    if not text.strip() and not has_media:
        only = "only thoughts or blanks" if parts else "no content"
        code = NO_CONTENT
        if response.finish_reason not in (None, types.FinishReason.STOP):
            code = response.finish_reason.value
        raise unusable(
            agent.name,
            response.model_copy(update={"error_code": code, "error_message": f"the model returned {only}"}),
        )
    return text


def answer_value(agent: LlmAgent, response: LlmResponse, text: str) -> Any:
    """Return what the text means: itself, or the data that `output_schema` asks for.

    Raises:
        InvalidAnswerError: it doesn't fit, and somebody but a person reads it.
    """
    if agent.output_schema is None or agent.mode == "task":
        return text
    is_cut = response.finish_reason is types.FinishReason.MAX_TOKENS
    try:
        return parse_answer(text, agent.output_schema, agent.name, is_cut=is_cut)
    except InvalidAnswerError:
        if agent.mode == "single_turn" or agent.output_key:
            raise
        return text  # in a chat nothing but a person reads it
