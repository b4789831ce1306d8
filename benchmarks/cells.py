"""One cell of the table: what one engine measured in one row, or why there is no number."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """What became of a cell."""

    MEASURED = "measured"
    OVER_LIMIT = "over limit"
    """Stopped at the time limit; `value` is what had been spent by then, a lower bound."""
    UNABLE = "unable"
    """The engine can't do this size, for a reason of its own that `detail` tells."""
    NOT_OFFERED = "not offered"
    """The engine has nothing to run this case with."""
    NOT_INSTALLED = "not installed"
    SKIPPED = "skipped"
    """Not tried, because another row showed that it takes too long or can't be done."""
    FAILED = "failed"


@dataclass
class Cell:
    """What one engine measured in one row, in the row's unit."""

    status: Status
    value: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 0
    best_wall_s: float | None = None
    run_s: float | None = None
    """CPU seconds of one run, with what had to run before it."""
    detail: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    load_average: float | None = None
    """The machine's one-minute load average when the cell began."""
    measured_at: str = ""
