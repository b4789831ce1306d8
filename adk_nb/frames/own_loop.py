"""`OwnLoop`: what must be awaited, from code that can't await; the loop of this thread may be running."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


class OwnLoop:
    """An event loop in a thread of its own, from `with` to its end.

    Example:
        >>> with OwnLoop() as loop:
        ...     loop.run(asyncio.sleep(0, "done"))
        'done'
    """

    def __enter__(self) -> OwnLoop:
        self._thread = ThreadPoolExecutor(1)
        self._runner = asyncio.Runner()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._thread.submit(self._runner.close).result()
        self._thread.shutdown()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for `work` there, and return what it gave."""
        return self._thread.submit(self._runner.run, work).result()
