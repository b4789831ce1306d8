"""The rules of edges and graphs, one after the other, each through `Workflow` or the classes that people write."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from pydantic import BaseModel

from adk_nb import Agent, Context
from adk_nb.errors import GraphValidationError, StateSchemaError, WorkflowConfigurationError
from adk_nb.events import Status
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import DEFAULT_ROUTE, START, BaseNode, Edge, JoinNode, Workflow, node
from adk_nb.workflow.graph import Graph
from tests.workflow.driving import Conversation, run

A, B, C, D, E = (node(lambda: None, name=name) for name in "abcde")


def links(*edges: Any) -> list[tuple[str, str, Any]]:
    """Return the edges of a workflow as (source, target, route)."""
    graph = Workflow(name="w", edges=list(edges)).graph
    assert graph is not None
    return [(edge.from_node.name, edge.to_node.name, edge.route) for edge in graph.edges]


FORMS = [
    ([("START", A)], [("__START__", "a", None)]),
    ([(START, A)], [("__START__", "a", None)]),
    ([["START", A, B]], [("__START__", "a", None), ("a", "b", None)]),
    (
        [("START", (A, B), (C, D))],
        [("__START__", "a", None), ("__START__", "b", None)] + [(x, y, None) for x in "ab" for y in "cd"],
    ),
    ([("START", A, {"x": B, 1: [C, D], False: E})], [("a", "b", "x"), ("a", "c", 1), ("a", "d", 1), ("a", "e", False)]),
    (
        [("START", A, {"x": B, "y": (C, D)}, E)],
        [("a", "b", "x"), ("a", "c", "y"), ("a", "d", "y"), ("b", "e", None), ("c", "e", None), ("d", "e", None)],
    ),
    ([("START", (A, B), {"x": C})], [("__START__", "b", None), ("a", "c", "x"), ("b", "c", "x")]),
    ([("START", A), Edge(from_node=A, to_node=B, route=["x", "y"])], [("a", "b", ["x", "y"])]),
]


@pytest.mark.parametrize(("edges", "expected"), FORMS)
def test_every_form_of_an_edge(edges: list[Any], expected: list[Any]) -> None:
    """Chains, fan-outs, fan-ins, maps as target and as source, lists for tuples and `Edge` objects make their edges."""
    assert links(*edges)[-len(expected) :] == expected


REFUSED_FORMS: list[tuple[Any, str]] = [
    ([("START", A, {"x": B}, {"y": C})], "Consecutive routing maps"),
    ([("START", A, {})], "Routing map must not be empty"),
    ([("START", A, {1.5: B})], "Invalid routing map key"),
    ([("START", A, {"x": {"y": B}})], "Invalid routing map value"),
    ([("START", A, {"x": (B, (C,))})], "Invalid node in fan-out tuple"),
    ([("START", A, {"x": ()})], "Invalid routing map value"),
    ([42], "Invalid edge type"),
    (["START"], "Invalid edge type"),
    ([("START", 42)], "Invalid node type"),
    ([("START", "a")], "Invalid node type"),
    ([("START", None)], "Invalid node type"),
    ([("START", BaseNode)], "Invalid node type"),
    ([("START", (A, (B,)))], "Invalid node type"),
    ([("START", A), ()], "makes no edge"),
    ([("START", A), (B,)], "makes no edge"),
    ([("START", A, (), B)], "An empty tuple stands in a chain"),
]


@pytest.mark.parametrize(("edges", "says"), REFUSED_FORMS)
def test_forms_that_are_refused(edges: list[Any], says: str) -> None:
    """What can't be read as an edge is refused, and so is what would silently lose a node."""
    with pytest.raises(WorkflowConfigurationError, match=says):
        Workflow(name="w", edges=edges)


GRAPHS: list[tuple[list[Any], str]] = [
    ([("START", A, node(lambda: None, name="a"))], r"Duplicate node names found: 'a'"),
    ([(A, B)], r"START node was not found"),
    ([("START", {"x": A})], r"Edges from START must not have routes"),
    ([("START", A), (C, B)], r"unreachable from START: 'b', 'c'"),
    ([("START", A, "START")], r"must not have incoming edges"),
    ([("START", A, B), (A, B)], r"Duplicate edge found: from=a, to=b"),
    ([("START", A, B), (A, {"x": B})], r"Duplicate edge found"),
    ([("START", A, {"x": B}), Edge(from_node=A, to_node=B, route=["y", "x"])], r"Duplicate edge found"),
    ([("START", A), Edge(from_node=A, to_node=B, route=["x", DEFAULT_ROUTE])], r"cannot be combined"),
    ([("START", A, B, A)], r"Unconditional cycle detected: a -> b -> a"),
    ([("START", A, A)], r"Unconditional cycle detected: a -> a"),
    ([("START", (A, B), JoinNode(name="j", wait_for=3))], r"waits for 3 nodes, but only 2 lead to it"),
]


@pytest.mark.parametrize(("edges", "says"), GRAPHS)
def test_graphs_that_are_refused(edges: list[Any], says: str) -> None:
    """Each rule of a graph fails with its words, as a `ValueError`, however the graph is given."""
    with pytest.raises(GraphValidationError, match=f"Graph validation failed: .*{says}") as raised:
        Workflow(name="w", edges=edges)
    assert isinstance(raised.value, ValueError)
    graph = Graph.from_edge_items(edges)
    with pytest.raises(GraphValidationError, match=says):
        graph.validate_graph()
    with pytest.raises(GraphValidationError, match=says):
        Workflow(name="w", graph=graph)


def test_graphs_that_stand() -> None:
    """Disjoint routes of one pair, several defaults, and cycles over a route or a default are graphs."""
    assert links(("START", A, {"x": B, "y": B}))[1:] == [("a", "b", "x"), ("a", "b", "y")]
    assert len(links(("START", A, {DEFAULT_ROUTE: (B, C)}))) == 3
    assert links(("START", A, {DEFAULT_ROUTE: A}))[1:] == [("a", "a", DEFAULT_ROUTE)]


def test_one_object_is_one_node() -> None:
    """A function, agent or node in several places is one node; wrapped twice it is two, and their names clash."""

    def f() -> None:
        """A node."""

    agent = Agent(name="agent", model=ScriptedModel([]), instruction="x")
    graph = Workflow(name="w", edges=[("START", f, agent), (agent, {"again": f})]).graph
    assert graph is not None
    assert [one.name for one in graph.nodes] == ["__START__", "f", "agent"]
    assert links(("START", f, B), (f, C))[1:] == [("f", "b", None), ("f", "c", None)]
    with pytest.raises(GraphValidationError, match="Duplicate node names found: 'f'"):
        Workflow(name="w", edges=[("START", node(f), node(f))])


def test_nodes_stay_and_agents_are_copied() -> None:
    """A node is used as it is; an agent becomes a copy with what being a node means, and stays as it was."""
    agent = Agent(name="agent", model=ScriptedModel([]), instruction="x")
    chatting = Agent(name="chatting", model=ScriptedModel([]), instruction="x", mode="chat")
    graph = Workflow(name="w", edges=[("START", A, agent), ("START", chatting)]).graph
    assert graph is not None
    assert graph.node("a") is A
    copy, chat = graph.node("agent"), graph.node("chatting")
    assert isinstance(copy, Agent)
    assert copy is not agent
    assert (copy.mode, copy.rerun_on_resume, copy.include_contents, copy.wait_for_output) == (
        "single_turn",
        True,
        "none",
        False,
    )
    assert chat.wait_for_output
    assert (agent.mode, agent.rerun_on_resume, agent.include_contents) == (None, False, "default")


def test_names_of_nodes() -> None:
    """A name is given, else the function's, else that of the callable inside; a lambda has none."""

    def f(x: int = 0) -> None:
        """A node."""

    class Callable:
        def __call__(self) -> None:
            """A node."""

    assert node(f, name="g").name == "g"
    assert node(f).name == node(functools.partial(f, x=1)).name == "f"
    assert node(Callable()).name == "__call__"
    assert node(A) is A
    assert node(A, name="other") is not A
    assert A.name == "a"
    with pytest.raises(WorkflowConfigurationError, match="must have a name"):
        node(lambda: None)


def test_nodes_stand_in_the_order_of_their_appearance() -> None:
    """`graph.nodes` has START and every node where the edges first name it; the ends are those without any edge."""
    graph = Workflow(name="w", edges=[("START", B, {"x": A}), (B, {"y": C})]).graph
    assert graph is not None
    assert [one.name for one in graph.nodes] == ["__START__", "b", "a", "c"]
    assert [one.name for one in graph.nodes if graph.is_terminal(one.name)] == ["a", "c"]
    assert graph.get_next_pending_nodes("b", "y") == ["c"]
    assert graph.get_next_pending_nodes("b", None) == []


def test_a_node_may_refuse_its_edges() -> None:
    """`_validate_outgoing_edges` of a node is asked, and a chatting agent refuses to stand behind another node."""

    class Last(BaseNode):
        def _validate_outgoing_edges(self, edges: list[Edge]) -> None:
            if edges:
                raise ValueError(f"{self.name} is the last one")

    last = Last(name="last")
    assert Workflow(name="w", edges=[("START", last)]).graph is not None
    with pytest.raises(ValueError, match="last is the last one"):
        Workflow(name="w", edges=[("START", last, A)])
    chat = Agent(name="chat", model=ScriptedModel([]), instruction="x", mode="chat")
    assert Workflow(name="w", edges=[("START", chat)]).graph is not None
    with pytest.raises(
        GraphValidationError, match=r"mode='chat'.*can't be a following node \(a -> chat\).*single_turn"
    ):
        Workflow(name="w", edges=[("START", A, chat)])


class Keys(BaseModel):
    """Keys of the state."""

    city: str = ""


def test_what_a_workflow_with_a_state_schema_takes() -> None:
    """Arguments of functions other than the context and `node_input` have to be fields of the schema."""

    def fine(ctx: Context, node_input: str, city: str) -> None:
        """A node."""

    def also_fine(context: Context, city: str) -> None:
        """A node whose context has another name."""

    def wrong(node_input: str, town: str) -> None:
        """A node."""

    assert Workflow(name="w", edges=[("START", fine, also_fine)], state_schema=Keys).graph is not None
    with pytest.raises(StateSchemaError, match=r"'town' of function 'wrong' is not declared in state_schema Keys"):
        Workflow(name="w", edges=[("START", wrong)], state_schema=Keys)


def test_a_workflow_without_edges() -> None:
    """It is legal, says nothing and has no output."""

    async def test() -> None:
        talk = Conversation(Workflow(name="w", edges=[]))
        assert await talk.say() == []
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, None)

    run(test)


def test_what_classes_take() -> None:
    """`Edge` joins nodes only, `Graph` takes no nodes, `Workflow` and `JoinNode` no unknown keyword."""
    wrongs: list[tuple[Any, dict[str, Any]]] = [
        (Edge, {"from_node": A, "to_node": test_a_workflow_without_edges}),
        (Edge, {"from_node": A, "to_node": B, "when": "x"}),
        (Edge, {"from_node": A, "to_node": B, "route": 1.5}),
        (JoinNode, {"name": "j", "predecessors": 2}),
        (Workflow, {"name": "w", "nodes": [A]}),
    ]
    for kind, given in wrongs:
        with pytest.raises(WorkflowConfigurationError):
            kind(**given)
    with pytest.raises(WorkflowConfigurationError, match="Nodes are inferred from edges"):
        Graph(nodes=[A])
    flow = Workflow(name="w")
    assert (flow.rerun_on_resume, flow.max_concurrency, flow.edges) == (True, None, [])
    assert (START.name, DEFAULT_ROUTE) == ("__START__", "__DEFAULT__")
