"""One column of a frame, with its declared type also when it is empty."""

from __future__ import annotations

from typing import Any

import pandas as pd


def column(values: list[Any], dtype: Any) -> Any:
    """Return values as a column; times are given as seconds since the epoch, `None` is missing."""
    if str(dtype).startswith("datetime"):
        moments: Any = pd.to_datetime(pd.Series(values, dtype="float64"), unit="s", utc=True)
        return moments.astype(dtype)
    return pd.Series(values, dtype=dtype)
