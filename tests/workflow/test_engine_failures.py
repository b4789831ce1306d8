"""How runs fail, are retried, time out, are stopped and end: the first failure is told, nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import warnings
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from adk_nb.errors import DynamicNodeFailError, NodeTimeoutError, WorkflowDataError
from adk_nb.events import Event, RequestInput
from adk_nb.events.record import Status
from adk_nb.workflow import BaseNode, JoinNode, RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, run

AT_ONCE: dict[str, Any] = {"initial_delay": 0, "jitter": 0}


def failing(times: int, name: str = "flaky", error: Callable[[], BaseException] = lambda: ValueError("no")) -> BaseNode:
    """Return a node that fails so many times and then returns how often it ran."""
    calls = [0]

    def flaky() -> int:
        calls[0] += 1
        if calls[0] <= times:
            raise error()
        return calls[0]

    return node(flaky, name=name)


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


def test_the_first_failure_stops_the_siblings() -> None:
    """Running siblings are cancelled and awaited, nothing new starts, only the origin has an error event."""

    async def test() -> None:
        stopped, started = [], []

        async def slow() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                stopped.append("slow")

        def after() -> None:
            started.append("after")

        async def boom() -> None:
            await asyncio.sleep(0)
            raise KeyError("first")

        inner = Workflow(name="inner", edges=[("START", (slow, boom))])
        talk = Conversation(Workflow(name="wf", edges=[("START", (inner, node(slow, name="slow2"))), (inner, after)]))
        error = await asyncio.wait_for(talk.fail(KeyError, talk.say()), 5)
        assert error.args == ("first",)
        assert lines(talk.last) == [("wf@1/inner@1/boom@1", "!KeyError")]
        assert stopped == ["slow", "slow"]
        assert started == []
        root = await talk.root()
        assert (root.error_type, root.error_path) == ("KeyError", "wf@1/inner@1/boom@1")
        records = await talk.records()
        assert records["wf@1/inner@1/slow@1"].status is Status.CANCELLED
        assert records["wf@1/slow2@1"].status is Status.CANCELLED

    run(test)


def test_failures_in_the_same_moment() -> None:
    """Both have their event, and the one that was scheduled first is raised."""

    async def test() -> None:
        talk = Conversation(
            Workflow(name="wf", edges=[("START", (failing(9, "a", lambda: KeyError("a")), failing(9, "b")))])
        )
        await talk.fail(KeyError, talk.say())
        assert lines(talk.last) == [("wf@1/a@1", "!KeyError"), ("wf@1/b@1", "!ValueError")]

    run(test)


def test_a_failed_run_can_be_continued() -> None:
    """Going on runs what failed or was stopped; what finished, with None too, isn't run again."""

    async def test() -> None:
        ran = []

        def charge() -> None:
            ran.append("charge")

        async def other() -> str:
            ran.append("other")
            if ran.count("other") == 1:
                await asyncio.sleep(60)
            return "O"

        flaky = failing(1)
        talk = Conversation(Workflow(name="wf", edges=[("START", charge, (flaky, other), JoinNode(name="j"))]))
        await talk.fail(ValueError, talk.say())
        events = await talk.go_on()
        assert lines(events)[-1] == ("wf@1/j@1", {"flaky": 2, "other": "O"})
        assert ran == ["charge", "other", "other"]
        assert await talk.go_on() == []
        assert ran == ["charge", "other", "other"]

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


ODD_ERRORS: list[tuple[str, Callable[[], BaseException]]] = [
    ("StopAsyncIteration", lambda: StopAsyncIteration("x")),
    ("ExceptionGroup", lambda: ExceptionGroup("g", [ValueError("x")])),
    ("BaseExceptionGroup", lambda: BaseExceptionGroup("g", [GeneratorExit(), ValueError("x")])),
    ("StopIteration", lambda: StopIteration("x")),
]


@pytest.mark.parametrize("style", ["async", "sync", "async generator", "generator", "node class", "child"])
@pytest.mark.parametrize(("kind", "error"), ODD_ERRORS, ids=[kind for kind, _ in ODD_ERRORS])
def test_exceptions_of_odd_kinds_are_failures_like_any_other(
    style: str, kind: str, error: Callable[[], BaseException]
) -> None:
    """Whatever a node raises becomes its error event and its record, and something is raised to the caller."""

    async def test() -> None:
        async def a_sync() -> None:
            raise error()

        def sync() -> None:
            raise error()

        async def a_generator() -> AsyncGenerator[int, None]:
            raise error()
            yield 1

        def generator() -> Generator[int, None, None]:
            raise error()
            yield 1

        class Custom(BaseNode):
            async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
                raise error()
                yield

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> None:
            await ctx.run_node(node(a_sync, name="bad"))

        body: Any = {
            "async": node(a_sync, name="bad"),
            "sync": node(sync, name="bad"),
            "async generator": node(a_generator, name="bad"),
            "generator": node(generator, name="bad"),
            "node class": Custom(name="bad"),
            "child": parent,
        }[style]
        talk = Conversation(Workflow(name="wf", edges=[("START", body)]))
        await talk.fail(BaseException, talk.say())
        assert len(talk.last) == 1
        assert talk.last[0].node_info.name == "bad"
        assert talk.last[0].error_code in (kind, "RuntimeError")
        root = await talk.root()
        assert root.status is Status.FAILED
        assert root.error_path == talk.last[0].node_info.path

    run(test)


def test_a_cancelled_error_that_nobody_asked_for_is_a_failure() -> None:
    """A node that awaits something cancelled fails with a sentence, and the caller isn't cancelled with it."""

    async def test() -> None:
        async def awaits_a_cancelled_task() -> None:
            task = asyncio.ensure_future(asyncio.sleep(60))
            task.cancel()
            await task

        talk = Conversation(Workflow(name="wf", edges=[("START", awaits_a_cancelled_task)]))
        error = await talk.fail(WorkflowDataError, talk.say())
        assert "CancelledError" in str(error)
        assert (await talk.root()).status is Status.FAILED

    run(test)


def test_an_interrupt_ends_the_run_and_not_the_loop() -> None:
    """A KeyboardInterrupt in a node stops the run, which can be continued; the event loop, so a kernel, goes on."""

    async def test() -> None:
        ran = []

        def first() -> None:
            ran.append("first")

        def stops() -> str:
            ran.append("stops")
            if ran.count("stops") == 1:
                raise KeyboardInterrupt
            return "ok"

        inner = Workflow(name="inner", edges=[("START", first, stops)])
        talk = Conversation(Workflow(name="wf", edges=[("START", inner)]))
        with pytest.raises(asyncio.CancelledError):
            await talk.say()
        assert (await talk.root()).status is Status.CANCELLED
        await talk.go_on()
        assert ran == ["first", "stops", "stops"]
        assert (await talk.root()).output == "ok"

    run(test)


def test_exit_in_a_node_is_its_failure() -> None:
    """`sys.exit` in a node fails the node, in a sentence, and ends neither process nor kernel."""

    async def test() -> None:
        def leaves() -> None:
            sys.exit(3)

        talk = Conversation(Workflow(name="wf", edges=[("START", leaves)]))
        error = await talk.fail(WorkflowDataError, talk.say())
        assert "'leaves' called sys.exit(3)" in str(error)
        assert (await talk.root()).status is Status.FAILED

    run(test)


def test_an_error_without_a_text_is_told_by_its_class() -> None:
    """An exception whose `__str__` fails is reported as itself."""

    async def test() -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        def fails() -> None:
            raise Mute

        talk = Conversation(Workflow(name="wf", edges=[("START", fails)]))
        await talk.fail(Mute, talk.say())
        root = await talk.root()
        assert (root.error_type, root.error_path) == ("Mute", "wf@1/fails@1")

    run(test)


def test_a_consumer_that_walks_away_ends_the_run() -> None:
    """Closing the generator cancels everything below, in nested graphs and children too; the run can be continued."""

    async def test() -> None:
        stopped, ran = [], []

        async def slow(ctx: Context) -> str:
            ran.append(ctx.node_path)
            if len(ran) <= 3:
                try:
                    await asyncio.sleep(60)
                finally:
                    stopped.append(ctx.node_path)
            return "s"

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> Any:
            return await asyncio.gather(*(ctx.run_node(slow) for _ in range(2)))

        async def first() -> int:
            for _ in range(5):
                await asyncio.sleep(0)
            return 1

        inner = Workflow(name="inner", edges=[("START", node(slow))])
        flow = Workflow(name="wf", edges=[("START", (first, parent, inner), JoinNode(name="j"))])
        talk = Conversation(flow)
        assert lines(await talk.cut_after(1)) == [("wf@1/first@1", 1)]
        assert sorted(stopped) == ["wf@1/inner@1/slow@1", "wf@1/parent@1/slow@1", "wf@1/parent@1/slow@2"]
        assert (await talk.root()).status is Status.CANCELLED
        await talk.go_on()
        assert (await talk.root()).output == {"first": 1, "parent": ["s", "s"], "inner": "s"}

    run(test)


@pytest.mark.parametrize("reaction", ["swallows", "raises", "goes on in a generator", "ignores GeneratorExit"])
@pytest.mark.parametrize("retries", [False, True])
def test_a_node_that_resists_its_end_ends_all_the_same(reaction: str, retries: bool) -> None:
    """Whatever a node makes of its cancellation: the stream closes, nothing else starts, no task is left."""

    async def test() -> None:
        started = []

        @node
        async def swallows() -> str:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                return "late"
            return "never"

        @node
        async def raises() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                raise ValueError("cleanup")

        @node
        async def goes_on() -> AsyncGenerator[Event, None]:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                yield Event(message="late 1")
            yield Event(output="late 2")

        @node
        def ignores() -> Generator[Event, None, None]:
            try:
                yield Event(message="early")
                yield Event(message="never")
            finally:
                with contextlib.suppress(GeneratorExit):
                    yield Event(message="late")

        bodies = dict(
            zip(
                ["swallows", "raises", "goes on in a generator", "ignores GeneratorExit"],
                [swallows, raises, goes_on, ignores],
                strict=True,
            )
        )
        body = node(bodies[reaction], name="body", retry_config=RetryConfig(initial_delay=60) if retries else None)

        def after() -> None:
            started.append(1)

        async def first() -> int:
            await asyncio.sleep(0)
            return 1

        talk = Conversation(Workflow(name="wf", edges=[("START", (first, body)), (body, after)]))
        await asyncio.wait_for(talk.cut_after(1), 5)
        assert started == []

    run(test)
    gc.collect()


def test_a_node_that_never_ends_is_left_behind_and_changes_nothing() -> None:
    """A node that ignores its cancellation for ever doesn't keep the run; what it does later is not stored."""

    async def test() -> None:
        free = asyncio.Event()

        async def stubborn() -> str:
            while not free.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await free.wait()
            return "far too late"

        async def boom() -> None:
            await asyncio.sleep(0)
            raise ValueError("first")

        talk = Conversation(Workflow(name="wf", edges=[("START", (stubborn, boom))]))
        asyncio.get_running_loop().call_later(5, free.set)
        with pytest.warns(RuntimeWarning, match="stubborn@1 ignored"):
            await talk.fail(ValueError, talk.say())
        assert not free.is_set()
        before = len(await talk.stored())
        free.set()
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(await talk.stored()) == before
        assert (await talk.records())["wf@1/stubborn@1"].status is not Status.COMPLETED

    run(test)


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


def test_a_caught_child_failure_lets_the_parent_go_on() -> None:
    """`run_node` raises DynamicNodeFailError with the original and its path; a parent that catches it completes."""

    async def test() -> None:
        error = ValueError("x")
        caught: list[DynamicNodeFailError] = []

        def bad() -> None:
            raise error

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> str:
            try:
                await ctx.run_node(bad)
            except DynamicNodeFailError as failure:
                caught.append(failure)
                return "caught"
            return "never"

        talk = Conversation(Workflow(name="wf", edges=[("START", parent)]))
        await talk.say()
        assert (await talk.root()).output == "caught"
        assert caught[0].error is error
        assert caught[0].error_node_path == "wf@1/parent@1/bad@1"
        assert await talk.go_on() == []

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
