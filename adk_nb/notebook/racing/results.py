"""What a race measured: a row for each case and design, and what they come to."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from adk_nb.examples.accuracy import wilson_interval

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 2_000
_RESAMPLED = 200
"""Values up to which a mean's interval is resampled; of more the normal one is as good, and quick."""
MEASURES = ("tokens", "calls", "seconds", "money")
SAVED = ("tokens", "calls", "money")
"""Measures of which one design can be said to save something."""
SHARES = ("right_path", "right_answer")


@dataclass(frozen=True, slots=True)
class RaceRow:
    """One design on one case."""

    case: int
    """Its number, from 1."""
    round: int
    """Which time the case was run, from 1."""
    design: str
    """`loop` or `graph`."""
    message: str
    status: str
    calls: int
    """Model calls."""
    tokens: int
    """Sent and received."""
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    thought_tokens: int
    money: float | None
    """US dollars, `None` where a price isn't known."""
    seconds: float
    """On the clock, from its start to its end."""
    right_path: bool | None
    right_answer: bool | None
    path: str
    """What ran, joined by arrows."""
    output: str
    error: str | None


TYPES = {
    "case": "Int64",
    "round": "Int64",
    "calls": "Int64",
    "tokens": "Int64",
    "prompt_tokens": "Int64",
    "cached_tokens": "Int64",
    "output_tokens": "Int64",
    "thought_tokens": "Int64",
    "money": "float64",
    "seconds": "float64",
    "right_path": "boolean",
    "right_answer": "boolean",
}
"""Types of a frame's columns; all others are `object`."""


def race_frame(rows: Sequence[RaceRow]) -> pd.DataFrame:
    """Return rows as a DataFrame with the same columns and types, also when there is none."""
    import pandas as pd  # takes a while to load, and nothing else here needs it

    names = [field.name for field in fields(RaceRow)]
    columns = {name: [getattr(row, name) for row in rows] for name in names}
    return pd.DataFrame({name: pd.Series(values, dtype=TYPES.get(name, "object")) for name, values in columns.items()})


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean or a share with its 95 % interval."""

    value: float
    low: float
    high: float
    count: int


def mean_of(values: Sequence[float]) -> Estimate | None:
    """Return a mean with its 95 % interval by bootstrap, always with the same draws; of many values the normal one.

    Example:
        >>> found = mean_of([1.0, 2.0, 3.0])
        >>> found.value, found.low < 2 < found.high
        (2.0, True)
    """
    if not values:
        return None
    mean = sum(values) / len(values)
    if len(set(values)) == 1:
        return Estimate(mean, mean, mean, len(values))
    if len(values) > _RESAMPLED:
        half = 1.96 * statistics.stdev(values) / len(values) ** 0.5
        return Estimate(mean, mean - half, mean + half, len(values))
    draws = random.Random(0)
    means = sorted(sum(draws.choices(values, k=len(values))) / len(values) for _ in range(RESAMPLES))
    return Estimate(mean, means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)], len(values))


def share_of(values: Sequence[bool]) -> Estimate | None:
    """Return a share with Wilson's interval.

    Example:
        >>> share_of([True] * 9 + [False]).value
        0.9
    """
    if not values:
        return None
    low, high = wilson_interval(sum(values), len(values))
    return Estimate(sum(values) / len(values), low, high, len(values))


def estimates(rows: Sequence[RaceRow]) -> dict[str, dict[str, Estimate | None]]:
    """Return each measure's estimate by design; runs that failed count for shares only, as wrong."""
    found: dict[str, dict[str, Estimate | None]] = {}
    for name in (*MEASURES, *SHARES):
        ways: tuple[Callable[[Any], Any], bool] = (share_of, True) if name in SHARES else (mean_of, False)
        estimate, takes_failed = ways
        found[name] = {}
        for design in ("loop", "graph"):
            own = [row for row in rows if row.design == design and (takes_failed or row.error is None)]
            values = [getattr(row, name) for row in own]
            known = [value for value in values if value is not None]
            is_known = bool(known) and (takes_failed or len(known) == len(values))
            found[name][design] = estimate(known) if is_known else None
    return found


def summary_frame(rows: Sequence[RaceRow]) -> pd.DataFrame:
    """Return what a race comes to, a row a measure: value and 95 % interval of both designs, and what is saved."""
    import pandas as pd  # takes a while to load, and nothing else here needs it

    lines = []
    for name, by_design in estimates(rows).items():
        line: dict[str, Any] = {"measure": name}
        for design, estimate in by_design.items():
            line |= {
                design: None if estimate is None else estimate.value,
                f"{design}_low": None if estimate is None else estimate.low,
                f"{design}_high": None if estimate is None else estimate.high,
                f"{design}_runs": 0 if estimate is None else estimate.count,
            }
        loop, graph = by_design["loop"], by_design["graph"]
        can_save = name in SAVED and loop is not None and graph is not None and loop.value
        line["saved"] = 1 - graph.value / loop.value if can_save and loop and graph else None
        lines.append(line)
    types = {name: "Int64" if name.endswith("_runs") else "float64" for name in lines[0] if name != "measure"}
    return pd.DataFrame(lines).astype(types).set_index("measure")
