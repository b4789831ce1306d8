"""`Hint`: one thing about one node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hint:
    """One thing about one node that is worth a look before the workflow runs."""

    node: str
    """Name of the node; `inner/name` for a node of a nested workflow."""
    text: str
    """One sentence: what may happen, and what to do about it."""


def listed(names: Sequence[object], last: str = "and") -> str:
    """Return names as a person lists them, the first few where there are many.

    Example:
        >>> listed(["a", "b", "c"])
        "'a', 'b' and 'c'"
        >>> listed("abcdefghij")
        "'a', 'b', 'c', 'd', 'e', 'f', 'g' and 3 more"
    """
    shown = [f"{name!r:.60}" for name in names]
    if len(shown) > _SHOWN:
        shown = [*shown[: _SHOWN - 1], f"{len(shown) - _SHOWN + 1} more"]
        last = "and"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


_SHOWN = 8
