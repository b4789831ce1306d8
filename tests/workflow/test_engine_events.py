"""The stream of events: which node says what, in which order, where, on whose behalf, as in google-adk 2.13."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types

from adk_nb.events import Event, RequestInput
from adk_nb.events.record import Status
from adk_nb.workflow import JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, claimed, lines, run
from tests.workflow.small_nodes import letter


def placed(events: list[Event]) -> list[tuple[str, str | None, Any, list[str]]]:
    """Return path, branch, output or route, and claimed paths of each event."""
    return [
        (
            event.node_info.path,
            event.branch,
            event.output if event.output is not None else event.actions.route,
            claimed(event),
        )
        for event in events
    ]


def test_a_chain() -> None:
    """One output event a node, authored by the workflow; the last one is the workflow's output, too."""

    async def test() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", letter("a"), letter("b"), letter("c"))]))
        events = await talk.say("hi")
        assert placed(events) == [
            ("wf@1/a@1", None, "A(hi)", []),
            ("wf@1/b@1", None, "B(A(hi))", []),
            ("wf@1/c@1", None, "C(B(A(hi)))", ["wf@1"]),
        ]
        assert {event.author for event in events} == {"wf"}
        stored = await talk.stored()
        assert [event.author for event in stored] == ["user", "wf", "wf", "wf"]
        assert {event.invocation_id for event in stored} == {events[0].invocation_id}
        assert events[0].invocation_id.startswith("e-")
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, "C(B(A(hi)))")

    run(test)


def test_fan_out_and_join() -> None:
    """Branches carry their own lane, the join is back on the trunk and has its keys in edge order."""

    async def test() -> None:
        flow = Workflow(name="wf", edges=[("START", letter("a"), (letter("b"), letter("c")), JoinNode(name="j"))])
        assert placed(await Conversation(flow).say("x")) == [
            ("wf@1/a@1", None, "A(x)", []),
            ("wf@1/b@1", "b@1", "B(A(x))", []),
            ("wf@1/c@1", "c@1", "C(A(x))", []),
            ("wf@1/j@1", None, {"b": "B(A(x))", "c": "C(A(x))"}, ["wf@1"]),
        ]

    run(test)


def test_lanes_are_kept_and_joined_at_what_they_share() -> None:
    """A single successor stays on its lane; a nested fan-out adds to it; a join falls back to the common part."""

    async def test() -> None:
        a, b, c, join = letter("a"), letter("b"), letter("c"), JoinNode(name="j")
        inner = Workflow(name="inner", edges=[("START", (letter("x"), letter("y")), JoinNode(name="jj"))])
        flow = Workflow(name="wf", edges=[("START", (a, b, inner)), (a, c), ((b, c, inner), join)])
        branches = {e.node_info.path: e.branch for e in await Conversation(flow).say("i")}
        assert branches == {
            "wf@1/a@1": "a@1",
            "wf@1/b@1": "b@1",
            "wf@1/c@1": "a@1",
            "wf@1/inner@1/x@1": "inner@1.x@1",
            "wf@1/inner@1/y@1": "inner@1.y@1",
            "wf@1/inner@1/jj@1": "inner@1",
            "wf@1/j@1": None,
        }

    run(test)


def test_an_ordinary_node_runs_once_an_arrival() -> None:
    """Several predecessors without a join: one run each, one after the other; the last one is the output."""

    async def test() -> None:
        at_once, most = 0, 0

        async def m(node_input: str) -> str:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0)
            at_once -= 1
            return f"M({node_input})"

        talk = Conversation(Workflow(name="wf", edges=[("START", letter("a"), (letter("b"), letter("c")), m)]))
        events = await talk.say("x")
        assert placed(events)[3:] == [
            ("wf@1/m@1", "b@1", "M(B(A(x)))", ["wf@1"]),
            ("wf@1/m@2", "c@1", "M(C(A(x)))", ["wf@1"]),
        ]
        assert most == 1
        assert (await talk.root()).output == "M(C(A(x)))"

    run(test)


def test_a_loop() -> None:
    """Each pass is a new run of the node on the same lane, until the route leads out."""

    async def test() -> None:
        def inc(ctx: Context) -> Event:
            ctx.state["n"] = ctx.state.get("n", 0) + 1
            return Event(output=ctx.state["n"], route="again" if ctx.state["n"] < 3 else "done")

        inc_node = node(inc)
        flow = Workflow(name="wf", edges=[("START", inc_node), (inc_node, {"again": inc_node, "done": letter("fin")})])
        events = await Conversation(flow).say()
        assert [(e.node_info.path, e.actions.route, e.branch) for e in events] == [
            ("wf@1/inc@1", "again", None),
            ("wf@1/inc@2", "again", None),
            ("wf@1/inc@3", "done", None),
            ("wf@1/fin@1", None, None),
        ]
        assert claimed(events[-1]) == ["wf@1"]
        assert [e.actions.state_delta for e in events[:3]] == [{"n": 1}, {"n": 2}, {"n": 3}]

    run(test)


def test_a_join_in_a_loop() -> None:
    """The join fires once a pass."""

    async def test() -> None:
        passes = []

        def check(node_input: dict[str, Any]) -> Event:
            passes.append(node_input)
            return Event(output=len(passes), route="again" if len(passes) < 2 else "done")

        head, check_node = letter("head"), node(check)
        flow = Workflow(
            name="wf",
            edges=[
                ("START", head, (letter("x"), letter("y")), JoinNode(name="j"), check_node),
                (check_node, {"again": head, "done": letter("z")}),
            ],
        )
        events = await Conversation(flow).say()
        assert [e.node_info.path.removeprefix("wf@1/") for e in events] == [
            *("head@1", "x@1", "y@1", "j@1", "check@1"),
            *("head@2", "x@2", "y@2", "j@2", "check@2", "z@1"),
        ]
        assert [e.branch for e in events if e.node_info.name == "x"] == ["x@1", "x@2"]

    run(test)


@pytest.mark.parametrize("is_last", [False, True])
def test_a_nested_workflow(is_last: bool) -> None:
    """Its nodes speak in its name under its path; no event of its own; its last node's output is its output."""

    async def test() -> None:
        inner = Workflow(name="inner", edges=[("START", letter("b"), letter("c"))])
        after = () if is_last else (letter("d"),)
        events = await Conversation(Workflow(name="wf", edges=[("START", letter("a"), inner, *after)])).say("x")
        assert [(e.author, *place) for e, place in zip(events, placed(events), strict=True)] == [
            ("wf", "wf@1/a@1", None, "A(x)", []),
            ("inner", "wf@1/inner@1/b@1", None, "B(A(x))", []),
            ("inner", "wf@1/inner@1/c@1", None, "C(B(A(x)))", ["wf@1/inner@1"] + ["wf@1"] * is_last),
            *([] if is_last else [("wf", "wf@1/d@1", None, "D(C(B(A(x))))", ["wf@1"])]),
        ]

    run(test)


def test_dynamic_children() -> None:
    """Children stand below their caller, numbered in call order or named by `run_id`; the caller's output is last."""

    async def test() -> None:
        b, c = letter("b"), letter("c")

        @node(rerun_on_resume=True)
        async def orch(ctx: Context, node_input: str) -> list[str]:
            return [await ctx.run_node(b, 1), await ctx.run_node(b, 2), await ctx.run_node(c, 3, run_id="zed")]

        events = await Conversation(Workflow(name="wf", edges=[("START", orch)])).say()
        assert placed(events) == [
            ("wf@1/orch@1/b@1", None, "B(1)", []),
            ("wf@1/orch@1/b@2", None, "B(2)", []),
            ("wf@1/orch@1/c@zed", None, "C(3)", []),
            ("wf@1/orch@1", None, ["B(1)", "B(2)", "C(3)"], ["wf@1"]),
        ]
        assert {event.author for event in events} == {"wf"}

    run(test)


def test_a_child_that_gives_the_output() -> None:
    """With `use_as_output` the child's event is the caller's output, and the caller adds no event of its own."""

    async def test() -> None:
        b = letter("b")

        @node(rerun_on_resume=True)
        async def orch(ctx: Context) -> str:
            return str(await ctx.run_node(b, 1, use_as_output=True))

        talk = Conversation(Workflow(name="wf", edges=[("START", orch)]))
        assert placed(await talk.say()) == [("wf@1/orch@1/b@1", None, "B(1)", ["wf@1/orch@1", "wf@1"])]
        assert (await talk.root()).output == "B(1)"

    run(test)


def test_a_pause_and_its_answer() -> None:
    """The question is the asker's event; the answer is a user event; the next event is the successor's."""

    async def test() -> None:
        def ask() -> RequestInput:
            return RequestInput(interrupt_id="q", message="ok?", payload={"n": 1}, response_schema=str)

        talk = Conversation(Workflow(name="wf", edges=[("START", ask, letter("b"))]))
        (question,) = await talk.say()
        assert question.node_info.path == "wf@1/ask@1"
        assert question.long_running_tool_ids == {"q"}
        assert question.content is not None
        assert question.content.role == "model"
        (call,) = question.get_function_calls()
        assert (call.id, call.name) == ("q", "adk_request_input")
        assert call.args == {
            "interruptId": "q",
            "payload": {"n": 1},
            "message": "ok?",
            "response_schema": {"type": "string"},
        }
        events = await talk.answer(q="answer")
        assert placed(events) == [("wf@1/b@1", None, "B(answer)", ["wf@1"])]
        stored = await talk.stored()
        assert [event.author for event in stored] == ["user", "wf", "user", "wf"]
        assert len({event.invocation_id for event in stored}) == 1

    run(test)


def test_the_answer_lies_on_the_lane_of_the_question() -> None:
    """The user's event has the branch of the question that it answers."""

    async def test() -> None:
        def ask() -> RequestInput:
            return RequestInput(interrupt_id="q")

        talk = Conversation(Workflow(name="wf", edges=[("START", (ask, letter("b")), JoinNode(name="j"))]))
        await talk.say()
        await talk.answer(q=1)
        assert [event.branch for event in await talk.stored() if event.author == "user"] == [None, "ask@1"]

    run(test)


def test_a_failure() -> None:
    """The failing node's error event is the last one; then the exception itself leaves the generator."""

    async def test() -> None:
        error = ValueError("no")

        def boom() -> None:
            raise error

        talk = Conversation(Workflow(name="wf", edges=[("START", letter("b"), boom, letter("c"))]))
        assert await talk.fail(ValueError, talk.say()) is error
        assert lines(talk.last) == [("wf@1/b@1", "B(hi)"), ("wf@1/boom@1", "!ValueError")]
        assert talk.last[-1].error_message == "no"
        root = await talk.root()
        assert (root.status, root.error_type, root.error_message) == (Status.FAILED, "ValueError", "no")
        assert root.error_path == "wf@1/boom@1"

    run(test)


def test_a_bare_node_as_root() -> None:
    """Without a workflow around it a node speaks in its own name, at a path of one segment."""

    async def test() -> None:
        (event,) = await Conversation(letter("a")).say("x")
        assert (event.node_info.path, event.author, event.output) == ("a@1", "a", "A(x)")

    run(test)


def test_a_bare_root_with_children() -> None:
    """Children of a bare root speak in their own names, below it."""

    async def test() -> None:
        b = letter("b")

        @node(rerun_on_resume=True)
        async def top(ctx: Context) -> Any:
            return await ctx.run_node(b, 1)

        assert [(e.author, e.node_info.path) for e in await Conversation(top).say()] == [
            ("b", "top@1/b@1"),
            ("top", "top@1"),
        ]

    run(test)


def test_presets_of_author_path_and_invocation_are_replaced() -> None:
    """What only the engine can know is set by the engine, whatever the node wrote."""

    async def test() -> None:
        def a() -> Event:
            return Event(output=1, author="bot", invocation_id="mine", node_path="else@7", route="x")

        flow = Workflow(name="wf", edges=[("START", a, {"x": letter("b")})])
        first, second = await Conversation(flow).say()
        assert (first.author, first.node_info.path) == ("wf", "wf@1/a@1")
        assert first.invocation_id == second.invocation_id != "mine"
        assert second.output == "B(1)"

    run(test)


def test_a_preset_branch_becomes_the_nodes_lane() -> None:
    """A branch on an event moves the node, and what follows it, to that lane; an empty one moves it to the trunk."""

    async def test() -> None:
        @node
        async def a() -> AsyncGenerator[Event, None]:
            yield Event(message="1", branch="mine")
            yield Event(output=2)

        def b() -> Event:
            return Event(output=3, branch="")

        events = await Conversation(Workflow(name="wf", edges=[("START", a, b, letter("c"))])).say()
        assert [event.branch for event in events] == ["mine", "mine", None, None]

    run(test)


def test_partial_events_are_yielded_and_not_kept() -> None:
    """A partial event reaches the caller, is not stored, and carries neither output nor state."""

    async def test() -> None:
        @node
        async def a(ctx: Context) -> AsyncGenerator[Event, None]:
            ctx.state["k"] = 1
            yield Event(message="hal", partial=True)
            yield Event(message="half", output="whole")

        talk = Conversation(Workflow(name="wf", edges=[("START", a)]))
        part, whole = await talk.say()
        assert part.partial
        assert part.actions.state_delta == {}
        assert whole.actions.state_delta == {"k": 1}
        assert [e.id for e in await talk.stored()][1:] == [whole.id]

    run(test)


def test_the_producer_waits_until_its_event_was_taken() -> None:
    """An event is stored before it is yielded, and its node goes on when the caller asks for the next event."""

    async def test() -> None:
        reached = []

        @node
        async def a() -> AsyncGenerator[Event, None]:
            yield Event(message="1")
            reached.append("after 1")
            yield Event(message="2")

        talk = Conversation(Workflow(name="wf", edges=[("START", a)]))
        stream = talk.runner.run_async(**talk.where, new_message=types.UserContent("hi"))
        first = await anext(stream)
        for _ in range(5):
            await asyncio.sleep(0)
        assert reached == []
        assert (await talk.stored())[-1].id == first.id
        assert [event.content.parts[0].text async for event in stream if event.content and event.content.parts] == ["2"]
        assert reached == ["after 1"]

    run(test)
