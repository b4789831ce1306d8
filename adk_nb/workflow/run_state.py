"""Where one run of a graph stands: which node runs are open, what they wait for, what the terminal nodes gave."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from adk_nb.events.paths import last_segment
from adk_nb.events.record import NodeRun, Status
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.limits import Allowance


@dataclass(slots=True)
class GraphState:
    """The state of one run of one graph; only `decide` changes it."""

    graph: Graph
    path: str
    """Path of the workflow's run."""
    invocation_id: str
    input: Any = None
    branch: str | None = None
    max_concurrency: int | None = None
    allowance: Allowance = field(default_factory=Allowance)
    """What the whole call may still start."""
    counters: dict[str, int] = field(default_factory=dict)
    """Run ids given so far, by node name."""
    active: dict[str, NodeRun] = field(default_factory=dict)
    """The one run of each node that has its turn, by node name."""
    queued: dict[str, deque[NodeRun]] = field(default_factory=dict)
    """Triggers of nodes whose turn is taken, oldest first."""
    ready: deque[NodeRun] = field(default_factory=deque)
    """Runs that could start but for `max_concurrency`."""
    gathering: dict[str, NodeRun] = field(default_factory=dict)
    """The join runs that haven't fired, by node name."""
    arrived: dict[str, dict[str, NodeRun]] = field(default_factory=dict)
    """The runs that each unfired join holds, by join name and predecessor name."""
    reached: dict[str, dict[str, int]] = field(default_factory=dict)
    """By node name and the name of a join behind it that fires early: the run of the join that it has reached."""
    outputs: dict[str, NodeRun] = field(default_factory=dict)
    """The last run with an output of each node where the graph ended."""
    short: set[str] = field(default_factory=set)
    """Names of the nodes whose last run was cut short."""
    notes: dict[str, None] = field(default_factory=dict)
    """Warnings, one sentence each, in order and without repeats."""
    running: set[str] = field(default_factory=set)
    """Paths of the runs that execute now."""
    failed: NodeRun | None = None
    """The first run that failed."""
    is_stopping: bool = False


def restore_graph(state: GraphState, open_runs: Iterable[NodeRun], latest: Iterable[NodeRun]) -> None:
    """Rebuild a graph's state from its records.

    Args:
        state: A fresh state.
        open_runs: The open records directly below the graph, in the order of their creation.
        latest: The newest completed record of each node directly below the graph.
    """
    graph = state.graph
    completed: dict[str, int] = {}
    for run in latest:
        completed[run.name] = int(run.run_id)
        _count(state, run)
        if run.output is not None and graph.has(run.name) and ends_at(graph, run):
            state.outputs[run.name] = run
        if run.is_cut_short:
            state.short.add(run.name)
        state.notes.update(dict.fromkeys(run.notes))
        for path in run.rounds:
            join, number = last_segment(path)
            state.reached.setdefault(run.name, {})[join] = int(number)
    held: list[NodeRun] = []
    for run in open_runs:
        _count(state, run)
        if run.status is Status.COMPLETED:
            held.append(run)
        elif run.status is Status.GATHERING:
            state.gathering[run.name] = run
        elif run.status is Status.INCOMPLETE:
            if int(run.run_id) > completed.get(run.name, 0):
                state.short.add(run.name)
            state.notes.update(dict.fromkeys(run.notes))
        elif run.name in state.active:
            state.queued.setdefault(run.name, deque()).append(run)
        else:
            state.active[run.name] = run
    gathering = {run.path: name for name, run in state.gathering.items()}
    for name in state.gathering:
        state.arrived[name] = {}
    for run in sorted(held, key=lambda one: one.ended_at or 0.0):
        for join_path in run.held_for:
            if join_path in gathering:
                state.arrived[gathering[join_path]][run.name] = run


def ends_at(graph: Graph, run: NodeRun) -> bool:
    """Say whether the graph ended at this run: no edge leaves its node, or none that its route follows."""
    outgoing = graph.outgoing(run.name)
    return not outgoing.ranked or not outgoing.targets(run.route)


def _count(state: GraphState, run: NodeRun) -> None:
    if run.run_id.isdigit():
        state.counters[run.name] = max(state.counters.get(run.name, 0), int(run.run_id))
