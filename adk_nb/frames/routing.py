"""Routing accuracy: over cases with a known right branch, how often each routing node took it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from adk_nb.errors import ConfigurationError, one_of
from adk_nb.frames.columns import table
from adk_nb.frames.reading import label_of
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.stored_session import where

COLUMNS: dict[str, str] = {
    "node": "object",
    "decisions": "Int64",
    "right": "Int64",
    "p": "float64",
    "low": "float64",
    "high": "float64",
    "not_reached": "Int64",
}
"""Columns of `RoutingAccuracy.frame` in order, with their types."""
_Z = 1.959963984540054
"""Of the normal distribution, for 95 %."""


@dataclass(slots=True)
class RoutingAccuracy:
    """How often routes were right."""

    frame: pd.DataFrame
    """One row a node: `decisions`, how many were `right`, the share `p` with its 95 % interval from `low` to `high`
    (Wilson's), and `not_reached`: cases with a right branch in which the node never took one."""
    decisions: list[tuple[str, str, str]]
    """Node, right label and label taken, one each."""

    @property
    def p(self) -> float:
        """Share of right decisions of all nodes together, which is the routing accuracy that the calculator takes."""
        return _share(self._right, len(self.decisions))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of `p`."""
        return interval(self._right, len(self.decisions))

    @property
    def _right(self) -> int:
        return sum(right == taken for _, right, taken in self.decisions)

    def confusion(self, node: str | None = None) -> pd.DataFrame:
        """Return how often each right label (rows) became each label taken (columns).

        Args:
            node: Whose; `None` is the only one.

        Raises:
            ConfigurationError: there is no such node, or several and none is named.
        """
        pairs = self._pairs(node)
        labels = sorted({label for pair in pairs for label in pair})
        counts = [[sum(pair == (right, taken) for pair in pairs) for taken in labels] for right in labels]
        return pd.DataFrame(counts, index=pd.Index(labels, name="right"), columns=pd.Index(labels, name="taken"))

    def errors(self, node: str | None = None) -> pd.DataFrame:
        """Return for each right label how many cases it had, how many went wrong, and their share with its interval.

        Args:
            node: As in `confusion`.
        """
        pairs = self._pairs(node)
        rows = []
        for label in sorted({right for right, _ in pairs}):
            taken = [one for right, one in pairs if right == label]
            wrong = sum(one != label for one in taken)
            rows.append((label, len(taken), wrong, _share(wrong, len(taken)), *interval(wrong, len(taken))))
        kinds = dict(zip(("label", "cases", "wrong", "error", "low", "high"), _ERROR_TYPES, strict=True))
        return table(kinds, rows)

    def _pairs(self, node: str | None) -> list[tuple[str, str]]:
        names = list(dict.fromkeys(name for name, _, _ in self.decisions))
        if node is None and len(names) > 1:
            raise ConfigurationError(f"{len(names)} nodes route: name one of {one_of('', names)}.")
        if node is not None and node not in names:
            raise ConfigurationError(f"No decision of {node!r} is known; there are those of {one_of(node, names)}.")
        return [(right, taken) for name, right, taken in self.decisions if node in (None, name)]

    def __repr__(self) -> str:
        low, high = self.interval
        head = f"Routing accuracy {self.p:.3f} (95 %: {low:.3f} to {high:.3f}) over {len(self.decisions)} decisions"
        return f"{head}\n{self.frame.to_string(index=False)}"

    def _repr_html_(self) -> str:
        return f"<div class='mathjax_ignore'>{self.frame.to_html(escape=True, index=False)}</div>"


_ERROR_TYPES = ("object", "Int64", "Int64", "float64", "float64", "float64")


def routing_accuracy(cases: Iterable[tuple[Any, Any]]) -> RoutingAccuracy:
    """Return how often each routing node took the right branch.

    Args:
        cases: Pairs of a run (as in `nodes_frame`) and what was right in it: `{node: label}`, with a list of labels
            for a node that routes several times; or one label, where one node routes. Several labels for one decision
            are a tuple.

    Raises:
        ConfigurationError: a case names no node and several route, or there is no case at all.

    Example:
        >>> from adk_nb.events.event import Event
        >>> taken = [[Event(invocation_id="e", node_path="wf@1/r@1", route=one)] for one in ("BUG", "BUG", "SALES")]
        >>> found = routing_accuracy(zip(taken, ["BUG", "BUG", "BUG"]))
        >>> found.frame[["node", "decisions", "right"]].values.tolist(), round(found.p, 3)
        ([['r', 3, 2]], 0.667)
    """
    decisions: list[tuple[str, str, str]] = []
    missed: dict[str, int] = {}
    count = 0
    for source, right in cases:
        count += 1
        taken = _routes(source)
        for node, labels in _expected(right, taken).items():
            missed.setdefault(node, 0)
            found = taken.get(node, [])
            decisions += [(node, label, route) for label, route in zip(labels, found, strict=False)]
            missed[node] += max(0, len(labels) - len(found))
    if not count:
        raise ConfigurationError("routing_accuracy got no case: give pairs of a run and the label that was right.")
    rows = []
    for node, not_reached in missed.items():
        pairs = [(right, route) for name, right, route in decisions if name == node]
        right_ones = sum(label == route for label, route in pairs)
        rows.append((node, len(pairs), right_ones, *_estimate(right_ones, len(pairs)), not_reached))
    return RoutingAccuracy(table(COLUMNS, rows), decisions)


def interval(right: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, the whole range where nothing is known.

    Example:
        >>> [round(end, 3) for end in interval(9, 10)]
        [0.596, 0.982]
    """
    if not of:
        return 0.0, 1.0
    share, weight = right / of, _Z * _Z / of
    middle = (share + weight / 2) / (1 + weight)
    half = _Z / (1 + weight) * math.sqrt(share * (1 - share) / of + weight / (4 * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def _share(part: int, of: int) -> float:
    return part / of if of else math.nan


def _estimate(right: int, of: int) -> tuple[float, float, float]:
    return _share(right, of), *interval(right, of)


def _routes(source: Any) -> dict[str, list[str]]:
    """Return the labels that each routing node of a run gave, in order."""
    found: dict[str, list[str]] = {}
    for session in sessions_of(source, where({})):
        for run in session.records():
            if run.route is not None:
                found.setdefault(run.name, []).append(label_of(run.route))
    return found


def _expected(right: Any, taken: Mapping[str, list[str]]) -> dict[str, list[str]]:
    if isinstance(right, Mapping):
        return {
            node: [label_of(one) for one in (label if isinstance(label, list) else [label])]
            for node, label in right.items()
        }
    if len(taken) != 1:
        raise ConfigurationError(
            f"The right branch {right!r} names no node, and {len(taken)} nodes routed "
            f"({', '.join(taken) or 'none'}): write {{node: label}}."
        )
    return {next(iter(taken)): [label_of(right)]}
