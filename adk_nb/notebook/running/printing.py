"""Prints of a notebook's run go to its own view, not to whichever cell ran last.

While at least one run lives, `sys.stdout` and `sys.stderr` are stood in for by streams that know which node run is
printing; everybody else's texts pass to the streams behind. In a plain script nothing is stood in for at all. Programs
that a node starts, and handlers of `logging` that were made before, have the streams behind.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TextIO

from adk_nb.models.secrets import without_secrets
from adk_nb.notebook.front_end import front_end
from adk_nb.workflow.prints import Prints, kept, sink

_passes: ContextVar[Callable[[], bool]] = ContextVar("passes")


@contextlib.contextmanager
def prints_kept(is_shown: Callable[[], bool]) -> Iterator[None]:
    """Meanwhile, keep what the nodes of runs that begin here print, where this is a notebook.

    Args:
        is_shown: Somebody sees what is kept, so that it needn't be printed as well.
    """
    if front_end() == "none":
        yield
        return
    token = _passes.set(lambda: not is_shown())
    _standing_in.begin()
    try:
        with kept(Prints(without_secrets)):
            yield
    finally:
        _standing_in.end()
        _passes.reset(token)


class _Stream:
    """Stands in for a stream: nodes print to their runs, everybody else to the stream itself."""

    def __init__(self, behind: TextIO, is_error: bool) -> None:
        self._behind = behind
        self._is_error = is_error

    def write(self, text: str) -> int:
        at = sink()
        if at is None or not isinstance(text, str):
            return self._behind.write(text)
        at.take(text, self._is_error)
        return self._behind.write(text) if _passes.get()() else len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)


class _StandingIn:
    """Puts the streams in place while at least one run wants them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._placed: list[tuple[str, Any, Any]] = []

    def begin(self) -> None:
        with self._lock:
            self._wanted += 1
            if self._wanted > 1:
                return
            for name in ("stdout", "stderr"):
                behind = getattr(sys, name)
                if behind is not None:
                    stream = _Stream(behind, name == "stderr")
                    setattr(sys, name, stream)
                    self._placed.append((name, behind, stream))

    def end(self) -> None:
        with self._lock:
            self._wanted -= 1
            if self._wanted:
                return
            for name, behind, stream in self._placed:
                if getattr(sys, name) is stream:  # else somebody has put another one there
                    setattr(sys, name, behind)
            self._placed.clear()


_standing_in = _StandingIn()
