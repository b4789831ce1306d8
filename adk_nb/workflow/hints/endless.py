"""Loops that nothing ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from adk_nb.workflow.hints.hint import Hint, listed
from adk_nb.workflow.hints.routes import taken_by
from adk_nb.workflow.hints.source import body_of, functions_of, inner_node, mentions
from adk_nb.workflow.loops import loops_of
from adk_nb.workflow.nodes import BaseNode

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph


def endless_loops(graph: Graph) -> Iterator[Hint]:
    """Tell loops without a way out, and loops with a model in them in which nothing counts."""
    members: dict[int, list[BaseNode]] = {}
    loops = loops_of(graph.following)
    for node in graph.nodes:
        if node.name in loops:
            members.setdefault(loops[node.name], []).append(node)
    for nodes in members.values():
        names = listed([node.name for node in nodes])
        inside = {node.name for node in nodes}
        if not any(_leads_out(graph, node, inside) for node in nodes):
            yield Hint(
                nodes[0].name,
                f"Nothing leads out of the loop of {names}, which then only ends at a limit: add a route that leaves "
                f"it, for instance {{'done': ...}}, and take it after some passes.",
            )
        elif any(inner_node(node).kind == "agent" for node in nodes) and not any(map(_may_count, nodes)):
            yield Hint(
                nodes[0].name,
                f"The loop of {names} asks a model in each pass, and nothing in it counts the passes: count them in "
                f"ctx.state and leave the loop after some, or run it with Limits(max_node_runs=...).",
            )


def _leads_out(graph: Graph, node: BaseNode, inside: set[str]) -> bool:
    outgoing = graph.outgoing(node.name)
    if any(target.name not in inside for target in (*outgoing.always, *outgoing.otherwise)):
        return True
    ways: list[Any] = [label for label in outgoing.labels if _leaves(outgoing.by_route[label], inside)]
    taken = taken_by(node)
    if taken is None or not taken.is_complete or not taken.sets_any:
        return bool(ways)
    return any(way in taken.routes for way in ways) or any(way not in outgoing.labels for way in taken.routes)


def _leaves(targets: tuple[BaseNode, ...], inside: set[str]) -> bool:
    return any(target.name not in inside for target in targets)


def _may_count(node: BaseNode) -> bool:
    """Say whether a node may end a loop after some passes: it compares numbers, asks a person, or can't be read."""
    inner = inner_node(node)
    if inner.kind in ("agent", "join"):
        return False
    functions = list(functions_of(node))
    if not functions:
        return True
    for func in functions:
        body = body_of(func)
        if body is None or mentions(func.__code__, "RequestInput"):
            return True
        if any(isinstance(part, ast.Compare) and _compares_numbers(part) for part in body.parts):
            return True
    return False


def _compares_numbers(part: ast.Compare) -> bool:
    if any(isinstance(one, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for one in part.ops):
        return True
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, int) and not isinstance(one.value, bool)
        for one in (part.left, *part.comparators)
    )
