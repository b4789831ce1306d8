"""Edges as people write them, turned into a `Graph` with its indexes.

An edge item is an `Edge` or a chain: a tuple whose neighbours are linked. A chain's elements are a node, a tuple of
nodes (fan-out or fan-in) or a dictionary from route to node or nodes. The indexes are built once, so that a running
workflow never scans nodes or edges.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import MethodType
from typing import Any

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from adk_nb.errors import WorkflowConfigurationError
from adk_nb.events.event_actions import Route
from adk_nb.workflow.build import build_node
from adk_nb.workflow.check import check_graph
from adk_nb.workflow.description import EdgeDescription, GraphDescription
from adk_nb.workflow.hints import hints
from adk_nb.workflow.loops import behind, loops_of
from adk_nb.workflow.nodes import DEFAULT_ROUTE, START, START_NAME, BaseNode, JoinNode, node_like_error
from adk_nb.workflow.written import Written


class Edge(Written):
    """One edge between two nodes, followed always, on one route or on any of a list of routes."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    from_node: BaseNode
    to_node: BaseNode
    route: Route | None = None
    """`None` follows the edge always."""

    @field_validator("from_node", "to_node", mode="before")
    @classmethod
    def _take_nodes(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, BaseNode):
            return value
        if isinstance(value, str) and value in ("START", START_NAME):
            return START
        raise WorkflowConfigurationError(
            f"An Edge joins nodes, and {info.field_name} is a {type(value).__name__} ({value!r:.80}): make one node of "
            f"it with node(...) and use that in every edge, or write the edge as a tuple, ('START', a, b)."
        )

    @field_validator("route", mode="before")
    @classmethod
    def _take_routes(cls, value: Any) -> Any:
        labels = value if isinstance(value, list) else [value]
        if value is not None and not all(isinstance(label, (str, int)) for label in labels):
            raise WorkflowConfigurationError(
                f"Invalid route {value!r:.80}: a route is a str, int, bool or a list of them."
            )
        if not labels:
            raise WorkflowConfigurationError(
                "An Edge with the routes [] is never followed: name them, or leave route= out to follow it always."
            )
        return value

    @property
    def routes(self) -> tuple[Any, ...]:
        """All labels of the edge, empty for an unconditional one."""
        if self.route is None:
            return ()
        return tuple(self.route) if isinstance(self.route, list) else (self.route,)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """The edges that leave one node, ready to be matched against a route. Targets keep the order of the edges."""

    always: tuple[BaseNode, ...]
    ranked: dict[str, int]
    """Position of each target among the node's edges."""
    by_route: dict[Any, tuple[BaseNode, ...]]
    otherwise: tuple[BaseNode, ...]
    """Targets of default edges."""

    def targets(self, route: Any) -> tuple[BaseNode, ...]:
        """Return the nodes that a completed run with this route triggers."""
        if not self.by_route and not self.otherwise:
            return self.always
        if not self.always and not isinstance(route, list):
            return self.by_route.get(route) or self.otherwise
        labels = route if isinstance(route, list) else [] if route is None else [route]
        matched = [target for label in labels for target in self.by_route.get(label, ())]
        found = {target.name: target for target in (*self.always, *(matched or self.otherwise))}
        return tuple(sorted(found.values(), key=lambda target: self.ranked[target.name]))

    @property
    def labels(self) -> tuple[Any, ...]:
        """All labels that are handled, without the default."""
        return tuple(self.by_route)


_NO_EDGES = Outgoing((), {}, {}, ())


class Graph(Written):
    """Nodes and edges of one workflow; the nodes are those that the edges name, in that order."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    nodes: list[BaseNode] = Field(default_factory=list)
    edges: list[Edge] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _refuse_nodes(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("nodes"):
            raise WorkflowConfigurationError("Nodes are inferred from edges: give only edges=.")
        return data

    def model_post_init(self, context: Any, /) -> None:
        """Find the nodes."""
        seen: dict[int, BaseNode] = {}
        for edge in self.edges:
            seen.setdefault(id(edge.from_node), edge.from_node)
            seen.setdefault(id(edge.to_node), edge.to_node)
        self.nodes = list(seen.values())

    @functools.cached_property
    def _by_name(self) -> dict[str, BaseNode]:
        return {node.name: node for node in self.nodes}

    @functools.cached_property
    def _outgoing(self) -> dict[str, Outgoing]:
        leaving: dict[str, list[Edge]] = {}
        for edge in self.edges:
            leaving.setdefault(edge.from_node.name, []).append(edge)
        return {name: _outgoing(edges) for name, edges in leaving.items()}

    @functools.cached_property
    def _predecessors(self) -> dict[str, tuple[str, ...]]:
        entering: dict[str, dict[str, None]] = {}
        for edge in self.edges:
            entering.setdefault(edge.to_node.name, {})[edge.from_node.name] = None
        return {name: tuple(sources) for name, sources in entering.items()}

    @functools.cached_property
    def following(self) -> dict[str, tuple[str, ...]]:
        """The names that edges lead to, by the name of the node that they leave."""
        return {node.name: tuple(self.outgoing(node.name).ranked) for node in self.nodes}

    @functools.cached_property
    def early_joins(self) -> frozenset[str]:
        """Names of the joins that may fire before all their predecessors have arrived."""
        joins = [node for node in self.nodes if isinstance(node, JoinNode)]
        wanted = {join.name: len(self.predecessors(join.name)) for join in joins}
        return frozenset(join.name for join in joins if join.needed(wanted[join.name]) < wanted[join.name])

    @functools.cached_property
    def patient_joins(self) -> frozenset[str]:
        """Names of the joins that wait for whichever of their predecessors were started."""
        return frozenset(node.name for node in self.nodes if isinstance(node, JoinNode) and node.wait_for == "started")

    def patient_joins_behind(self, name: str) -> frozenset[str]:
        """Return the names of the patient joins that a node leads to."""
        found = self._patient_behind.get(name)
        if found is None:
            found = self._patient_behind[name] = self.patient_joins & behind([name], self.following)
        return found

    @functools.cached_property
    def _patient_behind(self) -> dict[str, frozenset[str]]:
        return {}

    @functools.cached_property
    def loops(self) -> dict[str, int]:
        """The number of its loop, for each node of a loop that holds a join that may fire early."""
        if not self.early_joins:
            return {}
        loops = loops_of(self.following)
        wanted = {loops[name] for name in self.early_joins if name in loops}
        return {name: loop for name, loop in loops.items() if loop in wanted}

    @classmethod
    def from_edge_items(cls, items: Iterable[Any]) -> Graph:
        """Return the graph of edges as people write them; it isn't checked yet.

        Raises:
            WorkflowConfigurationError: an item isn't an edge, or an element of a chain can't be a node.
        """
        nodes = _Nodes()
        edges: list[Edge] = []
        for item in items:
            edges.extend(_edges_of(item, nodes))
        return cls(edges=edges)

    def validate_graph(self) -> None:
        """Check the whole graph.

        Raises:
            GraphValidationError: it can't run; the message names the nodes and what to do.
        """
        if self.edges:
            check_graph(self)

    def has(self, name: str) -> bool:
        """Say whether there is a node of this name."""
        return name in self._by_name

    def node(self, name: str) -> BaseNode:
        """Return the node of this name."""
        return self._by_name[name]

    def outgoing(self, name: str) -> Outgoing:
        """Return the edges that leave a node."""
        return self._outgoing.get(name, _NO_EDGES)

    def predecessors(self, name: str) -> tuple[str, ...]:
        """Return the names of all nodes with an edge into this one, in the order of the edges."""
        return self._predecessors.get(name, ())

    def is_terminal(self, name: str) -> bool:
        """Say whether no edge leaves the node."""
        return not self.outgoing(name).ranked

    def get_next_pending_nodes(self, node_name: str, routes_to_match: Any) -> list[str]:
        """Return the names of the nodes that a completed node with these routes triggers."""
        return [target.name for target in self.outgoing(node_name).targets(routes_to_match)]

    def describe(self, name: str) -> GraphDescription:
        """Return the graph as plain data for drawings."""
        told: dict[str, tuple[str, ...]] = {}
        for hint in hints(self):
            told[hint.node] = (*told.get(hint.node, ()), hint.text)
        drawn = (node.describe_node() for node in self.nodes)
        return GraphDescription(
            name=name,
            kind="workflow",
            nodes=tuple(dataclasses.replace(one, hints=told[one.name]) if one.name in told else one for one in drawn),
            edges=tuple(
                EdgeDescription(
                    source=edge.from_node.name,
                    target=edge.to_node.name,
                    routes=tuple(str(label) for label in edge.routes if label != DEFAULT_ROUTE),
                    is_default=DEFAULT_ROUTE in edge.routes,
                )
                for edge in self.edges
            ),
        )


class _Nodes:
    """The nodes of one graph while it is read: the same object always becomes the same node."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, BaseNode]] = {}

    def get(self, item: Any) -> BaseNode:
        if item is START or (isinstance(item, str) and item in ("START", START_NAME)):
            return START
        # `thing.method` is a new object each time it is written.
        key = (id(item.__self__), id(item.__func__)) if isinstance(item, MethodType) else id(item)
        if key not in self._known:
            self._known[key] = (item, build_node(item))
        return self._known[key][1]

    def edge(self, edge: Edge) -> Edge:
        ends = {"from_node": self.get(edge.from_node), "to_node": self.get(edge.to_node)}
        return edge if all(getattr(edge, name) is end for name, end in ends.items()) else edge.model_copy(update=ends)


@dataclass(frozen=True, slots=True)
class _Stop:
    """One element of a chain: nodes, or nodes by route."""

    nodes: tuple[tuple[Any, BaseNode], ...]
    is_map: bool


def _edges_of(item: Any, nodes: _Nodes) -> Iterator[Edge]:
    if isinstance(item, Edge):
        yield nodes.edge(item)
        return
    if not isinstance(item, (tuple, list)):
        raise WorkflowConfigurationError(
            f"Invalid edge type {type(item).__name__} ({item!r:.80}): edges= is a list of chains, each a tuple, "
            f"for instance edges=[('START', a, b), (b, {{'yes': c, 'no': d}})], or Edge objects."
        )
    if len(item) < 2:
        raise WorkflowConfigurationError(
            f"The chain {item!r:.80} has {len(item)} element{'s' * (len(item) != 1)} and makes no edge: give at least "
            f"two, for instance ('START', a)."
        )
    stops = [_stop(element, nodes) for element in item]
    for source, target in itertools.pairwise(stops):
        if source.is_map and target.is_map:
            raise WorkflowConfigurationError(
                "Consecutive routing maps in one chain: put a node between the two dictionaries."
            )
        for _, from_node in source.nodes:
            for route, to_node in target.nodes:
                yield Edge(from_node=from_node, to_node=to_node, route=route)


def _stop(element: Any, nodes: _Nodes) -> _Stop:
    if isinstance(element, dict):
        if not element:
            raise WorkflowConfigurationError("Routing map must not be empty: give at least one route.")
        return _Stop(tuple(_routed(element, nodes)), is_map=True)
    if isinstance(element, (tuple, list)):
        if not element:
            raise WorkflowConfigurationError(
                "An empty tuple stands in a chain, so the chain is cut there: name the nodes to fan out to, or leave "
                "it out."
            )
        return _Stop(tuple((None, nodes.get(one)) for one in element), is_map=False)
    return _Stop(((None, nodes.get(element)),), is_map=False)


def _routed(routes: dict[Any, Any], nodes: _Nodes) -> Iterator[tuple[Any, BaseNode]]:
    for route, target in routes.items():
        if not isinstance(route, (str, int, bool)):
            raise WorkflowConfigurationError(
                f"Invalid routing map key {route!r:.80} of type {type(route).__name__}: a route is a str, int or bool."
            )
        if isinstance(target, dict):
            raise WorkflowConfigurationError(
                f"Invalid routing map value for route {route!r}: a dictionary can't stand inside a dictionary; "
                f"route again from the node that decides."
            )
        targets = target if isinstance(target, (tuple, list)) else (target,)
        if not targets:
            raise WorkflowConfigurationError(
                f"Invalid routing map value for route {route!r}: the tuple is empty, so nothing would run."
            )
        for one in targets:
            if isinstance(one, (dict, tuple, list)):
                raise WorkflowConfigurationError(
                    f"Invalid node in fan-out tuple for route {route!r}: {node_like_error(one)}"
                )
            yield route, nodes.get(one)


def _outgoing(edges: list[Edge]) -> Outgoing:
    always: dict[str, BaseNode] = {}
    by_route: dict[Any, dict[str, BaseNode]] = {}
    otherwise: dict[str, BaseNode] = {}
    ranked: dict[str, int] = {}
    for position, edge in enumerate(edges):
        ranked.setdefault(edge.to_node.name, position)
        if edge.route is None:
            always.setdefault(edge.to_node.name, edge.to_node)
        for label in edge.routes:
            if label == DEFAULT_ROUTE:
                otherwise.setdefault(edge.to_node.name, edge.to_node)
            else:
                by_route.setdefault(label, {}).setdefault(edge.to_node.name, edge.to_node)

    def in_order(targets: dict[str, BaseNode]) -> tuple[BaseNode, ...]:
        return tuple(targets[name] for name in sorted(targets, key=ranked.__getitem__))

    labelled = {label: in_order(targets) for label, targets in by_route.items()}
    return Outgoing(in_order(always), ranked, labelled, in_order(otherwise))
