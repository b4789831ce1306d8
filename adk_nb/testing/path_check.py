"""`check_path`: did a run take the path that it should have; ids and times never matter."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, Literal

from google.genai import types

from adk_nb.errors import ConfigurationError
from adk_nb.events.record import NodeRun
from adk_nb.frames.plain import plain
from adk_nb.frames.sources import sessions_of
from adk_nb.frames.stored_session import StoredSession, where

Args = Literal["exact", "some", "ignore"]
_ASKS = "adk_request_"
"""How the names of calls begin that ask a person and are no tools."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step that was taken: a node run or a tool call."""

    name: str
    path: str
    args: Mapping[str, Any] | None
    """Of a tool call; `None` for a node."""
    start: float
    end: float
    group: tuple[Any, ...]
    """What steps that were started together have in common."""

    def __str__(self) -> str:
        if self.args is None:
            return self.name
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.args.items())})"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where a path leaves what was expected."""

    index: int
    """Place in the path that was taken, from 0."""
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class PathCheck:
    """What came of a check; true when it passed, so that it can stand in an `assert`."""

    first_mismatch: Mismatch | None
    problems: tuple[str, ...]
    """What is wrong, a sentence each."""
    path: tuple[str, ...]
    """The path that was taken."""

    @property
    def passed(self) -> bool:
        """Everything is as expected."""
        return not self.problems

    @property
    def explain(self) -> str:
        """What is wrong, and the path that was taken."""
        return "\n".join([*self.problems, f"The path was: {' → '.join(self.path) or 'empty'}."])

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return "PathCheck: passed" if self.passed else f"PathCheck: {self.explain}"


Wanted = str | types.Part | EllipsisType | Collection[Any]


def check_path(
    run: Any,
    expected: Sequence[Wanted] | None = None,
    *,
    args: Args = "exact",
    match: Literal["whole", "prefix"] = "whole",
    tools_used: Mapping[str, int | tuple[int, int | None]] | None = None,
    nodes_used: Mapping[str, int | tuple[int, int | None]] | None = None,
    nodes_not_used: Collection[str] = (),
) -> PathCheck:
    """Check which nodes a run went through and which tools it called.

    A step is a node run or a tool call, in the order of their starts; the root, nested workflows and parallel workers
    are no steps themselves. Steps that ran side by side may come in any order.

    Args:
        run: A `Run`, events, records or a session, of adk_nb or of google-adk.
        expected: The steps: a node's name (`"plan"`), a tool's name (`"search"`, any arguments), a tool call as text
            (`"search(q='a')"`) or as `call("search", q="a")`, `...` for any number of steps, and a set or list of steps
            for those that may come in any order.
        args: `"exact"`: the arguments are those given and no others; `"some"`: those given are among them;
            `"ignore"`: any.
        match: `"prefix"` allows more steps at the end.
        tools_used: How often each tool was called: a number, or the least and the most, `None` for no limit.
        nodes_used: How often each node ran, likewise.
        nodes_not_used: Nodes and tools that were not used.

    Raises:
        ConfigurationError: nothing is expected, or something that can't be a step.

    Example:
        >>> from adk_nb.events.event import Event
        >>> said = [Event(invocation_id="e", node_path=f"wf@1/{name}@1", output=1) for name in ("plan", "write")]
        >>> check_path(said, ["plan", "write"]).passed, check_path(said, ["plan"]).passed
        (True, False)
        >>> check_path(said, ["plan", ...], nodes_not_used=["refund"])
        PathCheck: passed
    """
    if expected is None and not tools_used and not nodes_used and not nodes_not_used:
        raise ConfigurationError("check_path expects nothing: give steps, tools_used, nodes_used or nodes_not_used.")
    if expected is not None and not len(expected):
        raise ConfigurationError("check_path got an empty list of steps, which no run takes: give at least one.")
    if args not in ("exact", "some", "ignore"):
        raise ConfigurationError(f"args={args!r}: allowed are 'exact', 'some', 'ignore'.")
    if match not in ("whole", "prefix"):
        raise ConfigurationError(f"match={match!r}: allowed are 'whole', 'prefix'.")
    steps = steps_of(run)
    problems: list[str] = []
    mismatch = None
    if expected is not None:
        items = [*_parsed(expected), *([...] if match == "prefix" else [])]
        mismatch = _Matcher(items, steps, args).first_mismatch()
        if mismatch is not None:
            problems.append(f"Step {mismatch.index}: expected {mismatch.expected}, found {mismatch.found}.")
    for what, counts in (("called", tools_used), ("ran", nodes_used)):
        is_tool = what == "called"
        for name, wanted in (counts or {}).items():
            low, high = (wanted, wanted) if isinstance(wanted, int) else wanted
            count = sum(step.name == name and (step.args is not None) is is_tool for step in steps)
            if count < low or (high is not None and count > high):
                limits = str(low) if low == high else f"{low} to {'any number' if high is None else high}"
                problems.append(f"{name!r} {what} {count} times; expected {limits}.")
    problems += [f"{name!r} was used." for name in nodes_not_used if any(step.name == name for step in steps)]
    return PathCheck(mismatch, tuple(problems), tuple(str(step) for step in steps))


def steps_of(run: Any) -> list[Step]:
    """Return the steps of a run, in the order of their starts."""
    steps: list[Step] = []
    for session in sessions_of(run, where({})):
        records = session.records()
        parents = {one.parent for one in records}
        for one in records:
            is_holder = one.kind in ("workflow", "parallel") or (not one.parent and one.path in parents)
            if not is_holder and one.started_at is not None:
                steps.append(_node_step(one))
        steps += _told_calls(session, {one.run_id for one in records if one.kind == "tool"})
    order = {id(step): place for place, step in enumerate(steps)}
    return sorted(steps, key=lambda step: (step.start, order[id(step)]))


def _node_step(run: NodeRun) -> Step:
    end = run.ended_at if run.ended_at is not None else float("inf")
    args = None
    if run.kind == "tool":
        args = plain(run.input) if isinstance(run.input, Mapping) else {}
    start = run.started_at or 0.0
    return Step(run.name, run.path, args, start, end, (run.invocation_id, run.parent, run.sources))


def _told_calls(session: StoredSession, known: set[str]) -> Iterable[Step]:
    """Give the tool calls that no record tells of, as in sessions of google-adk."""
    for event in session.events():
        for call in event.get_function_calls():
            name = call.name or ""
            if call.id not in known and not name.startswith(_ASKS):
                place = (event.invocation_id, event.id)
                path = f"{event.node_info.path}/{name}@{call.id}"
                yield Step(name, path, plain(call.args or {}), event.timestamp, event.timestamp, place)


@dataclass(frozen=True, slots=True)
class _Item:
    name: str
    args: Mapping[str, Any] | None
    """`None` fits any arguments."""

    def fits(self, step: Step, how: Args) -> bool:
        if self.name != step.name:
            return False
        if self.args is None or how == "ignore":
            return True
        given = step.args or {}
        if how == "some":
            return all(name in given and given[name] == value for name, value in self.args.items())
        return dict(given) == dict(self.args)

    def __str__(self) -> str:
        if self.args is None:
            return self.name
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.args.items())})"


class _Matcher:
    """Fits what is expected to the steps that were taken."""

    def __init__(self, items: Sequence[Any], steps: Sequence[Step], how: Args) -> None:
        self._items = items
        self._steps = steps
        self._how = how
        self._deepest: tuple[int, str] = (-1, "")
        self._tried: set[tuple[int, frozenset[int]]] = set()

    def first_mismatch(self) -> Mismatch | None:
        """Return where the path leaves the expectation, after the fit that goes furthest; `None` when it fits."""
        if self._fit(0, frozenset()):
            return None
        index, expected = self._deepest
        found = str(self._steps[index]) if index < len(self._steps) else "the end"
        return Mismatch(index, expected, found)

    def _fit(self, item: int, taken: frozenset[int]) -> bool:
        """Say whether the items from one on fit the steps that aren't taken yet."""
        state = item, taken
        if state in self._tried:
            return False
        self._tried.add(state)
        left = [place for place in range(len(self._steps)) if place not in taken]
        if item == len(self._items):
            if left:
                self._note(left[0], "the end")
            return not left
        wanted = self._items[item]
        if wanted is ...:
            return self._fit(item + 1, taken) or (bool(left) and self._fit(item, taken | {left[0]}))
        if isinstance(wanted, tuple):
            return self._fit_group(list(wanted), item, taken)
        for place in self._next(left):
            if wanted.fits(self._steps[place], self._how) and self._fit(item + 1, taken | {place}):
                return True
        self._note(left[0] if left else len(self._steps), str(wanted))
        return False

    def _fit_group(self, group: list[_Item], item: int, taken: frozenset[int]) -> bool:
        if not group:
            return self._fit(item + 1, taken)
        left = [place for place in range(len(self._steps)) if place not in taken]
        for place in self._next(left):
            for index, wanted in enumerate(group):
                rest = group[:index] + group[index + 1 :]
                if wanted.fits(self._steps[place], self._how) and self._fit_group(rest, item, taken | {place}):
                    return True
        at = left[0] if left else len(self._steps)
        self._note(at, " or ".join(map(str, group)))
        return False

    def _next(self, left: list[int]) -> Iterable[int]:
        """Give the steps that may count as the next one: the first, and those that ran beside all before them."""
        for position, place in enumerate(left):
            if all(_are_parallel(self._steps[before], self._steps[place]) for before in left[:position]):
                yield place

    def _note(self, index: int, expected: str) -> None:
        if index > self._deepest[0]:
            self._deepest = index, expected


def _are_parallel(a: Step, b: Step) -> bool:
    """Say whether two steps ran side by side: neither holds the other, and they were started or at work together."""
    if b.path.startswith(f"{a.path}/") or a.path.startswith(f"{b.path}/"):
        return False
    return a.group == b.group or (a.start < b.end and b.start < a.end)


def _parsed(expected: Iterable[Any]) -> list[Any]:
    """Return steps as items, groups of them as tuples."""
    items: list[Any] = []
    for one in expected:
        if one is ...:
            items.append(...)
        elif isinstance(one, (set, frozenset, list, tuple)):
            inner = _parsed(one)
            if not inner or any(item is ... or isinstance(item, tuple) for item in inner):
                raise ConfigurationError(f"{one!r} can't be steps in any order: give names and calls in it.")
            items.append(tuple(inner))
        else:
            items.append(_item(one))
    return items


def _item(one: Any) -> _Item:
    if isinstance(one, types.Part) and one.function_call is not None:
        return _Item(one.function_call.name or "", plain(one.function_call.args or {}))
    if not isinstance(one, str) or not one:
        raise ConfigurationError(
            f"{one!r} isn't a step: allowed are a name, a call such as \"search(q='a')\" or call('search', q='a'), "
            f"... and a set of these."
        )
    if not one.endswith(")"):
        return _Item(one, None)
    try:
        call = ast.parse(one, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            return _Item(call.func.id, {word.arg or "": plain(ast.literal_eval(word.value)) for word in call.keywords})
    except (SyntaxError, ValueError):
        pass
    raise ConfigurationError(f"{one!r} isn't a call with named values, such as \"search(q='a', limit=3)\".")
