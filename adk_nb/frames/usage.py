"""Tokens and money of node runs, own and with all below, and summed up by node, agent, round, model or session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from adk_nb.errors import ConfigurationError
from adk_nb.events.apart import with_calls_apart
from adk_nb.events.event import Event
from adk_nb.events.paths import last_segment, parent_path
from adk_nb.events.prices import AnyPrice, Prices, as_prices, cost_of_event
from adk_nb.events.record import NodeRun
from adk_nb.frames.columns import Row, table
from adk_nb.frames.reading import Usage, usage_of
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.stored_session import where

Key = tuple[str, str]


@dataclass(slots=True)
class Bill(Usage):
    """Calls, tokens and money."""

    money: float = 0.0
    """US dollars of the calls whose price is known."""
    unpriced_calls: int = 0
    """Calls whose price isn't known, or which didn't say what they used."""
    models: dict[str, None] = field(default_factory=dict)
    """The models that were called, as keys."""

    @property
    def known_money(self) -> float | None:
        """US dollars of all calls, `None` when the price of one isn't known."""
        return None if self.unpriced_calls else self.money

    def add_call(self, event: Event, usage: Usage, prices: Prices) -> None:
        """Count in what one event says of a model's call."""
        self.add(usage)
        cost = cost_of_event(event, prices) if event.usage_metadata is not None else None
        if cost is None:
            self.unpriced_calls += 1
        else:
            self.money += cost
        if event.model_version:
            self.models[event.model_version] = None

    def add_bill(self, other: Bill) -> None:
        """Count another bill in."""
        self.add(other)
        self.money += other.money
        self.unpriced_calls += other.unpriced_calls
        self.models |= other.models


def bills_of(events: Iterable[Event], prices: Prices = None) -> dict[Key, Bill]:
    """Return what each node run used itself, by invocation and path."""
    bills: dict[Key, Bill] = {}
    for event in with_calls_apart(events):
        usage = usage_of(event)
        if usage is not None:
            bills.setdefault((event.invocation_id, event.node_info.path), Bill()).add_call(event, usage, prices)
    return bills


def with_all_below(bills: Mapping[Key, Bill], runs: Iterable[NodeRun]) -> dict[Key, Bill]:
    """Return what each node run used with everything below it."""
    total = {(run.invocation_id, run.path): Bill() for run in runs}
    for (invocation, path), bill in bills.items():
        above = path
        while above:
            if (invocation, above) in total:
                total[invocation, above].add_bill(bill)
            above = parent_path(above)
    return total


class Rounds:
    """Which round of a loop a node run belongs to.

    It is the number of the nearest run, itself included, whose node ran more than once at its place; 1 without a loop.
    The items of a parallel worker are no rounds.

    Example:
        >>> rounds = Rounds([("e", "wf@1/a@1"), ("e", "wf@1/a@2"), ("e", "wf@1/a@2/b@1")])
        >>> rounds.of("e", "wf@1/a@2/b@1"), rounds.of("e", "wf@1")
        (2, 1)
    """

    def __init__(self, keys: Iterable[Key], workers: Iterable[Key] = ()) -> None:
        self._again: set[tuple[str, str, str]] = set()
        known: dict[tuple[str, str, str], str] = {}
        apart = set(workers)
        for invocation, path in keys:
            above = parent_path(path)
            name, number = last_segment(path)
            node = invocation, above, name
            if known.setdefault(node, number) != number and (invocation, above) not in apart:
                self._again.add(node)

    def of(self, invocation: str, path: str) -> int:
        """Return the round of the run at a path."""
        while path:
            above = parent_path(path)
            name, number = last_segment(path)
            if (invocation, above, name) in self._again and number.isdecimal():
                return int(number)
            path = above
        return 1


BY = {
    "node": "object",
    "agent": "object",
    "path": "object",
    "round": "Int64",
    "model": "object",
    "invocation": "object",
    "session": "object",
    "user": "object",
    "app": "object",
}
"""What usage can be summed up by. `node` is the place in the graph without run ids, `agent` who called the model."""
FIGURES = {
    "model_calls": "Int64",
    "prompt_tokens": "Int64",
    "cached_tokens": "Int64",
    "output_tokens": "Int64",
    "thought_tokens": "Int64",
    "tool_tokens": "Int64",
    "tokens": "Int64",
    "money": "float64",
    "unpriced_calls": "Int64",
}


def usage_frame(
    source: Any, by: str | Sequence[str] = "node", *, prices: Mapping[str, AnyPrice] | None = None, **filters: Any
) -> pd.DataFrame:
    """Return what was asked of models, summed up: calls, tokens and US dollars.

    The rows add up to the whole. `prompt_tokens` contains `cached_tokens` and `tool_tokens`, `output_tokens` contains
    `thought_tokens`. `money` is missing where the price of one call isn't known; `unpriced_calls` says of how many.

    Args:
        source: As in `events_frame`.
        by: One or several of `node`, `agent`, `path`, `round` (of a loop), `model`, `invocation`, `session`, `user`,
            `app`.
        prices: A person's own prices by model name, which count before all others.
        **filters: As in `events_frame`.

    Raises:
        ConfigurationError: `by` isn't one of these.

    Example:
        >>> from google.genai import types
        >>> used = types.GenerateContentResponseUsageMetadata(prompt_token_count=1_000_000, candidates_token_count=2)
        >>> said = Event(author="a", node_path="wf@1/a@1", model_version="m", usage_metadata=used)
        >>> frame = usage_frame([said, said], by="model", prices={"m": (0.5, 0.0)})
        >>> frame[["model", "tokens", "money"]].values.tolist()
        [['m', 2000004, 1.0]]
    """
    names = [by] if isinstance(by, str) else list(by)
    for name in names:
        if name not in BY:
            raise ConfigurationError(f"by={name!r} isn't something to sum up by; allowed: {', '.join(BY)}.")
    wanted, own = where(filters), as_prices(prices)
    sums: dict[Row, Bill] = {}
    for session in sessions_of(source, wanted):
        rounds = None
        if "round" in names:
            runs = session.records()
            workers = [(run.invocation_id, run.path) for run in runs if run.kind == "parallel"]
            rounds = Rounds(((run.invocation_id, run.path) for run in runs), workers)
        place = {"session": session.id, "user": session.user, "app": session.app}
        for event in with_calls_apart(session.events(wanted)):
            usage = usage_of(event)
            if usage is not None:
                key = tuple(place[name] if name in place else _group(event, name, rounds) for name in names)
                sums.setdefault(key, Bill()).add_call(event, usage, own)
    columns = {**{name: BY[name] for name in names}, **FIGURES}
    return table(columns, ((*key, *figures(bill)) for key, bill in sums.items()))


def figures(bill: Bill) -> Row:
    """Return a bill as the columns of `FIGURES`."""
    return (
        bill.model_calls,
        bill.prompt_tokens,
        bill.cached_tokens,
        bill.output_tokens,
        bill.thought_tokens,
        bill.tool_tokens,
        bill.tokens,
        bill.known_money,
        bill.unpriced_calls,
    )


def _group(event: Event, name: str, rounds: Rounds | None) -> Any:
    path = event.node_info.path
    if name == "node":
        return "/".join(part.partition("@")[0] for part in path.split("/")[1:]) or event.node_info.name or event.author
    if name == "agent":
        return event.node_info.name or event.author
    if name == "path":
        return path
    if name == "round":
        return 1 if rounds is None else rounds.of(event.invocation_id, path)
    return event.model_version if name == "model" else event.invocation_id
