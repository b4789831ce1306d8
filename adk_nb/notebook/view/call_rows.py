"""The calls of models as a view shows them: who asked which one, what it took and what it cost."""

from __future__ import annotations

from collections import deque
from typing import Any

from adk_nb.events.apart import place_of_call
from adk_nb.events.event import Event
from adk_nb.frames.reading import Usage
from adk_nb.models.call_log import call_log

CALLS_SHOWN = 500

CallRow = list[Any]
"""Number, row of its event, seconds since the epoch, place of the node, agent, model, seconds it took, tokens sent,
cached, received and thought, and US dollars; `None` where something isn't known."""


class CallRows:
    """The newest model calls of a run, in order.

    Example:
        >>> rows = CallRows()
        >>> used = Usage(model_calls=1, prompt_tokens=8, output_tokens=2)
        >>> rows.add(Event(author="a", model_version="m", timestamp=5.0), "a", 3, used, None)
        [1, 3, 5.0, 'a', 'a', 'm', None, 8, 0, 2, 0, None]
    """

    def __init__(self) -> None:
        self._rows: deque[CallRow] = deque(maxlen=CALLS_SHOWN)
        self._count = 0
        self._matched: set[int] = set()

    def add(self, event: Event, place: str, row: int, used: Usage, cost: float | None) -> CallRow:
        """Return the row of the call that an event tells of."""
        self._count += 1
        counts = used.prompt_tokens, used.cached_tokens, used.output_tokens, used.thought_tokens
        agent = event.node_info.name or event.author
        took = self._seconds(event)
        made = [self._count, row, event.timestamp, place, agent, event.model_version, took, *counts, cost]
        self._rows.append(made)
        return made

    def to_json(self) -> list[CallRow]:
        """Return the rows that are kept."""
        return list(self._rows)

    def _seconds(self, event: Event) -> float | None:
        """How long the call took, where this process made it."""
        invocation, path = place_of_call(event)
        for call in reversed(call_log.calls(invocation)):
            is_it = call.caller.path == path and call.response is not None and id(call) not in self._matched
            if is_it and call.response is not None and call.response.usage_metadata == event.usage_metadata:
                self._matched.add(id(call))
                return None if call.seconds is None else round(call.seconds, 4)
        return None
