"""What of a stored run doesn't fit the code that is to go on with it: nodes, edges and models of questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from adk_nb.errors import one_of
from adk_nb.events.paths import last_segment
from adk_nb.events.record import ENDED, NodeRun, Status
from adk_nb.workflow.changed_schemas import changed_schemas
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.nodes import START_NAME

if TYPE_CHECKING:
    from adk_nb.workflow.nodes import BaseNode


def misfits(root: BaseNode, runs: Iterable[NodeRun]) -> list[str]:
    """Return what doesn't fit, one sentence each, that on which the run can't go on first.

    A node that is new is told where it would have run already; what a node starts by itself isn't known before it runs.

    Args:
        root: What is to go on.
        runs: All records of the run.

    Example:
        >>> from adk_nb import Workflow
        >>> def a(): ...
        >>> runs = [NodeRun("flow@1", "flow", "1", "", "e", Status.WAITING),
        ...         NodeRun("flow@1/b@1", "b", "1", "flow@1", "e", Status.WAITING, kind="human")]
        >>> misfits(Workflow(name="flow", edges=[("START", a)]), runs)
        ["Node 'b' is gone and has an open run at flow@1/b@1, so the run can't go on: bring it back; there is 'a'."]
    """
    known = list(runs)
    top = next((run for run in known if not run.parent), None)
    if top is None:
        return []
    if top.name != root.name:
        return [
            f"The run began with the root {top.name!r}, and root= is {root.name!r}: it can be looked at, and goes on "
            f"with {top.name!r} only."
        ]
    below: dict[str, list[NodeRun]] = {}
    for run in known:
        below.setdefault(run.parent, []).append(run)
    stuck: list[str] = []
    other: list[str] = []
    for graph, children in _graphs(root, top, below):
        for is_stuck, said in (*_gone(graph, children), *_edges_gone(graph, children), *_new(graph, children)):
            (stuck if is_stuck else other).append(said)
        for run in children:
            if graph.has(run.name):
                other += changed_schemas(graph.node(run.name), run)
    return list(dict.fromkeys([*stuck, *other]))


def _graphs(root: BaseNode, top: NodeRun, below: dict[str, list[NodeRun]]) -> Iterator[tuple[Graph, list[NodeRun]]]:
    """Give each graph that was run, with the records directly below it."""
    todo = [(root, top)]
    while todo:
        node, run = todo.pop()
        graph = getattr(node, "graph", None)
        if not isinstance(graph, Graph):
            continue
        children = below.get(run.path, [])
        yield graph, children
        todo += [(graph.node(child.name), child) for child in children if graph.has(child.name)]


def _gone(graph: Graph, runs: list[NodeRun]) -> Iterator[tuple[bool, str]]:
    there = [node.name for node in graph.nodes if node.name != START_NAME]
    for run in runs:
        if graph.has(run.name):
            continue
        if run.status not in ENDED:
            yield (
                True,
                f"Node {run.name!r} is gone and has an open run at {run.path}, so the run can't go on: bring it back; "
                f"there is {one_of(run.name, there)}.",
            )
        else:
            yield False, f"Node {run.name!r} has run and is gone: what it handed on stays."


def _edges_gone(graph: Graph, runs: list[NodeRun]) -> Iterator[tuple[bool, str]]:
    for run in runs:
        for source in run.sources:
            name = last_segment(source)[0]
            if graph.has(name) and graph.has(run.name) and run.name not in graph.following.get(name, ()):
                yield False, f"Edge {name!r} → {run.name!r} is gone, and was followed in this run."


def _new(graph: Graph, runs: list[NodeRun]) -> Iterator[tuple[bool, str]]:
    """Tell of edges to nodes that would have been started by now, had they been there."""
    if any(run.is_told for run in runs):
        return  # read from events: the records follow from the graph of today
    met = {run.name for run in runs}
    for run in runs:
        if run.status is not Status.COMPLETED or not graph.has(run.name):
            continue
        for target in graph.outgoing(run.name).targets(run.route):
            if target.name not in met:
                yield (
                    False,
                    f"Edge {run.name!r} → {target.name!r} is new: {run.name!r} had ended without it, so this run "
                    f"doesn't follow it.",
                )
