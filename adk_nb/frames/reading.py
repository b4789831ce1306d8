"""What one event says: its kind, its text, its tokens, the questions and answers in it. Frames and views share it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from google.genai import types

from adk_nb.events.apart import with_calls_apart
from adk_nb.events.event import Event, content_text
from adk_nb.events.questions import questions_in
from adk_nb.events.request_input import unwrap_answer
from adk_nb.frames.plain import glance, glance_json, one_line


@dataclass(slots=True)
class Usage:
    """What was asked of models: calls and tokens."""

    model_calls: int = 0
    prompt_tokens: int = 0
    """Everything sent, cached tokens included."""
    cached_tokens: int = 0
    """The part of `prompt_tokens` that came from a cache."""
    output_tokens: int = 0
    """Everything that came back, thoughts included."""
    thought_tokens: int = 0
    """The part of `output_tokens` that was thinking."""
    tool_tokens: int = 0
    """The part of `prompt_tokens` that the provider's own tools read, such as a search."""

    @property
    def tokens(self) -> int:
        """Sent and received together."""
        return self.prompt_tokens + self.output_tokens

    def add(self, other: Usage) -> None:
        """Count another usage in."""
        self.model_calls += other.model_calls
        self.prompt_tokens += other.prompt_tokens
        self.cached_tokens += other.cached_tokens
        self.output_tokens += other.output_tokens
        self.thought_tokens += other.thought_tokens
        self.tool_tokens += other.tool_tokens


def usage_of(event: Event) -> Usage | None:
    """Return what the model call behind an event used, `None` when no model spoke in it.

    Pieces of a streamed message count nothing: the whole message carries the numbers.
    """
    found = event.usage_metadata
    if event.partial or (found is None and event.model_version is None):
        return None
    return Usage(model_calls=1) if found is None else counted(found)


def counted(found: types.GenerateContentResponseUsageMetadata) -> Usage:
    """Return what one model call used, from what the model said of it."""
    thoughts = found.thoughts_token_count or 0
    tool = found.tool_use_prompt_token_count or 0
    prompt = (found.prompt_token_count or 0) + tool
    output = (found.candidates_token_count or 0) + thoughts
    if not prompt and not output:
        prompt = found.total_token_count or 0
    return Usage(1, prompt, found.cached_content_token_count or 0, output, thoughts, tool)


def total_usage(events: Iterable[Event]) -> Usage:
    """Return the sum over events."""
    total = Usage()
    for event in with_calls_apart(events):
        one = usage_of(event)
        if one is not None:
            total.add(one)
    return total


def answers_in(event: Event) -> dict[str, Any]:
    """Return the answers that an event of the user gives, `{interrupt id: answer}`."""
    if event.author != "user":
        return {}
    return {str(reply.id): unwrap_answer(reply.response) for reply in event.get_function_responses() if reply.id}


def kind_of(event: Event) -> str:
    """Return in a word what an event is for the person reading along.

    One of `partial`, `error`, `question`, `answer`, `route`, `output`, `call`, `reply`, `message`, `state`, `note`. A
    call and a reply are a model's tool call and its result; `note` is an event without content.

    Example:
        >>> kind_of(Event(output=3, route="BUG")), kind_of(Event(message="hi")), kind_of(Event(state={"a": 1}))
        ('route', 'message', 'state')
    """
    if event.partial:
        return "partial"
    if event.error_code or event.error_message:
        return "error"
    if event.long_running_tool_ids and event.author != "user":
        return "question"
    if event.actions.route is not None:
        return "route"
    if event.output is not None or (event.node_info.message_as_output and event.content is not None):
        return "output"
    parts = event.content.parts if event.content else None
    if not parts:
        return "state" if event.actions.state_delta or event.actions.agent_state else "note"
    found = "message"
    for part in parts:
        if part.function_response:
            return "answer" if event.author == "user" else "reply"
        if part.function_call:
            found = "call"
    return found


def what_of(event: Event, kind: str, limit: int = 160) -> tuple[str, bool]:
    """Return on one line what an event says, and whether that is data rather than prose."""
    if kind == "error":
        return one_line(": ".join(filter(None, (event.error_code, event.error_message))), limit), False
    if kind == "question":
        return one_line("; ".join(asked.message or asked.interrupt_id for asked in questions_in(event)), limit), False
    if kind == "answer":
        answers = list(answers_in(event).values())
        value = answers[0] if len(answers) == 1 else answers
        return glance(value, limit), not isinstance(value, str)
    if kind == "call":
        calls = [f"{call.name}({glance(call.args or {}, limit)})" for call in event.get_function_calls()]
        return one_line(", ".join(calls), limit), True
    if kind == "reply":
        replies = [f"{r.name} → {glance(unwrap_answer(r.response), limit)}" for r in event.get_function_responses()]
        return one_line(", ".join(replies), limit), True
    if event.output is not None:
        return glance(event.output, limit), not isinstance(event.output, str)
    text = content_text(event.content)
    if text:
        return one_line(text, limit), False
    if kind == "state":
        return glance(event.actions.state_delta, limit), True
    parts = [name for part in (event.content and event.content.parts) or () if (name := _part_name(part))]
    return ", ".join(parts), False


def exchange_text(event: Event, limit: int = 160) -> str:
    """Return the tool calls and replies of an event in words, each shortened, with what was said beside them.

    Example:
        >>> from google.genai import types
        >>> called = types.Part(function_call=types.FunctionCall(name="get_weather", args={"city": "Oslo"}))
        >>> exchange_text(Event(content=types.Content(parts=[called])))
        'get_weather(city="Oslo")'
    """
    said: list[str] = []
    for part in (event.content.parts if event.content else None) or ():
        if part.function_call:
            given = ", ".join(
                f"{name}={glance_json(value, limit)}" for name, value in (part.function_call.args or {}).items()
            )
            said.append(one_line(f"{part.function_call.name}({given})", limit))
        elif part.function_response:
            reply = part.function_response
            said.append(one_line(f"{reply.name} → {glance_json(unwrap_answer(reply.response), limit)}", limit))
        elif part.text and not part.thought:
            said.append(part.text)
    return "; ".join(said)


def _part_name(part: Any) -> str:
    if part.inline_data is not None:
        return f"<{part.inline_data.mime_type}, {len(part.inline_data.data or b'')} bytes>"
    if part.file_data is not None:
        return str(part.file_data.file_uri)
    return "thought" if part.thought else ""


def label_of(route: Any) -> str:
    """Return a route as its label; several with commas between.

    Example:
        >>> label_of(["A", 1])
        'A, 1'
    """
    return ", ".join(str(one) for one in route) if isinstance(route, (list, tuple)) else str(route)
