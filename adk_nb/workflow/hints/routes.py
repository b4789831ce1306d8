"""Routes that no edge handles, and edges whose route is never taken, as far as source and types tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adk_nb.errors import one_of
from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.hints.hint import Hint, listed
from adk_nb.workflow.hints.source import functions_of, inner_node
from adk_nb.workflow.hints.taken import Taken, plain_type, routes_taken
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.signature import innermost

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph


def unmatched_routes(graph: Graph) -> Iterator[Hint]:
    """Tell nodes whose routes and edges don't fit together."""
    for node in graph.nodes:
        outgoing = graph.outgoing(node.name)
        if not outgoing.labels:
            continue
        taken = taken_by(node)
        if taken is None:
            continue
        if not taken.sets_any:
            text = _without_route(node)
        else:
            text = _misfit(taken, list(outgoing.labels), has_default=bool(outgoing.otherwise))
        if text is not None:
            yield Hint(node.name, text)


def taken_by(node: BaseNode) -> Taken | None:
    """Return the routes that a node takes, `None` where that can't be told."""
    inner = inner_node(node)
    functions = list(functions_of(node))
    if inner is not node or not isinstance(inner, FunctionNode) or len(functions) != 1:
        return None
    if functions[0] is not getattr(innermost(inner.func), "__func__", innermost(inner.func)):
        return None  # a wrapper may set the route
    return routes_taken(functions[0], inner.signature)


def _without_route(node: BaseNode) -> str | None:
    """Tell a node that never sets a route: its output is no label."""
    returned = plain_type(node.signature.returns) if isinstance(node, FunctionNode) else None
    if returned is None:
        return None
    return (
        f"It returns {returned} as its output and never sets a route, so that none of its labelled edges is followed: "
        f"return Event(output=..., route=...)."
    )


def _misfit(taken: Taken, labels: list[object], *, has_default: bool) -> str | None:
    unhandled = [route for route in taken.routes if route not in labels]
    if unhandled and not has_default:
        return (
            f"It can take the route {listed(unhandled, 'or')}, which no edge handles, and then its branch stops: known "
            f"labels are {one_of(unhandled[0], labels)}; correct the label, or add a DEFAULT_ROUTE edge."
        )
    never = [label for label in labels if label not in taken.routes]
    if taken.is_complete and never and len(taken.routes) > 1:  # one fixed route is a stand-in, and meant
        return (
            f"Its edge for {listed(never)} is never followed, as the only routes it takes are "
            f"{listed(list(taken.routes))}: correct the label, or take the edge out."
        )
    return None
