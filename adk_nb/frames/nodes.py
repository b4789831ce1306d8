"""`nodes_frame`: one row a node run."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import pandas as pd

from adk_nb.events.event import Event
from adk_nb.events.paths import parent_path
from adk_nb.events.record import NodeRun
from adk_nb.frames.columns import column
from adk_nb.frames.plain import text_of
from adk_nb.frames.reading import Usage, label_of, usage_of
from adk_nb.frames.times import Interval, length, merge, waits_of, without, work_of

COLUMNS: dict[str, str] = {
    "node": "object",
    "path": "object",
    "run_id": "object",
    "parent": "object",
    "kind": "object",
    "status": "object",
    "start": "datetime64[ns, UTC]",
    "end": "datetime64[ns, UTC]",
    "seconds": "float64",
    "waiting_s": "float64",
    "attempts": "Int64",
    "model": "object",
    "model_calls": "Int64",
    "prompt_tokens": "Int64",
    "output_tokens": "Int64",
    "tokens": "Int64",
    "tokens_incl": "Int64",
    "input": "object",
    "output": "object",
    "route": "object",
    "error": "object",
    "error_message": "object",
    "invocation": "object",
}
"""Columns in order, with their types; the same for an empty run. Text is `object`, `None` where there is none."""


def nodes_frame(records: Iterable[NodeRun], events: Iterable[Event] = (), *, now: float | None = None) -> pd.DataFrame:
    """Return node runs as a frame with one row each, in the order in which they were created.

    `start` and `end` are UTC, missing while it hasn't started or ended. `seconds` is time at work, all attempts
    together, `waiting_s` time in which the run could only wait for a person's answer; for a workflow both cover
    everything inside it. `tokens` are the run's own, `tokens_incl` count everything below it too, so `tokens` add up
    to the whole without counting anything twice. `input`, `output` and `route` are text as in `events_frame`.

    Args:
        records: Records of one or several invocations.
        events: Events of the same invocations, for models and tokens.
        now: Until when what is still open is counted, in seconds since the epoch; `None` is this moment.

    Example:
        >>> run = NodeRun(path="wf@1/a@1", name="a", run_id="1", parent="wf@1", invocation_id="e", started_at=10.0,
        ...               ended_at=12.5, output={"n": 1})
        >>> nodes_frame([run])[["node", "seconds", "output"]].values.tolist()
        [['a', 2.5, '{"n": 1}']]
    """
    until = time.time() if now is None else now
    runs = list(records)
    usage, models = _usage_by_run(events)
    inclusive = _inclusive(runs, usage)
    spans = _spans(runs, until)
    rows = [_row(run, spans[_key(run)], usage, models, inclusive) for run in runs]
    columns = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    return pd.DataFrame({name: column(list(c), COLUMNS[name]) for name, c in zip(COLUMNS, columns, strict=True)})


Key = tuple[str, str]


def _key(run: NodeRun) -> Key:
    return run.invocation_id, run.path


def _usage_by_run(events: Iterable[Event]) -> tuple[dict[Key, Usage], dict[Key, str]]:
    usage: dict[Key, Usage] = {}
    models: dict[Key, str] = {}
    for event in events:
        one = usage_of(event)
        if one is not None:
            key = event.invocation_id, event.node_info.path
            usage.setdefault(key, Usage()).add(one)
            if event.model_version:
                models[key] = event.model_version
    return usage, models


def _inclusive(runs: list[NodeRun], usage: dict[Key, Usage]) -> dict[Key, int]:
    total = {_key(run): 0 for run in runs}
    for (invocation, path), one in usage.items():
        while path:
            if (invocation, path) in total:
                total[invocation, path] += one.tokens
            path = parent_path(path)
    return total


def _spans(runs: list[NodeRun], now: float) -> dict[Key, tuple[float, float]]:
    """Seconds at work and seconds waiting for a person, of each run; of a parent, over everything below it."""
    children: dict[Key, list[NodeRun]] = {}
    for run in runs:
        children.setdefault((run.invocation_id, run.parent), []).append(run)
    work: dict[Key, list[Interval]] = {}
    waits: dict[Key, list[Interval]] = {}
    spans: dict[Key, tuple[float, float]] = {}
    for run in sorted(runs, key=lambda one: -one.path.count("/")):
        key = _key(run)
        below = [_key(child) for child in children.get(key, ())]
        waits[key] = merge([*waits_of(run, now), *(one for child in below for one in waits[child])])
        own = work_of(run, now)
        if not below:
            work[key] = own
            spans[key] = length(own), length(waits[key])
            continue
        work[key] = merge([*(one for child in below for one in work[child])])
        idle = without(waits[key], work[key])
        whole = merge([(run.started_at, now if run.ended_at is None else run.ended_at)]) if run.started_at else own
        spans[key] = length(without(whole, idle)), length(idle)
    return spans


def _row(
    run: NodeRun,
    span: tuple[float, float],
    usage: dict[Key, Usage],
    models: dict[Key, str],
    inclusive: dict[Key, int],
) -> tuple[Any, ...]:
    key = _key(run)
    used = usage.get(key, Usage())
    seconds, waiting = span
    return (
        run.name,
        run.path,
        run.run_id,
        run.parent,
        run.kind,
        str(run.status),
        run.started_at,
        run.ended_at,
        seconds,
        waiting,
        len(run.attempts),
        models.get(key),
        used.model_calls,
        used.prompt_tokens,
        used.output_tokens,
        used.tokens,
        inclusive[key],
        text_of(run.input),
        text_of(run.output),
        None if run.route is None else label_of(run.route),
        run.error_type,
        text_of(run.error_message),
        run.invocation_id,
    )
