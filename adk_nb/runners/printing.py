"""What `run_debug` prints of an event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.genai import types

from adk_nb.events.event import Event
from adk_nb.events.questions import questions_in

_ARGUMENTS, _RESULT = 50, 100
"""How many signs of a tool's arguments and result are shown."""


def printed_lines(event: Event, *, verbose: bool = False) -> Iterator[str]:
    """Yield the lines that tell a reader of a terminal what happened.

    Args:
        event: A finished event.
        verbose: Tool calls with their arguments, their results, code and media, too.

    Example:
        >>> print(*printed_lines(Event(author="flow", node_path="flow@1/add@1", output=3)))
        flow > [add: 3]
    """
    questions = list(questions_in(event)) if event.long_running_tool_ids else []
    asked = {one.interrupt_id for one in questions}
    for part in (event.content.parts if event.content else None) or ():
        if part.function_call is not None and part.function_call.id in asked:
            continue
        said = _said(part, verbose)
        if said:
            yield f"{event.author} > {said}"
    for question in questions:
        yield f"{event.author} > [asks {question.interrupt_id}: {question.message or 'an answer'}]"
    if event.output is not None:
        yield f"{event.author} > [{event.node_name}: {event.output!r}]"
    for key, value in event.actions.state_delta.items():
        yield f"{event.author} > [state {key} = {_cut(repr(value), _RESULT)}]"
    for name, version in event.actions.artifact_delta.items():
        yield f"{event.author} > [saved {name}, version {version}]"
    if event.actions.transfer_to_agent:
        yield f"{event.author} > [hands over to {event.actions.transfer_to_agent}]"
    if event.error_code is not None:
        yield f"{event.author} > [{event.error_code}: {event.error_message}]"


def _said(part: types.Part, verbose: bool) -> str | None:
    if part.text and not part.thought:
        return part.text
    if not verbose:
        return None
    if part.function_call is not None:
        return f"[Calling tool: {part.function_call.name}({_cut(part.function_call.args, _ARGUMENTS)})]"
    if part.function_response is not None:
        return f"[Tool result: {_cut(part.function_response.response, _RESULT)}]"
    if part.executable_code is not None:
        return f"[Running code: {part.executable_code.language}]"
    if part.code_execution_result is not None:
        return f"[Code output: {_cut(part.code_execution_result.output, _RESULT)}]"
    if part.inline_data is not None:
        return f"[{part.inline_data.mime_type or 'Data'}]"
    if part.file_data is not None:
        return f"[{part.file_data.file_uri}]"
    return None


def _cut(value: Any, length: int) -> str:
    text = str(value)
    return text if len(text) <= length else f"{text[:length]}..."
