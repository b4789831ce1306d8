"""The records of one session in memory, indexed so that a look-up costs the same after 5,000 runs as at first.

A record is kept as a row: one tuple of texts, numbers and frozen values. The garbage collector, which goes through all
objects of a long history again and again, leaves out such tuples, as nothing in them can form a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

from adk_nb.events.read_only import thawed
from adk_nb.events.record import Attempt, NodeRun, Status
from adk_nb.events.values import PLAIN, cleaned_text, freeze, freeze_each

Row = tuple[Any, ...]
"""A record's place in the order of first `put`, its place in the order of completion (0 until then), its fields, and
the values of its tries, one try after the other."""


class RunIndex:
    """Records by invocation and path, as they were when they were put in."""

    def __init__(self) -> None:
        self._invocations: dict[str, _Invocation] = {}
        self._asked: dict[str, tuple[int, str, str]] = {}
        """Of the newest record that asked a question its number, its invocation and its path, by interrupt id."""
        self._count = 0

    def put(self, runs: Sequence[NodeRun]) -> None:
        """Insert records, or replace those with the same invocation and path; all of them or none."""
        rows = [kept(run) for run in runs]
        for run, fields in zip(runs, rows, strict=True):
            invocation = self._invocations.get(run.invocation_id)
            if invocation is None:
                invocation = self._invocations[run.invocation_id] = _Invocation()
            self._count += 1
            invocation.put(run, fields, self._count)
            if run.questions:
                self._note_asked(invocation.rows[run.path])

    def rewind(self, invocation_id: str) -> None:
        """Forget an invocation and all that began after it."""
        if invocation_id not in self._invocations:
            return
        began = list(self._invocations)
        for later in began[began.index(invocation_id) :]:
            del self._invocations[later]
        self._asked = {}
        for invocation in self._invocations.values():
            for row in invocation.rows.values():
                self._note_asked(row)

    def run_at(self, invocation_id: str, path: str) -> NodeRun | None:
        """Return the record at a path."""
        invocation = self._invocations.get(invocation_id)
        return _handed_out(invocation.rows.get(path)) if invocation else None

    def open_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return the open records, in the order of their first `put`."""
        invocation = self._invocations.get(invocation_id)
        return [handed_out(row) for row in sorted(invocation.open_rows(), key=_number)] if invocation else []

    def latest_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return the record completed last of each node below `parent`, in the order of completion."""
        invocation = self._invocations.get(invocation_id)
        if invocation is None:
            return []
        latest = [invocation.rows[path] for path in invocation.latest.get(parent, {}).values()]
        return [handed_out(row) for row in sorted(latest, key=_completed)]

    def child_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return all records directly below `parent`, in the order of their first `put`."""
        invocation = self._invocations.get(invocation_id)
        return [handed_out(invocation.rows[path]) for path in invocation.children.get(parent, ())] if invocation else []

    def asking_run(self, interrupt_id: str) -> NodeRun | None:
        """Return the newest record whose question waits for an answer, else the newest that asked it."""
        if interrupt_id not in self._asked:
            return None
        _, invocation_id, path = self._asked[interrupt_id]
        newest = self._invocations[invocation_id].rows[path]
        if _waits_for(newest, interrupt_id):
            return handed_out(newest)
        unfinished = (one.rows[path] for one in self._invocations.values() for path in one.open)
        waiting = [row for row in unfinished if _waits_for(row, interrupt_id)]
        return handed_out(max(waiting, key=_number, default=newest))

    def root_run(self, invocation_id: str | None) -> NodeRun | None:
        """Return the root record of an invocation, or of the newest one."""
        if invocation_id is None:
            invocation_id = next(reversed(self._invocations), None)
        roots = self.child_runs(invocation_id, "") if invocation_id is not None else []
        return roots[0] if roots else None

    def root_runs(self) -> list[NodeRun]:
        """Return the root record of every invocation, in the order of their first `put`."""
        return [run for invocation_id in list(self._invocations) for run in self.child_runs(invocation_id, "")[:1]]

    def all_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return all records of an invocation, in the order of their first `put`."""
        invocation = self._invocations.get(invocation_id)
        return [handed_out(row) for row in sorted(invocation.rows.values(), key=_number)] if invocation else []

    def _note_asked(self, row: Row) -> None:
        for question in row[_QUESTIONS]:
            number, _, _ = self._asked.get(question.interrupt_id, (0, "", ""))
            if number <= row[_NUMBER]:
                self._asked[question.interrupt_id] = (row[_NUMBER], row[_INVOCATION_ID], row[_PATH])


class _Invocation:
    """The records of one invocation."""

    __slots__ = ("children", "completions", "held", "latest", "open", "rows")

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.children: dict[str, list[str]] = {}
        """Paths below each path, in the order of first `put`."""
        self.open: dict[str, None] = {}
        """Paths of those that aren't completed, as keys."""
        self.held: dict[str, dict[str, None]] = {}
        """Paths of completed ones, as keys, by the path of a join that took their output."""
        self.latest: dict[str, dict[str, str]] = {}
        """Paths of those completed last, by the path above and the node's name."""
        self.completions = 0

    def put(self, run: NodeRun, fields: tuple[Any, ...], number: int) -> None:
        """Insert or replace a record, and put it where its status belongs; one that is known keeps its number."""
        path, completed = run.path, 0
        known = self.rows.get(path)
        if known is None:
            siblings = self.children.get(run.parent)
            if siblings is None:
                self.children[run.parent] = [path]
            else:
                siblings.append(path)
        else:
            number, completed = known[:_FIELDS]
            if known[_HELD_FOR]:
                self._let_go(known, run)
        if run.status is Status.COMPLETED:
            self.open.pop(path, None)
            if run.held_for:
                self._hold(run)
            if not completed:
                self.completions = completed = self.completions + 1
                self.latest.setdefault(run.parent, {})[run.name] = path
        else:
            self.open[path] = None
            if self.held and run.status is not Status.GATHERING:
                self.held.pop(path, None)
            if completed:
                self._take_back(run)
                completed = 0
        self.rows[path] = (number, completed, *fields)

    def open_rows(self) -> list[Row]:
        """Return what continuing the invocation needs: all that isn't completed or held by a join that gathers."""
        found = dict(self.open)
        for path, held in self.held.items():
            if path in self.open and self.rows[path][_STATUS] == Status.GATHERING:
                found |= held
        return [self.rows[path] for path in found]

    def _hold(self, run: NodeRun) -> None:
        for path in run.held_for:
            join = self.rows.get(path)
            if join is None or join[_STATUS] == Status.GATHERING:
                self.held.setdefault(path, {})[run.path] = None

    def _let_go(self, known: Row, run: NodeRun) -> None:
        for path in known[_HELD_FOR]:
            if path not in run.held_for and path in self.held:
                self.held[path].pop(run.path, None)

    def _take_back(self, run: NodeRun) -> None:
        """Take a completion back: the one before it is the latest of its node again."""
        latest = self.latest[run.parent]
        if latest.get(run.name) != run.path:
            return
        others = [self.rows[path] for path in self.children[run.parent] if path != run.path]
        before = [row for row in others if row[_NAME] == run.name and row[_COMPLETED]]
        if before:
            latest[run.name] = max(before, key=_completed)[_PATH]
        else:
            del latest[run.name]


_NUMBER, _COMPLETED, _FIELDS = range(3)
"""Where in a row its places are, and where its fields begin."""
_NAMES = [name for name in NodeRun.__slots__ if name != "attempts"]
_END = _FIELDS + len(_NAMES)
_fields = attrgetter(*[f"{name}._value_" if name == "status" else name for name in _NAMES])
_number, _completed = itemgetter(_NUMBER), itemgetter(_COMPLETED)
_PATH, _NAME, _INVOCATION_ID, _STATUS, _HELD_FOR, _QUESTIONS = (
    _FIELDS + _NAMES.index(name) for name in ("path", "name", "invocation_id", "status", "held_for", "questions")
)
_TRY = len(Attempt._fields)


def kept(run: NodeRun) -> tuple[Any, ...]:
    """Return what a live record holds now, as the rest of its row: no later change of the record reaches it."""
    if run.questions or run.notes or run.error_message is not None or len(run.attempts) > 1:
        return _kept_in_full(run)
    for value in (run.input, run.output, run.route):
        kind = type(value)
        if (kind not in PLAIN or kind is str) and freeze(value) is not value:
            return _kept_in_full(run)
    if run.wrote is not None and freeze_each(run.wrote, "state") is not run.wrote:
        return _kept_in_full(run)
    fields: tuple[Any, ...] = _fields(run)
    return fields + run.attempts[0] if run.attempts else fields


def _kept_in_full(run: NodeRun) -> tuple[Any, ...]:
    fields: dict[str, Any] = dict(zip(_NAMES, _fields(run), strict=True))
    for name in ("input", "output", "route"):
        fields[name] = freeze(fields[name])
    fields["wrote"] = None if run.wrote is None else freeze_each(run.wrote, "state")
    fields["questions"] = tuple(
        [replace(one, payload=freeze(one.payload), answer=freeze(one.answer)) for one in run.questions]
    )
    fields["notes"] = tuple([cleaned_text(note) for note in run.notes])
    fields["error_message"] = cleaned_text(run.error_message)
    attempts = [one._replace(error_message=cleaned_text(one.error_message)) for one in run.attempts]
    return (*fields.values(), *chain.from_iterable(attempts))


def handed_out(row: Row) -> NodeRun:
    """Return a kept record as one that its receiver may change."""
    run = NodeRun(**dict(zip(_NAMES, row[_FIELDS:_END], strict=True)))
    run.status = Status(run.status)
    run.attempts = tuple([Attempt(*row[start : start + _TRY]) for start in range(_END, len(row), _TRY)])
    run.input, run.output, run.route = thawed(run.input), thawed(run.output), thawed(run.route)
    run.wrote = thawed(run.wrote)
    if run.questions:
        run.questions = tuple(
            [replace(one, payload=thawed(one.payload), answer=thawed(one.answer)) for one in run.questions]
        )
    return run


def _waits_for(row: Row, interrupt_id: str) -> bool:
    return any(one.interrupt_id == interrupt_id and not one.is_answered for one in row[_QUESTIONS])


def _handed_out(row: Row | None) -> NodeRun | None:
    return None if row is None else handed_out(row)
