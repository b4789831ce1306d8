"""One run at a time on a session: later ones of the same process wait for their turn."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class Turns:
    """Hands out turns by key, in the order of asking, to tasks on any event loops and threads."""

    def __init__(self) -> None:
        self._queues: weakref.WeakValueDictionary[Hashable, _Queue] = weakref.WeakValueDictionary()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def turn(self, key: Hashable) -> AsyncIterator[None]:
        """Wait until no other task is inside for this key, and keep others out until the end."""
        with self._lock:
            queue = self._queues.get(key)
            if queue is None:
                queue = self._queues[key] = _Queue()
        await queue.take()
        try:
            yield
        finally:
            queue.give()


class _Queue:
    """The turns of one key. An `asyncio.Lock` would tie them to one event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_taken = False
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def take(self) -> None:
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return
            loop = asyncio.get_running_loop()
            place = (loop, loop.create_future())
            self._waiting.append(place)
        try:
            await place[1]
        except asyncio.CancelledError:
            with self._lock:
                was_called = place not in self._waiting
                if not was_called:
                    self._waiting.remove(place)
            if was_called:
                self.give()
            raise

    def give(self) -> None:
        with self._lock:
            while self._waiting:
                loop, future = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(_wake, future)
                except RuntimeError:  # its loop has been closed: nobody waits there any more
                    continue
                return
            self._is_taken = False


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
