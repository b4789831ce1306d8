"""`compare`: runs side by side, node run by node run, and the first place where they part."""

from __future__ import annotations

import difflib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from adk_nb.errors import ConfigurationError
from adk_nb.events.event import content_text
from adk_nb.events.paths import last_segment
from adk_nb.events.prices import AnyPrice, Prices, as_prices
from adk_nb.events.record import NodeRun
from adk_nb.frames.plain import glance, plain, text_of
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.spans import KINDS, WORK, key_of, spans_of
from adk_nb.frames.stored_session import until, where
from adk_nb.frames.usage import Bill, bills_of

FIGURES = ("runs", "model_calls", "prompt_tokens", "output_tokens", "tokens", "money", "seconds")
_FIELDS = ("status", "route", "output", "error_type")
Place = tuple[tuple[str, int], ...]
"""A node run below the root: names with how many runs of the name were there before, at each level."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs part."""

    node: str
    path: str
    field: str
    """`status`, `route`, `output` or `error_type`; `run` when only one of them has this node run."""
    a: Any
    b: Any

    def __str__(self) -> str:
        if self.field == "run":
            return f"{self.node} ran only in {'a' if self.a else 'b'}"
        return f"{self.node}: {self.field} is {glance(self.a, 60)} in a and {glance(self.b, 60)} in b"


@dataclass(slots=True)
class _Side:
    label: str
    runs: dict[Place, NodeRun]
    bills: dict[Place, Bill]
    seconds: dict[Place, float]
    root: NodeRun | None
    total_s: float
    message: str | None

    @property
    def models(self) -> set[str]:
        return {model for bill in self.bills.values() for model in bill.models}

    @property
    def output(self) -> Any:
        return None if self.root is None else self.root.output


@dataclass(slots=True)
class Comparison:
    """Runs side by side; a cell that ends in it shows the table."""

    frame: pd.DataFrame
    """One row a node and one `total`; for each run the columns `runs_a`, `model_calls_a`, `prompt_tokens_a`,
    `output_tokens_a`, `tokens_a`, `money_a`, `seconds_a`, then for each but the first what it has more, as
    `tokens_delta` and `tokens_percent` (with the run's letter when there are three and more)."""
    first_difference: Difference | None
    """Where the second run parts from the first, in the order in which the first ended its node runs."""
    only_in: dict[str, list[str]]
    """Nodes that ran in one of the runs and not in all, by the run's letter."""
    warnings: list[str] = field(default_factory=list)
    """What makes them hard to compare: another input, graph or model."""
    output_diff: str = ""
    """The outputs of the first two, as a unified diff; empty when they are equal."""

    @property
    def only_in_a(self) -> list[str]:
        """Nodes that ran in the first run and not in the second."""
        return self.only_in["a"]

    @property
    def only_in_b(self) -> list[str]:
        """Nodes that ran in the second run and not in the first."""
        return self.only_in["b"]

    @property
    def same(self) -> bool:
        """The first two took the same path with the same values; tokens, money and time may differ."""
        return self.first_difference is None

    def _lines(self) -> list[str]:
        said = [f"Note: {warning}." for warning in self.warnings]
        said.append("No difference." if self.same else f"First difference: {self.first_difference}.")
        said += [f"Only in {label}: {', '.join(nodes)}." for label, nodes in self.only_in.items() if nodes]
        return said

    def __repr__(self) -> str:
        return "\n".join([*self._lines(), self.frame.to_string()])

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{html.escape(line)}</p>" for line in self._lines())
        diff = f"<pre>{html.escape(self.output_diff)}</pre>" if self.output_diff else ""
        return f"<div class='mathjax_ignore'>{said}{self.frame.to_html(escape=True, na_rep='unknown')}{diff}</div>"


def compare(
    a: Any, b: Any, *more: Any, prices: Mapping[str, AnyPrice] | None = None, now: float | None = None
) -> Comparison:
    """Lay runs side by side: the first difference, nodes in only one, tokens, money and time.

    Node runs are matched by their place below the root and by how many runs of the same node came before, so runs of
    two roots can be compared. Ids and times never make a difference.

    Args:
        a: A `Run`, events, records or a session; of a session, the newest run.
        b: The run that is compared with it.
        *more: Further runs, which are called c, d and so on.
        prices: A person's own prices by model name.
        now: Until when open work and questions are counted; `None` is this moment.

    Raises:
        ConfigurationError: one of them holds no run.

    Example:
        >>> from adk_nb.events.event import Event
        >>> one, two = ([Event(invocation_id="e", node_path="wf@1/a@1", output=n)] for n in (1, 2))
        >>> print(compare(one, two).first_difference)
        a: output is 1 in a and 2 in b
    """
    own = as_prices(prices)
    sides = [_side(chr(ord("a") + place), source, own, now) for place, source in enumerate((a, b, *more))]
    names = [set(_nodes(side)) for side in sides]
    shared = set.intersection(*names)
    return Comparison(
        frame=_frame(sides),
        first_difference=_first_difference(sides[0], sides[1]),
        only_in={
            side.label: [name for name in _nodes(side) if name not in (shared if more else names[1 - place])]
            for place, side in enumerate(sides)
        },
        warnings=_warnings(sides),
        output_diff=_diff(sides[0].output, sides[1].output),
    )


def _side(label: str, source: Any, prices: Prices, now: float | None) -> _Side:
    session = next(sessions_of(source, where({})), None)
    records, events = ([], []) if session is None else (session.records(), list(session.events()))
    if session is None or not records:
        raise ConfigurationError(f"Nothing ran in {label} of compare(...): give a Run, its events, or a session.")
    newest = records[-1].invocation_id
    runs = [run for run in records if run.invocation_id == newest]
    said = [event for event in events if event.invocation_id == newest]
    places = _places(runs)
    spans = spans_of(runs, *until(session, now))
    root = next((run for run in runs if not run.parent), None)
    bills: dict[Place, Bill] = {}
    for (_, path), bill in bills_of(said, prices).items():
        bills.setdefault(places.get(path, ()), Bill()).add_bill(bill)
    total = spans[key_of(root)] if root is not None else None
    return _Side(
        label,
        {places[run.path]: run for run in runs},
        bills,
        {places[run.path]: spans[key_of(run)].seconds(WORK) for run in runs},
        root,
        0.0 if total is None else sum(total.seconds(kind) for kind in KINDS if kind != "person"),
        next((content_text(event.content) for event in said if event.author == "user" and event.content), None),
    )


def _places(runs: Sequence[NodeRun]) -> dict[str, Place]:
    """Return where each path stands below the root, run ids replaced by their order."""
    places: dict[str, Place] = {}
    counts: dict[tuple[Place, str], int] = {}
    for run in sorted(runs, key=lambda one: one.path.count("/")):
        if not run.parent:
            places[run.path] = ()
            continue
        above = places.get(run.parent, ())
        name = last_segment(run.path)[0]
        number = counts.get((above, name), 0)
        counts[above, name] = number + 1
        places[run.path] = (*above, (name, number))
    return places


def _nodes(side: _Side) -> list[str]:
    return list(dict.fromkeys(_name(place) for place in side.runs if place))


def _name(place: Place) -> str:
    return "/".join(name for name, _ in place)


def _first_difference(a: _Side, b: _Side) -> Difference | None:
    for place, run in sorted(a.runs.items(), key=lambda one: (one[1].ended_at or float("inf"), -len(one[0]))):
        other = b.runs.get(place)
        if other is None:
            return Difference(run.name, run.path, "run", True, False)
        for name in _FIELDS:
            ours, theirs = getattr(run, name), getattr(other, name)
            if ours != theirs:
                return Difference(run.name, run.path, name, ours, theirs)
    for place, run in b.runs.items():
        if place not in a.runs:
            return Difference(run.name, run.path, "run", False, True)
    return None


def _frame(sides: Sequence[_Side]) -> pd.DataFrame:
    rows = list(dict.fromkeys(name for side in sides for name in _nodes(side)))
    columns: dict[str, Any] = {}
    for side in sides:
        figures = [_figures(side, name) for name in rows]
        figures.append(_total(side))
        for place, name in enumerate(FIGURES):
            columns[f"{name}_{side.label}"] = pd.Series([one[place] for one in figures], dtype=_dtype(name))
    for side in sides[1:]:
        ending = "" if len(sides) == 2 else f"_{side.label}"
        for name in FIGURES:
            more = columns[f"{name}_{side.label}"] - columns[f"{name}_a"]
            columns[f"{name}_delta{ending}"] = more
            first = columns[f"{name}_a"].astype("Float64")
            columns[f"{name}_percent{ending}"] = more.astype("Float64") / first.where(first != 0) * 100
    made = pd.DataFrame(columns)
    made.index = pd.Index([*rows, "total"], name="node")
    return made


def _dtype(name: str) -> Any:
    return "Float64" if name in ("money", "seconds") else "Int64"


def _figures(side: _Side, name: str) -> tuple[Any, ...]:
    places = [place for place in side.runs if _name(place) == name]
    bill = Bill()
    for place in places:
        if place in side.bills:
            bill.add_bill(side.bills[place])
    return len(places), *_spent(bill), sum(side.seconds[place] for place in places)


def _total(side: _Side) -> tuple[Any, ...]:
    bill = Bill()
    for one in side.bills.values():
        bill.add_bill(one)
    return len(side.runs), *_spent(bill), side.total_s


def _spent(bill: Bill) -> tuple[Any, ...]:
    return bill.model_calls, bill.prompt_tokens, bill.output_tokens, bill.tokens, bill.known_money


def _warnings(sides: Sequence[_Side]) -> list[str]:
    first, found = sides[0], []
    for side in sides[1:]:
        pair = f"{first.label} and {side.label}"
        if first.message != side.message:
            found.append(f"different input: {pair} were told different things")
        if _root(first) != _root(side):
            found.append(f"different graph: {pair} have different roots")
        if first.models and side.models and first.models != side.models:
            asked = f"{', '.join(sorted(first.models))} and {', '.join(sorted(side.models))}"
            found.append(f"different model: {pair} asked {asked}")
    return found


def _root(side: _Side) -> str | None:
    return None if side.root is None else side.root.name


def _diff(a: Any, b: Any) -> str:
    if a == b:
        return ""
    return "\n".join(difflib.unified_diff(_lines_of(a), _lines_of(b), fromfile="a", tofile="b", lineterm=""))


def _lines_of(value: Any) -> list[str]:
    if isinstance(value, (dict, list)):
        return json.dumps(plain(value), ensure_ascii=False, indent=1).splitlines()
    return (text_of(value) or "").splitlines()
