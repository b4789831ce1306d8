"""`pages`: a whole store as frames of so many rows, in memory that doesn't grow with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from adk_nb.errors import ConfigurationError
from adk_nb.events.prices import AnyPrice, Prices, as_prices
from adk_nb.frames import calls, events, nodes
from adk_nb.frames.columns import Row, tables
from adk_nb.frames.stored_session import Where, where

_OF: dict[str, tuple[dict[str, str], Callable[[Any, Where, Prices], Iterator[Row]]]] = {
    "events": (events.COLUMNS, events.event_rows),
    "nodes": (nodes.COLUMNS, nodes.node_rows),
    "calls": (calls.COLUMNS, calls.call_rows),
}


def pages(
    source: Any, of: str = "events", *, rows: int = 10_000, prices: Mapping[str, AnyPrice] | None = None, **filters: Any
) -> Iterator[pd.DataFrame]:
    """Give a frame page by page, each with the columns and types of the whole.

    A store is read as the pages are asked for: events of an SQLite file a thousand at a time, node runs and calls a
    session at a time. So memory doesn't grow with the store.

    Args:
        source: As in `events_frame`.
        of: `"events"`, `"nodes"` or `"calls"`.
        rows: How many rows a page has at most.
        prices: As in `events_frame`.
        **filters: As in `events_frame`.

    Raises:
        ConfigurationError: `of` is none of these, or `rows` isn't a positive number.

    Example:
        >>> from adk_nb.events.event import Event
        >>> [len(page) for page in pages([Event(output=n) for n in range(5)], rows=2)]
        [2, 2, 1]
    """
    if of not in _OF:
        raise ConfigurationError(f"of={of!r} isn't a frame that comes in pages; allowed: {', '.join(_OF)}.")
    if rows < 1:
        raise ConfigurationError(f"rows={rows!r}: a page has at least one row.")
    columns, give = _OF[of]
    return tables(columns, give(source, where(filters), as_prices(prices)), rows)
