"""What the engine needs from outside, as Protocols: a log that keeps events and records together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from google.genai import types

from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun, Question

if TYPE_CHECKING:
    from adk_nb.workflow.context import Context


class SessionLike(Protocol):
    """The part of a session that user code and the engine see."""

    id: str
    app_name: str
    user_id: str
    state: dict[str, Any]

    @property
    def events(self) -> list[Event]:
        """All events of the session, oldest first."""


class RunLog(Protocol):
    """Where one session's events and run records go, in the order of the calls.

    Records handed in are the engine's live objects: a log keeps what they hold at the moment of the call. Records
    handed out are the caller's own: changing one changes nothing in the log.
    """

    async def append(self, event: Event | None, runs: Sequence[NodeRun]) -> None:
        """Store an event and the present form of some records, all or nothing, also when the caller is cancelled.

        Args:
            event: A finished event, or `None` when only records change. Its `temp:` state keys are not stored. The
                session that the log was opened for shows it in `events`; its live `state` is left to the engine. One
                with `actions.rewind_before_invocation_id` takes back the records of that invocation and of all that
                began after it: nobody finds them any more.
            runs: Records to insert, or to replace by `(invocation_id, path)`.
        Raises:
            StaleSessionError: another process wrote to the session since it was opened.
        """

    async def run_at(self, invocation_id: str, path: str) -> NodeRun | None:
        """Return the record at a path, `None` when nothing ran there."""

    async def open_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return what continuing an invocation needs, in the order of their first append.

        These are the records that aren't completed, and the completed ones with a gathering join in their `held_for`.
        A join's later forms don't come with another append of what it held, and the cost must not grow with the number
        of all other records.
        """

    async def latest_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return, for each node directly below `parent`, its completed record that was completed last.

        The cost may grow with the number of different nodes, not with the number of runs.
        """

    async def child_runs(self, invocation_id: str, parent: str) -> list[NodeRun]:
        """Return all records directly below `parent`, in the order of their first append."""

    async def asking_run(self, interrupt_id: str) -> NodeRun | None:
        """Return the newest record in which this question waits for an answer.

        Where it waits in none, the newest that asked it; `None` when nobody did. The cost must not grow with the
        number of records as long as the newest one waits.
        """

    async def root_run(self, invocation_id: str | None = None) -> NodeRun | None:
        """Return the root record of an invocation, or of the newest invocation; `None` when there is none."""


@runtime_checkable
class KeepsRuns(Protocol):
    """A session service that keeps run records beside events."""

    def open_log(self, session: Any) -> RunLog:
        """Return the log of a session that this service created or returned."""


@dataclass(slots=True)
class ApartRun:
    """What came of a run in a session of its own."""

    content: types.Content | None = None
    """What was said last."""
    grounding_metadata: Any = None
    """What the last event was grounded on."""
    output: Any = None
    """What the root handed on."""
    questions: list[Question] = field(default_factory=list)
    """What it waits for; nobody can answer it."""
    shortfall: str | None = None
    """Why it ended before its end, `None` when it didn't."""

    @property
    def is_whole(self) -> bool:
        """It ran to its end."""
        return not self.questions and self.shortfall is None


class RunsApart(Protocol):
    """Runs something in a session of its own, whose events nobody else sees; the runner offers it."""

    async def __call__(
        self, root: Any, message: types.Content, *, caller: Context, with_plugins: bool = True
    ) -> ApartRun:
        """Run to the end, or until a person is asked.

        Args:
            root: What runs.
            message: What it is told.
            caller: Who asks: the session begins with a copy of its state, and what the run writes to the state and
                saves is the caller's in the end.
            with_plugins: The runner's plugins see the run.
        Raises:
            Exception: what the run failed with.
        """
