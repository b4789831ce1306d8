"""Rules of scheduling, routing, joins and the workflow's output, one after the other, through the runner."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel, ValidationError

from adk_nb import Context, Event
from adk_nb.events import RequestInput, Status
from adk_nb.events.paths import outside
from adk_nb.workflow import DEFAULT_ROUTE, BaseNode, JoinNode, Workflow, node
from tests.workflow.driving import Conversation, lines, run
from tests.workflow.playing import Play, nodes


def gives(name: str, value: Any = "as named") -> BaseNode:
    """Return a node that hands on its name in capitals, or a value."""
    return node(lambda: name.upper() if value == "as named" else value, name=name)


def takes(name: str, route: Any) -> BaseNode:
    """Return a node that hands on its name in capitals and takes a route."""
    return node(lambda: Event(output=name.upper(), route=route), name=name)


async def played(*edges: Any, **options: Any) -> tuple[Conversation, list[Event]]:
    """Run a workflow once."""
    talk = Conversation(Workflow(name="w", edges=list(edges), **options))
    return talk, await talk.say("hello")


def test_inputs_and_branches_at_the_start() -> None:
    """START's successors get the user's message: several on branches of their own, a single one on the trunk."""

    async def test() -> None:
        got: list[Any] = []

        def see(ctx: Context, node_input: Any) -> None:
            got.append((node_input, ctx.branch))

        await played(("START", node(see, name="one")))
        await played(("START", (node(see, name="a"), node(see, name="b"))))
        assert [type(value) for value, _ in got] == [types.Content] * 3
        assert [branch for _, branch in got] == [None, "a@1", "b@1"]

    run(test)


ROUTED: list[tuple[Any, list[str]]] = [
    ("x", ["always", "x"]),
    (["x", 0], ["always", "x", "zero"]),
    (False, ["always", "zero"]),
    (True, ["always", "one"]),
    (1, ["always", "one"]),
    ([], ["always", "other"]),
    (None, ["always", "other"]),
    ("nobody", ["always", "other"]),
]


@pytest.mark.parametrize(("route", "expected"), ROUTED)
def test_which_edges_are_followed(route: Any, expected: list[str]) -> None:
    """All edges without route, those whose label equals the route, and the default only when no label did."""

    async def test() -> None:
        r = takes("r", route)
        ends = {name: gives(name, None) for name in ("always", "x", "zero", "one", "other")}
        labelled = {"x": ends["x"], 0: ends["zero"], 1: ends["one"], DEFAULT_ROUTE: ends["other"]}
        talk, _ = await played(("START", r, ends["always"]), (r, labelled))
        records = await talk.records()
        assert sorted(one.name for one in records.values() if one.parent == "w@1" and one.name != "r") == expected

    run(test)


def test_a_route_and_what_is_handed_on() -> None:
    """The last route counts, from an event or the context; a node that only routes hands on None."""

    async def test() -> None:
        def twice(ctx: Context) -> Any:
            yield Event(route="x")
            yield Event(output=1, route="y")

        def by_context(ctx: Context) -> None:
            ctx.route = "y"

        for router, value in ((twice, 1), (by_context, None)):
            got: list[Any] = []
            y = node(lambda node_input, got=got: got.append(node_input), name="y")
            await played(("START", router, {"x": gives("x"), "y": y}))
            assert got == [value]

    run(test)


def test_triggers_behind_a_question() -> None:
    """While a node waits for an answer its later triggers stay queued, and run after it."""

    async def test() -> None:
        def ask(node_input: str) -> RequestInput:
            return RequestInput(interrupt_id=node_input, message="?")

        talk, events = await played(("START", (gives("a"), gives("b")), ask))
        assert [said for path, said in lines(events) if "/ask@" in path] == ["?A"]
        again = await talk.answer(A="first")
        assert [said for path, said in lines(again) if "/ask@" in path][-1] == "?B"
        await talk.answer(B="second")
        assert (await talk.root()).output == "second"

    run(test)


def test_a_route_is_enough_for_who_waits_for_an_output() -> None:
    """A `wait_for_output` node that takes a route without giving an output triggers what the route leads to."""

    async def test() -> None:
        routed = takes("routed", "x").model_copy(update={"wait_for_output": True})
        silent = node(lambda: Event(route="y"), name="silent").model_copy(update={"wait_for_output": True})
        talk, _ = await played(("START", routed, {"x": silent}), (silent, {"y": gives("end")}))
        assert (await talk.root()).output == "END"

    run(test)


class Value(BaseModel):
    """What each predecessor hands on."""

    n: int


def test_joins() -> None:
    """A join hands on the newest output of each predecessor in edge order, checked one by one, on the common branch."""

    async def test() -> None:
        got: list[Any] = []
        end = node(lambda ctx, node_input: got.append((node_input, ctx.branch)), name="end")
        await played(("START", (gives("b"), gives("a", None), gives("c")), JoinNode(name="j"), end))
        assert got == [({"b": "B", "a": None, "c": "C"}, None)]
        inner = Workflow(name="inner", edges=[("START", (gives("x"), gives("y")), JoinNode(name="j"), end)])
        await played(("START", (inner, gives("beside", None))))
        assert got[1] == ({"x": "X", "y": "Y"}, "inner@1")
        bad = Conversation(
            Workflow(
                name="w",
                edges=[
                    ("START", (gives("a", {"n": 1}), gives("b", {"n": "x"})), JoinNode(name="j", input_schema=Value))
                ],
            )
        )
        error = await bad.fail(ValidationError, bad.say())
        assert "output of 'b' at join 'j'" in str(error)

    run(test)


def test_concurrency_is_a_workflows_own() -> None:
    """`max_concurrency` counts the workflow's own nodes, not those of a nested workflow or of `run_node`."""

    async def test() -> None:
        now: set[str] = set()
        most = 0

        async def busy(ctx: Context) -> None:
            nonlocal most
            now.add(ctx.node_path)
            most = max(most, len(now))
            await asyncio.sleep(0)
            now.discard(ctx.node_path)

        def some(prefix: str) -> tuple[BaseNode, ...]:
            return tuple(node(busy, name=f"{prefix}{i}") for i in range(4))

        await played(("START", some("n")), max_concurrency=1)
        assert most == 1
        inner = Workflow(name="inner", edges=[("START", some("i"))])
        await played(("START", inner), max_concurrency=1)
        assert most == 4

    run(test)


def test_a_terminal_node_that_ends_with_none_gives_no_output() -> None:
    """Of two nodes where the graph ends, the one with an output gives the workflow's."""

    async def test() -> None:
        talk, _ = await played(("START", (gives("a"), gives("b", None))))
        assert (await talk.root()).output == "A"

    run(test)


def test_a_later_none_clears_what_was_before() -> None:
    """A node that ends with None takes its earlier output back, for joins and for the workflow's output."""

    async def test() -> None:
        def last(node_input: str) -> str | None:
            return node_input if node_input == "A" else None

        talk, _ = await played(("START", (gives("a"), gives("b")), last))
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, None)

    run(test)


def test_branches_do_not_grow_with_the_passes_of_a_loop() -> None:
    """A fan-out that is entered again begins where it began first, so its branches differ by their run numbers only."""
    head, a, b, inner, done = nodes("head a b inner done")
    play = Play([("START", head, (a, b)), (a, (inner, done)), (a, {"again": head})])
    play.begin()
    for turn in range(1, 8):
        assert play.end("head")[:1] == [f"start a@{turn}"]
        play.end("b", None)
        play.end("a", None, route="again")
        branches = {run.name: run.branch for run in play.state.active.values()}
        assert branches["head"] == f"a@{turn}.head@{turn + 1}"
        assert branches["inner"] == f"a@{turn}.inner@{turn}"
        play.end("inner", None)
        play.end("done", None)


@pytest.mark.parametrize(
    ("branch", "names", "trunk", "kept"),
    [
        (None, ["a"], None, None),
        ("a@1", ["a", "b"], None, None),
        ("a@1.b@2", ["b"], None, "a@1"),
        ("a@1.b@2", ["c"], None, "a@1.b@2"),
        ("a@1.a@1", ["a"], "a@1", "a@1"),
        ("a@1.b@1.a@1", ["a"], "a@1", "a@1.b@1"),
        ("own", ["own"], "a@1", "own"),
    ],
)
def test_where_a_fan_out_begins(branch: str | None, names: list[str], trunk: str | None, kept: str | None) -> None:
    """Cut is at the first of the nodes, and never in the branch of the workflow itself."""
    assert outside(branch, names, trunk) == kept
