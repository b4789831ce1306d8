"""`nodes_frame`: one row a node run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from adk_nb.events.event import Event
from adk_nb.events.prices import AnyPrice, Prices, as_prices
from adk_nb.events.record import NodeRun
from adk_nb.frames.columns import Row, table
from adk_nb.frames.plain import text_of
from adk_nb.frames.reading import label_of
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.spans import FRAMEWORK, PERSON, RETRY, STOPPED, WORK, Span, key_of, spans_of
from adk_nb.frames.stored_session import Where, until, where
from adk_nb.frames.usage import Bill, Rounds, bills_of, with_all_below

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
    "round": "Int64",
    "retry_s": "float64",
    "stopped_s": "float64",
    "framework_s": "float64",
    "cached_tokens": "Int64",
    "thought_tokens": "Int64",
    "tool_tokens": "Int64",
    "money": "float64",
    "model_calls_incl": "Int64",
    "prompt_tokens_incl": "Int64",
    "cached_tokens_incl": "Int64",
    "output_tokens_incl": "Int64",
    "thought_tokens_incl": "Int64",
    "tool_tokens_incl": "Int64",
    "money_incl": "float64",
    "session": "object",
    "user": "object",
    "app": "object",
}
"""Columns in order, with their types; the same for an empty run. Text is `object`, `None` where there is none."""


def nodes_frame(
    source: Any,
    events: Iterable[Event] = (),
    *,
    now: float | None = None,
    prices: Mapping[str, AnyPrice] | None = None,
    **filters: Any,
) -> pd.DataFrame:
    """Return node runs as a frame with one row each, in the order in which they were created.

    `start` and `end` are UTC, missing while it hasn't started or ended. The time between them is the sum of `seconds`
    (at work, all attempts together), `waiting_s` (it could only wait for a person's answer), `retry_s` (only for the
    time of the next try), `stopped_s` (nothing was there to run it) and `framework_s`; for a run with others below it
    all cover everything inside. `round` is the round of the loop that it belongs to.

    Tokens and `money` (US dollars) are the run's own, so they add up without counting anything twice (what no node run
    asked for, a summary of older turns, is in `usage_frame` and `calls_frame`);
    those ending in `_incl` count everything below it too. Money is missing where the price of one of its calls isn't
    known. `input`, `output` and `route` are text as in `events_frame`. Sessions without records, such as google-adk's,
    have theirs worked out from their events.

    Args:
        source: As in `events_frame`, or records of one or several invocations.
        events: With records as the source: events of the same invocations, for models, tokens and money.
        now: Until when what is still open is counted, in seconds since the epoch; `None` is this moment.
        prices: A person's own prices by model name, which count before all others.
        **filters: As in `events_frame`.

    Example:
        >>> run = NodeRun(path="wf@1/a@1", name="a", run_id="1", parent="wf@1", invocation_id="e", started_at=10.0,
        ...               ended_at=12.5, output={"n": 1}, status="completed")
        >>> nodes_frame([run])[["node", "seconds", "output"]].values.tolist()
        [['a', 2.5, '{"n": 1}']]
    """
    return table(COLUMNS, node_rows(source, where(filters), as_prices(prices), list(events), now))


def node_rows(
    source: Any, wanted: Where, prices: Prices, events: list[Event] | None = None, now: float | None = None
) -> Iterator[Row]:
    """Give the rows of a nodes frame; see `nodes_frame`."""
    for session in sessions_of(source, wanted):
        runs = session.records()
        bills = bills_of(itertools.chain(session.events(), events or ()), prices)
        below = with_all_below(bills, runs)
        spans = spans_of(runs, *until(session, now))
        keys = [key_of(run) for run in runs]
        rounds = Rounds(keys, [key_of(run) for run in runs if run.kind == "parallel"])
        place = session.id, session.user, session.app
        for run, key in zip(runs, keys, strict=True):
            if wanted.is_open or wanted.wants(run.invocation_id, run.created_at or run.started_at or 0.0):
                yield (*_row(run, spans[key], bills.get(key, _NOTHING), below[key], rounds.of(*key)), *place)


_NOTHING = Bill()


def _row(run: NodeRun, span: Span, own: Bill, below: Bill, loop_round: int) -> Row:
    return (
        run.name,
        run.path,
        run.run_id,
        run.parent,
        run.kind,
        str(run.status),
        run.started_at,
        run.ended_at,
        span.seconds(WORK),
        span.seconds(PERSON),
        len(run.attempts),
        next(reversed(own.models), None),
        own.model_calls,
        own.prompt_tokens,
        own.output_tokens,
        own.tokens,
        below.tokens,
        text_of(run.input),
        text_of(run.output),
        None if run.route is None else label_of(run.route),
        run.error_type,
        text_of(run.error_message),
        run.invocation_id,
        loop_round,
        span.seconds(RETRY),
        span.seconds(STOPPED),
        span.seconds(FRAMEWORK),
        own.cached_tokens,
        own.thought_tokens,
        own.tool_tokens,
        own.known_money,
        below.model_calls,
        below.prompt_tokens,
        below.cached_tokens,
        below.output_tokens,
        below.thought_tokens,
        below.tool_tokens,
        below.known_money,
    )
