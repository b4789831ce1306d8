"""Runs that are stopped anywhere, in any way: nothing is left behind, and they can be gone on with."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from adk_nb.errors import AdkNbError
from adk_nb.events.record import Status
from adk_nb.workflow import Workflow
from adk_nb.workflow.limits import Limits
from adk_nb.workflow.run_config import RunConfig
from adk_nb.workflow.stopping import STOP_WITHIN_S
from tests.workflow.driving import Conversation, run
from tests.workflow.lives import Lives
from tests.workflow.mortal_stores import Store
from tests.workflow.promises import Ending, check_promises
from tests.workflow.random_graphs import Maker, makers

EXAMPLES = int(os.environ.get("ADK_NB_TEST_EXAMPLES", "60"))
HAPPENINGS = ["walked away", "cancelled", "failed", "timed out", "out of time", "aborted", "interrupted"]


class Stopped(Lives):
    """A run that is stopped at the k-th execution of a body, in one of several ways."""

    def __init__(self, make: Maker, happening: str, count: int) -> None:
        """Prepare."""
        super().__init__(make, Store(), is_limited=False)
        self.happening, self.left = happening, count
        self.abort_signal = asyncio.Event()
        self.story.on_execution = self.count_down
        self.loop = asyncio.get_running_loop()
        if happening == "timed out":
            self.story.timeout = 0.01

    def count_down(self) -> None:
        """Let it happen when it is time; also called in threads."""
        self.left -= 1
        if self.left != 0:
            return
        if self.happening == "failed":
            raise ValueError("broken")
        if self.happening == "interrupted":
            raise KeyboardInterrupt
        if self.happening == "cancelled":
            self.loop.call_soon_threadsafe(self.consumer.cancel)
        elif self.happening == "aborted":
            self.loop.call_soon_threadsafe(self.abort_signal.set)
        elif self.happening in ("timed out", "out of time"):
            self.story.hangs = True

    async def live_and_be_stopped(self) -> None:
        """Run until it ends, waits or is stopped."""
        options: dict[str, Any] = {"abort_signal": self.abort_signal}
        if self.happening == "out of time":
            options["run_config"] = RunConfig(limits=Limits(max_seconds=0.02))

        async def consume() -> None:
            if self.happening == "walked away":
                await self.talk.cut_after(self.left)
            else:
                await self.talk.say(**options)

        self.consumer = asyncio.ensure_future(consume())
        await asyncio.wait([self.consumer])
        if not self.consumer.cancelled():
            error = self.consumer.exception()
            assert error is None or isinstance(error, (ValueError, AdkNbError)), error

    async def go_on(self) -> None:
        """Go on in a new process where nothing happens any more."""
        self.story.on_execution = self.story.timeout = None
        self.story.hangs = False
        await self.begin()
        assert await self.live()


@seed(2041)
@settings(max_examples=EXAMPLES, deadline=None)
@given(make=makers(), happening=st.sampled_from(HAPPENINGS), count=st.integers(1, 8))
def test_whatever_stops_a_run_leaves_nothing_behind(make: Maker, happening: str, count: int) -> None:
    """Stopped anywhere, in any way, a run leaves no task and no thread, and its session can be gone on with.

    What was finished isn't run again, and what the rules of the graph promise holds in the end.
    """

    async def test() -> None:
        tasks, threads = asyncio.all_tasks(), set(threading.enumerate())
        lives = Stopped(make, happening, count)
        await lives.begin()
        await lives.live_and_be_stopped()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == tasks
        for thread in set(threading.enumerate()) - threads:
            thread.join(timeout=1)
            assert not thread.is_alive()
        await lives.go_on()
        check_promises(await Ending.of(lives.talk), lives.talk.runner.agent)
        assert lives.story.ran_twice == []

    run(test)


@pytest.mark.parametrize("is_failure", [True, False], ids=["failure", "cancelled"])
def test_only_a_node_that_cannot_be_stopped_is_left_behind(is_failure: bool) -> None:
    """A node that ignores its cancellation is named; the workflows around it end in order, and their records say so."""

    async def test() -> None:
        is_over = asyncio.Event()

        async def deaf() -> None:
            while not is_over.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await is_over.wait()

        async def beside() -> None:
            await asyncio.sleep(0)
            if is_failure:
                raise ValueError("broken")
            consumer.cancel()

        inner = Workflow(name="inner", edges=[("START", Workflow(name="innermost", edges=[("START", deaf)]))])
        talk = Conversation(Workflow(name="wf", edges=[("START", (inner, beside))]))
        consumer = asyncio.ensure_future(talk.say())
        with pytest.warns(RuntimeWarning) as warned:
            await asyncio.wait([consumer])
        assert consumer.cancelled() or isinstance(consumer.exception(), ValueError)
        assert [str(one.message).split(" ")[0] for one in warned] == ["wf@1/inner@1/innermost@1/deaf@1"]
        records = await talk.records()
        assert {records[path].status for path in ("wf@1/inner@1", "wf@1/inner@1/innermost@1")} == {Status.CANCELLED}
        is_over.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    run(test)


def test_time_in_which_something_blocks_the_loop_does_not_count() -> None:
    """A stopped node is not left behind because the event loop stood still; it ends as soon as it is its turn."""

    async def test() -> None:
        async def tidy() -> None:
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                time.sleep(STOP_WITHIN_S + 0.1)  # noqa: ASYNC251  # this is what must not matter
                for _ in range(5):
                    await asyncio.sleep(0)
                ended.append("tidy")

        async def fail() -> None:
            raise ValueError("broken")

        for root in (
            Workflow(name="wf", edges=[("START", (tidy, fail))]),
            Workflow(name="wf", edges=[("START", (Workflow(name="inner", edges=[("START", tidy)]), fail))]),
        ):
            ended: list[str] = []
            talk = Conversation(root)
            await talk.fail(ValueError, talk.say())
            assert ended == ["tidy"]

    run(test)
