"""Sync functions beside others: in threads, with the run's context, stopped within a second even when they block."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from adk_nb import Context, Event
from adk_nb.agents.run_config import RunConfig, ToolThreadPoolConfig
from adk_nb.errors import NodeTimeoutError, WorkflowDataError
from adk_nb.events.record import Status
from adk_nb.workflow import JoinNode, Limits, RetryConfig, Workflow, node
from tests.workflow.driving import Conversation, lines, outputs, run

WAIT_S = 20.0
"""How long a function waits for another that has to run beside it; only a failing test waits so long."""


def is_on_loop() -> bool:
    """Say whether this runs on the event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def where(node_input: Any = None) -> str:
    """Say where this runs."""
    return "loop" if is_on_loop() else "thread"


def fan_out(*functions: Any) -> Workflow:
    """Return a workflow whose nodes run beside each other."""
    return Workflow(name="wf", edges=[("START", functions, JoinNode(name="join"))])


async def output_of(root: Any, text: str = "hi", **options: Any) -> Any:
    """Run a root and return what it hands on."""
    talk = Conversation(root)
    await talk.say(text, **options)
    return (await talk.root()).output


def test_siblings_run_at_the_same_time() -> None:
    """Sync functions of a fan-out run beside each other and beside async ones: each waits here for the others."""

    async def test() -> None:
        together, called = threading.Barrier(2), threading.Event()

        def left() -> int:
            assert called.wait(WAIT_S)
            return together.wait(WAIT_S)

        def right() -> int:
            return together.wait(WAIT_S)

        async def middle() -> str:
            called.set()
            return "called"

        found = await output_of(fan_out(left, right, middle))
        assert sorted(found.values(), key=str) == [0, 1, "called"]

    run(test)


def test_items_run_at_the_same_time() -> None:
    """So do the items of a parallel worker and the children that a node gathers."""

    async def test() -> None:
        together = threading.Barrier(3)

        def part(node_input: Any) -> bool:
            return together.wait(WAIT_S) >= 0

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> list[Any]:
            return list(await asyncio.gather(*(ctx.run_node(part, number) for number in range(3))))

        assert await output_of(parent) == [True] * 3
        assert await output_of(node(part, parallel_worker=True), "[1, 2, 3]") == [True] * 3

    run(test)


def test_where_a_function_runs() -> None:
    """Alone it runs on the loop, without the cost of a thread; in a thread where its graph, or one above, does more."""

    async def test() -> None:
        async def other() -> None:
            await asyncio.sleep(0)

        inner = Workflow(name="inner", edges=[("START", node(where, name="first"), node(where, name="last"))])

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> list[Any]:
            detached = asyncio.ensure_future(ctx.run_node(other))
            await asyncio.sleep(0)
            beside = await ctx.run_node(where)
            await detached
            return [beside, await ctx.run_node(where)]

        assert await output_of(node(where)) == "loop"
        assert await output_of(Workflow(name="wf", edges=[("START", where)])) == "loop"
        assert await output_of(inner) == "loop"
        assert await output_of(parent) == ["thread", "loop"]
        assert (await output_of(fan_out(other, inner)))["inner"] == "thread"
        one_by_one = node(where, parallel_worker=True, max_parallel_workers=1)
        assert await output_of(one_by_one, "[1, 2]") == ["loop", "loop"]
        assert await output_of(node(where, name="limited", timeout=WAIT_S)) == "thread"

    run(test)


def test_a_lane_that_is_left_alone() -> None:
    """A function that starts after all others have ended runs on the loop again."""

    async def test() -> None:
        talk = Conversation(
            Workflow(
                name="wf",
                edges=[("START", (node(where, name="a"), node(where, name="b")), JoinNode(name="join"), where)],
            )
        )
        assert outputs(await talk.say()) == {
            "wf@1/a@1": "thread",
            "wf@1/b@1": "thread",
            "wf@1/join@1": {"a": "thread", "b": "thread"},
            "wf@1/where@1": "loop",
        }

    run(test)


language: contextvars.ContextVar[str] = contextvars.ContextVar("language")


def test_the_context_in_a_thread() -> None:
    """State, output, route, actions and context variables work from a thread as they do on the loop."""

    async def test() -> None:
        def writes(ctx: Context) -> None:
            ctx.state["seen"] = [language.get()]
            ctx.state["seen"].append(ctx.node_path)
            ctx.actions.skip_summarization = True
            ctx.output = ctx.state["seen"]
            ctx.route = "go"

        def steps(ctx: Context) -> Iterator[Any]:
            ctx.state["step"] = 1
            yield Event(message="one")
            ctx.state["step"] = 2
            yield ctx.state["step"] + 1

        def end(node_input: Any, seen: list[str]) -> Any:
            return [node_input, seen]

        join = JoinNode(name="join")

        token = language.set("fr")
        talk = Conversation(
            Workflow(name="wf", edges=[("START", (writes, steps)), (writes, {"go": end}), ((end, steps), join)])
        )
        events = await talk.say()
        language.reset(token)
        found = outputs(events)
        assert found["wf@1/writes@1"] == ["fr", "wf@1/writes@1"]
        assert found["wf@1/end@1"] == [["fr", "wf@1/writes@1"]] * 2
        assert [event.actions.skip_summarization for event in events if event.node_name == "writes"] == [True]
        assert [event.actions.state_delta for event in events if event.node_name == "steps"] == [
            {"step": 1},
            {"step": 2},
        ]
        assert await talk.state() == {"seen": ["fr", "wf@1/writes@1"], "step": 2}

    run(test)


def test_a_generator_stays_in_one_thread() -> None:
    """All steps of a sync generator run in one thread, its end too; its events come one by one."""

    async def test() -> None:
        threads: set[int] = set()

        def steps() -> Iterator[Any]:
            try:
                for number in range(3):
                    threads.add(threading.get_ident())
                    yield Event(message=str(number))
                yield "out"
            finally:
                threads.add(threading.get_ident())

        talk = Conversation(fan_out(steps, node(where, name="other")))
        found = lines(await talk.say())
        assert [said for path, said in found if path == "wf@1/steps@1"] == [None, None, None, "out"]
        assert len(threads) == 1
        assert threads != {threading.get_ident()}

    run(test)


def test_a_generator_that_is_stopped() -> None:
    """A generator of a run that ends is closed, in its thread, where it yielded last."""

    async def test() -> None:
        ended: list[bool] = []

        def steps() -> Iterator[Any]:
            try:
                yield Event(message="one")
                yield Event(message="two")
            finally:
                ended.append(is_on_loop())

        talk = Conversation(fan_out(steps, node(where, name="other")))
        await talk.cut_after(1)
        assert ended == [False]

    run(test)


class Blocked:
    """A function that blocks until it is released, then writes late."""

    def __init__(self) -> None:
        self.begun, self.released, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.runs = 0

    def __call__(self, ctx: Context) -> str:
        """Block the first time."""
        self.runs += 1
        if self.runs > 1:
            return "second"
        ctx.state["early"] = [1]
        state, kept = ctx.state, ctx.state["early"]
        self.begun.set()
        assert self.released.wait(WAIT_S)
        kept.append("late")
        state["late"] = ctx.state["later"] = True
        ctx.output = "late"
        self.ended.set()
        return "late"

    def release(self) -> None:
        """Let it go on, and wait for its end."""
        self.released.set()
        assert self.ended.wait(WAIT_S)


def test_a_timeout_of_a_blocking_function() -> None:
    """A timeout ends the node though its thread blocks; the thread is left behind with a warning and writes nothing."""

    async def test() -> None:
        blocked = Blocked()
        again = RetryConfig(max_attempts=2, initial_delay=0, jitter=0, exceptions=[NodeTimeoutError])
        talk = Conversation(
            Workflow(name="wf", edges=[("START", node(blocked, name="slow", timeout=0.05, retry_config=again))])
        )
        with pytest.warns(RuntimeWarning, match="Node 'slow' was stopped, and its sync function is still at work"):
            events = await talk.say()
        assert lines(events) == [("wf@1/slow@1", "!NodeTimeoutError"), ("wf@1/slow@1", "second")]
        blocked.release()
        await asyncio.sleep(0)
        assert await talk.state() == {"early": [1]}
        assert (await talk.root()).output == "second"

    run(test)


def test_a_failure_beside_a_blocking_function() -> None:
    """The failure of a sibling ends the run; what the blocked function says later is lost, and it runs again."""

    async def test() -> None:
        blocked = Blocked()
        is_broken = True

        async def fails() -> str:
            await asyncio.to_thread(blocked.begun.wait, WAIT_S)
            if is_broken:
                raise ValueError("no")
            return "well"

        talk = Conversation(fan_out(node(blocked, name="slow"), fails))
        with pytest.warns(RuntimeWarning, match="'slow'"):
            await talk.fail(ValueError, talk.say())
        records = await talk.records()
        assert records["wf@1/slow@1"].status is Status.CANCELLED
        blocked.release()
        is_broken = False
        await talk.go_on()
        assert (await talk.root()).output == {"slow": "second", "fails": "well"}
        assert {"late", "later"}.isdisjoint(await talk.state())

    run(test)


def test_a_stop_beside_a_blocking_function() -> None:
    """A caller that walks away, or is cancelled, isn't held up by a thread that blocks."""

    async def test() -> None:
        async def leave(talk: Conversation, blocked: Blocked) -> None:
            await talk.cut_after(1)

        async def cancel(talk: Conversation, blocked: Blocked) -> None:
            turn = asyncio.ensure_future(talk.say())
            await asyncio.to_thread(blocked.begun.wait, WAIT_S)
            turn.cancel()
            await asyncio.wait([turn])

        for way in (leave, cancel):
            blocked = Blocked()

            async def speaks(blocked: Blocked = blocked) -> str:
                await asyncio.to_thread(blocked.begun.wait, WAIT_S)
                return "well"

            talk = Conversation(fan_out(node(blocked, name="slow"), speaks))
            with pytest.warns(RuntimeWarning, match="'slow'"):
                await way(talk, blocked)
            blocked.release()
            await talk.go_on()
            assert (await talk.root()).output == {"slow": "second", "speaks": "well"}

    run(test)


def test_a_function_that_ends_soon_after_a_stop() -> None:
    """A function that ends soon after it was stopped is waited for: nothing is left behind and nothing is said."""

    async def test() -> None:
        begun = threading.Event()

        def short() -> str:
            begun.set()
            threading.Event().wait(0.1)
            return "short"

        async def fails() -> None:
            await asyncio.to_thread(begun.wait, WAIT_S)
            raise ValueError("no")

        talk = Conversation(fan_out(short, fails))
        await talk.fail(ValueError, talk.say())
        assert (await talk.records())["wf@1/short@1"].status is Status.CANCELLED

    run(test)


def test_a_limit_of_time_over_a_blocking_function() -> None:
    """`Limits(max_seconds=...)`, and the timeout of a workflow, end a function alone in its graph that blocks."""

    async def test() -> None:
        blocked = Blocked()
        talk = Conversation(Workflow(name="wf", edges=[("START", node(blocked, name="slow"))]))
        with pytest.warns(RuntimeWarning, match="'slow'"):
            await talk.say(run_config=RunConfig(limits=Limits(max_seconds=0.05)))
        assert (await talk.root()).status is Status.STOPPED
        blocked.release()
        blocked = Blocked()
        talk = Conversation(Workflow(name="wf", timeout=0.05, edges=[("START", node(blocked, name="slow"))]))
        with pytest.warns(RuntimeWarning, match="'slow'"):
            await talk.fail(NodeTimeoutError, talk.say())
        blocked.release()

    run(test)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_bounded_pool(workers: int) -> None:
    """With a `ToolThreadPoolConfig` all sync functions work in threads, so many at a time."""

    async def test() -> None:
        lock = threading.Lock()
        at_work, most = 0, 0

        def part(node_input: int) -> str:
            nonlocal at_work, most
            with lock:
                at_work += 1
                most = max(most, at_work)
            threading.Event().wait(0.005)
            with lock:
                at_work -= 1
            return where()

        config = RunConfig(tool_thread_pool_config=ToolThreadPoolConfig(max_workers=workers))
        assert await output_of(where, run_config=config) == "thread"
        assert await output_of(node(part, parallel_worker=True), str([1] * 12), run_config=config) == ["thread"] * 12
        assert most <= workers

    run(test)


def test_a_place_in_the_pool_is_given_back() -> None:
    """A function that is left behind doesn't keep its place: the next one gets it."""

    async def test() -> None:
        blocked = Blocked()
        config = RunConfig(tool_thread_pool_config=ToolThreadPoolConfig(max_workers=1))
        again = RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
        with pytest.warns(RuntimeWarning, match="'slow'"):
            found = await output_of(node(blocked, name="slow", timeout=0.05, retry_config=again), run_config=config)
        assert found == "second"
        blocked.release()

    run(test)


def test_a_pool_of_nobody() -> None:
    """A pool has at least one thread."""
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        ToolThreadPoolConfig(max_workers=0)


def test_what_a_thread_raises() -> None:
    """Whatever a function raises in a thread is the node's failure, as on the loop."""

    async def test() -> None:
        def ends() -> None:
            raise StopIteration("odd")

        def leaves() -> None:
            sys.exit(3)

        def needs_the_loop() -> None:
            asyncio.get_running_loop()

        for function, expected in (
            (ends, RuntimeError),
            (leaves, WorkflowDataError),
            (needs_the_loop, RuntimeError),
        ):
            talk = Conversation(fan_out(function, node(where, name="other")))
            error = await talk.fail(expected, talk.say())
        assert "write it as async def to keep it on the event loop" in error.__notes__[0]

    run(test)


def test_a_sync_function_that_returns_something_to_await() -> None:
    """What a sync function returns is awaited on the loop, wherever the function ran."""

    async def test() -> None:
        async def later() -> str:
            return where()

        found = await output_of(fan_out(node(lambda: later(), name="a"), node(lambda: later(), name="b")))
        assert found == {"a": "loop", "b": "loop"}

    run(test)


def test_a_blocked_thread_does_not_keep_python_from_exiting() -> None:
    """A thread that blocks for ever ends with the interpreter."""
    code = """
        import asyncio, threading, warnings
        warnings.simplefilter("ignore")
        from adk_nb.runners import InMemoryRunner
        from adk_nb.workflow import node

        @node(timeout=0.05)
        def forever():
            threading.Event().wait()

        async def main():
            try:
                await InMemoryRunner(node=forever).run_debug("hi", quiet=True)
            except TimeoutError as error:
                print(type(error).__name__)

        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("NodeTimeoutError", 0), done.stderr
