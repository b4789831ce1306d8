"""The records of one session in memory, indexed so that a look-up costs the same after 5,000 runs as at first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from adk_nb.events.read_only import thawed
from adk_nb.events.record import NodeRun, Status
from adk_nb.events.values import PLAIN, cleaned_text, freeze, freeze_each


class RunIndex:
    """Records by invocation and path, as they were when they were put in."""

    def __init__(self) -> None:
        self._invocations: dict[str, _Invocation] = {}
        self._asked: dict[str, _Entry] = {}
        self._count = 0

    def put(self, runs: Sequence[NodeRun]) -> None:
        """Insert records, or replace those with the same invocation and path; all of them or none."""
        for run, fields in [(run, kept(run)) for run in runs]:
            invocation = self._invocations.get(run.invocation_id)
            if invocation is None:
                invocation = self._invocations[run.invocation_id] = _Invocation()
            entry = invocation.entries.get(run.path)
            if entry is None:
                self._count += 1
                entry = _Entry(self._count, run.name, fields)
                invocation.add(entry, run)
            else:
                entry.fields = fields
            invocation.file(entry, run)
            for question in run.questions:
                asked = self._asked.get(question.interrupt_id)
                if asked is None or asked.number < entry.number:
                    self._asked[question.interrupt_id] = entry

    def rewind(self, invocation_id: str) -> None:
        """Forget an invocation and all that began after it."""
        if invocation_id not in self._invocations:
            return
        began = list(self._invocations)
        for later in began[began.index(invocation_id) :]:
            del self._invocations[later]
        entries = [entry for invocation in self._invocations.values() for entry in invocation.entries.values()]
        entries.sort(key=attrgetter("number"))
        self._asked = {question.interrupt_id: entry for entry in entries for question in entry.fields[_QUESTIONS]}

    def run_at(self, invocation_id: str, path: str) -> NodeRun | None:
        """Return the record at a path."""
        invocation = self._invocations.get(invocation_id)
        return _handed_out(invocation.entries.get(path)) if invocation else None

    def open_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return the open records, in the order of their first `put`."""
        invocation = self._invocations.get(invocation_id)
        entries = sorted(invocation.open_entries(), key=attrgetter("number")) if invocation else ()
        return [handed_out(entry) for entry in entries]

    def latest_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return the record completed last of each node below `parent`, in the order of completion."""
        invocation = self._invocations.get(invocation_id)
        latest = invocation.latest.get(parent, {}) if invocation else {}
        return [handed_out(entry) for entry in sorted(latest.values(), key=attrgetter("completed"))]

    def child_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return all records directly below `parent`, in the order of their first `put`."""
        invocation = self._invocations.get(invocation_id)
        children = invocation.children.get(parent, ()) if invocation else ()
        return [handed_out(entry) for entry in children]

    def asking_run(self, interrupt_id: str) -> NodeRun | None:
        """Return the newest record whose question waits for an answer, else the newest that asked it."""
        newest = self._asked.get(interrupt_id)
        if newest is None or _waits_for(newest, interrupt_id):
            return _handed_out(newest)
        unfinished = (entry for invocation in self._invocations.values() for entry in invocation.open.values())
        waiting = [entry for entry in unfinished if _waits_for(entry, interrupt_id)]
        return handed_out(max(waiting, key=attrgetter("number"), default=newest))

    def root_run(self, invocation_id: str | None) -> NodeRun | None:
        """Return the root record of an invocation, or of the newest one."""
        if invocation_id is None:
            invocation_id = next(reversed(self._invocations), None)
        roots = self.child_runs(invocation_id, "") if invocation_id is not None else []
        return roots[0] if roots else None


class _Entry:
    """A record and its place in the order of first `put`."""

    __slots__ = ("completed", "fields", "held_for", "name", "number")

    def __init__(self, number: int, name: str, fields: tuple[Any, ...]) -> None:
        self.number = number
        self.name = name
        """Name of the node."""
        self.fields = fields
        self.held_for: tuple[str, ...] = ()
        """What its record says about joins."""
        self.completed = 0
        """Its place in the order of completion, 0 until then."""


class _Invocation:
    """The records of one invocation."""

    __slots__ = ("children", "completions", "entries", "held", "latest", "open")

    def __init__(self) -> None:
        self.entries: dict[str, _Entry] = {}
        self.children: dict[str, list[_Entry]] = {}
        self.open: dict[str, _Entry] = {}
        """Those that aren't completed, by path."""
        self.held: dict[str, dict[str, _Entry]] = {}
        """Completed ones by the path of a join that took their output, and by their own path."""
        self.latest: dict[str, dict[str, _Entry]] = {}
        self.completions = 0

    def add(self, entry: _Entry, run: NodeRun) -> None:
        self.entries[run.path] = entry
        siblings = self.children.get(run.parent)
        if siblings is None:
            self.children[run.parent] = [entry]
        else:
            siblings.append(entry)

    def file(self, entry: _Entry, run: NodeRun) -> None:
        """Put an entry where its record's status belongs."""
        if run.status is Status.COMPLETED:
            self.open.pop(run.path, None)
            if run.held_for or entry.held_for:
                self._hold(entry, run)
            if not entry.completed:
                self.completions += 1
                entry.completed = self.completions
                self.latest.setdefault(run.parent, {})[run.name] = entry
            return
        self.open[run.path] = entry
        if self.held and run.status is not Status.GATHERING:
            self.held.pop(run.path, None)
        if entry.completed:
            self._reopen(entry, run)

    def open_entries(self) -> list[_Entry]:
        """Return what continuing the invocation needs: all that isn't completed or held by a join that gathers."""
        found = {entry.number: entry for entry in self.open.values()}
        for path, held in self.held.items():
            join = self.open.get(path)
            if join is not None and join.fields[_STATUS] is Status.GATHERING:
                found.update((entry.number, entry) for entry in held.values())
        return list(found.values())

    def _hold(self, entry: _Entry, run: NodeRun) -> None:
        for path in entry.held_for:
            if path not in run.held_for and path in self.held:
                self.held[path].pop(run.path, None)
        entry.held_for = run.held_for
        for path in run.held_for:
            join = self.entries.get(path)
            if join is None or join.fields[_STATUS] is Status.GATHERING:
                self.held.setdefault(path, {})[run.path] = entry

    def _reopen(self, entry: _Entry, run: NodeRun) -> None:
        """Take a completion back: the one before it is the latest of its node again."""
        entry.completed = 0
        latest = self.latest[run.parent]
        if latest.get(run.name) is entry:
            others = (other for other in self.children[run.parent] if other.name == run.name and other.completed)
            before = max(others, key=attrgetter("completed"), default=None)
            if before is None:
                del latest[run.name]
            else:
                latest[run.name] = before


_NAMES = NodeRun.__slots__
_fields = attrgetter(*_NAMES)
_STATUS = _NAMES.index("status")
_VALUES = tuple(map(_NAMES.index, ("input", "output", "route")))
_ATTEMPTS, _QUESTIONS, _NOTES, _ERROR, _WROTE = map(
    _NAMES.index, ("attempts", "questions", "notes", "error_message", "wrote")
)


def kept(run: NodeRun) -> tuple[Any, ...]:
    """Return what a live record holds now, by the order of its fields: no later change of the record reaches it.

    A tuple costs less time and memory than another record, and in memory there are two for each run.
    """
    fields: tuple[Any, ...] = _fields(run)
    if run.questions or run.notes or run.error_message is not None or len(run.attempts) > 1:
        return _kept_in_full(run)
    for index in _VALUES:
        value = fields[index]
        kind = type(value)
        if (kind not in PLAIN or kind is str) and freeze(value) is not value:
            return _kept_in_full(run)
    if run.wrote is not None and freeze_each(run.wrote, "state") is not run.wrote:
        return _kept_in_full(run)
    return fields


def _kept_in_full(run: NodeRun) -> tuple[Any, ...]:
    fields = list(_fields(run))
    for index in _VALUES:
        fields[index] = freeze(fields[index])
    fields[_WROTE] = None if run.wrote is None else freeze_each(run.wrote, "state")
    fields[_ATTEMPTS] = tuple([one._replace(error_message=cleaned_text(one.error_message)) for one in run.attempts])
    fields[_QUESTIONS] = tuple(
        [replace(one, payload=freeze(one.payload), answer=freeze(one.answer)) for one in run.questions]
    )
    fields[_NOTES] = tuple([cleaned_text(note) for note in run.notes])
    fields[_ERROR] = cleaned_text(run.error_message)
    return tuple(fields)


def handed_out(entry: _Entry) -> NodeRun:
    """Return a kept record as one that its receiver may change."""
    run = NodeRun(*entry.fields)
    run.input, run.output, run.route = thawed(run.input), thawed(run.output), thawed(run.route)
    run.wrote = thawed(run.wrote)
    if run.questions:
        run.questions = tuple(
            [replace(one, payload=thawed(one.payload), answer=thawed(one.answer)) for one in run.questions]
        )
    return run


def _waits_for(entry: _Entry, interrupt_id: str) -> bool:
    return any(one.interrupt_id == interrupt_id and not one.is_answered for one in entry.fields[_QUESTIONS])


def _handed_out(entry: _Entry | None) -> NodeRun | None:
    return None if entry is None else handed_out(entry)
