"""Runs that can't go on, as the root that is to go on with them isn't the one that began them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.errors import WorkflowConfigurationError, one_of
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.nodes import START_NAME

if TYPE_CHECKING:
    from adk_nb.events.record import NodeRun
    from adk_nb.workflow.nodes import BaseNode


def refuse_lost(name: str, graph: Graph, path: str) -> None:
    """Refuse to go on with an open run of a node that a graph hasn't.

    Args:
        name: The node's name.
        graph: What is to go on.
        path: Path of the graph's run.
    Raises:
        WorkflowConfigurationError: there is no such node.
    """
    if not graph.has(name):
        names = [node.name for node in graph.nodes if node.name != START_NAME]
        raise WorkflowConfigurationError(
            f"The run can't go on: a run of node {name!r} is open at {path}, and this workflow has no node "
            f"of that name; it has {one_of(name, names)}. Bring the node back to go on, or start a new run."
        )


def refuse_other_root(root: BaseNode, run: NodeRun) -> None:
    """Refuse to go on with an open run of another root.

    Args:
        root: What is to go on.
        run: The record of the run's root.
    Raises:
        WorkflowConfigurationError: the root has another name.
    """
    if run.name != root.name and not run.is_finished:
        raise WorkflowConfigurationError(
            f"Run {run.invocation_id!r} began with the root {run.name!r} and can't go on with {root.name!r}: go on "
            f"with a runner of {run.name!r}, or start a new run. Nothing was stored."
        )


def refuse_lost_run(root: BaseNode, run: NodeRun) -> None:
    """Refuse to go on with an open run below a root whose graphs don't lead to it any more.

    Args:
        root: What is to go on.
        run: The open run.
    Raises:
        WorkflowConfigurationError: a workflow on the way has no node of the name.
    """
    node, (above, *below) = root, run.path.split("/")
    for segment in below:
        graph = getattr(node, "graph", None)
        if not isinstance(graph, Graph):
            return  # what a node starts itself isn't known before it runs
        name = segment.partition("@")[0]
        refuse_lost(name, graph, above)
        node, above = graph.node(name), f"{above}/{segment}"
