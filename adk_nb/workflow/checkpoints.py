"""Events that say where a workflow stands, for people's tools and google-adk's readers; our own resume needs none.

Only the workflows of a resumable app write them. While a workflow runs, each names the one node that changed; the one
with which it pauses names all, since google-adk's readers take the last one for the whole.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from adk_nb.events.event import Event
from adk_nb.events.event_actions import EventActions
from adk_nb.events.record import NodeRun, Status, open_ids
from adk_nb.workflow.decide import Command, Settle

if TYPE_CHECKING:
    from adk_nb.workflow.execution import Execution
    from adk_nb.workflow.graph_run import GraphRun

_NUMBERS = {
    Status.PENDING: 1,
    Status.RUNNING: 2,
    Status.COMPLETED: 3,
    Status.WAITING: 4,
    Status.INCOMPLETE: 4,  # a node that waits for its next trigger
    Status.STOPPED: 1,
    Status.FAILED: 5,
    Status.CANCELLED: 6,
}
"""How google-adk writes a status; a join that still gathers isn't scheduled there."""
CHECKPOINT_COMPLETED = _NUMBERS[Status.COMPLETED]
_PAUSED = (Status.WAITING, Status.STOPPED)


class Checkpoints:
    """Writes checkpoint events."""

    def __init__(self, publish: Callable[[Event], Awaitable[None]]) -> None:
        """Write to a run.

        Args:
            publish: Stores an event and hands it to the caller.
        """
        self._publish = publish

    async def started(self, execution: Execution) -> None:
        """Tell that a node of a graph, or a member of an agent, starts."""
        run, above = execution.run, execution.parent
        if execution.graph is not None:
            await self._write(execution.graph, {run.name: _entry(run)})
        elif above is not None:
            await self._tell(above, above.node._checkpoint(run.name, run.run_id))
        await self._tell(execution, execution.node._checkpoint("", ""))

    async def _tell(self, execution: Execution, state: dict[str, Any] | None) -> None:
        if state is not None:
            await self._publish(_agent_event(execution, EventActions(agent_state=state)))

    async def ended(self, execution: Execution, commands: Sequence[Command]) -> None:
        """Tell that an agent has ended, that a node of a graph has or waits, or that its graph pauses with it.

        Args:
            execution: The node's run.
            commands: What follows from it in its graph.
        """
        run, graph = execution.run, execution.graph
        if execution.node.keeps_checkpoints and run.status is Status.COMPLETED:
            await self._publish(_agent_event(execution, EventActions(end_of_agent=True)))
        if graph is None:
            return
        if any(isinstance(one, Settle) and one.status in _PAUSED for one in commands):
            await self._write(graph, _whole(graph))
        elif run.status in (Status.COMPLETED, Status.WAITING, Status.INCOMPLETE):
            await self._write(graph, {run.name: _entry(run)})

    async def finished(self, graph: GraphRun) -> None:
        """Tell that a graph has come to its end."""
        await self._publish(_event(graph, EventActions(end_of_agent=True)))

    async def _write(self, graph: GraphRun, nodes: dict[str, Any]) -> None:
        await self._publish(_event(graph, EventActions(agent_state={"nodes": nodes})))


def _agent_event(execution: Execution, actions: EventActions) -> Event:
    run = execution.run
    return Event(
        author=execution.node.name,
        invocation_id=run.invocation_id,
        node_path=run.path,
        branch=run.branch,
        isolation_scope=execution.isolation_scope,
        actions=actions,
    )


def _event(graph: GraphRun, actions: EventActions) -> Event:
    holder = graph.holder
    return Event(
        author=holder.node.name,
        invocation_id=holder.run.invocation_id,
        branch=holder.run.branch,
        isolation_scope=holder.isolation_scope,
        actions=actions,
    )


def _whole(graph: GraphRun) -> dict[str, Any]:
    state = graph.state
    done = {"status": CHECKPOINT_COMPLETED, "interrupts": []}
    return {
        name: _entry(state.active[name]) if name in state.active else done
        for name in state.counters
        if name not in state.gathering
    }


def _entry(run: NodeRun) -> dict[str, Any]:
    return {"status": _NUMBERS[run.status], "interrupts": [one for one in open_ids(run) if one]}
