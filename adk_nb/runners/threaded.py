"""Runs for code that can't await: the stream of events is read on a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator

from adk_nb.events.event import Event


def read_on_thread(open_stream: Callable[[], AsyncGenerator[Event, None]]) -> Generator[Event, None, None]:
    """Yield the events of a stream to code that can't await; also inside a running event loop.

    The run goes on when the next event is asked for. Closing the generator closes the stream. What the stream raises is
    raised here, after its events.
    """
    reader = _Reader(open_stream)
    try:
        while (event := reader.read()) is not None:
            yield event
    finally:
        reader.close()


class _Reader:
    """Reads a stream, one event each time it is asked."""

    def __init__(self, open_stream: Callable[[], AsyncGenerator[Event, None]]) -> None:
        self._open_stream = open_stream
        self._items: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._asked: asyncio.Event | None = None
        self._is_ready = threading.Event()
        context = contextvars.copy_context()  # what the caller has set, for instance a model, holds here, too
        self._thread = threading.Thread(target=context.run, args=(self._run,), name="adk_nb run", daemon=True)

    def read(self) -> Event | None:
        """Return the next event, `None` after the last one; raise what the stream raised."""
        if self._thread.ident is None:
            self._thread.start()
            self._is_ready.wait()
        elif self._loop is not None and self._asked is not None:
            self._loop.call_soon_threadsafe(self._asked.set)
        item = self._items.get()
        if isinstance(item, BaseException):
            raise item
        return item

    def close(self) -> None:
        """Come back when the stream is closed and the thread has ended."""
        if self._thread.ident is None:
            return
        if self._loop is not None and self._task is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: everything has ended by itself
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def _run(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._read_all())

    async def _read_all(self) -> None:
        self._loop, self._task, self._asked = asyncio.get_running_loop(), asyncio.current_task(), asyncio.Event()
        self._is_ready.set()
        end: BaseException | None = None
        try:
            async with contextlib.aclosing(self._open_stream()) as stream:
                async for event in stream:
                    self._asked.clear()
                    self._items.put(event)
                    await self._asked.wait()
        except Exception as error:  # noqa: BLE001  # whatever a run fails with is raised where it is read
            end = error
        finally:
            self._items.put(end)
