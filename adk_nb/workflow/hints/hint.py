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
    """Return names as a person lists them.

    Example:
        >>> listed(["a", "b", "c"])
        "'a', 'b' and 'c'"
    """
    shown = [repr(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"
