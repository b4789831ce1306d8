"""Stretches of time: merged, cut out, and when node runs waited for a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adk_nb.events.record import NodeRun

Interval = tuple[float, float]


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the same stretches of time without overlap, in order.

    Example:
        >>> merge([(3, 4), (0, 2), (1, 2.5)])
        [(0, 2.5), (3, 4)]
    """
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif end > start:
            merged.append((start, end))
    return merged


def length(intervals: Iterable[Interval]) -> float:
    """Return the seconds that merged intervals cover."""
    return sum(end - start for start, end in intervals)


def without(intervals: Sequence[Interval], holes: Sequence[Interval]) -> list[Interval]:
    """Return what is left of merged intervals when merged holes are cut out.

    Example:
        >>> without([(0, 10)], [(2, 3), (9, 12)])
        [(0, 2), (3, 9)]
    """
    left: list[Interval] = []
    first = 0
    for start, end in intervals:
        while first < len(holes) and holes[first][1] <= start:
            first += 1
        at = first
        while at < len(holes) and holes[at][0] < end:
            if holes[at][0] > start:
                left.append((start, holes[at][0]))
            start = max(start, holes[at][1])
            at += 1
        if start < end:
            left.append((start, end))
    return left


def within(intervals: Sequence[Interval], bounds: Sequence[Interval]) -> list[Interval]:
    """Return what of merged intervals lies within merged bounds.

    Example:
        >>> within([(0, 3), (5, 9)], [(2, 6)])
        [(2, 3), (5, 6)]
    """
    return without(intervals, without(intervals, bounds))


def waits_of(run: NodeRun, now: float) -> list[Interval]:
    """Return when a node run itself waited for a person; an open question lasts until `now`."""
    return merge((q.asked_at, q.answered_at if q.answered_at is not None else now) for q in run.questions)
