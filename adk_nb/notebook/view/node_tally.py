"""What all runs of one node come to, and what each run added to it: the part of a fold that a drawn node shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ACTIVE = ("waiting", "running", "retrying", "gathering", "pending")
"""Statuses of a run that still goes on, the one to show first first."""


@dataclass(slots=True)
class SeenRun:
    """What one node run added so far, so that a newer form of its record can take its place."""

    node: str
    status: str = ""
    seconds: float = 0.0
    failures: int = 0
    route: Any = None
    sources: tuple[str, ...] = ()
    """Where the runs before it stand in the drawing."""
    questions: list[str] = field(default_factory=list)
    """Keys of the questions that its record holds, and how many of those, from the front, are known as answered."""
    answered: int = 0
    notes: int = 0
    items: int = 0
    """How many items a parallel worker has to do."""
    is_done: bool = False
    """It is an item of a parallel worker that is counted as done."""
    has_record: bool = False


@dataclass(slots=True)
class NodeTally:
    """One node of the graph, all its runs together."""

    runs: int = 0
    active: dict[str, int] = field(default_factory=dict)
    last: str = "pending"
    seconds: float = 0.0
    tokens: int = 0
    failures: int = 0
    started: float | None = None
    asked: float | None = None
    error: str = ""
    retry_at: float | None = None
    """When it tries again."""
    ended: float | None = None
    dead_end: str = ""
    """In two words why a branch of the run ended here."""
    items: int = 0
    items_done: int = 0

    def status(self) -> str:
        """The status to show: that of a run still going on, otherwise of the one that ended last."""
        if self.dead_end:
            return "incomplete"
        return next((status for status in ACTIVE if self.active.get(status)), self.last)

    def to_json(self) -> dict[str, Any]:
        """Return what a view gets of the node."""
        status = self.status()
        return {
            "status": status,
            "passes": self.runs,
            "seconds": round(self.seconds, 6),
            "tokens": self.tokens,
            "failures": self.failures,
            "since": self._since(status),
            "ended": self.ended,
            "detail": self._detail(status),
        }

    def _since(self, status: str) -> float | None:
        """The time that a view counts from, or, of a node that will try again, counts to."""
        return {"waiting": self.asked, "running": self.started, "retrying": self.retry_at}.get(status)

    def _detail(self, status: str) -> str:
        if self.dead_end:
            return self.dead_end
        if status == "retrying":
            return f"tries again · {self.failures} failed"
        if status == "waiting":
            return "waiting" if self.asked is None else "asked"  # or a run inside it asks
        if status == "failed":
            return self.error or "failed"
        parts = [f"{self.runs}×"] if self.runs > 1 else []
        if status == "running" and self.items:
            parts.append(f"{self.items_done:,} of {self.items:,}")
        elif status in ("running", "gathering", "pending", "cancelled", "incomplete", "stopped"):
            parts.append(status)
        elif self.seconds:
            parts.append(duration(self.seconds))
        if self.tokens:
            parts.append(f"{self.tokens:,} tok")
        if self.failures:
            parts.append(f"{self.failures} failed")
        return " · ".join(parts)


def duration(seconds: float) -> str:
    """Return a time as people say it.

    Example:
        >>> [duration(s) for s in (0.00004, 0.0123, 1.94, 75, 7322)]
        ['0.04 ms', '12 ms', '1.9 s', '1 min 15 s', '2 h 2 min']
    """
    if seconds < 0.0995:
        ms = seconds * 1000
        return f"{ms:.2f} ms" if ms < 0.095 else f"{ms:.1f} ms" if ms < 9.95 else f"{ms:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
