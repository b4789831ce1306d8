"""`EventLog`: the log of a session whose store keeps nothing but events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun, Status
from adk_nb.events.values import freeze
from adk_nb.sessions.looking_back import Said, said_in
from adk_nb.sessions.opened_session import OpenedSession, unbroken
from adk_nb.sessions.refusals import take_temporary
from adk_nb.sessions.run_index import RunIndex
from adk_nb.sessions.session import show_event

ReadRuns = Callable[[Iterable[Event]], Iterable[list[NodeRun]]]
"""Gives the records that a session's events tell of, in the order in which they came about."""


class EventLog:
    """The log of one opened session; see `adk_nb.workflow.ports.RunLog`.

    Records live in memory, and in the events: one append is one event, so that a kill leaves a state to go on from. The
    session's events are read once, when the first record is asked for.
    """

    def __init__(self, session: Any, opened: OpenedSession, read_runs: ReadRuns) -> None:
        """Log to a session.

        Args:
            session: What is shown of it; a stored event shows in its `events`.
            opened: Where to append.
            read_runs: Works out the records from the events.
        """
        self._session = session
        self._opened = opened
        self._read_runs = read_runs
        self._known: RunIndex | None = None
        self._held: dict[tuple[str, str], NodeRun] = {}
        """Records that go with the next event."""

    async def append(self, event: Event | None, runs: Sequence[NodeRun]) -> None:
        """Store an event and the present form of some records, all or nothing.

        Records alone that lose nothing by waiting are stored with the event that comes next.
        """
        if event is not None:
            take_temporary(event)
            event.seal()
        now = [replace(run, input=freeze(run.input), output=freeze(run.output)) for run in runs]
        await unbroken(self._append(event, now))

    async def _append(self, event: Event | None, runs: list[NodeRun]) -> None:
        index = self._index
        async with self._opened.lock:
            changed = {**self._held, **{(run.invocation_id, run.path): run for run in runs}}
            if event is None and all(map(_can_wait, runs)):
                self._held = changed
            elif await self._opened.append(event, list(changed.values())) and event is not None:
                self._held = {}
                show_event(self._session, event)
            else:
                self._held = {}
            if event is not None and event.actions.rewind_before_invocation_id is not None:
                index.rewind(event.actions.rewind_before_invocation_id)
            index.put(runs)

    @property
    def _index(self) -> RunIndex:
        if self._known is None:
            self._known = RunIndex()
            for runs in self._read_runs(self._opened.recorded_events()):
                self._known.put(runs)
        return self._known

    async def run_at(self, invocation_id: str, path: str) -> NodeRun | None:
        """Return the record at a path, `None` when nothing ran there."""
        return self._index.run_at(invocation_id, path)

    async def open_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return the open records, in the order of their first append."""
        return self._index.open_runs(invocation_id)

    async def latest_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return, for each node directly below `parent`, its record completed last, in the order of completion."""
        return self._index.latest_runs(invocation_id, parent)

    async def child_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return all records directly below `parent`, in the order of their first append."""
        return self._index.child_runs(invocation_id, parent)

    async def asking_run(self, interrupt_id: str) -> NodeRun | None:
        """Return the newest record that asked a question, `None` when nobody did."""
        return self._index.asking_run(interrupt_id)

    async def root_run(self, invocation_id: str | None = None) -> NodeRun | None:
        """Return the root record of an invocation, or of the newest one."""
        return self._index.root_run(invocation_id)

    async def root_runs(self) -> list[NodeRun]:
        """Return the root record of every invocation, in the order of their first append."""
        return self._index.root_runs()

    async def all_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return all records of an invocation, in the order of their first append."""
        return self._index.all_runs(invocation_id)

    async def said(self) -> list[Said]:
        """Return how many events each invocation has and what its model calls used."""
        return said_in(self._opened.load_events())


def _can_wait(run: NodeRun) -> bool:
    """Say whether a kill before the next event would lose nothing but what is decided again as it was.

    That holds for what is about to start, and for workflows inside others: they run no code of their own.
    """
    return run.status in (Status.PENDING, Status.GATHERING) or (run.kind == "workflow" and bool(run.parent))
