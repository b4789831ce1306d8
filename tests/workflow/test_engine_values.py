"""What nodes hand on is a snapshot, and what can't be kept is refused; one object serves many runs."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from adk_nb.errors import WorkflowDataError
from adk_nb.events import Event, RequestInput
from adk_nb.workflow import JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, run


def test_two_hundred_runs_of_one_object() -> None:
    """A workflow object holds nothing of a run: any number of runs of it at once, each with its own values."""

    async def test() -> None:
        async def a(ctx: Context, node_input: str) -> str:
            ctx.state["me"] = node_input
            await asyncio.sleep(0)
            return node_input

        def b(ctx: Context, node_input: str) -> list[str]:
            return [ctx.state["me"], node_input, ctx.node_path]

        flow = Workflow(name="wf", edges=[("START", a, b)])
        before = repr(flow)
        talks = [Conversation(flow, session_id=f"s{i}") for i in range(100)]
        shared = talks[0].service
        talks += [Conversation(flow, shared, session_id=f"t{i}") for i in range(100)]
        await asyncio.gather(*(talk.say(f"m{i}") for i, talk in enumerate(talks)))
        for i, talk in enumerate(talks):
            assert (await talk.root()).output == [f"m{i}", f"m{i}", "wf@1/b@1"]
        assert repr(flow) == before

    run(test)


def test_runs_of_one_session_take_turns() -> None:
    """Two runs started on one session at once run one after the other, and no event is mixed or lost."""

    async def test() -> None:
        async def a() -> int:
            await asyncio.sleep(0)
            return 1

        flow = Workflow(name="wf", edges=[("START", a, node(lambda node_input: node_input, name="b"))])
        talk = Conversation(flow)
        await talk.say()
        others = [Conversation(flow, talk.service) for _ in range(5)]
        await asyncio.gather(*(one.say() for one in others))
        stored = await talk.stored()
        assert [event.author for event in stored] == ["user", "wf", "wf"] * 6

    run(test)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (object(), "a"),
        ({"k": [1, {2: object()}]}, "['k'][1][2]"),
        (lambda: 1, "a"),
        ("\ud800", "surrogate"),
    ],
)
def test_a_value_that_can_not_be_kept_is_refused_where_it_was_returned(value: Any, where: str) -> None:
    """The node that returned it fails, with the place in the value; nothing else is touched."""

    async def test() -> None:
        talk = Conversation(
            Workflow(name="wf", edges=[("START", node(lambda: value, name="a"), node(lambda: 1, name="b"))])
        )
        error = await talk.fail(WorkflowDataError, talk.say())
        assert where in str(error)
        assert "'a'" in str(error)
        assert lines(talk.last) == [("wf@1/a@1", "!WorkflowDataError")]

    run(test)


@pytest.mark.parametrize("way", ["ctx.state", "Event"])
def test_state_that_can_not_be_kept_is_refused_at_its_node(way: str) -> None:
    """An object in the state fails the node that wrote it, and the run ends with its error."""

    async def test() -> None:
        def a(ctx: Context) -> Any:
            if way == "Event":
                return Event(output=1, state={"k": object()})
            ctx.state["k"] = object()
            return 1

        talk = Conversation(Workflow(name="wf", edges=[("START", a)]))
        error = await talk.fail(WorkflowDataError, talk.say())
        assert "state['k']" in str(error)
        assert lines(talk.last) == [("wf@1/a@1", "!WorkflowDataError")]
        assert "k" not in await talk.state()

    run(test)


def test_what_was_handed_on_can_not_be_changed_afterwards() -> None:
    """Outputs and inputs are snapshots: later changes reach neither siblings, successors nor history."""

    async def test() -> None:
        held: dict[str, Any] = {"n": [1]}
        seen = []

        @node
        async def a() -> AsyncGenerator[Any, None]:
            yield held
            held["n"].append("a")

        def b(node_input: dict[str, Any]) -> Any:
            node_input["n"].append("b")
            held["n"].append("b2")
            return node_input

        def c(node_input: dict[str, Any]) -> None:
            seen.append(node_input)

        talk = Conversation(Workflow(name="wf", edges=[("START", a, (b, c)), (b, node(c, name="d"))]))
        await talk.say()
        assert seen == [{"n": [1]}, {"n": [1, "b"]}]
        assert [event.output for event in await talk.stored() if event.output] == [{"n": [1]}, {"n": [1, "b"]}]

    run(test)


def test_no_warning_and_no_output_in_a_good_run(capsys: pytest.CaptureFixture[str]) -> None:
    """A good run prints nothing, warns of nothing and leaves no task that logs later."""

    async def test() -> None:
        def ask() -> RequestInput:
            return RequestInput(interrupt_id="q")

        talk = Conversation(
            Workflow(name="wf", edges=[("START", (ask, node(lambda: None, name="n")), JoinNode(name="j"))])
        )
        await talk.say()
        await talk.answer(q=1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(test)
        gc.collect()
    assert capsys.readouterr() == ("", "")
