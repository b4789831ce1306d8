"""One way in which adk_nb differs from google-adk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """A difference, its reason, and every scenario in which it is seen."""

    what: str
    """What is looked at."""
    theirs: str
    """What google-adk does."""
    ours: str
    """What adk_nb does."""
    why: str
    """Why it is so."""
    seen: dict[str, list[str]]
    """The scenarios that differ, each with exactly the lines that google-adk alone gave (`- `), or adk_nb (`+ `)."""
