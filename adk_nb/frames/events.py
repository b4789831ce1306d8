"""`events_frame`: one row an event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from adk_nb.errors import ConfigurationError
from adk_nb.events.event import Event, content_text
from adk_nb.events.prices import AnyPrice, Prices, as_prices, cost_of_event
from adk_nb.events.questions import questions_in
from adk_nb.frames.columns import Row, table
from adk_nb.frames.plain import plain, text_of
from adk_nb.frames.reading import answers_in, exchange_text, kind_of, label_of, usage_of
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.stored_session import Where, where

COLUMNS: dict[str, str] = {
    "time": "datetime64[ns, UTC]",
    "seconds": "float64",
    "node": "object",
    "path": "object",
    "kind": "object",
    "text": "object",
    "output": "object",
    "route": "object",
    "state": "object",
    "question": "object",
    "author": "object",
    "branch": "object",
    "model": "object",
    "prompt_tokens": "Int64",
    "cached_tokens": "Int64",
    "output_tokens": "Int64",
    "thought_tokens": "Int64",
    "tokens": "Int64",
    "error": "object",
    "error_message": "object",
    "invocation": "object",
    "id": "object",
    "tool_tokens": "Int64",
    "money": "float64",
    "session": "object",
    "user": "object",
    "app": "object",
}
"""Columns in order, with their types; the same for an empty run. Text is `object`, `None` where there is none."""


def events_frame(
    source: Any, *, expand: str | None = None, prices: Mapping[str, AnyPrice] | None = None, **filters: Any
) -> pd.DataFrame:
    """Return events as a frame with one row each, in their order, ready for CSV, Parquet and SQL.

    `time` is when it happened (UTC), `seconds` the time since the first event of the same invocation. `node` is the
    node's name, empty for events of the user, `path` its run. `kind` is one of `message`, `output`, `route`,
    `question`, `answer`, `call`, `reply`, `state`, `error`, `partial`, `note`. `text` is what was said, asked,
    answered, called (`get_weather(city="Oslo")`) or replied, calls and replies shortened; `question` the id of the
    question that is asked or answered. `output` and `state` (the keys written) are text: a text as it is, everything
    else as JSON, bytes as their size; a missing value says that the event has none. The token columns are missing
    where no model spoke; `prompt_tokens` contains `cached_tokens` and `tool_tokens`, `output_tokens` contains
    `thought_tokens`. `money` is in US dollars, missing where no model spoke or the price isn't known.

    Args:
        source: A `Run`, events, sessions, a session service, the path of its SQLite file, the address of its
            PostgreSQL database, or the path of a JSONL file that `export_jsonl` wrote; of adk_nb or of google-adk. A
            list of any of these as well.
        expand: `"output"` or `"state"`: adds a column for every value inside, named by its keys with dots, for
            instance `output.items.0.price`; what has no inside stays in its own column alone.
        prices: A person's own prices by model name, which count before all others.
        **filters: `app`, `user`, `session`, `invocation`: one name or several; `since`, `until`: times.

    Raises:
        ConfigurationError: `expand` is neither, the source can't be read, or a filter isn't one.

    Example:
        >>> frame = events_frame([Event(author="wf", node_path="wf@1/a@1", output={"n": 1})], expand="output")
        >>> frame[["node", "kind", "output", "output.n"]].values.tolist()
        [['a', 'output', '{"n": 1}', 1]]
    """
    if expand not in (None, "output", "state"):
        raise ConfigurationError(
            f"expand={expand!r} isn't a column that can be expanded; allowed: 'output', 'state'. Leave it out to "
            f"get the columns as they are."
        )
    values: list[Any] = []
    rows = event_rows(source, where(filters), as_prices(prices), values.append if expand else None, expand)
    frame = table(COLUMNS, rows)
    return frame if expand is None else pd.concat([frame, _expanded(values, expand)], axis=1)


def event_rows(
    source: Any,
    wanted: Where,
    prices: Prices,
    keep: Callable[[Any], None] | None = None,
    kept: str | None = None,
) -> Iterator[Row]:
    """Give the rows of an events frame one by one.

    Args:
        source: As in `events_frame`.
        wanted: Which events.
        prices: A person's own prices.
        keep: Called with what `kept` names of each event, `output` or `state`.
        kept: See `keep`.
    """
    is_open = wanted.is_open
    for session in sessions_of(source, wanted):
        starts: dict[str, float] = {}
        place = session.id, session.user, session.app
        # The time since the start of an invocation counts from its first event, wanted or not.
        for event in session.events(None if wanted.since is None else replace(wanted, since=None)):
            row = _row(event, starts, prices, place)
            if is_open or wanted.wants(event.invocation_id, event.timestamp):
                yield row
                if keep is not None:
                    keep(event.output if kept == "output" else (event.actions.state_delta or None))


def _row(event: Event, starts: dict[str, float], prices: Prices, place: tuple[str | None, ...]) -> Row:
    at, invocation = event.timestamp, event.invocation_id
    actions, node, output = event.actions, event.node_info, event.output
    kind = kind_of(event)
    text, asked = _said(event, kind)
    usage, tool, money = usage_of(event), None, None
    tokens: tuple[int | None, ...] = _NO_TOKENS
    if usage is not None:
        tokens = usage.prompt_tokens, usage.cached_tokens, usage.output_tokens, usage.thought_tokens, usage.tokens
        tool = usage.tool_tokens
        money = cost_of_event(event, prices) if event.usage_metadata is not None else None
    return (
        at,
        at - starts.setdefault(invocation, at),
        node.name,
        node.path,
        kind,
        text,
        None if output is None else text_of(output),
        None if actions.route is None else label_of(actions.route),
        text_of(actions.state_delta) if actions.state_delta else None,
        asked,
        event.author,
        event.branch,
        event.model_version,
        *tokens,
        event.error_code,
        text_of(event.error_message),
        invocation,
        event.id,
        tool,
        money,
        *place,
    )


_NO_TOKENS = (None,) * 5


def _said(event: Event, kind: str) -> tuple[str | None, str | None]:
    """Return what an event says in words, and the ids of the questions that it asks or answers."""
    if kind == "question":
        asked = list(questions_in(event))
        return "; ".join(one.message or one.interrupt_id for one in asked), ", ".join(one.interrupt_id for one in asked)
    if kind == "answer":
        answers = answers_in(event)
        return "; ".join(text_of(answer) or "null" for answer in answers.values()), ", ".join(answers)
    if kind in ("call", "reply"):
        return exchange_text(event), None
    return content_text(event.content) or None, None


def _expanded(values: list[Any], prefix: str) -> pd.DataFrame:
    rows = [dict(_flat(plain(value), prefix)) if isinstance(value, (dict, list, tuple)) else {} for value in values]
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    return pd.DataFrame(
        {name: pd.Series([row.get(name) for row in rows], dtype="object").infer_objects() for name in names}
    )


def _flat(value: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{prefix}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _flat(item, f"{prefix}.{index}")
    else:
        yield prefix, value
