"""Rows as a frame with declared columns and types, whole or page by page; the same for no rows at all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

Row = tuple[Any, ...]
_AT_ONCE = 200


def column(values: list[Any], dtype: Any) -> Any:
    """Return values as a column; times are given as seconds since the epoch, `None` is missing."""
    if str(dtype).startswith("datetime"):
        moments: Any = pd.to_datetime(pd.Series(values, dtype="float64"), unit="s", utc=True)
        return moments.astype(dtype)
    return pd.Series(values, dtype=dtype)


def table(columns: Mapping[str, str], rows: Iterable[Row]) -> pd.DataFrame:
    """Return rows as a frame with these columns and types.

    Example:
        >>> table({"n": "Int64"}, [(1,), (None,)])["n"].tolist()
        [1, <NA>]
    """
    lists: list[list[Any]] = [[] for _ in columns]
    left = iter(rows)
    # A few rows at a time: many tuples that live on would send the garbage collector through all events often.
    while some := list(itertools.islice(left, _AT_ONCE)):
        for values, more in zip(lists, zip(*some, strict=True), strict=True):
            values.extend(more)
    made = {name: column(lists[place], dtype) for place, (name, dtype) in enumerate(columns.items())}
    return pd.DataFrame(made, columns=list(columns))


def tables(columns: Mapping[str, str], rows: Iterable[Row], size: int) -> Iterator[pd.DataFrame]:
    """Give rows as frames of at most `size` rows each; no row at all gives one empty frame.

    Example:
        >>> [len(page) for page in tables({"n": "Int64"}, [(1,), (2,), (3,)], 2)]
        [2, 1]
    """
    left = iter(rows)
    page = list(itertools.islice(left, size))
    yield table(columns, page)
    while page := list(itertools.islice(left, size)):
        yield table(columns, page)
