"""`sessions_frame` and `runs_frame`: one row a session, and one row a run, which is one turn of a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from adk_nb.events.event import Event, content_text
from adk_nb.events.prices import AnyPrice, Prices, as_prices
from adk_nb.events.record import NodeRun
from adk_nb.frames.columns import Row, table
from adk_nb.frames.plain import text_of
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.spans import times_of
from adk_nb.frames.stored_session import StoredSession, until, where
from adk_nb.frames.usage import FIGURES, Bill, bills_of, figures

RUN_COLUMNS: dict[str, str] = {
    "session": "object",
    "invocation": "object",
    "root": "object",
    "status": "object",
    "start": "datetime64[ns, UTC]",
    "end": "datetime64[ns, UTC]",
    "seconds": "float64",
    "waiting_s": "float64",
    "retry_s": "float64",
    "stopped_s": "float64",
    "framework_s": "float64",
    "message": "object",
    "output": "object",
    "error": "object",
    "error_message": "object",
    "error_path": "object",
    "questions": "Int64",
    "open_questions": "Int64",
    "node_runs": "Int64",
    "events": "Int64",
    **FIGURES,
    "user": "object",
    "app": "object",
}
"""Columns of `runs_frame` in order, with their types; the same for no runs."""
SESSION_COLUMNS: dict[str, str] = {
    "session": "object",
    "user": "object",
    "app": "object",
    "created": "datetime64[ns, UTC]",
    "updated": "datetime64[ns, UTC]",
    "runs": "Int64",
    "status": "object",
    "open_questions": "Int64",
    "node_runs": "Int64",
    "events": "Int64",
    "state": "object",
    **FIGURES,
}
"""Columns of `sessions_frame` in order, with their types; the same for no sessions."""


def runs_frame(
    source: Any, *, prices: Mapping[str, AnyPrice] | None = None, now: float | None = None, **filters: Any
) -> pd.DataFrame:
    """Return runs as a frame, one row each, the session updated longest ago first.

    `message` is what the user said, `output` what the root returned, both as text. `seconds` is time at work; with
    `waiting_s`, `retry_s`, `stopped_s` and `framework_s` it adds up to the time from start to end, as in
    `nodes_frame`. `error_path` is the node run that failed first. A run of which nothing but the user's message is
    stored has no root and no status.

    Args:
        source: As in `events_frame`.
        prices: As in `events_frame`.
        now: As in `nodes_frame`.
        **filters: As in `events_frame`; a run is taken by its first event.

    Example:
        >>> said = [Event(invocation_id="e", author="user", message="hi"),
        ...         Event(invocation_id="e", author="wf", node_path="wf@1", output=3)]
        >>> runs_frame(said)[["root", "status", "message", "output"]].values.tolist()
        [['wf', 'completed', 'hi', '3']]
    """
    wanted, own = where(filters), as_prices(prices)

    def rows() -> Iterator[Row]:
        for session in sessions_of(source, wanted):
            runs = _by_invocation(session)
            for invocation, (events, records) in runs.items():
                began = min([*(one.timestamp for one in events), *(run.created_at for run in records)], default=0.0)
                if wanted.wants(invocation, began):
                    yield _run_row(session, invocation, events, records, own, until(session, now))

    return table(RUN_COLUMNS, rows())


def sessions_frame(source: Any, *, prices: Mapping[str, AnyPrice] | None = None, **filters: Any) -> pd.DataFrame:
    """Return sessions as a frame, one row each, the one updated longest ago first.

    `status` is that of its newest run. Counts, tokens and money are sums over the events and records that are wanted;
    `state` is JSON text.

    Args:
        source: As in `events_frame`.
        prices: As in `events_frame`.
        **filters: As in `events_frame`.

    Example:
        >>> from adk_nb.frames.stored_session import StoredSession
        >>> sessions_frame(StoredSession(id="s", state={"n": 1}))[["session", "runs", "state"]].values.tolist()
        [['s', 0, '{"n": 1}']]
    """
    wanted, own = where(filters), as_prices(prices)

    def rows() -> Iterator[Row]:
        for session in sessions_of(source, wanted):
            count, bill, invocations = 0, Bill(), dict[str, None]()
            for event in session.events(wanted):
                count += 1
                invocations[event.invocation_id] = None
                for one in bills_of([event], own).values():
                    bill.add_bill(one)
            records = session.records(wanted)
            roots = [run for run in records if not run.parent]
            yield (
                session.id,
                session.user,
                session.app,
                session.created_at,
                session.updated_at,
                len(invocations),
                str(roots[-1].status) if roots else None,
                sum(len(run.open_questions) for run in records),
                len(records),
                count,
                text_of(session.state),
                *figures(bill),
            )

    return table(SESSION_COLUMNS, rows())


def _by_invocation(session: StoredSession) -> dict[str, tuple[list[Event], list[NodeRun]]]:
    found: dict[str, tuple[list[Event], list[NodeRun]]] = {}
    for event in session.events():
        found.setdefault(event.invocation_id, ([], []))[0].append(event)
    for run in session.records():
        found.setdefault(run.invocation_id, ([], []))[1].append(run)
    return found


def _run_row(
    session: StoredSession,
    invocation: str,
    events: Sequence[Event],
    records: Sequence[NodeRun],
    prices: Prices,
    known: tuple[float, float],
) -> Row:
    root = next((run for run in records if not run.parent), None)
    said = next((content_text(event.content) for event in events if event.author == "user"), None)
    times = times_of(records, *known)
    bill = Bill()
    for one in bills_of(events, prices).values():
        bill.add_bill(one)
    start = root.started_at if root is not None else min((event.timestamp for event in events), default=None)
    return (
        session.id,
        invocation,
        root and root.name,
        root and str(root.status),
        start,
        root and root.ended_at,
        times.work,
        times.person,
        times.retry,
        times.stopped,
        times.framework,
        said,
        root and text_of(root.output),
        root and root.error_type,
        root and text_of(root.error_message),
        root and root.error_path,
        sum(len(run.questions) for run in records),
        sum(len(run.open_questions) for run in records),
        len(records),
        len(events),
        *figures(bill),
        session.user,
        session.app,
    )
