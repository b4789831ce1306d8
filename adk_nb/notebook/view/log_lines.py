"""What the nodes of one run printed, as a view shows it."""

from __future__ import annotations

from collections import deque
from typing import Any

from adk_nb.events.record import Printed

LINES_SHOWN = 2_000

Line = list[Any]
"""Number, seconds since the epoch, place of the node, text, and whether it went to `sys.stderr`."""


class LogLines:
    """The newest lines of a run, in the order in which they were told.

    Example:
        >>> log = LogLines()
        >>> log.take("wf@1/a@1", "a", (Printed(5.0, "hello"),))
        [[1, 5.0, 'a', 'hello', False]]
        >>> log.take("wf@1/a@1", "a", (Printed(5.0, "hello"), Printed(6.0, "no", True)))
        [[2, 6.0, 'a', 'no', True]]
    """

    def __init__(self) -> None:
        self._lines: deque[Line] = deque(maxlen=LINES_SHOWN)
        self._taken: dict[str, int] = {}
        self._count = 0

    def take(self, path: str, place: str, printed: tuple[Printed, ...]) -> list[Line]:
        """Take the lines of a node run, and return those that are new."""
        new = []
        for at, text, is_error in printed[self._taken.get(path, 0) :]:
            self._count += 1
            new.append([self._count, at, place, text, is_error])
        self._taken[path] = len(printed)
        self._lines.extend(new)
        return new

    def to_json(self) -> list[Line]:
        """Return the lines that are kept."""
        return list(self._lines)
