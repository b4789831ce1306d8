"""The rows of the event table: one an event, the pieces of a streamed message in one, and the events behind them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from adk_nb.events.event import Event, content_text
from adk_nb.frames.plain import glance
from adk_nb.frames.reading import Usage, label_of, what_of
from adk_nb.models.secrets import hiding_secrets
from adk_nb.notebook.view.event_details import details_of

ROWS_KEPT = 10_000
"""Event rows that a fold holds; the newest ones. All events are in `Run.events`."""
WHAT_LIMIT = 180

Row = list[Any]
"""One line of the event table: number, seconds since the first event, node, kind, what, tokens, is it data, place, how
many state keys it changed."""


@dataclass(slots=True)
class _Source:
    """The event that a row shows, and what its message said so far."""

    event: Event
    pieces: list[str] = field(default_factory=list)


class EventRows:
    """Rows in order, each with its event at hand for when somebody wants to see it whole.

    Example:
        >>> rows = EventRows()
        >>> rows.add(Event(author="a", output=1, timestamp=5.0), "output", "a", None)[:5]
        [1, 0.0, 'a', 'output', '1']
        >>> rows.details([1, 2])
        {1: {'author': 'a', 'output': 1}}
    """

    def __init__(self) -> None:
        self.count = 0
        self.first_at: float | None = None
        self._rows: deque[Row] = deque(maxlen=ROWS_KEPT)
        self._sources: deque[_Source] = deque(maxlen=ROWS_KEPT)
        self._partial: dict[str, tuple[Row, _Source]] = {}

    @property
    def last(self) -> Row | None:
        """The newest row."""
        return self._rows[-1] if self._rows else None

    def add(self, event: Event, kind: str, place: str, usage: Usage | None) -> Row:
        """Return the row of an event: a new one, or that of the message which it goes on with."""
        if self.first_at is None:
            self.first_at = event.timestamp
        path = event.node_info.path
        known = self._partial.get(path) if path else None
        what, is_data = what_of(event, kind, WHAT_LIMIT)
        if known is None:
            self.count += 1
            row: Row = [self.count, 0.0, "", "", "", None, False, "", 0]
            source = _Source(event)
            self._rows.append(row)
            self._sources.append(source)
        else:
            row, source = known
            source.event = event
            if kind == "partial":
                what = glance(row[4] + what, WHAT_LIMIT) if len(row[4]) < WHAT_LIMIT else row[4]
        if kind == "partial" and path:
            source.pieces.append(content_text(event.content))
            self._partial[path] = row, source
        else:
            source.pieces.clear()
            self._partial.pop(path, None)
        row[1] = round(max(0.0, event.timestamp - self.first_at), 4)
        row[2] = event.node_info.name or event.author
        row[3] = f"route {label_of(event.actions.route)}" if kind == "route" else kind
        tokens = usage.tokens if usage and usage.tokens else None
        row[4:] = [what, tokens, is_data, place, len(event.actions.state_delta or ())]
        return row

    def newest(self, limit: int, before: int | None = None) -> Iterator[Row]:
        """Give copies of the newest rows, oldest first; `before` leaves out that row and those after it."""
        end = len(self._rows) if before is None else max(0, min(len(self._rows), before - self._first))
        for index in range(max(0, end - limit), end):
            yield list(self._rows[index])

    def details(self, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Return the events behind some rows, whole; rows that are no longer held are left out."""
        found: dict[int, dict[str, Any]] = {}
        hide = hiding_secrets()
        for number in numbers:
            index = number - self._first
            if 0 <= index < len(self._sources):
                source = self._sources[index]
                found[number] = details_of(source.event, "".join(source.pieces), hide)
        return found

    @property
    def _first(self) -> int:
        """The number of the oldest row held."""
        return self.count - len(self._rows) + 1
