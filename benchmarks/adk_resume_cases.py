"""The cases of the two engines that speak ADK's names in which a run is answered and goes on: only that turn counts."""

from __future__ import annotations

import importlib
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.adk_names import Names, sqlite_sessions
from benchmarks.case import Case, Outcome, Resumable

QUESTION = "go-on"


class AdkResumeCases:
    """Builds each case from the public names of one package."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.finished = 0
        """How many functions of nodes that end before the question were called in this process."""

    def cases(self) -> dict[str, Case]:
        """The cases by name."""
        return {
            "resume": self.in_memory(self.paused_loop),
            "sqlite_resume": self.on_sqlite(self.paused_loop),
            "replay": self.in_memory(self.replaying),
            "sqlite_replay": self.on_sqlite(self.replaying),
        }

    def resumable(self, workflow: Any, finished: int, sessions: Any) -> Resumable:
        """Make the two parts of a run that asks once after `finished` node runs."""
        names = self.names

        async def turn(session_id: str, part: Any) -> Any:
            runner = names.Runner(
                node=workflow, app_name="benchmark", session_service=sessions, auto_create_session=True
            )
            message = names.Content(role="user", parts=[part])
            output = None
            async for event in runner.run_async(user_id="user", session_id=session_id, new_message=message):
                if event.output is not None:
                    output = event.output
            return output

        async def begin() -> str:
            session_id, self.finished = str(uuid.uuid4()), 0
            await turn(session_id, names.Part(text="go"))
            if self.finished != finished:
                raise RuntimeError(f"{finished} node runs were expected before the question, {self.finished} came")
            return session_id

        async def go_on(session_id: str) -> Outcome:
            before = self.finished
            answer = names.FunctionResponse(id=QUESTION, name="adk_request_input", response={"result": "yes"})
            output = await turn(session_id, names.Part(function_response=answer))
            if self.finished != before:
                raise RuntimeError(f"{self.finished - before} finished nodes ran again")
            return Outcome(output, sessions)

        return Resumable(begin, go_on)

    def question(self) -> Any:
        """Make the question that a run waits with."""
        # Imported by the cases that ask, so that the import row doesn't pay for what it doesn't use.
        requests = importlib.import_module(f"{self.names.package}.events.request_input")
        return requests.RequestInput(interrupt_id=QUESTION, message="Go on?")

    def paused_loop(self, size: int) -> Any:
        """Build a workflow in which one node runs `size` times, and the one after it asks."""

        async def turn(node_input: Any) -> Any:
            self.finished += 1
            value = node_input + 1 if isinstance(node_input, int) else 1
            return self.names.Event(output=value, route="again" if value < size else "done")

        async def ask(ctx: Any, node_input: int) -> Any:
            return node_input if QUESTION in ctx.resume_inputs else self.question()

        turns = self.names.FunctionNode(func=turn, name="turn")
        asks = self.names.FunctionNode(func=ask, name="ask", rerun_on_resume=True)
        edges = [("START", turns), (turns, {"again": turns, "done": asks})]
        return self.names.Workflow(name="loop", edges=edges)

    def replaying(self, size: int) -> Any:
        """Build a workflow of one node that runs `size` children, asks, and runs them again after the answer."""

        async def add_one(node_input: int) -> int:
            self.finished += 1
            return node_input + 1

        child = self.names.FunctionNode(func=add_one, name="child")

        async def parent(ctx: Any, node_input: Any) -> Any:
            value = 0
            for _ in range(size):
                value = await ctx.run_node(child, value)
            return value if QUESTION in ctx.resume_inputs else self.question()

        node = self.names.FunctionNode(func=parent, name="parent", rerun_on_resume=True)
        return self.names.Workflow(name="replay", edges=[("START", node)])

    def in_memory(self, build: Callable[[int], Any]) -> Case:
        """Make the case that answers a workflow after `size` finished node runs."""

        @asynccontextmanager
        async def case(size: int, directory: Path) -> AsyncIterator[Resumable]:
            yield self.resumable(build(size), size, self.names.InMemorySessionService())

        return case

    def on_sqlite(self, build: Callable[[int], Any]) -> Case:
        """Make the case that answers a workflow after `size` finished node runs, sessions kept in SQLite."""

        @asynccontextmanager
        async def case(size: int, directory: Path) -> AsyncIterator[Resumable]:
            sessions = sqlite_sessions(self.names.package, directory / "sessions.db")
            yield self.resumable(build(size), size, sessions)
            if hasattr(sessions, "close"):
                await sessions.close()

        return case
