"""Drives an app turn by turn, and plugins that write down what they are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.genai import types

from adk_nb.apps import App, ResumabilityConfig
from adk_nb.events import Event
from adk_nb.plugins import BasePlugin
from adk_nb.runners import Runner
from adk_nb.workflow.invocation import InvocationContext
from tests.workflow.driving import Conversation, user_text


class AppTalk(Conversation):
    """A conversation with a root that has plugins, or with a resumable app."""

    def __init__(self, root: Any, *plugins: BasePlugin, service: Any = None, is_resumable: bool = False) -> None:
        super().__init__(root, service)
        resumability = ResumabilityConfig(is_resumable=True) if is_resumable else None
        app = App(name="app", root_agent=root, plugins=list(plugins), resumability_config=resumability)
        self.runner = Runner(app=app, session_service=self.service, auto_create_session=True)


class Recorder(BasePlugin):
    """Writes down which hooks were called, and answers as it was told."""

    def __init__(self, name: str = "rec", log: list[str] | None = None, **answers: Any) -> None:
        super().__init__(name)
        self.log: list[str] = [] if log is None else log
        self.answers = answers

    def _note(self, hook: str) -> Any:
        self.log.append(f"{self.name}.{hook}")
        answer = self.answers.get(hook)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Note it."""
        answer = self._note("message")
        return user_text(answer) if isinstance(answer, str) else answer

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """Note it."""
        answer = self._note("before")
        return user_text(answer) if isinstance(answer, str) else answer

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Note it."""
        answer = self._note("event")
        edited: Event | None = answer(event) if callable(answer) else answer
        return edited

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Note it."""
        self._note("after")

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """Note it."""
        self._note("error")

    async def close(self) -> None:
        """Note it."""
        self._note("close")


class Editor(BasePlugin):
    """Lets a function look at, change or replace each event."""

    def __init__(self, edit: Callable[[Event], Event | None], name: str = "editor") -> None:
        super().__init__(name)
        self.edit = edit

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Edit it."""
        return self.edit(event)
