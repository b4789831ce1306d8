"""Closing a runner: the toolsets of its whole tree, in time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adk_nb.agents import Agent, SequentialAgent
from adk_nb.runners import InMemoryRunner
from adk_nb.runners.toolsets import close_toolsets
from adk_nb.tools import AgentTool, BaseToolset
from adk_nb.workflow import Workflow


class Desk(BaseToolset):
    """A toolset that counts how often it was closed."""

    def __init__(self) -> None:
        """Begin open."""
        super().__init__()
        self.closed = 0

    async def get_tools(self, readonly_context: Any = None) -> list[Any]:
        """Find nothing."""
        return []

    async def close(self) -> None:
        """Close."""
        self.closed += 1


def agent(name: str, *tools: Any) -> Agent:
    """An agent with tools."""
    return Agent(name=name, model="m", tools=list(tools))


def test_every_toolset_is_closed_once() -> None:
    """Toolsets of agents in a workflow, below agents and in agents used as tools are closed, a shared one once."""
    desks = [Desk() for _ in range(4)]
    deep = AgentTool(agent("deep", desks[0]))
    team = SequentialAgent(name="team", sub_agents=[agent("a", desks[1], desks[2]), agent("b", desks[2])])
    flow = Workflow(name="flow", edges=[("START", agent("c", desks[3]))])

    async def main() -> None:
        async with InMemoryRunner(Agent(name="root", model="m", tools=[deep, flow], sub_agents=[team])):
            pass

    asyncio.run(main())
    assert [desk.closed for desk in desks] == [1, 1, 1, 1]


def test_one_that_fails_is_told() -> None:
    """A toolset that fails or takes too long is told in a warning, and the others are closed."""

    class Broken(Desk):
        async def close(self) -> None:
            raise OSError("gone")

    class Slow(Desk):
        async def close(self) -> None:
            await asyncio.Event().wait()

    desk = Desk()
    with pytest.warns(RuntimeWarning) as told:
        asyncio.run(close_toolsets(agent("a", Broken(), Slow(), desk), timeout_s=0.01))
    said = sorted(str(one.message) for one in told)
    assert "Broken failed to close (OSError: gone)" in said[0]
    assert "Slow failed to close (TimeoutError: it took longer than 0.01 s)" in said[1]
    assert desk.closed == 1
