"""A node's sync function in a thread, with a context of its own that is cut off from the run if it is left behind."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import AsyncGenerator, Callable, Generator
from typing import TYPE_CHECKING, Any

from adk_nb.workflow.threads import GRACE_S, HandOver, Work

if TYPE_CHECKING:
    from adk_nb.workflow.context import Context


async def call_in_thread(ctx: Context, call: Callable[[Context], Any]) -> Any:
    """Return what a sync function returns.

    Args:
        ctx: The node's context.
        call: Calls the function with the context that it is given.
    """
    work = _InThread(ctx, lambda own, hand_over: call(own))
    try:
        _, result = await work.step()
    finally:
        await work.end()
    return result


async def iterate_in_thread(
    ctx: Context, call: Callable[[Context], Generator[Any, Any, Any]]
) -> AsyncGenerator[Any, None]:
    """Yield what a sync generator yields; all of it runs in one thread.

    Args:
        ctx: The node's context.
        call: Makes the generator with the context that it is given.
    """

    def body(own: Context, hand_over: HandOver) -> None:
        with contextlib.closing(call(own)) as items:
            for item in items:
                hand_over(item)

    work = _InThread(ctx, body)
    try:
        while True:
            is_end, item = await work.step()
            if is_end:
                return
            yield item
            work.go_on()
    finally:
        await work.end()


class _InThread:
    """Work of one node in a thread, with the context that it sees."""

    def __init__(self, ctx: Context, body: Callable[[Context, HandOver], Any]) -> None:
        self._ctx = ctx
        self._threads = ctx.threads
        own = self._own = ctx.twin()
        self._work = Work(lambda hand_over: body(own, hand_over))
        self._is_begun = self._threads.begin(self._work)
        self.go_on = self._work.go_on

    async def step(self) -> tuple[bool, Any]:
        """Return the next step, and take over what was written to the context before it."""
        try:
            step = await self._work.step(is_begun=self._is_begun)
        except Exception as error:
            if "thread" in str(error) or "event loop" in str(error):
                error.add_note(
                    f"Node {self._ctx.agent_name!r} is a sync function and ran in a thread, to hold up nothing else: "
                    f"write it as async def to keep it on the event loop."
                )
            raise
        finally:
            if self._work.is_over:
                self._ctx.take_back(self._own)
        self._is_begun = True
        self._ctx.take_back(self._own)
        return step

    async def end(self) -> None:
        """Stop what is still at work; after a moment leave it behind, cut off from the run."""
        if self._work.is_over or self._threads.withdraw(self._work):
            return
        try:
            await self._work.stop()
        finally:
            if self._threads.leave(self._work):
                why = (
                    f"was stopped, and its sync function is still at work {GRACE_S:g} s later: its thread goes on to "
                    f"its end, and what it writes or returns is dropped. Give what it waits for a time limit, or write "
                    f"it as async def"
                )
                self._ctx.cut_off(self._own, f"{self._ctx.agent_name} {why}")
                warnings.warn(f"Node {self._ctx.agent_name!r} {why}.", RuntimeWarning, stacklevel=2)
