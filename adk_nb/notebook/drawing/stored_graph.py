"""The graph that a stored run's records tell of, for when its root isn't at hand: what ran, and what followed what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from adk_nb.events.paths import last_segment
from adk_nb.events.record import NodeRun
from adk_nb.frames.reading import label_of
from adk_nb.workflow.description import EdgeDescription, GraphDescription, Kind, NodeDescription
from adk_nb.workflow.nodes import START_NAME

_KINDS = get_args(Kind)


def stored_graph(name: str, runs: Iterable[NodeRun]) -> GraphDescription:
    """Return the graph as far as it was run.

    Args:
        name: The root's name.
        runs: All records of the run, in the order of their creation.

    Example:
        >>> runs = [NodeRun("wf@1", "wf", "1", "", "e", kind="workflow"), NodeRun("wf@1/a@1", "a", "1", "wf@1", "e"),
        ...         NodeRun("wf@1/b@1", "b", "1", "wf@1", "e", sources=("wf@1/a@1",))]
        >>> graph = stored_graph("wf", runs)
        >>> [(edge.source, edge.target) for edge in graph.edges]
        [('__START__', 'a'), ('a', 'b')]
    """
    known = list(runs)
    top = next((run for run in known if not run.parent), None)
    below: dict[str, list[NodeRun]] = {}
    for run in known:
        below.setdefault(run.parent, []).append(run)
    is_workflow = top is not None and (top.kind == "workflow" or _has_edges(below.get(top.path, ())))
    if top is None or not is_workflow:
        kind = "node" if top is None else _kind_of(top)
        return GraphDescription(name, kind, (NodeDescription(name, kind),))
    return _graph(name, [top], below, {run.path: run for run in known})


def _has_edges(runs: Iterable[NodeRun]) -> bool:
    return any(run.sources for run in runs)


def _graph(
    name: str, holders: list[NodeRun], below: dict[str, list[NodeRun]], by_path: dict[str, NodeRun]
) -> GraphDescription:
    """Return the graph that some runs of one workflow have run."""
    runs = [run for holder in holders for run in below.get(holder.path, ())]
    of_node: dict[str, list[NodeRun]] = {}
    for run in runs:
        of_node.setdefault(run.name, []).append(run)
    nodes = [NodeDescription(START_NAME, "start")]
    for node, its in of_node.items():
        kind = _kind_of(its[0])
        inner = _graph(node, its, below, by_path) if kind == "workflow" else None
        nodes.append(NodeDescription(node, kind, inner=inner))
    routes: dict[tuple[str, str], dict[str, None]] = {}
    for run in runs:
        for source in run.sources:
            before = by_path.get(source)
            labels = routes.setdefault((last_segment(source)[0], run.name), {})
            if before is not None and before.route is not None:
                labels[label_of(before.route)] = None
        if not run.sources:
            routes.setdefault((START_NAME, run.name), {})
    edges = [
        EdgeDescription(source, target, tuple(labels))
        for (source, target), labels in routes.items()
        if source == START_NAME or source in of_node
    ]
    return GraphDescription(name, "workflow", tuple(nodes), tuple(edges))


def _kind_of(run: NodeRun) -> Kind:
    kind: Kind = run.kind if run.kind in _KINDS else "node"  # type: ignore[assignment]  # it is one of them
    return kind
