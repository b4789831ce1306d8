"""When each node run worked, waited for a person or waited to try again: the stuff of a timeline and of a replay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from adk_nb.events.record import NodeRun

SPANS_KEPT = 2_000
"""Node runs that a snapshot tells the times of; the first ones."""

Span = list[Any]
"""Path, place in the drawing, kind of node, status, when it was made, tries as `[start, end, error, retry_at]`, waits
for a person as `[asked, answered]`, the places of the runs before it. Times are seconds since the epoch, `None` while
it goes on."""


class SpanList:
    """The times of node runs by path, from their records, or from events where there is no record.

    Example:
        >>> spans = SpanList()
        >>> spans.see("wf@1/a@1", "a", "completed", 5.0)
        >>> spans.see("wf@1/a@1", "a", "completed", 6.0)
        >>> list(spans.to_json(spans))
        [['wf@1/a@1', 'a', 'node', 'completed', 5.0, [[5.0, 6.0, None, None]], [], []]]
    """

    def __init__(self) -> None:
        self._all: dict[str, tuple[str, NodeRun, tuple[str, ...]] | Span] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, path: str) -> bool:
        return path in self._all

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def put(self, run: NodeRun, place: str, sources: tuple[str, ...]) -> bool:
        """Take a record in; says whether views get to know of it."""
        if run.path not in self._all and len(self._all) >= SPANS_KEPT:
            return False
        self._all[run.path] = (place, run, sources)
        return True

    def see(self, path: str, place: str, status: str, at: float) -> None:
        """Take the word of an event for a run without a record: it was at work up to now."""
        known = self._all.get(path)
        if known is None and len(self._all) < SPANS_KEPT:
            self._all[path] = [path, place, "node", status, at, [[at, at, None, None]], [], []]
        elif isinstance(known, list):
            known[3] = status
            known[5][0][1] = at

    def to_json(self, paths: Iterable[str]) -> Iterator[Span]:
        """Give the spans of some runs as views get them."""
        for path in paths:
            known = self._all[path]
            yield known if isinstance(known, list) else _span(*known)


def _span(place: str, run: NodeRun, sources: tuple[str, ...]) -> Span:
    tries = [[one.started_at, one.ended_at, one.error_type, one.retry_at] for one in run.attempts]
    waits = [[one.asked_at, one.answered_at] for one in run.questions]
    return [run.path, place, run.kind, run.status.value, run.created_at, tries, waits, list(sources)]
