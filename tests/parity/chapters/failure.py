"""Failures, retries and timeouts."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any

from tests.parity.pieces import Boom, Ticket, fails, flow, gives, shows
from tests.parity.side import Side, said


class Quota(Exception):
    """An error with a status of its own."""

    status = "RESOURCE_EXHAUSTED"


class Worse(Boom):
    """An error that derives from another."""


def fails_until(adk: Side, attempt: int, error: type[Exception] = Boom, *, name: str = "f", **config: Any) -> Any:
    """Return a node that fails before a given attempt, and then says which attempt it is."""

    def work(ctx: Any) -> int:
        if ctx.attempt_count < attempt:
            raise error(f"attempt {ctx.attempt_count}")
        return int(ctx.attempt_count)

    return adk.node(work, name=name, retry_config=adk.RetryConfig(**{"initial_delay": 0.001, "jitter": 0, **config}))


async def a_failure_ends_the_run(adk: Side) -> None:
    """An exception in a node gives one error event and leaves the run, as it is."""
    await adk.play(flow(adk, gives(adk, "b", 1), fails(adk), shows(adk)))


async def an_error_may_have_a_status(adk: Side) -> None:
    """An exception with a text `status` has it as its code."""

    def a() -> None:
        raise Quota("slow down")

    await adk.play(flow(adk, a))


async def what_was_raised_is_what_leaves(adk: Side) -> None:
    """The very object that a node raised leaves the run, through nested workflows."""
    raised = Boom("no")

    def a() -> None:
        raise raised

    inner = adk.Workflow(name="inner", edges=[("START", adk.node(a))])
    talk = adk.talk(flow(adk, inner))
    try:
        async for _ in talk.runner.run_async(**talk.where, new_message=said("hi")):
            pass
    except Boom as error:
        adk.note("same", error is raised)


async def a_retry_runs_again(adk: Side) -> None:
    """A node with a retry config is run again after a failure, under the same path; each failure is an event."""
    await adk.play(flow(adk, fails_until(adk, 3), shows(adk)))


async def five_attempts_are_the_default(adk: Side) -> None:
    """Without `max_attempts` there are five attempts."""
    await adk.play(flow(adk, fails_until(adk, 9)))


async def attempts_are_limited(adk: Side) -> None:
    """`max_attempts` counts all attempts; 0 and 1 mean no retry."""
    for limit in (0, 1, 2):
        await adk.play(flow(adk, fails_until(adk, 9, max_attempts=limit)), session_id=f"limit {limit}")


async def only_named_errors_are_retried(adk: Side) -> None:
    """`exceptions` names what is retried, as classes or names, derived ones included."""
    for number, names in enumerate([[Boom], ["Boom"], ["Worse"], ["ValueError"], [ValueError, "Boom"]]):
        await adk.play(flow(adk, fails_until(adk, 2, Worse, exceptions=names)), session_id=f"s{number}")
    adk.refused("a number", lambda: adk.RetryConfig(exceptions=[5]), "exceptions must contain exception class names")


async def a_retry_keeps_what_was_said(adk: Side) -> None:
    """Messages of a failed attempt stay, and so does its output, which the last attempt's replaces."""

    async def a(ctx: Any) -> AsyncIterator[Any]:
        yield adk.Event(message=f"attempt {ctx.attempt_count}")
        if ctx.attempt_count < 2:
            raise Boom("no")
        yield ctx.attempt_count

    await adk.play(flow(adk, adk.node(a, retry_config=adk.RetryConfig(initial_delay=0.001, jitter=0)), shows(adk)))


async def a_workflow_is_retried(adk: Side) -> None:
    """A nested workflow with a retry config goes on where it failed: what finished inside isn't run again."""
    times = {"a": 0, "b": 0}

    def a() -> int:
        times["a"] += 1
        return times["a"]

    def b(node_input: int) -> int:
        times["b"] += 1
        if times["b"] < 2:
            raise Boom("no")
        return node_input

    retry = adk.RetryConfig(initial_delay=0.001, jitter=0)
    inner = adk.Workflow(name="inner", edges=[("START", adk.node(a), adk.node(b))], retry_config=retry)
    await adk.play(flow(adk, inner, shows(adk)))
    adk.note("times", times)


async def a_timeout_fails_the_node(adk: Side) -> None:
    """A node that takes longer than its `timeout` fails with an error that names it."""
    left = []

    async def slow() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            left.append("cancelled")
            raise

    adk.listen("Node 'slow' timed out after")
    await adk.play(flow(adk, gives(adk, "a", 1), adk.node(slow, timeout=0.02)))
    adk.note("left", left)


async def a_sync_function_takes_too_long(adk: Side) -> None:
    """A sync function that blocks longer than its timeout."""
    is_over = threading.Event()

    def slow() -> str:
        is_over.wait(0.4)
        return "late"

    try:
        await adk.play(flow(adk, adk.node(slow, timeout=0.05), shows(adk)))
    finally:
        is_over.set()


async def a_timeout_is_retried(adk: Side) -> None:
    """A timeout counts for one attempt, and can be retried."""

    async def slow(ctx: Any) -> str:
        if ctx.attempt_count == 1:
            await asyncio.sleep(30)
        return "quick"

    retry = adk.RetryConfig(initial_delay=0.001, jitter=0, exceptions=["NodeTimeoutError"])
    await adk.play(flow(adk, adk.node(slow, timeout=0.3, retry_config=retry)))


async def a_workflow_times_out(adk: Side) -> None:
    """A timeout on a nested workflow stops what runs inside."""

    async def slow() -> None:
        await asyncio.sleep(30)

    inner = adk.Workflow(name="inner", edges=[("START", gives(adk, "a", 1), slow)], timeout=0.3)
    await adk.play(flow(adk, inner, shows(adk)))


async def the_first_failure_stops_the_others(adk: Side) -> None:
    """A failing lane stops the others, and nothing new starts."""
    started, seen = asyncio.Event(), []

    async def slow() -> None:
        started.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def bad() -> None:
        await started.wait()
        raise Boom("no")

    await adk.play(flow(adk, (slow, bad), adk.JoinNode(name="j")))
    adk.note("seen", seen)


async def the_first_of_two_failures_is_raised(adk: Side) -> None:
    """Of two lanes that fail at once, the first in order is raised."""
    both = asyncio.Event()

    async def one() -> None:
        await both.wait()
        raise Boom("one")

    async def two() -> None:
        both.set()
        await both.wait()
        raise Worse("two")

    await adk.play(flow(adk, (one, two), adk.JoinNode(name="j")))


async def what_finished_before_a_failure_is_kept(adk: Side) -> None:
    """After a failure the run goes on under its invocation id: what finished isn't run again, what failed is."""
    times = {"a": 0, "b": 0}

    def a() -> int:
        times["a"] += 1
        return times["a"]

    def b(node_input: int) -> int:
        times["b"] += 1
        if times["b"] < 2:
            raise Boom("no")
        return node_input + 10

    talk = await adk.play(flow(adk, adk.node(a), adk.node(b), shows(adk)))
    await talk.go_on()
    adk.note("times", times)


async def a_wrong_input_isnt_retried(adk: Side) -> None:
    """An input that doesn't fit a simple hint is the node's own failure, and tried again like any other."""

    def b(node_input: int) -> int:
        return node_input

    await adk.play(
        flow(adk, gives(adk, "a", "zz"), adk.node(b, retry_config=adk.RetryConfig(max_attempts=2, initial_delay=0.001)))
    )


async def settings_of_a_retry_are_optional(adk: Side) -> None:
    """Fields of a retry config that aren't given are `None`; errors are kept as names."""
    config = adk.RetryConfig(exceptions=[Boom, "Other"])
    adk.note(
        "fields", [config.max_attempts, config.initial_delay, config.max_delay, config.backoff_factor, config.jitter]
    )
    adk.note("names", config.exceptions)


async def an_exit_is_the_nodes_failure(adk: Side) -> None:
    """`sys.exit` in a node: whether it ends the process or the run."""

    def leave() -> None:
        sys.exit(3)

    talk = adk.talk(flow(adk, leave))
    try:
        await asyncio.to_thread(asyncio.run, talk.turn("hi"))  # a loop of its own, which it may end
    except SystemExit:
        adk.note("the process", "would end")
    else:
        adk.note("the process", "goes on")


async def leaving_early_stops_the_nodes(adk: Side) -> None:
    """A caller who walks away stops the node that was running; what was seen is stored."""
    seen = []

    async def slow() -> AsyncIterator[Any]:
        try:
            yield adk.Event(message="one")
            yield adk.Event(message="two")
        finally:
            seen.append("closed")

    talk = adk.talk(flow(adk, gives(adk, "a", Ticket(title="x").model_dump()), adk.node(slow)))
    await talk.turn("hi", leave_after=2)
    adk.note("seen", seen)
