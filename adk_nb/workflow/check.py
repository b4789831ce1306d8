"""Every structural mistake of a graph, found before it runs; each message names the nodes and what to do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pydantic import PydanticUserError

from adk_nb.errors import GraphValidationError
from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.loops import behind
from adk_nb.workflow.nodes import DEFAULT_ROUTE, START_NAME, BaseNode, JoinNode, adapter_for

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph


def check_graph(graph: Graph) -> None:
    """Raise for the first rule that the graph breaks.

    Raises:
        GraphValidationError: the message starts with "Graph validation failed".
    """
    for rule in (
        _names_are_unique,
        _start_is_there,
        _start_has_no_routes,
        _all_are_reachable,
        _nothing_enters_start,
        _edges_are_unique,
        _default_stands_alone,
        _no_unconditional_cycle,
        _schemas_fit,
        _joins_can_fire,
        _chats_come_first,
        _nodes_agree,
    ):
        rule(graph)


def _fail(text: str) -> GraphValidationError:
    return GraphValidationError(f"Graph validation failed: {text}")


def _names_are_unique(graph: Graph) -> None:
    twice = sorted(name for name, count in Counter(node.name for node in graph.nodes).items() if count > 1)
    if twice:
        names = ", ".join(map(repr, twice))
        raise _fail(
            f"Duplicate node names found: {names}. Use the same object where you mean the same node, or give each its "
            f"own name with node(f, name=...)."
        )


def _start_is_there(graph: Graph) -> None:
    if not any(node.name == START_NAME for node in graph.nodes):
        raise _fail(
            "START node was not found in the edges: begin one chain with 'START', for instance "
            f"('START', {graph.nodes[0].name})."
        )


def _start_has_no_routes(graph: Graph) -> None:
    for edge in graph.edges:
        if edge.from_node.name == START_NAME and edge.route is not None:
            raise _fail(
                f"Edges from START must not have routes, but START -> {edge.to_node.name} has {edge.route!r}: START "
                f"returns nothing to route by; route from the first node."
            )


def _all_are_reachable(graph: Graph) -> None:
    seen = {START_NAME} | behind([START_NAME], graph.following)
    lost = sorted(node.name for node in graph.nodes if node.name not in seen)
    if lost:
        raise _fail(
            f"nodes unreachable from START: {', '.join(map(repr, lost))}. Add an edge that leads to them, or take them "
            f"out; reachable are {', '.join(repr(n) for n in sorted(seen - {START_NAME})) or 'none'}."
        )


def _nothing_enters_start(graph: Graph) -> None:
    for edge in graph.edges:
        if edge.to_node.name == START_NAME:
            raise _fail(
                f"START must not have incoming edges, but {edge.from_node.name} -> START is one: lead back to the "
                f"first node instead."
            )


def _edges_are_unique(graph: Graph) -> None:
    known: dict[tuple[str, str], set[object] | None] = {}
    for edge in graph.edges:
        pair = (edge.from_node.name, edge.to_node.name)
        routes = set(edge.routes) if edge.route is not None else None
        if pair in known:
            before = known[pair]
            if before is None or routes is None or before & routes:
                raise _fail(
                    f"Duplicate edge found: from={pair[0]}, to={pair[1]}. One edge is enough; two between the same "
                    f"nodes need different routes."
                )
            known[pair] = before | routes
        else:
            known[pair] = routes


def _default_stands_alone(graph: Graph) -> None:
    for edge in graph.edges:
        if len(edge.routes) > 1 and DEFAULT_ROUTE in edge.routes:
            raise _fail(
                f"DEFAULT_ROUTE cannot be combined with other routes on one edge ({edge.from_node.name} -> "
                f"{edge.to_node.name}): write two edges."
            )


def _no_unconditional_cycle(graph: Graph) -> None:
    following: dict[str, list[str]] = {node.name: [] for node in graph.nodes}
    for edge in graph.edges:
        if edge.route is None:
            following[edge.from_node.name].append(edge.to_node.name)
    done: set[str] = set()
    for start in following:
        if start in done:
            continue
        trail = [start]
        on_trail = {start}
        branches = [iter(following[start])]
        while trail:
            name = next(branches[-1], None)
            if name is None:
                branches.pop()
                on_trail.discard(trail[-1])
                done.add(trail.pop())
            elif name in on_trail:
                cycle = [*trail[trail.index(name) :], name]
                raise _fail(
                    f"Unconditional cycle detected: {' -> '.join(cycle)}. It would never end: give one of its edges a "
                    f"route, for instance ({cycle[-2]}, {{'again': {name}}})."
                )
            elif name not in done:
                trail.append(name)
                on_trail.add(name)
                branches.append(iter(following[name]))


def _schemas_fit(graph: Graph) -> None:
    for edge in graph.edges:
        gives, wants = edge.from_node.output_schema, edge.to_node.input_schema
        if _is_worked_out(edge.from_node, gives) or _is_worked_out(edge.to_node, wants):
            continue
        if gives is not None and wants is not None and not _same_shape(gives, wants):
            raise _fail(
                f"Schema mismatch on edge {edge.from_node.name} -> {edge.to_node.name}: it hands on {_name(gives)}, "
                f"but {_name(wants)} is wanted. Change one type, or put a function between that converts."
            )


def _joins_can_fire(graph: Graph) -> None:
    for node in graph.nodes:
        before = graph.predecessors(node.name)
        if isinstance(node, JoinNode) and node.needed(len(before)) > len(before):
            raise _fail(
                f"The join {node.name!r} waits for {node.wait_for} nodes, but only {len(before)} lead to it "
                f"({', '.join(map(repr, before))}): lower wait_for, or lead more nodes there."
            )


def _chats_come_first(graph: Graph) -> None:
    for edge in graph.edges:
        if edge.from_node.name != START_NAME and getattr(edge.to_node, "mode", None) == "chat":
            raise _fail(
                f"The agent {edge.to_node.name!r} has mode='chat', which talks with a person and takes no input, so it "
                f"can't be a following node ({edge.from_node.name} -> {edge.to_node.name}): lead from START to it, or "
                f"give it mode='single_turn'."
            )


def _nodes_agree(graph: Graph) -> None:
    for node in graph.nodes:
        veto = getattr(node, "_validate_outgoing_edges", None)
        if veto is not None:
            veto([edge for edge in graph.edges if edge.from_node is node])


def _is_worked_out(node: BaseNode, schema: Any) -> bool:
    """Say whether a schema only tells what the keys of a function's input are called, which its call checks."""
    return isinstance(schema, dict) and isinstance(node, FunctionNode) and node.parameter_binding == "node_input"


def _same_shape(one: Any, other: Any) -> bool:
    """Say whether two schemas are equal; a class defined again by running its cell again has the same JSON schema."""
    if one == other:
        return True
    try:
        return bool(_json_schema(one) == _json_schema(other))
    except (PydanticUserError, TypeError):  # a type that has no JSON schema is equal to itself only
        return False


def _json_schema(schema: Any) -> Any:
    return schema if isinstance(schema, dict) else adapter_for(schema).json_schema()


def _name(schema: object) -> str:
    return schema.__name__ if isinstance(schema, type) else f"{schema!r:.80}"
