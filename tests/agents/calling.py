"""Agents that call tools, talked with over several turns, and their events in short."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from google.genai import types

from adk_nb.agents import RunConfig
from adk_nb.events import Event, NodeRun
from adk_nb.events.record import Question
from adk_nb.runners import InMemoryRunner, Runner
from adk_nb.testing import call

Message = str | types.Content | Callable[[list[Event]], types.Content]
"""A text, a content, or what makes one of the events so far."""


def calls(tool: str, call_id: str, /, **args: Any) -> types.Part:
    """Return a reply in which the model calls a tool under a given id."""
    part = call(tool, **args)
    assert part.function_call is not None
    part.function_call.id = call_id
    return part


def said(text: str) -> types.Content:
    """Return what a user says."""
    return types.Content(role="user", parts=[types.Part(text=text)])


def response(call_id: str, tool: str, **given: Any) -> types.Content:
    """Return a user's message with the response to a call."""
    answer = types.FunctionResponse(id=call_id, name=tool, response=given)
    return types.Content(role="user", parts=[types.Part(function_response=answer)])


def confirms(confirmed: bool, at: int = -1, **more: Any) -> Callable[[list[Event]], types.Content]:
    """Return what answers one of the confirmations that were asked for."""

    def answer(events: list[Event]) -> types.Content:
        asked = [one for event in events for one in event.get_function_calls() if one.name == _CONFIRM]
        return response(str(asked[at].id), _CONFIRM, confirmed=confirmed, **more)

    return answer


_CONFIRM = "adk_request_confirmation"


def short(event: Event) -> str:
    """Return an event in short: who said what, and what it does."""
    words = [event.author]
    for part in (event.content.parts if event.content else None) or ():
        if part.function_call:
            words.append(f"calls {part.function_call.name}")
        elif part.function_response:
            words.append(f"{part.function_response.name}={part.function_response.response}")
        else:
            words.append(repr(part.text))
    for name in ("state_delta", "skip_summarization", "transfer_to_agent", "set_model_response"):
        value = getattr(event.actions, name)
        if value:
            words.append(f"{name}={value}")
    if event.long_running_tool_ids:
        words.append("asks")
    if event.error_code:
        words.append(f"error {event.error_code}")
    return " ".join(words)


class Talk:
    """One session with a root, turn by turn."""

    def __init__(self, root: Any, *, sessions: Any = None, state: dict[str, Any] | None = None, **options: Any) -> None:
        """Prepare; the session is made with the first turn."""
        if sessions is None:
            self.runner: Runner = InMemoryRunner(root, **options)
        else:
            self.runner = Runner(node=root, app_name="app", session_service=sessions, **options)
        self.where: dict[str, Any] = {"user_id": "u", "session_id": "s"}
        self._state = state
        self.events: list[Event] = []
        """All that came out so far."""

    def turn(self, message: Message | None, config: RunConfig | None = None, **options: Any) -> list[str]:
        """Say something and return the events in short."""
        return [short(event) for event in self.heard(message, config, **options)]

    def heard(self, message: Message | None, config: RunConfig | None = None, **options: Any) -> list[Event]:
        """Say something and return the events."""
        return asyncio.run(self._turn(message, config, options))

    async def say(self, message: Message | None) -> list[Event]:
        """Say something in a running event loop."""
        return await self._turn(message, None, {})

    async def _turn(self, message: Message | None, config: RunConfig | None, options: dict[str, Any]) -> list[Event]:
        sessions, app = self.runner.session_service, self.runner.app_name
        if await sessions.get_session(app_name=app, **self.where) is None:
            await sessions.create_session(app_name=app, state=self._state, **self.where)
        if callable(message):
            message = message((await self.stored()).events)
        content = said(message) if isinstance(message, str) else message
        found = []
        async for event in self.runner.run_async(**self.where, new_message=content, run_config=config, **options):
            found.append(event)
            self.events.append(event)
        return found

    async def stored(self) -> Any:
        """Return the stored session."""
        return await self.runner.session_service.get_session(app_name=self.runner.app_name, **self.where)

    @property
    def session(self) -> Any:
        """The stored session."""
        return asyncio.run(self.stored())

    @property
    def open_questions(self) -> list[tuple[NodeRun, Question]]:
        """What the newest run waits for."""
        return asyncio.run(self.runner.open_questions(**self.where))

    @property
    def root(self) -> NodeRun:
        """The root's record of the newest run."""
        found = asyncio.run(self.runner.root_run(**self.where))
        assert found is not None
        return found
