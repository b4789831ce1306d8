"""Small histories for tests of what a model reads."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adk_nb.agents.reading.contents import Reader, contents_for
from adk_nb.events import Event

ME = "me"


def text(said: str, **more: Any) -> types.Part:
    """Return a part of words."""
    return types.Part(text=said, **more)


def call(name: str, call_id: str | None = None, **args: Any) -> types.Part:
    """Return a part that calls a tool."""
    return types.Part(function_call=types.FunctionCall(id=call_id, name=name, args=args))


def result(name: str, call_id: str | None = None, value: Any = None) -> types.Part:
    """Return a part that holds a tool's result."""
    return types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response={"result": value}))


def event(author: str, *parts: types.Part | str, role: str | None = None, path: str = "", **fields: Any) -> Event:
    """Return an event in which somebody says something."""
    is_answer = any(isinstance(part, types.Part) and part.function_response for part in parts)
    role = role or ("user" if author == "user" or is_answer else "model")
    content = types.Content(role=role, parts=[text(part) if isinstance(part, str) else part for part in parts])
    made = Event(author=author, content=content, node_path=path, **{"invocation_id": "e-1", **fields})
    made.seal()
    return made


def me(*parts: types.Part | str, **fields: Any) -> Event:
    """Return an event of the reader's own."""
    return event(ME, *parts, **fields)


def user(*parts: types.Part | str, **fields: Any) -> Event:
    """Return an event of the person."""
    return event("user", *parts, **fields)


def read(*events: Event, newest: str | None = None, include: Any = "default", **reader: Any) -> list[str]:
    """Return what the reader reads, each message as one line: `role: part | part`."""
    message = None if newest is None else types.Content(role="user", parts=[text(newest)])
    reads = Reader(agent=ME, **{"invocation_id": "e-1", "path": f"{ME}@1", **reader})
    return lines(contents_for(reads, events, message, include))


def lines(contents: list[types.Content]) -> list[str]:
    """Return each message as one line."""
    return [f"{content.role}: {' | '.join(_shown(part) for part in content.parts or ())}" for content in contents]


def _shown(part: types.Part) -> str:
    if part.function_call:
        return f"{part.function_call.name}#{part.function_call.id}()"
    if part.function_response:
        value = (part.function_response.response or {}).get("result")
        return f"{part.function_response.name}#{part.function_response.id}={value}"
    if part.thought:
        return f"({part.text})"
    if part.inline_data:
        return f"<{part.inline_data.mime_type}>"
    return (part.text or "").replace("\n", "/")
