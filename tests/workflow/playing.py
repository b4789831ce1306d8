"""Plays a graph without an engine: runs end as a test says, records are kept as a store would."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from adk_nb.events.record import NodeRun, Status
from adk_nb.sessions.run_index import RunIndex
from adk_nb.workflow import BaseNode, JoinNode
from adk_nb.workflow.decide import TO_DO, Begun, Command, Continued, Ended, Keep, Settle, Start, Stop, decide
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.run_state import GraphState, restore_graph


def nodes(names: str) -> tuple[BaseNode, ...]:
    """Return one node a name; names that begin with `j` are joins."""
    return tuple(JoinNode(name=name) if name[0] == "j" else BaseNode(name=name) for name in names.split())


@dataclass
class Play:
    """A graph whose runs end as the test says, with the records that a store would have."""

    edges: list[Any]
    max_concurrency: int | None = None
    state: GraphState = field(init=False)
    store: RunIndex = field(init=False, default_factory=RunIndex)
    commands: list[Command] = field(init=False, default_factory=list)
    clock: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.state = self.fresh()

    def fresh(self) -> GraphState:
        """Return the state of a graph that hasn't begun."""
        graph = Graph.from_edge_items(self.edges)
        return GraphState(
            graph=graph, path="w@1", invocation_id="i", input="in", branch=None, max_concurrency=self.max_concurrency
        )

    def begin(self) -> list[str]:
        """Give the graph its input."""
        return self._take(decide(self.state, Begun()), None)

    def end(
        self, name: str, output: Any = "as named", route: Any = None, status: Status = Status.COMPLETED, **more: Any
    ) -> list[str]:
        """Let the run of a node end."""
        run = self.state.active[name]
        run.status = status
        run.ended_at = self.clock = self.clock + 1.0
        if status is Status.COMPLETED:
            run.output = name.upper() if output == "as named" else output
            run.route = route
        for key, value in more.items():
            setattr(run, key, value)
        return self._take(decide(self.state, Ended(run)), run)

    def go_on(self, *names: str) -> list[str]:
        """Continue with what failed or was stopped, and with these waiting nodes as if they were answered."""
        for name in names:
            self.state.active[name].status = Status.PENDING
            self.store.put([self.state.active[name]])
        ready = {run.path for run in self.state.active.values() if run.status in TO_DO}
        return self._take(decide(self.state, Continued(ready)), None)

    def restart(self, *names: str) -> list[str]:
        """Continue in a new process, from the records alone."""
        self.state = self.fresh()
        open_runs = [run for run in self.store.open_runs("i") if run.parent == "w@1"]
        restore_graph(self.state, open_runs, self.store.latest_runs("i", "w@1"))
        return self.go_on(*names)

    def _take(self, commands: list[Command], ended: NodeRun | None) -> list[str]:
        self.commands = commands
        self.store.put([*([ended] if ended else []), *(one.run for one in commands if isinstance(one, Keep))])
        return [said(command) for command in commands if not isinstance(command, Keep)]


def said(command: Command) -> str:
    """Return a command in short, `start a@2` or `settle completed 'A'`."""
    if isinstance(command, Start):
        return f"start {command.run.path.removeprefix('w@1/')}"
    if isinstance(command, Settle):
        if command.error is not None:
            return f"settle failed {type(command.error).__name__}"
        ending = f" at {command.failed.path.removeprefix('w@1/')}" if command.failed else ""
        return f"settle {command.status}{ending}" + (f" {command.output!r}" if command.output is not None else "")
    return "stop" if isinstance(command, Stop) else "keep"


def inputs(play: Play) -> dict[str, Any]:
    """Return the inputs of the runs that were just started."""
    return {one.run.name: one.run.input for one in play.commands if isinstance(one, Start)}
