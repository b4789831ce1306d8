"""Event loops on threads of their own, for code that can't await: in a script, or inside a loop that runs already."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loops: list[PrivateLoop] = []


class PrivateLoop:
    """One loop that runs for ever on a daemon thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.is_blocked = False
        self.thread = threading.Thread(target=self._run, name="adk_nb loop", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a private loop, and block this thread until then.

    It may be called inside a coroutine that itself runs on a private loop: then another loop does the work, since the
    first one stands still meanwhile. A KeyboardInterrupt cancels the work and waits for at most a second.

    Example:
        >>> run_blocking(asyncio.sleep(0, "done"))
        'done'
    """
    here = threading.current_thread()
    with _lock:
        own = next((one for one in _loops if one.thread is here), None)
        if own is not None:
            own.is_blocked = True
        free = next((one for one in _loops if not one.is_blocked), None)
        if free is None:
            free = PrivateLoop()
            _loops.append(free)
    future = asyncio.run_coroutine_threadsafe(work, free.loop)
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        concurrent.futures.wait([future], timeout=1.0)
        raise
    finally:
        if own is not None:
            with _lock:
                own.is_blocked = False
