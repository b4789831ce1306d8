"""Graphs: how edges are written, and which graphs are refused."""

from __future__ import annotations

import functools
from typing import Any

from tests.parity.pieces import Ticket, flow, gives, routes, shows
from tests.parity.side import Side


def edges_of(graph: Any) -> list[tuple[str, str, Any]]:
    """Return a graph's edges as names and route."""
    return [(edge.from_node.name, edge.to_node.name, edge.route) for edge in graph.edges]


async def a_chain_runs_in_order(adk: Side) -> None:
    """A chain of functions runs one after the other, and each gets what the one before returned."""

    def first(node_input: str) -> str:
        return f"first({node_input})"

    def second(node_input: str) -> str:
        return f"second({node_input})"

    await adk.play(adk.Workflow(name="wf", edges=[("START", first, second)]))


async def chains_are_linked_pair_by_pair(adk: Side) -> None:
    """A chain with a routing map and a fan-out gives one edge a pair; what follows a map follows all its targets."""
    a, b, c, d, e = (gives(adk, name) for name in "abcde")
    graph = adk.Workflow(name="wf", edges=[("START", a, {"x": b, "y": (c, d)}, e)]).graph
    adk.note("edges", edges_of(graph))
    adk.note("nodes", [one.name for one in graph.nodes])


async def a_fan_out_to_a_fan_in_crosses(adk: Side) -> None:
    """A tuple before a tuple gives an edge from each to each."""
    a, b, c, d = (gives(adk, name) for name in "abcd")
    adk.note("edges", edges_of(adk.Workflow(name="wf", edges=[("START", (a, b), (c, d))]).graph))


async def lists_are_taken_as_tuples(adk: Side) -> None:
    """A chain or a fan-out may be written as a list."""
    a, b, c = (gives(adk, name) for name in "abc")
    adk.note("edges", edges_of(adk.Workflow(name="wf", edges=[["START", a, [b, c]]]).graph))


async def an_edge_is_written_as_an_object(adk: Side) -> None:
    """An `Edge` may stand among the chains, with one route or several."""
    choose, x, y = routes(adk, "choose", "y"), gives(adk, "x", "X"), gives(adk, "y", "Y")
    await adk.play(
        adk.Workflow(
            name="wf",
            edges=[
                ("START", choose),
                adk.Edge(from_node=choose, to_node=x, route="x"),
                adk.Edge(from_node=choose, to_node=y, route=["y", "z"]),
            ],
        )
    )


async def an_edge_takes_nodes_only(adk: Side) -> None:
    """An `Edge` between bare functions, or with a keyword that it doesn't know, is refused."""
    a, b = gives(adk, "a"), gives(adk, "b")
    adk.refused("function", lambda: adk.Edge(from_node=a, to_node=print))
    adk.refused("keyword", lambda: adk.Edge(from_node=a, to_node=b, when="x"))


async def start_is_an_object_too(adk: Side) -> None:
    """`START` and the text "START" are the same in edges."""
    adk.note("name", adk.START.name)
    await adk.play(adk.Workflow(name="wf", edges=[(adk.START, gives(adk, "a", 1))]))


async def start_has_no_options(adk: Side) -> None:
    """START with options of a node."""
    adk.refused("options", lambda: adk.node(adk.START, rerun_on_resume=True))


async def one_function_is_one_node(adk: Side) -> None:
    """The same function in several places is one node."""

    def a() -> int:
        return 1

    b, c = gives(adk, "b"), gives(adk, "c")
    adk.note("edges", edges_of(adk.Workflow(name="wf", edges=[("START", a, b), (a, c)]).graph))


async def a_function_wrapped_twice_is_two_nodes(adk: Side) -> None:
    """The same function made a node twice is two nodes, whose names clash."""

    def a() -> int:
        return 1

    one, two = adk.node(a), adk.node(a)
    adk.refused("twice", lambda: flow(adk, one, two), "Graph validation failed", "Duplicate node names found", "a")


async def a_graph_needs_a_start(adk: Side) -> None:
    """A graph without START is refused."""
    a, b = gives(adk, "a"), gives(adk, "b")
    adk.refused("no start", lambda: adk.Workflow(name="wf", edges=[(a, b)]), "START node", "not found")


async def start_has_no_routes(adk: Side) -> None:
    """An edge with a route that leaves START is refused."""
    a = gives(adk, "a")
    adk.refused("map", lambda: flow(adk, {"x": a}), "Edges from START must not have routes")


async def every_node_is_reached(adk: Side) -> None:
    """Nodes that can't be reached from START are refused, with their names."""
    a, b, c = (gives(adk, name) for name in "abc")
    adk.refused(
        "island", lambda: adk.Workflow(name="wf", edges=[("START", a), (b, c)]), "unreachable from START", "b", "c"
    )


async def nothing_leads_into_start(adk: Side) -> None:
    """An edge into START is refused."""
    a = gives(adk, "a")
    adk.refused("back", lambda: flow(adk, a, "START"), "must not have incoming edges")


async def an_edge_stands_once(adk: Side) -> None:
    """The same pair twice is refused when a message could take both; with other routes it is allowed."""
    a, b = gives(adk, "a"), gives(adk, "b")
    adk.refused(
        "twice",
        lambda: adk.Workflow(name="wf", edges=[("START", a, b), (a, b)]),
        "Duplicate edge found",
        "from=a, to=b",
    )
    adk.refused(
        "overlap",
        lambda: adk.Workflow(
            name="wf", edges=[("START", a, {"x": b}), adk.Edge(from_node=a, to_node=b, route=["x", "y"])]
        ),
        "Duplicate edge found",
    )
    adk.refused(
        "with and without",
        lambda: adk.Workflow(name="wf", edges=[("START", a, {"x": b}), (a, b)]),
        "Duplicate edge found",
    )
    adk.refused("other route", lambda: adk.Workflow(name="wf", edges=[("START", a, {"x": b, "y": b})]))


async def a_default_route_stands_alone(adk: Side) -> None:
    """The default route in a list of routes is refused."""
    a, b = gives(adk, "a"), gives(adk, "b")
    edge = adk.Edge(from_node=a, to_node=b, route=["x", adk.DEFAULT_ROUTE])
    adk.refused("list", lambda: adk.Workflow(name="wf", edges=[("START", a), edge]), "cannot be combined")


async def a_loop_needs_a_condition(adk: Side) -> None:
    """A circle of edges without routes is refused; one with a route, even the default, is allowed."""
    a, b = gives(adk, "a"), gives(adk, "b")
    adk.refused("circle", lambda: flow(adk, a, b, a), "Unconditional cycle detected")
    adk.refused("default", lambda: adk.Workflow(name="wf", edges=[("START", a, b, {adk.DEFAULT_ROUTE: a})]))


async def schemas_along_an_edge_agree(adk: Side) -> None:
    """A node that returns one model can't lead to a node that takes another."""

    class Other(Ticket):
        pass

    def a() -> Any:
        return None

    def b(node_input: Any) -> Any:
        return node_input

    a.__annotations__["return"], b.__annotations__["node_input"] = Ticket, Other
    adk.refused("mismatch", lambda: flow(adk, a, b), "Schema mismatch on edge a -> b")
    b.__annotations__["node_input"] = Ticket
    adk.refused("match", lambda: flow(adk, adk.node(a), adk.node(b)))


async def routing_maps_dont_follow_each_other(adk: Side) -> None:
    """Two routing maps in a row are refused."""
    a, b, c = (gives(adk, name) for name in "abc")
    adk.refused("maps", lambda: flow(adk, a, {"x": b}, {"y": c}), "Consecutive routing maps")


async def a_routing_map_holds_something(adk: Side) -> None:
    """An empty routing map, a key that is no route and a map in a map are refused."""
    a, b = gives(adk, "a"), gives(adk, "b")
    adk.refused("empty", lambda: flow(adk, a, {}), "Routing map must not be empty")
    adk.refused("key", lambda: flow(adk, a, {1.5: b}))
    adk.refused("map in map", lambda: flow(adk, a, {"x": {"y": b}}))


async def only_nodes_stand_in_edges(adk: Side) -> None:
    """A number in an edge, or an item that is no chain, is refused."""
    a = gives(adk, "a")
    adk.refused("number", lambda: flow(adk, a, 5))
    adk.refused("no chain", lambda: adk.Workflow(name="wf", edges=[a]))
    adk.refused("node of a number", lambda: adk.node(5), "Invalid node type")


async def a_name_is_an_identifier(adk: Side) -> None:
    """A node's name must be a Python identifier; keywords are."""
    for name in ("1a", "a-b", "a b"):
        adk.refused(name, functools.partial(gives, adk, name), "must be a valid Python identifier")
    adk.refused("empty", lambda: adk.Workflow(name="", edges=[]), "must be a valid Python identifier")
    adk.refused("class", lambda: gives(adk, "class", 1))
    adk.refused("lambda", lambda: adk.node(lambda: 1), "must be a valid Python identifier")


async def a_chat_agent_follows_start_only(adk: Side) -> None:
    """An agent in chat mode may only be entered from START."""
    a = gives(adk, "a")
    chat = adk.Agent(name="chatty", model="gemini-2.5-flash", mode="chat")
    adk.refused("after a node", lambda: flow(adk, a, chat), "mode='chat'", "single_turn")


async def terminal_nodes_have_no_edges_out(adk: Side) -> None:
    """A node with an edge out, even one that isn't taken, doesn't give the workflow's output."""
    choose, x = routes(adk, "choose", "other", "O"), gives(adk, "x", "X")
    inner = adk.Workflow(
        name="inner", edges=[("START", gives(adk, "a", 1), (gives(adk, "b", "B"), choose)), (choose, {"x": x})]
    )
    await adk.play(flow(adk, inner, shows(adk)))


async def a_workflow_without_edges_is_legal(adk: Side) -> None:
    """A workflow without edges runs, says nothing and hands on nothing."""
    await adk.play(flow(adk, adk.Workflow(name="inner", edges=[]), shows(adk)))
    await adk.play(adk.Workflow(name="wf", edges=[]), session_id="s2")


async def a_chain_of_one_is_refused(adk: Side) -> None:
    """A chain of one element, an empty fan-out and an unknown keyword are mistakes."""
    a, b = gives(adk, "a"), gives(adk, "b")
    adk.refused("one element", lambda: adk.Workflow(name="wf", edges=[("START", a), (b,)]))
    adk.refused("empty tuple", lambda: flow(adk, a, (), b))
    adk.refused("keyword", lambda: flow(adk, a, max_concurency=1))


async def a_node_is_used_as_it_is(adk: Side) -> None:
    """`node(x)` of a node is that node; with an option it is a copy, and the first stays as it was."""
    a = gives(adk, "a", 1)
    other = adk.node(a, name="b", rerun_on_resume=True)
    adk.note("same", adk.node(a) is a)
    adk.note("copy", [other is a, other.name, other.rerun_on_resume, a.name, a.rerun_on_resume])


async def a_workflow_reruns_on_resume_by_default(adk: Side) -> None:
    """Flags of nodes: a function isn't rerun after an answer, a workflow is; nothing waits for output."""
    wf, a, join = flow(adk, gives(adk, "a")), gives(adk, "b"), adk.JoinNode(name="j")
    adk.note("rerun", [wf.rerun_on_resume, a.rerun_on_resume])
    adk.note("wait", [wf.wait_for_output, a.wait_for_output])
    adk.note("limits", [wf.max_concurrency, a.timeout, a.retry_config, join.description])


async def graph_errors_have_a_class_of_their_own(adk: Side) -> None:
    """A graph that is refused raises a `ValueError`; which class it is."""
    try:
        adk.Workflow(name="wf", edges=[("START", gives(adk, "a"), gives(adk, "a"))])
    except ValueError as error:
        adk.note("class", type(error).__name__)


async def a_graph_may_be_given(adk: Side) -> None:
    """A workflow takes a ready graph in place of edges, and its last node gives the output."""
    graph_class: Any = type(flow(adk, gives(adk, "z")).graph)
    graph = graph_class.from_edge_items([("START", gives(adk, "a", 1), gives(adk, "b", 2))])
    inner = adk.Workflow(name="inner", graph=graph)
    await adk.play(flow(adk, inner, shows(adk)))


async def a_node_refuses_its_edges(adk: Side) -> None:
    """A node class may refuse the edges that lead away from it."""
    BaseNode: Any = adk.BaseNode

    class Last(BaseNode):
        def _validate_outgoing_edges(self, edges: Any) -> None:
            if edges:
                raise ValueError("nothing follows this node")

    adk.refused("followed", lambda: flow(adk, Last(name="last"), gives(adk, "a")), "nothing follows this node")
    adk.refused("last", lambda: flow(adk, gives(adk, "a"), Last(name="last")))
