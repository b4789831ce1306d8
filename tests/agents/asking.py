"""Ask agents in memory, as roots or in a chain, and keep what came out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from google.genai import types
from pydantic import BaseModel

from adk_nb.agents import RunConfig
from adk_nb.events import Event, NodeRun
from adk_nb.runners import InMemoryRunner
from adk_nb.workflow import Workflow


class Category(BaseModel):
    """What a classifier answers."""

    name: str
    score: int = 0
    note: str | None = None


def flow(*nodes: Any, name: str = "wf") -> Workflow:
    """Return a workflow of one chain."""
    return Workflow(name=name, edges=[("START", *nodes)])


@dataclass
class Turns:
    """What came out of one session."""

    events: list[Event] = field(default_factory=list)
    root: NodeRun | None = None
    error: Exception | None = None
    """What the last turn raised."""
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def output(self) -> Any:
        """The root's output in the last turn; raises what the turn raised."""
        if self.error is not None:
            raise self.error
        assert self.root is not None
        return self.root.output


def run(root: Any, *messages: str, state: dict[str, Any] | None = None, config: RunConfig | None = None) -> Turns:
    """Say each message in one session; an error ends only its own turn."""
    return asyncio.run(arun(root, *messages, state=state, config=config))


async def arun(
    root: Any, *messages: str, state: dict[str, Any] | None = None, config: RunConfig | None = None
) -> Turns:
    """Do what `run` does, in a running event loop."""
    runner = InMemoryRunner(root)
    where = {"app_name": runner.app_name, "user_id": "u"}
    session = await runner.session_service.create_session(**where, state=state)
    turns = Turns()
    for message in messages or ("hello",):
        turns.error = None
        content = types.Content(role="user", parts=[types.Part(text=message)])
        try:
            async for event in runner.run_async(
                user_id="u", session_id=session.id, new_message=content, run_config=config
            ):
                turns.events.append(event)
        except Exception as error:  # noqa: BLE001  # any error of the run under test is part of its outcome
            turns.error = error
    turns.root = await runner.root_run(user_id="u", session_id=session.id)
    turns.state = dict((await runner.session_service.get_session(**where, session_id=session.id)).state)
    return turns
