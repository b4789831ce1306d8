"""Edges as people write them: which graph they make, and which targets a route has."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb import Agent
from adk_nb.errors import WorkflowConfigurationError
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import DEFAULT_ROUTE, START, BaseNode, Edge, JoinNode, Workflow, node
from adk_nb.workflow.graph import Graph

NAMES = "abcdef"
NODES = {name: node(lambda: None, name=name) for name in NAMES}


def plain(graph: Graph | None) -> list[tuple[str, str, Any]]:
    """Return edges as (source, target, route)."""
    assert graph is not None
    return [(edge.from_node.name, edge.to_node.name, edge.route) for edge in graph.edges]


def a() -> None:
    """A node."""


def b() -> None:
    """A node."""


def c() -> None:
    """A node."""


def d() -> None:
    """A node."""


def e() -> None:
    """A node."""


def test_the_example_of_a_chain() -> None:
    """A map fans out by route, and every node in it leads on to what stands after the map."""
    flow = Workflow(name="wf", edges=[("START", a, {"x": b, "y": (c, d)}, e)])
    assert plain(flow.graph) == [
        ("__START__", "a", None),
        ("a", "b", "x"),
        ("a", "c", "y"),
        ("a", "d", "y"),
        ("b", "e", None),
        ("c", "e", None),
        ("d", "e", None),
    ]
    assert flow.graph is not None
    assert [one.name for one in flow.graph.nodes] == ["__START__", "a", "b", "c", "d", "e"]


def test_tuples_cross() -> None:
    """Two tuples beside each other link each node with each node."""
    graph = Graph.from_edge_items([("START", (a, b), (c, d))])
    assert plain(graph)[2:] == [("a", "c", None), ("a", "d", None), ("b", "c", None), ("b", "d", None)]


def test_lists_are_tuples() -> None:
    """Lists may stand wherever tuples may, also for `edges` itself and in a map."""
    as_lists = Workflow(name="wf", edges=[["START", [a, b], c], [c, {"x": [d, e]}]])
    as_tuples = Workflow(name="wf", edges=(("START", (a, b), c), (c, {"x": (d, e)})))  # type: ignore[arg-type]
    assert plain(as_lists.graph) == plain(as_tuples.graph)


elements = st.one_of(
    st.sampled_from(NAMES),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple),
    st.dictionaries(
        st.one_of(st.sampled_from(["x", "y", DEFAULT_ROUTE]), st.integers(2, 4), st.booleans()),
        st.one_of(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), min_size=1, max_size=2).map(tuple)),
        min_size=1,
        max_size=3,
    ),
)
chains = st.lists(elements, min_size=2, max_size=5).filter(
    lambda chain: not any(isinstance(x, dict) and isinstance(y, dict) for x, y in itertools.pairwise(chain))
)


def written(element: Any) -> Any:
    """Put nodes where the names stand."""
    if isinstance(element, dict):
        return {route: written(target) for route, target in element.items()}
    return tuple(NODES[name] for name in element) if isinstance(element, tuple) else NODES[element]


def ends(element: Any) -> list[tuple[Any, str]]:
    """Return route and name of every node in an element, the plain way."""
    if isinstance(element, dict):
        return [(route, name) for route, target in element.items() for _, name in ends(target)]
    return [(None, name) for name in (element if isinstance(element, tuple) else (element,))]


@given(st.lists(chains, min_size=1, max_size=4))
def test_any_mix_of_chains(items: list[list[Any]]) -> None:
    """Neighbours are linked, each with each, with the route of the map they are entered through."""
    expected = [
        (source, target, route)
        for chain in items
        for left, right in itertools.pairwise(chain)
        for _, source in ends(left)
        for route, target in ends(right)
    ]
    graph = Graph.from_edge_items([tuple(written(element) for element in chain) for chain in items])
    assert plain(graph) == expected
    seen = list(dict.fromkeys(name for source, target, _ in expected for name in (source, target)))
    assert [one.name for one in graph.nodes] == seen


labels = st.one_of(st.sampled_from(["x", "y"]), st.integers(0, 2), st.booleans())
routed = st.one_of(st.none(), labels, st.just(DEFAULT_ROUTE), st.lists(labels, min_size=1, max_size=3))


@given(
    st.lists(st.tuples(st.sampled_from(NAMES), routed), max_size=8),
    st.one_of(st.none(), labels, st.lists(labels, max_size=3), st.just("nobody")),
)
def test_targets_of_a_route(edges: list[tuple[str, Any]], route: Any) -> None:
    """Followed are all edges without route and all with a matching label; without a match, the default edges."""

    def all_labels(label: Any) -> list[Any]:
        return label if isinstance(label, list) else [label]

    emitted = [] if route is None else all_labels(route)
    matched = {name for name, label in edges if label is not None and any(one in emitted for one in all_labels(label))}
    matched |= {name for name, label in edges if not matched and label == DEFAULT_ROUTE}
    expected = [name for name in dict.fromkeys(n for n, _ in edges) if name in matched or (name, None) in edges]

    graph = Graph(edges=[Edge(from_node=START, to_node=NODES[name], route=label) for name, label in edges])
    assert graph.get_next_pending_nodes("__START__", route) == expected


def test_true_is_one() -> None:
    """Routes match as Python compares, so that 1 follows the edge of True and False that of 0."""
    graph = Graph.from_edge_items([(a, {True: b, 0: c})])
    assert graph.get_next_pending_nodes("a", 1) == ["b"]
    assert graph.get_next_pending_nodes("a", False) == ["c"]


def test_indexes() -> None:
    """A graph knows what leaves a node, what enters it, and where it ends."""
    join = JoinNode(name="join")
    graph = Graph.from_edge_items([("START", (a, b), join), (a, {"x": c})])
    assert graph.predecessors("join") == ("a", "b")
    assert graph.outgoing("a").labels == ("x",)
    assert [name for name in ("a", "b", "c", "join") if graph.is_terminal(name)] == ["c", "join"]
    assert graph.node("join") is join


def test_an_object_is_one_node() -> None:
    """The same function, method or agent, written in several places, is one node; a node stays what it is."""

    class Desk:
        """Has a method that is a node."""

        def file(self) -> None:
            """Do it."""

    desk, agent, own = Desk(), Agent(name="writer", model=ScriptedModel([])), BaseNode(name="own")
    graph = Graph.from_edge_items(
        [("START", a, agent), (agent, {"x": desk.file, "y": a}), (desk.file, own), Edge(from_node=own, to_node=agent)]
    )
    assert [one.name for one in graph.nodes] == ["__START__", "a", "writer", "file", "own"]
    assert graph.node("own") is own
    assert graph.node("writer") is not agent
    assert agent.mode is None


def test_start() -> None:
    """START and the string "START" are the same, in edges and in an Edge."""
    edge: Any = Edge(from_node="START", to_node=NODES["a"])  # type: ignore[arg-type]
    assert edge.from_node is START
    assert plain(Graph.from_edge_items([(START, a)])) == plain(Graph.from_edge_items([("START", a)]))


def test_no_edges() -> None:
    """A workflow without edges is a graph without nodes."""
    assert plain(Workflow(name="wf").graph) == []


def test_description() -> None:
    """A graph describes itself as plain data: routes as texts, the default apart, nested graphs inside."""
    inner = Workflow(name="inner", edges=[("START", b)])
    drawn = Workflow(name="wf", edges=[("START", a), (a, {1: inner, DEFAULT_ROUTE: c})]).describe()
    assert [(one.source, one.target, one.routes, one.is_default) for one in drawn.edges] == [
        ("__START__", "a", (), False),
        ("a", "inner", ("1",), False),
        ("a", "c", (), True),
    ]
    assert [one.kind for one in drawn.nodes] == ["start", "function", "workflow", "function"]
    nested = drawn.nodes[2].inner
    assert nested is not None
    assert [one.name for one in nested.nodes] == ["__START__", "b"]


class Custom(BaseNode):
    """A node class, for the mistake of giving it instead of a node."""


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (("START", a), ["Invalid edge type str", "edges=[('START', a, b)"]),
        ([a], ["Invalid edge type function"]),
        ([("START",)], ["1 element and makes no edge", "('START', a)"]),
        ([()], ["0 elements and makes no edge"]),
        ([("START", a, (), b)], ["empty tuple"]),
        ([("START", a, {}, b)], ["Routing map must not be empty"]),
        ([("START", a, {"x": ()})], ["Invalid routing map value for route 'x'", "nothing would run"]),
        ([("START", a, {"x": b}, {"y": c})], ["Consecutive routing maps", "put a node between"]),
        ([("START", a, {"x": {"y": b}})], ["Invalid routing map value for route 'x'"]),
        ([("START", a, {"x": (b, (c, d))})], ["Invalid node in fan-out tuple for route 'x'"]),
        ([("START", a, {1.5: b})], ["Invalid routing map key 1.5 of type float", "str, int or bool"]),
        ([("START", a, {None: b})], ["Invalid routing map key None"]),
        ([("START", 3)], ["Invalid node type int (3)", "a node is a function, an Agent"]),
        ([("START", None)], ["Invalid node type NoneType"]),
        ([("START", "a")], ["Invalid node type str ('a')", "without quotes"]),
        ([("START", {a, b})], ["Invalid node type set", "as a tuple"]),
        ([("START", (one for one in (a, b)))], ["Invalid node type generator", "as a tuple"]),
        ([("START", (a, (b, c)))], ["Invalid node type tuple", "one tuple"]),
        ([("START", Custom)], ["this is the class", "write Custom(name=...)"]),
        ([("START", Agent)], ["this is the class", "write LlmAgent(name=...)"]),
        ([("START", lambda: 1)], ["lambda", "must have a name", "node(lambda ..., name='lookup')"]),
        ([("START", int)], ["built in", "def convert(node_input): return int(node_input)"]),
    ],
)
def test_edges_that_make_no_graph(edges: Any, words: list[str]) -> None:
    """A mistake in the edges is one sentence of ours that shows what was found and says what to write."""
    with pytest.raises(WorkflowConfigurationError) as caught:
        Workflow(name="wf", edges=edges)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"from_node": a}, "from_node is a function"),
        ({"to_node": 3}, "to_node is a int (3)"),
        ({"route": 1.5}, "Invalid route 1.5: a route is a str, int, bool or a list of them"),
        ({"route": ["x", None]}, "Invalid route ['x', None]"),
        ({"route": []}, "never followed"),
        ({"rout": "x"}, "Edge has no argument 'rout': it has 'route' (did you mean this?)"),
    ],
)
def test_edge_mistakes(fields: dict[str, Any], words: str) -> None:
    """An Edge joins two nodes on routes that can be followed."""
    with pytest.raises(WorkflowConfigurationError) as caught:
        Edge(**{"from_node": START, "to_node": NODES["a"], **fields})
    assert words in str(caught.value)


def test_nodes_are_inferred() -> None:
    """A graph takes its nodes from its edges."""
    with pytest.raises(WorkflowConfigurationError, match="Nodes are inferred from edges"):
        Graph(nodes=[NODES["a"]])
