"""Which nodes run when a node takes a route."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from adk_nb.workflow.nodes import BaseNode

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph


def outcomes(graph: Graph, node: BaseNode) -> Iterator[tuple[Any, tuple[BaseNode, ...]]]:
    """Yield each route that a node can take with the targets it triggers; `None` is the route without a label."""
    outgoing = graph.outgoing(node.name)
    if outgoing.otherwise or not outgoing.labels:
        yield None, outgoing.targets(None)
    for label in outgoing.labels:
        yield label, outgoing.targets(label)


def reached(graph: Graph, start: Iterable[str], chosen: dict[str, tuple[BaseNode, ...]], *, always: bool) -> set[str]:
    """Return the names that lie behind `start`, itself included.

    Args:
        graph: The graph.
        start: Where to begin.
        chosen: Targets of the nodes whose route is settled; the others take every edge.
        always: Follow only edges without a route.
    """
    seen = set(start)
    todo = list(seen)
    while todo:
        name = todo.pop()
        outgoing = graph.outgoing(name)
        targets = [one.name for one in outgoing.always] if always else outgoing.ranked
        for target in [one.name for one in chosen[name]] if name in chosen else targets:
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen
