"""Small agents without a model, for trees."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from google.genai import types

from adk_nb.agents import BaseAgent, InvocationContext, LlmAgent
from adk_nb.events import Event, EventActions, RequestInput
from adk_nb.testing import ScriptedModel


def text(words: str) -> types.Content:
    """Return what a model says."""
    return types.Content(role="model", parts=[types.Part(text=words)])


def talker(name: str, *replies: str | Exception, **options: Any) -> LlmAgent:
    """Return an agent whose model gives these replies in turn."""
    return LlmAgent(name=name, model=ScriptedModel(list(replies)), **options)


class Says(BaseAgent):
    """Says its words, and counts how often it ran."""

    words: str = ""
    escalates_at: int = 0
    """The run in which it escalates, from 1; 0 for none."""
    fails: bool = False
    runs: list[str] = []  # noqa: RUF012  # a field of a model: each agent has its own

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        self.runs.append(ctx.invocation_id)
        if self.fails:
            raise ValueError(f"{self.name} fails")
        words = self.words or f"{self.name} {len(self.runs)}"
        escalate = True if len(self.runs) == self.escalates_at else None
        yield Event(author=self.name, content=text(words), actions=EventActions(escalate=escalate))


class Asks(BaseAgent):
    """Asks a person, and says the answer."""

    rerun_on_resume: bool = True
    runs: list[int] = []  # noqa: RUF012  # a field of a model: each agent has its own

    async def _run_impl(self, *, ctx: Any, node_input: Any) -> AsyncGenerator[Any, None]:
        self.runs.append(1)
        if self.name not in ctx.resume_inputs:
            yield RequestInput(interrupt_id=self.name, message="well?")
            return
        yield Event(author=self.name, content=text(f"{self.name} heard {ctx.resume_inputs[self.name]}"))


def spoken(events: list[Event]) -> list[tuple[str, str]]:
    """Return author and text of each event that says something."""
    return [
        (event.author, part.text)
        for event in events
        for part in (event.content.parts if event.content else None) or ()
        if part.text
    ]
