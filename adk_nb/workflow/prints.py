"""What nodes print, kept with their records: which node run is printing, and what is kept of it.

Whoever watches a run asks for it with `kept`, and sends what is printed to the `sink` of the node run that prints: a
context variable knows it, also in the run's threads and tasks.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from adk_nb.events.record import NodeRun, Printed
from adk_nb.events.values import cleaned_text

LINES_KEPT = 200
"""Lines of one node run."""
LINE_LIMIT = 2_000
"""Characters of one line."""


class Prints:
    """Keeps what the nodes of one run print."""

    def __init__(self, hide: Callable[[str], str]) -> None:
        """Keep lines as `hide` gives them back, without the secrets in them."""
        self.hide = hide

    @contextlib.contextmanager
    def kept_for(self, run: NodeRun, tell: Callable[[NodeRun], None]) -> Iterator[None]:
        """Keep what is printed meanwhile with a node run, whose changes are told on this event loop."""
        sink = Sink(run, tell, self.hide)
        token = _sink.set(sink)
        try:
            yield
        finally:
            _sink.reset(token)
            sink.end()


_keeper: ContextVar[Prints | None] = ContextVar("keeper", default=None)
_sink: ContextVar[Sink | None] = ContextVar("sink", default=None)


def keeper() -> Prints | None:
    """Return who keeps what is printed in runs that begin here, `None` when nobody does."""
    return _keeper.get()


def sink() -> Sink | None:
    """Return where the present code's prints are kept, `None` when it belongs to no node run that is watched."""
    found = _sink.get()
    return None if found is None or found.is_over else found


@contextlib.contextmanager
def kept(prints: Prints) -> Iterator[None]:
    """Let runs that begin meanwhile keep what their nodes print."""
    token = _keeper.set(prints)
    try:
        yield
    finally:
        _keeper.reset(token)


class Sink:
    """Takes what one try of a node run prints, from any of its threads."""

    def __init__(self, run: NodeRun, tell: Callable[[NodeRun], None], hide: Callable[[str], str]) -> None:
        self._hide = hide
        self.is_over = False
        self._run = run
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._begun = {False: "", True: ""}
        self._cut = 0

    def take(self, text: str, is_error: bool) -> None:
        """Something was printed: whole lines are kept at once, the rest when its line ends."""
        with self._lock:
            *lines, begun = (self._begun[is_error] + text).split("\n")
            self._begun[is_error] = (begun.rpartition("\r")[2] or begun)[: LINE_LIMIT + 1]
            self._keep(lines, is_error)
        if lines:
            self._show()

    def end(self) -> None:
        """The try has ended: what it prints later isn't its own any more."""
        with self._lock:
            self.is_over = True
            for is_error, begun in self._begun.items():
                if begun:
                    self._keep([begun], is_error)
            if self._cut:
                self._run.printed += (Printed(time.time(), f"… {self._cut:,} more lines aren't kept"),)

    def _keep(self, lines: list[str], is_error: bool) -> None:
        room = LINES_KEPT - len(self._run.printed)
        now = time.time()
        self._run.printed += tuple([Printed(now, self._kept_line(line), is_error) for line in lines[: max(room, 0)]])
        self._cut += max(len(lines) - room, 0)

    def _show(self) -> None:
        if asyncio._get_running_loop() is self._loop:
            self._tell(self._run)
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody looks any more
                self._loop.call_soon_threadsafe(self._tell, self._run)

    def _kept_line(self, line: str) -> str:
        shown = self._hide(cleaned_text(line.rpartition("\r")[2] or line))  # of a progress bar, its last state
        return shown if len(shown) <= LINE_LIMIT else f"{shown[:LINE_LIMIT]} … (cut)"
