"""The cases of the two engines that speak ADK's names, from start to end; `adk_resume_cases.py` has the others."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.adk_names import Names, sqlite_sessions
from benchmarks.case import CONCURRENT_NODES, SLEEP_S, Case, Meeting, Outcome, Run


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


async def total_of_items(node_input: list[int]) -> int:
    """Add up what came of the items of a parallel worker."""
    return sum(node_input)


class AdkCases:
    """Builds each case from the public names of one package."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def cases(self) -> dict[str, Case]:
        """The cases by name."""
        return {
            "chain": self.chain,
            "loop": self.loop,
            "dynamic": self.dynamic,
            "fan_out": self.fan_out,
            "parallel": self.parallel,
            "concurrent": self.concurrent,
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

    @asynccontextmanager
    async def parallel(self, size: int, directory: Path) -> AsyncIterator[Run]:
        """Run one node for each of `size` items at once, as a parallel worker does, and add up what came of them."""

        async def items(node_input: Any) -> list[int]:
            return [1] * size

        async def item(node_input: int) -> int:
            return node_input

        first = self.names.FunctionNode(func=items, name="items")
        worker = self.names.node(item, name="item", parallel_worker=True)
        last = self.names.FunctionNode(func=total_of_items, name="total")
        workflow = self.names.Workflow(name="parallel", edges=[("START", first, worker, last)])
        yield self.runner_run(workflow, size + 3)

    @asynccontextmanager
    async def concurrent(self, size: int, directory: Path) -> AsyncIterator[Run]:
        """Run one chain of a few nodes so often that `size` nodes run; all runs are under way before the first ends."""
        meeting = Meeting(size // CONCURRENT_NODES)

        async def add_one_together(node_input: int) -> int:
            await meeting.all_here()
            return node_input + 1

        nodes = self.nodes([start_at_one, *[add_one] * (CONCURRENT_NODES - 2), add_one_together])
        workflow = self.names.Workflow(name="chain", edges=[("START", *nodes)])
        sessions = self.names.InMemorySessionService()
        chain = self.runner_run(workflow, CONCURRENT_NODES, sessions)

        async def run() -> Outcome:
            outcomes = await asyncio.gather(*[chain() for _ in range(meeting.size)])
            return Outcome(sum(outcome.output for outcome in outcomes), sessions)

        yield run
