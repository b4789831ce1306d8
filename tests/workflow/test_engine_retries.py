"""Tries of a node: how many, what they see, what a retry above repeats, and timeouts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from adk_nb.errors import NodeTimeoutError
from adk_nb.events.record import Status
from adk_nb.workflow import BaseNode, JoinNode, RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, run
from tests.workflow.small_nodes import AT_ONCE, failing


@pytest.mark.parametrize(("attempts", "expected"), [(0, 1), (1, 1), (3, 3), (None, 5)])
def test_attempts(attempts: int | None, expected: int) -> None:
    """0 and 1 mean one try, None five, n means n in all; each failed try has its event and its attempt."""

    async def test() -> None:
        retry = RetryConfig(max_attempts=attempts, **AT_ONCE)
        talk = Conversation(Workflow(name="wf", edges=[("START", node(failing(99), retry_config=retry))]))
        await talk.fail(ValueError, talk.say())
        assert lines(talk.last) == [("wf@1/flaky@1", "!ValueError")] * expected
        record = (await talk.records())["wf@1/flaky@1"]
        assert [attempt.error_type for attempt in record.attempts] == ["ValueError"] * expected
        assert all(attempt.ended_at is not None for attempt in record.attempts)
        assert [attempt.retry_at is None for attempt in record.attempts] == [False] * (expected - 1) + [True]

    run(test)


def test_a_retry_that_succeeds() -> None:
    """The next try has the next attempt count and the same path and input; then the run goes on."""

    async def test() -> None:
        seen = []

        @node(retry_config=RetryConfig(max_attempts=3, **AT_ONCE))
        def flaky(ctx: Context, node_input: list[int]) -> str:
            seen.append((ctx.attempt_count, ctx.node_path, list(node_input)))
            node_input.append(9)
            if ctx.attempt_count < 3:
                raise ValueError("no")
            return "ok"

        talk = Conversation(Workflow(name="wf", edges=[("START", node(lambda: [1], name="src"), flaky)]))
        await talk.say()
        assert seen == [(n, "wf@1/flaky@1", [1]) for n in (1, 2, 3)]
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, "ok")

    run(test)


def test_only_named_exceptions_are_retried() -> None:
    """`exceptions` takes classes and names, and a subclass counts."""

    async def test() -> None:
        class Mine(ConnectionError):
            pass

        for listed, error, tries in (
            (["OSError"], Mine, 2),
            ([ConnectionError], Mine, 2),
            ([KeyError], Mine, 1),
        ):
            retry = RetryConfig(max_attempts=2, exceptions=listed, **AT_ONCE)
            flaky = node(failing(99, error=lambda error=error: error("x")), retry_config=retry)  # type: ignore[misc]
            talk = Conversation(Workflow(name="wf", edges=[("START", flaky)]))
            await talk.fail(error, talk.say())
            assert len(talk.last) == tries

    run(test)


def test_input_that_does_not_fit_is_the_nodes_own_failure() -> None:
    """A value that the node's schema refuses fails at the node's path and is retried like any failure."""

    async def test() -> None:
        class M(BaseModel):
            v: int

        @node(retry_config=RetryConfig(max_attempts=3, **AT_ONCE))
        def f(node_input: M) -> int:
            return 1

        talk = Conversation(Workflow(name="wf", edges=[("START", node(lambda: {"v": "q"}, name="src"), f)]))
        error = await talk.fail(ValidationError, talk.say())
        assert "f" in str(error)
        assert lines(talk.last)[1:] == [("wf@1/f@1", "!ValidationError")] * 3

    run(test)


@pytest.mark.parametrize("holder", ["workflow", "dynamic", "dynamic in workflow"])
def test_a_retry_above_replays_what_finished_below(holder: str) -> None:
    """However the failing node is held, a retry above it runs only what hasn't finished, with the same paths."""

    async def test() -> None:
        ran = []

        def first() -> str:
            ran.append("first")
            return "1"

        inner = Workflow(name="inner", edges=[("START", first, failing(1))])
        retry = RetryConfig(max_attempts=2, **AT_ONCE)

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> Any:
            return await ctx.run_node(inner)

        root: BaseNode = {
            "workflow": Workflow(name="w", edges=[("START", inner)], retry_config=retry),
            "dynamic": node(parent, name="w", retry_config=retry),
            "dynamic in workflow": Workflow(name="w", edges=[("START", parent)], retry_config=retry),
        }[holder]
        talk = Conversation(root)
        await talk.say()
        record = await talk.root()
        assert (record.status, record.output) == (Status.COMPLETED, 2)
        assert ran == ["first"]
        assert len([path for path in await talk.records() if "first@" in path]) == 1

    run(test)


def test_a_retry_above_a_failed_join_branch_keeps_what_the_join_holds() -> None:
    """A join in the retried graph fires once, with the value from before the failure and the one from after it."""

    async def test() -> None:
        ran = []

        def a() -> str:
            ran.append("a")
            return "A"

        @node
        async def late() -> None:
            await asyncio.sleep(0)

        b = failing(1, "b")
        join = JoinNode(name="j")
        a_node = node(a)
        inner = Workflow(name="inner", edges=[("START", (a_node, late)), (late, b), ((a_node, b), join)])
        talk = Conversation(
            Workflow(name="w", edges=[("START", inner)], retry_config=RetryConfig(max_attempts=2, **AT_ONCE))
        )
        await talk.say()
        assert (await talk.root()).output == {"a": "A", "b": 2}
        assert ran == ["a"]

    run(test)


def test_a_timeout() -> None:
    """A try that takes longer is cancelled and fails with NodeTimeoutError, which can be retried."""

    async def test() -> None:
        cancelled = []

        @node(timeout=0.01, retry_config=RetryConfig(max_attempts=2, exceptions=[NodeTimeoutError], **AT_ONCE))
        async def slow() -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(1)
                raise

        talk = Conversation(Workflow(name="wf", edges=[("START", slow)]))
        error = await talk.fail(NodeTimeoutError, talk.say())
        assert "Node 'slow' timed out after" in str(error)
        assert lines(talk.last) == [("wf@1/slow@1", "!NodeTimeoutError")] * 2
        assert cancelled == [1, 1]

    run(test)


def test_a_timeout_of_a_workflow_stops_everything_below() -> None:
    """The nodes inside are cancelled, the workflow fails; continuing runs what was stopped, nothing that finished."""

    async def test() -> None:
        ran = []

        def quick() -> None:
            ran.append("quick")

        async def slow() -> str:
            ran.append("slow")
            if ran.count("slow") == 1:
                await asyncio.sleep(60)
            return "ok"

        inner = Workflow(name="inner", edges=[("START", quick, slow)], timeout=0.05)
        talk = Conversation(Workflow(name="wf", edges=[("START", inner)]))
        await talk.fail(NodeTimeoutError, talk.say())
        records = await talk.records()
        assert records["wf@1/inner@1/slow@1"].status is Status.CANCELLED
        assert records["wf@1/inner@1"].status is Status.FAILED
        await talk.go_on()
        assert ran == ["quick", "slow", "slow"]
        assert (await talk.root()).output == "ok"

    run(test)


def test_a_timeout_during_which_the_cleanup_fails_is_still_a_timeout() -> None:
    """An error in the node's own cleanup doesn't hide that it took too long."""

    async def test() -> None:
        @node(timeout=0.01)
        async def slow() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                raise ValueError("cleanup")

        talk = Conversation(Workflow(name="wf", edges=[("START", slow)]))
        await talk.fail(NodeTimeoutError, talk.say())

    run(test)


def test_state_written_before_a_failure_is_kept() -> None:
    """The error event carries what the failing try wrote, and the next try sees it."""

    async def test() -> None:
        @node(retry_config=RetryConfig(max_attempts=2, **AT_ONCE))
        def flaky(ctx: Context) -> int:
            ctx.state["tries"] = ctx.state.get("tries", 0) + 1
            if ctx.state["tries"] < 2:
                raise ValueError("no")
            return int(ctx.state["tries"])

        talk = Conversation(Workflow(name="wf", edges=[("START", flaky)]))
        events = await talk.say()
        assert [event.actions.state_delta for event in events] == [{"tries": 1}, {"tries": 2}]

    run(test)
