"""How runs fail, are stopped and end: the first failure is told, nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest

from adk_nb.errors import DynamicNodeFailError, WorkflowDataError
from adk_nb.events import Event
from adk_nb.events.record import Status
from adk_nb.workflow import BaseNode, JoinNode, RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, run
from tests.workflow.small_nodes import failing


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
