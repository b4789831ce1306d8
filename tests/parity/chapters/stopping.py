"""Stopping: a run that is ended from outside."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.parity.pieces import answers, asks, flow, gives, shows
from tests.parity.side import Side, said


async def a_run_is_stopped_by_a_signal(adk: Side) -> None:
    """A signal stops the running nodes; the run ends with one event that says so, without an error."""
    signal, seen = asyncio.Event(), []

    async def slow() -> None:
        signal.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    talk = adk.talk(flow(adk, gives(adk, "a", 1), slow, shows(adk)))
    await talk.turn("hi", abort_signal=signal)
    adk.note("seen", seen)


async def a_stopped_run_goes_on(adk: Side) -> None:
    """A run that was stopped by a signal goes on under its invocation id."""
    signal, times = asyncio.Event(), []

    async def slow() -> int:
        times.append(1)
        if len(times) == 1:
            signal.set()
            await asyncio.sleep(30)
        return len(times)

    talk = adk.talk(flow(adk, gives(adk, "a", 1), slow, shows(adk)))
    await talk.turn("hi", abort_signal=signal)
    await talk.go_on()


async def a_stopped_question_is_closed(adk: Side) -> None:
    """A question that is open when a run is stopped: what the history says, and whether it can be answered."""
    signal = asyncio.Event()

    async def slow() -> None:
        await asyncio.sleep(0.1)
        signal.set()
        await asyncio.sleep(30)

    talk = adk.talk(flow(adk, (asks(adk, "q"), slow), adk.JoinNode(name="j")))
    await talk.turn("hi", abort_signal=signal)


async def a_node_sees_the_signal(adk: Side) -> None:
    """A node can ask whether the run is being stopped."""

    def a(ctx: Any) -> bool:
        return bool(ctx.is_aborted)

    await adk.play(flow(adk, a))


async def a_signal_that_isnt_set(adk: Side) -> None:
    """A signal that isn't set changes nothing."""
    talk = adk.talk(flow(adk, gives(adk, "a", 1), shows(adk)))
    await talk.turn("hi", abort_signal=asyncio.Event())


async def a_signal_that_was_set_before(adk: Side) -> None:
    """A signal that is set before the run starts."""
    signal = asyncio.Event()
    signal.set()
    talk = adk.talk(flow(adk, gives(adk, "a", 1), shows(adk)))
    await talk.run("hi", new_message=said("hi"), abort_signal=signal)


async def a_stopped_question_can_be_answered(adk: Side) -> None:
    """A question of a run that was stopped may still be answered."""
    signal = asyncio.Event()
    times = []

    async def slow() -> str:
        times.append(1)
        if len(times) == 1:
            await asyncio.sleep(0.1)
            signal.set()
            await asyncio.sleep(30)
        return "slow"

    talk = adk.talk(flow(adk, (asks(adk, "q"), slow), adk.JoinNode(name="j")))
    await talk.turn("hi", abort_signal=signal)
    await talk.turn(answers(q=1))
