"""`timeline_frame`: one row a stretch of a node run's time, for a drawing or for sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from adk_nb.events.record import NodeRun
from adk_nb.frames.columns import Row, table
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.spans import Span, Times, key_of, spans_of, times_of
from adk_nb.frames.stored_session import until, where

COLUMNS: dict[str, str] = {
    "node": "object",
    "path": "object",
    "parent": "object",
    "depth": "Int64",
    "kind": "object",
    "status": "object",
    "what": "object",
    "start": "datetime64[ns, UTC]",
    "end": "datetime64[ns, UTC]",
    "offset_s": "float64",
    "seconds": "float64",
    "invocation": "object",
    "session": "object",
}
"""Columns in order, with their types; the same for an empty run."""


def timeline_frame(source: Any, *, now: float | None = None, **filters: Any) -> pd.DataFrame:
    """Return where the time of each node run went, one row a stretch, without gap or overlap within a run.

    `what` is `work`, `person` (it could only wait for an answer), `retry` (only for the time of the next try),
    `stopped` (nothing was there to run it) or `framework` (what the engine and the store took). A run comes before what
    is below it, siblings in the order of their starts, each under the `parent` that they share; `depth` is 0 for the
    root. `offset_s` counts from the start of the invocation.

    Args:
        source: As in `nodes_frame`.
        now: As in `nodes_frame`.
        **filters: As in `events_frame`.

    Example:
        >>> run = NodeRun("wf@1", "wf", "1", "", "e", "completed", started_at=10.0, ended_at=12.5)
        >>> timeline_frame([run])[["node", "what", "offset_s", "seconds"]].values.tolist()
        [['wf', 'work', 0.0, 2.5]]
    """
    wanted = where(filters)

    def rows() -> Iterator[Row]:
        for session in sessions_of(source, wanted):
            runs = session.records(wanted)
            spans = spans_of(runs, *until(session, now))
            starts: dict[str, float] = {}
            for run, depth in in_order(runs):
                span = spans[key_of(run)]
                if span.stretches:
                    starts.setdefault(run.invocation_id, span.stretches[0].start)
                    yield from _rows(span, depth, starts[run.invocation_id], session.id)

    return table(COLUMNS, rows())


def _rows(span: Span, depth: int, zero: float, session: str | None) -> Iterator[Row]:
    run = span.run
    for what, start, end in span.stretches:
        yield (
            run.name,
            run.path,
            run.parent,
            depth,
            run.kind,
            str(run.status),
            what,
            start,
            end,
            start - zero,
            end - start,
            run.invocation_id,
            session,
        )


def times(source: Any, *, now: float | None = None, **filters: Any) -> Times:
    """Return what the time of a run, or of all runs in a source, went into: seconds at work, waiting, and the rest.

    Args:
        source: As in `nodes_frame`.
        now: As in `nodes_frame`.
        **filters: As in `events_frame`.

    Example:
        >>> run = NodeRun("wf@1", "wf", "1", "", "e", "completed", started_at=10.0, ended_at=12.5)
        >>> times([run]).total
        2.5
    """
    wanted = where(filters)
    found = [times_of(one.records(wanted), *until(one, now)) for one in sessions_of(source, wanted)]
    names = Times.__slots__
    return Times(**{name: sum(getattr(one, name) for one in found) for name in names})


def in_order(runs: list[NodeRun]) -> Iterator[tuple[NodeRun, int]]:
    """Give runs with how deep each stands: a run before those below it, siblings in the order of their starts."""
    below: dict[tuple[str, str], list[NodeRun]] = {}
    paths = {key_of(run) for run in runs}
    roots: list[NodeRun] = []
    for run in runs:
        above = run.invocation_id, run.parent
        (below.setdefault(above, []) if above in paths else roots).append(run)
    left = [(run, 0) for run in reversed(_by_start(roots))]
    while left:
        run, depth = left.pop()
        yield run, depth
        left += [(child, depth + 1) for child in reversed(_by_start(below.get(key_of(run), [])))]


def _by_start(runs: list[NodeRun]) -> list[NodeRun]:
    return sorted(runs, key=lambda run: run.started_at or run.created_at or 0.0)
