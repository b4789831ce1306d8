"""How tasks are stopped: cancelled, waited for, and left behind, unable to store anything, when they don't end."""

from __future__ import annotations

import asyncio
import warnings
import weakref
from collections.abc import Iterable
from typing import Any

STOP_WITHIN_S = 1.0
"""How long a cancelled node may take to end; one that takes longer is left behind."""
LOOKS = 10
"""How often it is looked after meanwhile. What blocks the event loop for longer than that takes one look from it."""


class Stopping:
    """The tasks of one engine that are being stopped."""

    def __init__(self) -> None:
        """Begin with none."""
        self._stopping: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        self._left_behind: set[asyncio.Task[Any]] = set()
        self._waiting: set[asyncio.Task[Any] | None] = set()
        """Those that wait for what they stop: they end soon after it."""
        self.is_ending = False
        """Nobody listens any more, and the root is about to be cancelled."""

    def cancel(self, tasks: set[asyncio.Task[Any]]) -> None:
        """Ask tasks to end."""
        self._stopping |= tasks
        for task in tasks:
            task.cancel()

    async def stop(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        """Cancel tasks and wait until they have ended; one that takes too long is left behind."""
        running = {task for task in tasks if not task.done()}
        if not running:
            return
        self.cancel(running)
        me, looks = asyncio.current_task(), LOOKS
        stopped: asyncio.CancelledError | None = None
        self._waiting.add(me)
        try:
            while running:
                try:
                    done, running = await asyncio.wait(running, timeout=STOP_WITHIN_S / LOOKS)
                except asyncio.CancelledError as error:  # what is stopped itself still waits for what is below it
                    stopped = error
                    continue
                for task in done:
                    if not task.cancelled():
                        task.exception()
                looks -= 1
                if looks <= 0:
                    running -= self.leave_behind(running)
        finally:
            self._waiting.discard(me)
        if stopped is not None:
            raise stopped

    def leave_behind(self, tasks: set[asyncio.Task[Any]]) -> set[asyncio.Task[Any]]:
        """Go on without tasks that don't end, and say so; return them. Those that wait for others still have time."""
        tasks = tasks - self._waiting
        if not tasks:
            return tasks
        self._left_behind |= tasks
        names = ", ".join(sorted(task.get_name() for task in tasks))
        warnings.warn(
            f"{names} ignored asyncio.CancelledError for {STOP_WITHIN_S:g} s and was left behind: let the error pass.",
            RuntimeWarning,
            stacklevel=2,
        )
        return tasks

    def refuse_left_behind(self) -> None:
        """End the running task here if it was left behind."""
        if self._left_behind and asyncio.current_task() in self._left_behind:
            raise asyncio.CancelledError

    def is_stop(self, error: BaseException, above: Iterable[asyncio.Task[Any] | None] = ()) -> bool:
        """Say whether an error means that the run is stopped from outside, as against a failure of the node itself.

        Args:
            error: What the running task raised.
            above: The tasks of those that started it, which stop it when they are stopped.
        """
        if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
            return True
        task = asyncio.current_task()
        if task is None or not isinstance(error, asyncio.CancelledError):
            # A node may raise anything while it is stopped. `cancelling()` doesn't tell: a TaskGroup leaves it raised.
            return self.is_ending or task in self._stopping or any(one in self._stopping for one in above if one)
        return task.cancelling() > 0
