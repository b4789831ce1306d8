"""Threads for sync functions beside the event loop, so that one that blocks stops neither its siblings nor others.

The loop waits for a function a moment before it turns to others. Short functions so end in the order in which they
began, with nothing else in between, as if they had run on the loop; only one that takes longer goes on beside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

THREADS = 32
"""How many sync functions of one run work at a time, unless `RunConfig.tool_thread_pool_config` says otherwise."""
GRACE_S = 0.5
"""How long a function that is stopped may take to end; one that takes longer is left behind."""

HandOver = Callable[[Any], None]
"""Takes an item out of the thread and returns when the next one is wanted."""
Body = Callable[[HandOver], Any]
"""What runs in a thread: it may hand over items, and returns its result."""


class Patience:
    """How long the loop may wait for sync functions that turn out to be slow: a twentieth of the time, in all.

    Example:
        >>> patience = Patience()
        >>> first = patience.seconds()
        >>> patience.was_in_vain(first)
        >>> patience.seconds() < first
        True
    """

    BUDGET_S = 0.16
    """The most that can be waited in vain before there is nothing left."""
    SHARE = 8
    """A wait takes this part of what is left: 20 ms at first."""
    REFILL = 0.05
    """Seconds that come back with each second that passes."""

    def __init__(self) -> None:
        self._left = self.BUDGET_S
        self._since = time.monotonic()

    def seconds(self) -> float:
        """Return how long to wait now: less, the more waits were in vain of late."""
        now = time.monotonic()
        self._left = min(self.BUDGET_S, self._left + (now - self._since) * self.REFILL)
        self._since = now
        return self._left / self.SHARE

    def was_in_vain(self, seconds: float) -> None:
        """Take note of a wait after which the function was still at work."""
        self._left = max(0.0, self._left - seconds)


_patience = Patience()  # of the process: what one run wastes is the time of all


class Work:
    """One call in a thread. What it does there comes back in steps: the items it hands over, and its end."""

    def __init__(self, body: Body) -> None:
        """Prepare to run `body`, with the context variables of the caller."""
        self._body = body
        self._variables = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._steps: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
        self._wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._waiter: asyncio.Future[None] | None = None
        self._error: BaseException | None = None
        self.is_over = False
        """The thread is done with it."""
        self.is_left_behind = False
        """Nobody waits for it any more, and its thread has no place among the others."""

    def run(self) -> None:
        """Do the work; in the thread."""
        result = None
        try:
            result = self._variables.run(self._body, self._hand_over)
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is raised where the work is waited for
            self._error = error
        self._arrive(True, result)

    def _hand_over(self, item: Any) -> None:
        self._arrive(False, item)
        if not self._wanted.get():
            raise GeneratorExit

    def _arrive(self, is_end: bool, value: Any) -> None:
        with self._lock:
            self._steps.put((is_end, value))
            self.is_over, waiter = is_end, self._waiter
        if waiter is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(_wake, waiter)

    async def step(self, *, is_begun: bool) -> tuple[bool, Any]:
        """Return the next step: whether it is the end, and the item or the result.

        Args:
            is_begun: A thread is at it, so that it may be worth to wait for it on the spot.
        Raises:
            BaseException: what the body raised.
        """
        patience = _patience.seconds() if is_begun else 0.0
        try:
            is_end, value = self._steps.get(timeout=patience)
        except queue.Empty:
            _patience.was_in_vain(patience)
            await self._arrival()
            is_end, value = self._steps.get()
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return is_end, value

    async def _arrival(self) -> None:
        with self._lock:
            waiter = self._waiter = None if not self._steps.empty() else self._loop.create_future()
        if waiter is not None:
            await waiter

    def go_on(self) -> None:
        """Let the body go on after it handed over an item."""
        self._wanted.put(True)

    async def stop(self) -> None:
        """Ask the body to end where it hands over an item, and wait a moment for its end."""
        self._wanted.put(False)
        until = self._loop.time() + GRACE_S
        while (left := until - self._loop.time()) > 0:
            with self._lock:
                waiter = self._waiter = None if self.is_over else self._loop.create_future()
            if waiter is None:
                return
            await asyncio.wait([waiter], timeout=left)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class Threads:
    """Threads for the sync functions of one run. They end with it, and never keep the interpreter from exiting."""

    def __init__(self, limit: int = THREADS) -> None:
        """Start none yet; at most `limit` work at a time."""
        self._limit = limit
        self._count = 0
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Work | None]] = []
        self._waiting: deque[Work] = deque()
        self._is_closed = False

    def begin(self, work: Work) -> bool:
        """Give the work to a thread; say whether it has one, as against having to wait for its turn."""
        with self._lock:
            if self._idle:
                self._idle.pop().put(work)
            elif self._count < self._limit:
                self._spawn(work)
            else:
                self._waiting.append(work)
                return False
        return True

    def withdraw(self, work: Work) -> bool:
        """Take back work that has no thread yet; `False` when it has one."""
        with self._lock:
            if work not in self._waiting:
                return False
            self._waiting.remove(work)
            return True

    def leave(self, work: Work) -> bool:
        """Give the place of a thread to others while it goes on with this work; `False` when it has just ended."""
        with self._lock:
            if work.is_over:
                return False
            work.is_left_behind = True
            self._count -= 1
            if self._waiting:
                self._spawn(self._waiting.popleft())
            return True

    def close(self) -> None:
        """Let the threads end; one that is at work ends after it."""
        with self._lock:
            self._is_closed = True
            self._waiting.clear()
            for inbox in self._idle:
                inbox.put(None)
            self._idle.clear()

    def _spawn(self, work: Work) -> None:
        # A daemon: at its end, Python waits for every other thread, also for one that blocks for ever.
        threading.Thread(target=self._serve, args=(work,), name="adk_nb-sync", daemon=True).start()
        self._count += 1

    def _serve(self, work: Work | None) -> None:
        inbox: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        while work is not None:
            work.run()
            with self._lock:
                if work.is_left_behind:
                    return
                work = self._waiting.popleft() if self._waiting else None
                if work is None:
                    if self._is_closed:
                        return
                    self._idle.append(inbox)
            if work is None:
                work = inbox.get()
