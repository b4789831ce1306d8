"""`events_frame`: one row an event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from adk_nb.errors import ConfigurationError
from adk_nb.events.event import Event, content_text
from adk_nb.events.questions import questions_in
from adk_nb.frames.columns import column
from adk_nb.frames.plain import plain, text_of
from adk_nb.frames.reading import answers_in, kind_of, label_of, usage_of

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
}
"""Columns in order, with their types; the same for an empty run. Text is `object`, `None` where there is none."""


def events_frame(events: Iterable[Event], *, expand: str | None = None) -> pd.DataFrame:
    """Return events as a frame with one row each, in their order, ready for CSV, Parquet and SQL.

    `time` is when it happened (UTC), `seconds` the time since the first event of the same invocation. `node` is the
    node's name, empty for events of the user, `path` its run. `kind` is one of `message`, `output`, `route`,
    `question`, `answer`, `call`, `reply`, `state`, `error`, `partial`, `note`. `text` is what was said, asked or
    answered, `question` the id of the question that is asked or answered. `output` and `state` (the keys written) are
    text: a text as it is, everything else as JSON, bytes as their size; a missing value says that the event has none.
    The token columns are missing where no model spoke; `prompt_tokens` contains `cached_tokens`, `output_tokens`
    contains `thought_tokens`.

    Args:
        events: Any events, of one run or of many.
        expand: `"output"` or `"state"`: adds a column for every value inside, named by its keys with dots, for
            instance `output.items.0.price`; what has no inside stays in its own column alone.

    Raises:
        ConfigurationError: `expand` is neither.

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
    found = list(events)
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    add = [values.append for values in columns.values()]
    starts: dict[str, float] = {}
    for event in found:
        for append, value in zip(add, _row(event, starts), strict=True):
            append(value)
    frame = pd.DataFrame(
        {name: column(values, COLUMNS[name]) for name, values in columns.items()}, columns=list(COLUMNS)
    )
    if expand is None:
        return frame
    values = [event.output if expand == "output" else (event.actions.state_delta or None) for event in found]
    return pd.concat([frame, _expanded(values, expand)], axis=1)


def _row(event: Event, starts: dict[str, float]) -> tuple[Any, ...]:
    start = starts.setdefault(event.invocation_id, event.timestamp)
    usage, actions, node = usage_of(event), event.actions, event.node_info
    kind = kind_of(event)
    text, asked = _said(event, kind)
    tokens = (
        (usage.prompt_tokens, usage.cached_tokens, usage.output_tokens, usage.thought_tokens, usage.tokens)
        if usage
        else (None,) * 5
    )
    return (
        event.timestamp,
        event.timestamp - start,
        node.name,
        node.path,
        kind,
        text,
        text_of(event.output),
        None if actions.route is None else label_of(actions.route),
        text_of(actions.state_delta) if actions.state_delta else None,
        asked,
        event.author,
        event.branch,
        event.model_version,
        *tokens,
        event.error_code,
        text_of(event.error_message),
        event.invocation_id,
        event.id,
    )


def _said(event: Event, kind: str) -> tuple[str | None, str | None]:
    """Return what an event says in words, and the ids of the questions that it asks or answers."""
    if kind == "question":
        asked = list(questions_in(event))
        return "; ".join(one.message or one.interrupt_id for one in asked), ", ".join(one.interrupt_id for one in asked)
    if kind == "answer":
        answers = answers_in(event)
        return "; ".join(text_of(answer) or "null" for answer in answers.values()), ", ".join(answers)
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
