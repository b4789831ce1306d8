"""`calls_frame`: one row a call of a model, with what exactly was asked and what came back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import BaseModel

from adk_nb.events.apart import place_of_call, with_calls_apart
from adk_nb.events.event import Event
from adk_nb.events.paths import last_segment
from adk_nb.events.prices import AnyPrice, Prices, as_prices, cost_of_event
from adk_nb.frames.columns import Row, table
from adk_nb.frames.plain import plain
from adk_nb.frames.reading import Usage, usage_of
from adk_nb.frames.resent import Resent
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.stored_session import Where, where
from adk_nb.models.call_log import ModelCall, call_log

COLUMNS: dict[str, str] = {
    "agent": "object",
    "path": "object",
    "attempt": "Int64",
    "model": "object",
    "start": "datetime64[ns, UTC]",
    "seconds": "float64",
    "prompt_tokens": "Int64",
    "cached_tokens": "Int64",
    "output_tokens": "Int64",
    "thought_tokens": "Int64",
    "money": "float64",
    "finish": "object",
    "error": "object",
    "error_message": "object",
    "http_attempts": "Int64",
    "wait_s": "float64",
    "streamed": "boolean",
    "source": "object",
    "request": "object",
    "reply": "object",
    "invocation": "object",
    "tool_tokens": "Int64",
    "resent_tokens": "Int64",
    "session": "object",
    "user": "object",
    "app": "object",
}
"""Columns in order, with their types; the same for an empty run. `request` and `reply` hold dictionaries."""


def calls_frame(
    source: Any,
    events: Iterable[Event] = (),
    *,
    prices: Mapping[str, AnyPrice] | None = None,
    **filters: Any,
) -> pd.DataFrame:
    """Return model calls as a frame with one row each, oldest first within a session.

    `attempt` is the try of the node run, `http_attempts` how often the server was asked in one call, `wait_s` the
    seconds between. `money` is in US dollars, missing where the price isn't known. `request` is a dictionary with
    `model`, `contents` and `config`, `reply` the response, both as JSON values without keys and headers. `source` is
    `model`, `tape`, or `event`: such a row is read from what was stored, since the call was made by another process
    or long ago; its request, times and attempts are missing.

    `resent_tokens` says how much of the prompt was sent before in the same session. With a request it is worked out
    from what was sent, exactly in an agent's loop, else by length; from stored counts, it is what the call before it in
    the same node run sent, and missing where that isn't known.

    Args:
        source: As in `events_frame`, or model calls such as the process's log holds.
        events: With calls as the source: events of the same runs, which tell of the calls that the log doesn't hold.
        prices: A person's own prices by model name, which count before all others.
        **filters: As in `events_frame`.

    Example:
        >>> from google.genai import types
        >>> usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=8, candidates_token_count=2)
        >>> event = Event(author="a", node_path="wf@1/a@1", model_version="m", usage_metadata=usage, message="hi")
        >>> calls_frame([event])[["agent", "model", "prompt_tokens", "source"]].values.tolist()
        [['a', 'm', 8, 'event']]
    """
    return table(COLUMNS, call_rows(source, where(filters), as_prices(prices), events))


def call_rows(source: Any, wanted: Where, prices: Prices, events: Iterable[Event] = ()) -> Iterator[Row]:
    """Give the rows of a calls frame; see `calls_frame`."""
    given = source if hasattr(source, "session_id") or hasattr(source, "get_session") else _peeked(source)
    if isinstance(given, _Calls):
        yield from _session_rows(given.calls, events, prices, (None, None, None), wanted)
        return
    for session in sessions_of(given, wanted):
        said = list(session.events())
        logged = [
            call
            for invocation in dict.fromkeys(place_of_call(event)[0] for event in with_calls_apart(said))
            if invocation  # an event that was made by hand belongs to no run
            for call in call_log.calls(invocation)
        ]
        yield from _session_rows(logged, said, prices, (session.id, session.user, session.app), wanted)


@dataclass(frozen=True, slots=True)
class _Calls:
    calls: list[ModelCall]


def _peeked(source: Any) -> Any:
    """Return a source as calls if that is what is in it; an empty one is as good as any."""
    if not isinstance(source, Iterable) or isinstance(source, (str, BaseModel)):
        return source
    found = list(source)
    return _Calls(found) if not found or isinstance(found[0], ModelCall) else found


def _session_rows(
    logged: list[ModelCall], events: Iterable[Event], prices: Prices, place: Row, wanted: Where
) -> Iterator[Row]:
    """Give the rows of one session, the calls that the log holds and those that only events tell of."""
    known = Counter(_mark_of(call) for call in logged if call.response is not None)
    rows = [_logged_row(call, prices) for call in logged]
    for event in with_calls_apart(events):
        usage = usage_of(event)
        if usage is None:
            continue
        mark = _mark(*place_of_call(event), event)
        if known[mark] > 0:
            known[mark] -= 1
        else:
            rows.append(_stored_row(event, usage, prices))
    resent = Resent()
    for at, row in sorted(rows, key=lambda one: one[0]):
        told = dict(zip(COLUMNS, row, strict=False))
        again = resent.of(told["invocation"], told["path"], told["prompt_tokens"], told["request"])
        if wanted.wants(told["invocation"], at):
            yield (*row, again, *place)


Mark = tuple[str, str, Any]


def _mark_of(call: ModelCall) -> Mark:
    return _mark(call.caller.invocation_id, call.caller.path, call.response)


def _mark(invocation_id: str, path: str, said: Any) -> Mark:
    """What a call and the event made of it have in common."""
    usage = getattr(said, "usage_metadata", None)
    return invocation_id, path, None if usage is None else usage.model_dump_json(exclude_none=True)


def _logged_row(call: ModelCall, prices: Prices) -> tuple[float, Row]:
    response = call.response
    facts = None
    if response is not None:
        version = response.model_version or call.model
        facts = Event(author="model", usage_metadata=response.usage_metadata, model_version=version)
    usage = usage_of(facts) if facts is not None else None
    counted = usage if response is not None and response.usage_metadata is not None else None
    row = (
        call.caller.agent,
        call.caller.path,
        call.caller.attempt,
        (response and response.model_version) or call.model,
        call.started_at,
        call.seconds,
        *_tokens(counted),
        _money(facts, prices),
        _finish(response),
        call.error_type,
        call.error_message,
        call.http_attempts,
        call.wait_s,
        call.is_streamed,
        call.source,
        call.request,
        call.reply,
        call.caller.invocation_id,
        counted and counted.tool_tokens,
    )
    return call.started_at, row


def _stored_row(event: Event, usage: Usage, prices: Prices) -> tuple[float, Row]:
    noted = event.custom_metadata or {}
    said = event.content.model_dump(mode="json", exclude_none=True) if event.content else None
    counted = usage if event.usage_metadata is not None else None
    row = (
        event.node_info.name or last_segment(event.node_info.path)[0] or event.author,
        event.node_info.path,
        None,
        event.model_version,
        None,
        None,
        *_tokens(counted),
        _money(event, prices),
        _finish(event),
        event.error_code,
        event.error_message,
        noted.get("http_attempts"),
        noted.get("wait_s"),
        None,
        "event",
        None,
        None if said is None else plain({"content": said}),
        event.invocation_id,
        counted and counted.tool_tokens,
    )
    return event.timestamp, row


def _tokens(usage: Usage | None) -> tuple[int | None, ...]:
    if usage is None:
        return (None,) * 4
    return usage.prompt_tokens, usage.cached_tokens, usage.output_tokens, usage.thought_tokens


def _money(event: Event | None, prices: Prices) -> float | None:
    return None if event is None or event.usage_metadata is None else cost_of_event(event, prices)


def _finish(said: Any) -> str | None:
    reason = getattr(said, "finish_reason", None)
    return None if reason is None else str(getattr(reason, "value", reason))
