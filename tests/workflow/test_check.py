"""Structural mistakes of a graph, each found when the workflow is written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from adk_nb import Agent
from adk_nb.errors import ConfigurationError, GraphValidationError
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import DEFAULT_ROUTE, START, BaseNode, Edge, JoinNode, Workflow, node
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.nodes import START_NAME


def a() -> None:
    """A node."""


def b() -> None:
    """A node."""


def c() -> None:
    """A node."""


A, B = node(a), node(b)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([("START", a, node(b, name="a"))], ["Duplicate node names found: 'a'", "node(f, name=...)"]),
        ([("START", node(a), node(a))], ["Duplicate node names found: 'a'"]),
        ([(a, b)], ["START node was not found", "('START', a)"]),
        ([("START", {"x": a})], ["Edges from START must not have routes", "START -> a has 'x'"]),
        ([("START", a), (b, {"x": c})], ["unreachable from START: 'b', 'c'", "reachable are 'a'"]),
        ([("START", a, "START")], ["must not have incoming edges", "a -> START"]),
        ([("START", a), ("START", a)], ["Duplicate edge found: from=__START__, to=a"]),
        ([("START", a, {"x": b}), (a, {"x": b})], ["Duplicate edge found: from=a, to=b"]),
        ([("START", a, b), (a, {"x": b})], ["Duplicate edge found: from=a, to=b"]),
        ([("START", a), Edge(from_node=A, to_node=B, route=["x", DEFAULT_ROUTE])], ["Duplicate node names found"]),
        (
            [("START", A), Edge(from_node=A, to_node=B, route=["x", DEFAULT_ROUTE])],
            ["DEFAULT_ROUTE cannot be combined with other routes", "a -> b", "write two edges"],
        ),
        (
            [("START", A, {"x": B}), Edge(from_node=A, to_node=B, route=["y", "x"])],
            ["Duplicate edge found: from=a, to=b", "need different routes"],
        ),
        (
            [("START", A, Agent(name="chat", model=ScriptedModel([]), mode="chat"))],
            ["has mode='chat'", "can't be a following node (a -> chat)", "mode='single_turn'"],
        ),
        ([("START", a, b, c, a)], ["Unconditional cycle detected: a -> b -> c -> a", "(c, {'again': a})"]),
        ([("START", a, a)], ["Unconditional cycle detected: a -> a"]),
    ],
)
def test_rules(edges: Any, words: list[str]) -> None:
    """A graph that can't run is refused in one sentence that names the nodes and says what to do."""
    with pytest.raises(GraphValidationError) as caught:
        Workflow(name="wf", edges=edges)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).startswith("Graph validation failed: ")
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "edges",
    [
        [("START", a, {"x": b}), (a, {"y": b})],
        [("START", a, {DEFAULT_ROUTE: b}), (a, {DEFAULT_ROUTE: c})],
        [("START", a, {"again": a})],
        [("START", a, {DEFAULT_ROUTE: a})],
        [("START", a, b), (b, {"again": a})],
        [("START", Agent(name="chat", model=ScriptedModel([]), mode="chat"), a)],
    ],
)
def test_what_may_stand(edges: Any) -> None:
    """Two edges of a pair with different routes, several defaults, cycles with a way out, a chat first are graphs."""
    Workflow(name="wf", edges=edges)


def test_a_given_graph_is_checked_too() -> None:
    """A graph given as `graph=` obeys the same rules as edges do."""
    with pytest.raises(GraphValidationError, match="START node was not found"):
        Workflow(name="wf", graph=Graph.from_edge_items([(a, b)]))


names = st.sampled_from("abcde")
pairs = st.lists(
    st.tuples(st.one_of(st.just(START_NAME), names), names, st.sampled_from([None, None, "x", DEFAULT_ROUTE])),
    min_size=1,
    max_size=9,
)


@given(pairs)
def test_what_passes_can_run(edges: list[tuple[str, str, str | None]]) -> None:
    """A graph passes exactly when START leads everywhere, no edge is doubled and no cycle is unconditional."""
    nodes: dict[str, BaseNode] = {name: node(lambda: None, name=name) for name in "abcde"} | {START_NAME: START}
    used = {name for source, target, _ in edges for name in (source, target)}

    def reach(start: str, steps: list[tuple[str, str]]) -> set[str]:
        seen: set[str] = set()
        for _ in range(len(used) + 1):
            seen |= {target for source, target in steps if source == start or source in seen}
        return seen

    everywhere = [(source, target) for source, target, _ in edges]
    unconditional = [(source, target) for source, target, route in edges if route is None]
    routes_of: dict[tuple[str, str], list[str | None]] = {}
    for source, target, route in edges:
        routes_of.setdefault((source, target), []).append(route)
    fits = (
        START_NAME in used
        and all(route is None for source, _, route in edges if source == START_NAME)
        and used - {START_NAME} == reach(START_NAME, everywhere)
        and all(
            len(found) == 1 or (None not in found and len(set(found)) == len(found)) for found in routes_of.values()
        )
        and not any(name in reach(name, unconditional) for name in used)
    )

    graph = Graph(edges=[Edge(from_node=nodes[s], to_node=nodes[t], route=r) for s, t, r in edges])
    if fits:
        graph.validate_graph()
    else:
        with pytest.raises(GraphValidationError):
            graph.validate_graph()


def test_a_long_chain_is_checked() -> None:
    """The length of a chain is limited by memory alone, not by Python's recursion."""
    flow = Workflow(name="wf", edges=[("START", *(node(a, name=f"n{i}") for i in range(3000)))])
    assert flow.graph is not None
    assert len(flow.graph.nodes) == 3001


class Bill(BaseModel):
    """What is handed on."""

    total: int


class Offer(BaseModel):
    """Something else."""

    price: int


def bill() -> Bill:
    """Return a bill."""
    return Bill(total=1)


def test_schemas_on_an_edge() -> None:
    """What a node hands on has to be what the next one wants; the message names both."""

    def pay(node_input: Offer) -> None:
        """Take an offer."""

    with pytest.raises(GraphValidationError) as caught:
        Workflow(name="wf", edges=[("START", bill, pay)])
    assert "Schema mismatch on edge bill -> pay: it hands on Bill, but Offer is wanted" in str(caught.value)


def test_a_class_defined_again() -> None:
    """A model whose cell ran a second time is still the same shape as the one of an older node."""

    def defined() -> type[BaseModel]:
        class Bill(BaseModel):
            """As in the cell."""

            total: int

        return Bill

    one, two = BaseNode(name="one", output_schema=defined()), BaseNode(name="two", input_schema=defined())
    Workflow(name="wf", edges=[("START", one, two)])
    other = BaseNode(name="other", input_schema=list[Offer])
    with pytest.raises(GraphValidationError, match="Schema mismatch"):
        Workflow(name="wf", edges=[("START", one, other)])


def test_a_node_can_refuse_its_edges() -> None:
    """A custom node's `_validate_outgoing_edges` is asked when the graph is built."""

    class Last(BaseNode):
        """A node that nothing may follow."""

        def _validate_outgoing_edges(self, edges: list[Edge]) -> None:
            if edges:
                raise ConfigurationError(f"{self.name} must be the last node, but leads to {edges[0].to_node.name}.")

    Workflow(name="wf", edges=[("START", a, Last(name="last"))])
    with pytest.raises(ConfigurationError, match="last must be the last node, but leads to a"):
        Workflow(name="wf", edges=[("START", Last(name="last"), a)])


def test_a_join_takes_part() -> None:
    """A join's `input_schema` is what each of its predecessors has to hand on."""
    join = JoinNode(name="join", input_schema=Offer)
    with pytest.raises(GraphValidationError, match="bill -> join"):
        Workflow(name="wf", edges=[("START", (bill, a), join)])
