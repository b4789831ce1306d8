"""What `ctx.run_node` offers beyond running a child, and what a context says about its run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from adk_nb import Event
from adk_nb.errors import WorkflowConfigurationError
from adk_nb.events.record import Status
from adk_nb.events.request_input import RequestInput
from adk_nb.sessions import SqliteSessionService
from adk_nb.workflow import BaseNode, JoinNode, RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, run


class Silent(BaseNode):
    """A node that waits for a trigger on which it has something to say, and never has."""

    wait_for_output: bool = True

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        return
        yield


@pytest.mark.parametrize("raise_on_wait", [False, True])
def test_a_child_without_output_can_end_its_parent(raise_on_wait: bool) -> None:
    """With `raise_on_wait` a parent ends where its child stays silent, hands on nothing, and the run says so."""

    @node(rerun_on_resume=True)
    async def parent(ctx: Context) -> str:
        found = await ctx.run_node(Silent(name="silent"), raise_on_wait=raise_on_wait)
        return f"got {found}"

    async def test() -> None:
        talk = Conversation(
            Workflow(name="w", edges=[("START", parent, node(lambda node_input: node_input, name="n"))])
        )
        await talk.say()
        root = await talk.root()
        if raise_on_wait:
            assert root.status is Status.INCOMPLETE
            assert (await talk.records())["w@1/parent@1"].status is Status.INCOMPLETE
            assert "w@1/n@1" not in await talk.records()
        else:
            assert (root.status, root.output) == (Status.COMPLETED, "got None")

    run(test)


def test_a_scope_covers_a_child_and_all_below_it() -> None:
    """`override_isolation_scope` marks the events of a child and of everything below it, and nothing else."""

    @node(rerun_on_resume=True)
    async def parent(ctx: Context) -> str:
        inner = Workflow(name="inner", edges=[("START", node(lambda: 1, name="a"), node(lambda: 2, name="b"))])
        await ctx.run_node(inner, override_isolation_scope="talk-7")
        return "done"

    async def test() -> None:
        talk = Conversation(Workflow(name="w", edges=[("START", parent)]))
        scopes = {event.node_info.path: event.isolation_scope for event in await talk.say()}
        assert scopes == {
            "w@1/parent@1/inner@1/a@1": "talk-7",
            "w@1/parent@1/inner@1/b@1": "talk-7",
            "w@1/parent@1": None,
        }

    run(test)


def test_a_node_can_set_its_own_scope() -> None:
    """`ctx.isolation_scope` marks the node's later events, except those that say another scope themselves."""

    @node
    async def speaker(ctx: Context) -> AsyncGenerator[Event, None]:
        yield Event(message="before")
        ctx.isolation_scope = "mine"
        yield Event(message="after")
        yield Event(message="own", isolation_scope="other")

    async def test() -> None:
        events = await Conversation(Workflow(name="w", edges=[("START", speaker)])).say()
        assert [event.isolation_scope for event in events] == [None, "mine", "other"]

    run(test)


def test_an_answer_belongs_to_the_conversation_of_its_question() -> None:
    """The user's event with an answer lies on the branch and in the scope of the question."""

    @node(rerun_on_resume=True)
    async def parent(ctx: Context) -> Any:
        ask = node(lambda: RequestInput(interrupt_id="q", message="?"), name="ask")
        return await ctx.run_node(ask, use_sub_branch=True, override_isolation_scope="talk-7")

    async def test() -> None:
        talk = Conversation(Workflow(name="w", edges=[("START", parent)]))
        await talk.say()
        await talk.answer(q="yes")
        (answer,) = [event for event in await talk.stored() if event.get_function_responses()]
        assert (answer.branch, answer.isolation_scope) == ("ask@1", "talk-7")
        assert (await talk.root()).output == "yes"

    run(test)


@pytest.mark.parametrize("is_asked", [True, False])
def test_a_graph_that_lost_an_open_node_says_so(is_asked: bool) -> None:
    """Going on with a workflow whose open node is gone fails with the node's name and those that there are.

    Nothing is stored of the attempt: it can be made again once the node is back.
    """

    def flow(name: str) -> Workflow:
        ask = node(lambda: RequestInput(interrupt_id="q", message="?"), name=name)
        return Workflow(name="w", edges=[("START", node(lambda: 1, name="a"), ask)])

    async def test() -> None:
        talk = Conversation(flow("approve"))
        await (talk.say() if is_asked else talk.cut_after(1))
        changed = Conversation(flow("approval"), talk.service)
        going_on = changed.answer(q="yes") if is_asked else changed.go_on()
        before = await talk.stored(), await talk.records()
        error = await changed.fail(WorkflowConfigurationError, going_on)
        assert all(part in str(error) for part in ("'approve'", "'approval' (did you mean this?)", "w@1"))
        assert (await talk.stored(), await talk.records()) == before
        same = Conversation(flow("approve"), talk.service)
        if not is_asked:
            await same.go_on()
        assert [question.interrupt_id for _, question in await same.questions()] == ["q"]
        await same.answer(q="yes")
        assert (await same.root()).output == "yes"

    run(test)


def test_an_answer_while_another_open_node_is_gone_is_not_stored() -> None:
    """With one of two asking nodes gone, an answer to the other is refused and not stored."""

    def flow(other: str) -> Workflow:
        asking = tuple(
            node(lambda name=name: RequestInput(interrupt_id=name, message="?"), name=name) for name in ("left", other)
        )
        return Workflow(name="w", edges=[("START", asking, JoinNode(name="both"))])

    async def test() -> None:
        talk = Conversation(flow("right"))
        await talk.say()
        before = await talk.stored(), await talk.records()
        changed = Conversation(flow("wrong"), talk.service)
        error = await changed.fail(WorkflowConfigurationError, changed.answer(left=1))
        assert "'right'" in str(error)
        assert (await talk.stored(), await talk.records()) == before
        await talk.answer(left=1, right=2)
        assert (await talk.root()).output == {"left": 1, "right": 2}

    run(test)


def test_a_claimed_output_lies_on_the_lane_of_the_node_that_claims_it() -> None:
    """With `use_as_output` a child's output event is on the branch of the outermost node that takes it as its own."""

    @node(rerun_on_resume=True)
    async def middle(ctx: Context) -> Any:
        return await ctx.run_node(node(lambda: "deep", name="deep"), use_as_output=True, use_sub_branch=True)

    @node(rerun_on_resume=True)
    async def outer(ctx: Context) -> Any:
        return await ctx.run_node(middle, use_as_output=True, use_sub_branch=True)

    async def test() -> None:
        events = await Conversation(
            Workflow(name="w", edges=[("START", (outer, node(lambda: None, name="beside")))])
        ).say()
        (event,) = [one for one in events if one.output == "deep"]
        assert event.node_info.path == "w@1/outer@1/middle@1/deep@1"
        assert event.branch == "outer@1"

    run(test)


def test_an_idempotency_key_names_one_node_run(tmp_path: Path) -> None:
    """The key is the same in every try, after a pause and in a new process, and different for every other node run."""
    keys: dict[str, list[str]] = {}

    def note(ctx: Context) -> None:
        keys.setdefault(f"{ctx.invocation_id} {ctx.node_path}", []).append(ctx.idempotency_key)

    def flow() -> Workflow:
        @node(retry_config=RetryConfig(max_attempts=2, initial_delay=0))
        def flaky(ctx: Context) -> str:
            note(ctx)
            if ctx.attempt_count == 1:
                raise ValueError("no")
            return "yes"

        def child(ctx: Context) -> str:
            note(ctx)
            return "child"

        @node(rerun_on_resume=True)
        async def asks(ctx: Context) -> Any:
            note(ctx)
            await ctx.run_node(child)
            await ctx.run_node(child)
            return ctx.resume_inputs.get("q") or RequestInput(interrupt_id="q", message="?")

        return Workflow(name="w", edges=[("START", flaky, asks)])

    async def test() -> None:
        for session in ("s", "t"):
            store = str(tmp_path / "s.db")
            await Conversation(flow(), SqliteSessionService(store), session_id=session).say()
            await Conversation(flow(), SqliteSessionService(store), session_id=session).answer(q="yes")
        assert len(keys) == 8
        assert {len(set(found)) for found in keys.values()} == {1}
        assert sorted(len(found) for found in keys.values()) == [1, 1, 1, 1, 2, 2, 2, 2]
        assert len({found[0] for found in keys.values()}) == 8

    run(test)


def test_partial_events_do_not_wait_for_the_caller() -> None:
    """A node's partial events reach the caller in order, without holding the node up; finished events do hold it."""
    seen: list[str] = []

    @node
    async def streams() -> AsyncGenerator[Event, None]:
        for number in range(3):
            yield Event(message=f"part {number}", partial=True)
            seen.append(f"made {number}")
        yield Event(message="whole")
        seen.append("went on")

    async def test() -> None:
        talk = Conversation(Workflow(name="w", edges=[("START", streams)]))
        texts = []
        async for event in talk.runner.follow(**talk.where, new_message=Event(message="hi").content):
            assert event.content is not None
            assert event.content.parts is not None
            texts.append(event.content.parts[0].text)
            if texts == ["part 0"]:
                assert seen == ["made 0", "made 1", "made 2"]
            assert "went on" not in seen
        assert texts == ["part 0", "part 1", "part 2", "whole"]
        assert seen[-1] == "went on"
        assert [path for path, _ in lines(await talk.stored())][-1] == "w@1/streams@1"

    run(test)
