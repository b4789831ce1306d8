"""The cases of the two engines that speak ADK's names; the package to import them from is the only difference."""

from __future__ import annotations

import asyncio
import importlib
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.case import SLEEP_S, Case, Outcome, Run


class Names(NamedTuple):
    """The public names the cases use, taken from one package."""

    package: str
    Content: Any
    Event: Any
    FunctionNode: Any
    InMemorySessionService: Any
    JoinNode: Any
    Part: Any
    Runner: Any
    Workflow: Any


def names_of(package: str) -> Names:
    """Import the public names from `package`: "adk_nb" or "google.adk"."""
    top = importlib.import_module(package)
    workflow = importlib.import_module(f"{package}.workflow")
    sessions = importlib.import_module(f"{package}.sessions")
    types = importlib.import_module("google.genai.types")
    return Names(
        package=package,
        Content=types.Content,
        Event=top.Event,
        FunctionNode=workflow.FunctionNode,
        InMemorySessionService=sessions.InMemorySessionService,
        JoinNode=workflow.JoinNode,
        Part=types.Part,
        Runner=top.Runner,
        Workflow=top.Workflow,
    )


def sqlite_sessions(package: str, path: Path) -> Any:
    """Open the package's SQLite session service on `path`."""
    # Imported by the one case that needs it, so that the import row of the others doesn't pay for SQLite.
    sessions: ModuleType = importlib.import_module(f"{package}.sessions")
    if not hasattr(sessions, "SqliteSessionService"):
        sessions = importlib.import_module(f"{package}.sessions.sqlite_session_service")
    return sessions.SqliteSessionService(str(path))


async def add_one(node_input: int) -> int:
    """Count one node."""
    return node_input + 1


async def start_at_one(node_input: Any) -> int:
    """Count the first node, whose input is the user's message."""
    return 1


async def one(node_input: Any) -> int:
    """Return 1 whatever came in."""
    return 1


async def sleep(node_input: Any) -> int:
    """Wait as for a slow service, then return 1."""
    await asyncio.sleep(SLEEP_S)
    return 1


async def total(node_input: dict[str, int]) -> int:
    """Add up what the joined nodes returned."""
    return sum(node_input.values())


class AdkCases:
    """Builds each case from the public names of one package."""

    def __init__(self, package: str) -> None:
        self.names = names_of(package)

    def cases(self) -> dict[str, Case]:
        """The cases by name."""
        return {
            "chain": self.chain,
            "loop": self.loop,
            "dynamic": self.dynamic,
            "fan_out": self.fan_out,
            "sleep_fan_out": self.sleep_fan_out,
            "sqlite_chain": self.sqlite_chain,
        }

    def nodes(self, functions: list[Callable[..., Any]]) -> list[Any]:
        """Make one named node of each function."""
        return [self.names.FunctionNode(func=function, name=f"n{index}") for index, function in enumerate(functions)]

    def runner_run(self, workflow: Any, events_expected: int, sessions: Any = None) -> Run:
        """Make the function that runs `workflow` once, in a new session, and counts the events with an output."""

        async def run() -> Outcome:
            service = sessions if sessions is not None else self.names.InMemorySessionService()
            runner = self.names.Runner(
                node=workflow, app_name="benchmark", session_service=service, auto_create_session=True
            )
            message = self.names.Content(role="user", parts=[self.names.Part(text="go")])
            output, events = None, 0
            async for event in runner.run_async(user_id="user", session_id=str(uuid.uuid4()), new_message=message):
                if event.output is not None:
                    output = event.output
                    events += 1
            if events != events_expected:
                raise RuntimeError(f"{events_expected} events with an output were expected, {events} came")
            return Outcome(output, service)

        return run

    def chain_workflow(self, size: int) -> Any:
        """Build a workflow of `size` different nodes in a row."""
        nodes = self.nodes([start_at_one, *[add_one] * (size - 1)])
        return self.names.Workflow(name="chain", edges=[("START", *nodes)])

    @asynccontextmanager
    async def chain(self, size: int, directory: Path) -> AsyncIterator[Run]:
        """Run `size` nodes one after the other."""
        yield self.runner_run(self.chain_workflow(size), size)

    @asynccontextmanager
    async def sqlite_chain(self, size: int, directory: Path) -> AsyncIterator[Run]:
        """Run `size` nodes one after the other, sessions kept in SQLite."""
        service = sqlite_sessions(self.names.package, directory / "sessions.db")
        yield self.runner_run(self.chain_workflow(size), size, service)
        if hasattr(service, "close"):
            await service.close()

    @asynccontextmanager
    async def loop(self, size: int, directory: Path) -> AsyncIterator[Run]:
        """Send one node back to itself until it has run `size` times."""

        async def turn(node_input: Any) -> Any:
            value = node_input + 1 if isinstance(node_input, int) else 1
            return self.names.Event(output=value, route="again" if value < size else "done")

        async def finish(node_input: int) -> int:
            return node_input

        again, done = self.nodes([turn, finish])
        edges = [("START", again), (again, {"again": again, "done": done})]
        yield self.runner_run(self.names.Workflow(name="loop", edges=edges), size + 1)

    @asynccontextmanager
    async def dynamic(self, size: int, directory: Path) -> AsyncIterator[Run]:
        """Let one node call `ctx.run_node` `size` times, each call on the result of the one before."""
        child = self.names.FunctionNode(func=add_one, name="child")

        async def parent(ctx: Any, node_input: Any) -> int:
            value = 0
            for _ in range(size):
                value = await ctx.run_node(child, value)
            return value

        node = self.names.FunctionNode(func=parent, name="parent", rerun_on_resume=True)
        yield self.runner_run(self.names.Workflow(name="dynamic", edges=[("START", node)]), size + 1)

    def fan_out_workflow(self, size: int, function: Callable[..., Any]) -> Any:
        """Build a workflow of `size` nodes side by side, a join, and a node that adds up."""
        branches = tuple(self.nodes([function] * size))
        join = self.names.JoinNode(name="join")
        last = self.names.FunctionNode(func=total, name="total")
        return self.names.Workflow(name="fan_out", edges=[("START", branches, join, last)])

    @asynccontextmanager
    async def fan_out(self, size: int, directory: Path) -> AsyncIterator[Run]:
        """Run `size` nodes side by side and join them."""
        yield self.runner_run(self.fan_out_workflow(size, one), size + 2)

    @asynccontextmanager
    async def sleep_fan_out(self, size: int, directory: Path) -> AsyncIterator[Run]:
        """Run `size` sleeping nodes side by side and join them."""
        yield self.runner_run(self.fan_out_workflow(size, sleep), size + 2)
