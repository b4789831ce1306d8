"""Events on their way from the engine to the caller."""

from __future__ import annotations

import asyncio
from collections import deque

from adk_nb.events.event import Event


class Channel:
    """Events on their way from the engine to the caller; each producer waits until its event was taken.

    The producer goes on when the caller asks for the next event; a producer of partial events doesn't wait.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Event, asyncio.Future[None] | None]] = deque()
        self._taken: asyncio.Future[None] | None = None
        self._wake: asyncio.Future[None] | None = None
        self._is_closed = False
        self._is_abandoned = False
        self._loop = asyncio.get_running_loop()

    async def put(self, event: Event) -> None:
        """Hand over an event; returns when the caller asks for the next one, at once when nobody listens any more."""
        if self._is_abandoned:
            await asyncio.sleep(0)  # what goes on without a listener can still be stopped
            return
        if event.partial:
            self._waiting.append((event, None))
            self._notify()
            return
        taken = self._loop.create_future()
        self._waiting.append((event, taken))
        self._notify()
        await taken

    def close(self, _: object = None) -> None:
        """End the stream after the events that were put before."""
        self._is_closed = True
        self._notify()

    def abandon(self) -> None:
        """Let producers go on without a listener."""
        self._is_abandoned = True

    async def get(self) -> Event | None:
        """Return the next event, `None` after the last one; the producer of the one before goes on."""
        if self._taken is not None and not self._taken.done():
            self._taken.set_result(None)
        while not self._waiting:
            if self._is_closed:
                return None
            self._wake = self._loop.create_future()
            await self._wake
        event, self._taken = self._waiting.popleft()
        return event

    def _notify(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)
