"""Routes: which edges are taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.parity.pieces import flow, gives, routes, shows
from tests.parity.side import Side


async def a_route_takes_its_edge(adk: Side) -> None:
    """A route takes the edge with its value, and the node's output goes along."""
    await adk.play(flow(adk, routes(adk, "r", "y", {"k": 1}), {"x": shows(adk, "x"), "y": shows(adk, "y")}))


async def several_routes_take_several_edges(adk: Side) -> None:
    """A list of routes takes every edge with one of its values."""
    targets = {name: shows(adk, name) for name in "xyz"}
    await adk.play(flow(adk, routes(adk, "r", ["x", "z"]), targets))


async def a_list_on_an_edge_takes_any(adk: Side) -> None:
    """An edge with a list of routes is taken for any of them, and once."""
    r, x = routes(adk, "r", ["a", "b"]), shows(adk, "x")
    await adk.play(adk.Workflow(name="wf", edges=[("START", r), adk.Edge(from_node=r, to_node=x, route=["a", "b"])]))


async def the_default_takes_what_is_left(adk: Side) -> None:
    """The default edge is taken when no other edge with a route is."""
    routes_given: list[Any] = ["x", "other", None, []]
    for number, route in enumerate(routes_given):
        await adk.play(
            flow(adk, routes(adk, "r", route), {"x": shows(adk, "x"), adk.DEFAULT_ROUTE: shows(adk, "d")}),
            session_id=f"s{number}",
        )


async def an_edge_without_route_is_always_taken(adk: Side) -> None:
    """Edges without a route are taken whatever the route, and don't replace the default."""
    for number, route in enumerate(["x", "other"]):
        r = routes(adk, "r", route)
        edges = [
            ("START", r),
            (r, shows(adk, "always")),
            (r, {"x": shows(adk, "x"), adk.DEFAULT_ROUTE: shows(adk, "d")}),
        ]
        await adk.play(adk.Workflow(name="wf", edges=edges), session_id=f"s{number}")


async def false_and_zero_are_routes(adk: Side) -> None:
    """False and zero are routes like any other."""
    for number, route in enumerate([False, True, 0, 1]):
        await adk.play(
            flow(adk, routes(adk, "r", route), {True: shows(adk, "yes"), False: shows(adk, "no")}),
            session_id=f"s{number}",
        )


async def a_route_without_an_edge_ends_the_path(adk: Side) -> None:
    """A route that no edge has ends this path without an error."""
    talk = await adk.play(flow(adk, routes(adk, "r", "q"), {"x": gives(adk, "x")}))
    adk.note("status", await talk.status())


async def a_fan_out_behind_a_route(adk: Side) -> None:
    """A route may lead to several nodes at once, each on its own branch."""
    await adk.play(flow(adk, routes(adk, "r", "x"), {"x": (shows(adk, "b"), shows(adk, "c")), "y": gives(adk, "y")}))


async def a_context_sets_the_route(adk: Side) -> None:
    """`ctx.route` is the route; it is sent after the output."""

    def r(ctx: Any) -> int:
        ctx.route = "x"
        return 5

    await adk.play(flow(adk, r, {"x": shows(adk)}))


async def the_last_route_counts(adk: Side) -> None:
    """Of several routes in one run of a node the last counts."""

    def r() -> Iterator[Any]:
        yield adk.Event(route="x")
        yield adk.Event(route="y", output=1)

    await adk.play(flow(adk, adk.node(r), {"x": shows(adk, "x"), "y": shows(adk, "y")}))


async def a_context_route_and_an_event_route(adk: Side) -> None:
    """A route on the context against one on an event."""

    def r(ctx: Any) -> Iterator[Any]:
        ctx.route = "x"
        yield adk.Event(route="y", output=1)

    await adk.play(flow(adk, adk.node(r), {"x": shows(adk, "x"), "y": shows(adk, "y")}))


async def a_route_alone_hands_on_nothing(adk: Side) -> None:
    """A route without an output hands on `None`."""

    def r() -> Any:
        return adk.Event(route="x")

    await adk.play(flow(adk, adk.node(r), {"x": shows(adk)}))


async def a_route_of_somebody_else(adk: Side) -> None:
    """A route on an event that names another author."""

    def r() -> Any:
        return adk.Event(author="bot", output=1, route="x")

    await adk.play(flow(adk, adk.node(r), {"x": shows(adk)}))


async def several_defaults_all_fire(adk: Side) -> None:
    """A node may have several default edges, which are all taken."""
    r, b, c = routes(adk, "r", "none"), shows(adk, "b"), shows(adk, "c")
    await adk.play(
        adk.Workflow(name="wf", edges=[("START", r), (r, {adk.DEFAULT_ROUTE: b}), (r, {adk.DEFAULT_ROUTE: c})])
    )


async def a_route_without_routed_edges(adk: Side) -> None:
    """A route of a node whose edges have none is kept on the event, and the edges are taken."""
    await adk.play(flow(adk, routes(adk, "r", "x"), shows(adk)))
