"""`RunHistory`: what happened in one run so far, what came of it, and the fold of it that views show."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from adk_nb.errors import AnswerError, ConfigurationError, LlmCallsLimitExceededError, one_of
from adk_nb.events.event import Event
from adk_nb.events.paths import last_segment, node_names, parent_path
from adk_nb.events.record import NodeRun, Status
from adk_nb.events.tool_confirmation import CONFIRMATION_SCHEMA
from adk_nb.frames.notes import Notes, sentence
from adk_nb.notebook import settings
from adk_nb.notebook.running.messages import spoken
from adk_nb.notebook.view.event_details import state_at_start
from adk_nb.notebook.view.fold import RunFold
from adk_nb.notebook.view.tracebacks import full_traceback, short_traceback
from adk_nb.workflow.description import GraphDescription

_ENDS = (
    Status.WAITING,
    Status.COMPLETED,
    Status.INCOMPLETE,
    Status.FAILED,
    Status.CANCELLED,
    Status.STOPPED,
)


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """A question that waits for an answer."""

    interrupt_id: str
    node: str
    """Name of the node that asks."""
    message: str | None
    payload: Any
    response_schema: dict[str, Any] | None
    """JSON schema of the answer; `None` takes anything."""
    path: str
    """Path of the node run that asks."""
    asked_at: float
    """Seconds since the epoch."""
    is_spoken: bool = False
    """An agent asks it in a conversation: what the person says next is the answer."""

    @property
    def is_confirmation(self) -> bool:
        """It asks whether a call may run: `run.approve()` and `run.reject()` answer it."""
        return self.response_schema == CONFIRMATION_SCHEMA

    @property
    def place(self) -> str:
        """Where the node stands below the root, for instance `inner/a`."""
        return place_of(self.path)


@dataclass(frozen=True, slots=True)
class RunError:
    """Why a run failed."""

    path: str
    """Path of the node run that raised it first; empty when nothing ran."""
    type: str
    """Class name of the exception."""
    message: str
    item_index: int | None = None
    """Place, from 0, of the item that failed in the list of the nearest parallel worker, `None` outside of one."""

    @property
    def node(self) -> str:
        """Name of the node that raised it."""
        return last_segment(self.path)[0]


class RunHistory:
    """The events and records of one run, told as they come.

    Views read its fold. It is made when a view first asks, and catches up when a view wants to show something, so that
    a run that nobody watches pays nothing.

    Attributes:
        name: The root's name.
        description: The root's graph, as plain data.
        session_id: The session that the run is kept in.
        invocation_id: The run's own id, empty until it has started.
        status: Where the run stands.
        exception: What it failed with.
        state: The session's state as this run knows it.
        start_state: The session's state before it.
        events: Everything written to the session by this run, pieces of streamed messages included.
        records: Its node runs by path, in the order of their creation.
    """

    def __init__(self, name: str, description: GraphDescription, session_id: str) -> None:
        self.name = name
        self.description = description
        self.session_id = session_id
        self.invocation_id = ""
        self.status = "running"
        self.exception: BaseException | None = None
        self.state: dict[str, Any] = {}
        self.start_state: dict[str, Any] = {}
        self.events: list[Event] = []
        self.records: dict[str, NodeRun] = {}
        self._root: NodeRun | None = None
        self._warned: list[str] = []
        self._settled_at = 0.0
        self._read_at: float | None = None
        """When it was read from a store, `None` for a run that began here."""
        self._taken_up_at: float | None = None
        """Before this, a run that was read and has gone on was at work in another hand."""
        self._fold: RunFold | None = None
        self._folded = 0
        self._unfolded: dict[str, NodeRun] = {}

    def take_stored(self, events: list[Event], records: list[NodeRun], state: dict[str, Any]) -> None:
        """Take over what a store kept of a run that is at work no more."""
        self.events, self.state, self._read_at = events, state, time.time()
        for record in records:
            self.put(record)
        self.conclude(is_cancelled=self._root is not None and self._root.status not in _ENDS)
        moments = [record.ended_at for record in records if record.ended_at is not None]
        self._settled_at = max([event.timestamp for event in events] + moments, default=0.0)

    def begin(self) -> None:
        """A turn begins: the run is at work."""
        self.status, self.exception = "running", None
        self._taken_up_at = self._read_at
        if self._fold is not None:
            self.catch_up()
            self._fold.taken_up(self._taken_up_at)
            self._fold.begin(time.time())

    def add(self, event: Event) -> None:
        """Something was written to the session, or a piece of a streamed message came."""
        self._learn(event.invocation_id)
        self.events.append(event)
        if event.actions.state_delta:
            self.state |= event.actions.state_delta

    def put(self, record: NodeRun) -> None:
        """A record is new or has changed."""
        if not record.parent:
            self._root = record
            self._learn(record.invocation_id)
        self.records[record.path] = record
        if self._fold is not None:
            self._unfolded[record.path] = record

    def warn(self, message: str) -> None:
        """Add something that a person should know and no node said."""
        self._warned.append(message)
        if self._fold is not None:
            self._fold.warn(message)

    def conclude(self, *, is_cancelled: bool) -> None:
        """A turn has ended: say where the run stands now."""
        if is_cancelled:
            self.status = "cancelled"
        elif self.exception is not None:
            self.status = "stopped" if isinstance(self.exception, LlmCallsLimitExceededError) else "failed"
        else:
            root = Status.FAILED if self._root is None else self._root.status
            self.status = str(root if root in _ENDS else Status.INCOMPLETE)
            if root is Status.STOPPED and self._root is not None and self._root.error_message:
                self.warn(self._root.error_message)

    def settle(self) -> None:
        """Nothing more follows before somebody acts: views may show how it stands."""
        self._settled_at = time.time()
        self.catch_up()
        self._settle_fold()

    @property
    def stopped_by(self) -> str | None:
        """Name of the limit that stopped it."""
        if isinstance(self.exception, LlmCallsLimitExceededError):
            return "max_llm_calls"
        return None if self._root is None else self._root.stopped_by

    @property
    def is_over(self) -> bool:
        """It has ended, in whatever way; a waiting run hasn't."""
        return self.status not in ("running", "waiting")

    @property
    def waits_for_words(self) -> bool:
        """It waits for what a person says next to an agent, and for nothing else."""
        asked = self.pending if self.status == "waiting" else []
        return bool(asked) and all(question.is_spoken for question in asked)

    @property
    def output(self) -> Any:
        """What the root returned; the text of a model's message; `None` while there is none."""
        return None if self._root is None else spoken(self._root.output)

    def outputs(self, node: str) -> list[Any]:
        """Return what each completed run of a node returned, in order; see `Run.outputs`."""
        found = [record for record in self.records.values() if node in (record.name, place_of(record.path))]
        if not found:
            names = dict.fromkeys(record.name for record in self.records.values())
            raise ConfigurationError(f"No node {node!r} has run; these have: {one_of(node, names)}.")
        return [spoken(record.output) for record in found if record.status is Status.COMPLETED]

    @property
    def pending(self) -> list[PendingQuestion]:
        """The questions that wait for an answer, oldest first."""
        found = [
            PendingQuestion(
                q.interrupt_id, run.name, q.message, q.payload, q.response_schema, run.path, q.asked_at, q.is_spoken
            )
            for run in self.records.values()
            for q in run.open_questions
        ]
        return sorted(found, key=lambda question: question.asked_at)

    def question(self, interrupt_id: str | None) -> PendingQuestion:
        """Return the open question with this id, with `None` the only one.

        Raises:
            AnswerError: no such question is open, or several are and none is named.
        """
        pending = self.pending
        ids = [question.interrupt_id for question in pending]
        if not pending:
            raise AnswerError(f"No question is open in this run, which is {self.status}; nothing was stored.")
        if interrupt_id is None and len(pending) > 1:
            raise AnswerError(
                f"{len(pending)} questions are open: say which one, as in respond(answer, {ids[0]!r}). "
                f"Open are {one_of('', ids)}."
            )
        for question in pending:
            if interrupt_id in (None, question.interrupt_id):
                return question
        raise AnswerError(
            f"No question {interrupt_id!r} is open; open are {one_of(interrupt_id, ids)}. Nothing was stored."
        )

    def confirmation(self, interrupt_id: str | None) -> PendingQuestion:
        """Return the open approval with this id, with `None` the only one.

        Raises:
            AnswerError: no such approval is open, several are and none is named, or the question asks something else.
        """
        asked = [question for question in self.pending if question.is_confirmation]
        if interrupt_id is not None:
            question = self.question(interrupt_id)
            if not question.is_confirmation:
                raise AnswerError(
                    f"Question {interrupt_id!r} of {question.node} doesn't ask for an approval: answer it with "
                    f"respond(answer, {interrupt_id!r}). Nothing was stored."
                )
            return question
        ids = [question.interrupt_id for question in asked]
        if not asked:
            open_now = [question.interrupt_id for question in self.pending]
            raise AnswerError(
                f"No call waits for an approval in this run, which is {self.status}; open questions are "
                f"{one_of('', open_now)}. Nothing was stored."
            )
        if len(asked) > 1:
            raise AnswerError(
                f"{len(asked)} calls wait for an approval: say which one, as in approve({ids[0]!r}). "
                f"Open are {one_of('', ids)}."
            )
        return asked[0]

    @property
    def error(self) -> RunError | None:
        """Why it failed, `None` unless it did."""
        root = self._root
        if self.exception is None and self.status != "failed":
            return None
        if root is not None and root.error_type:
            path = root.error_path or root.path
            return RunError(path, root.error_type, root.error_message or "", self._item_index(path))
        if self.exception is None:  # read from events, which don't say which error is the root's
            failed = next((run for run in reversed(self.records.values()) if run.error_type), None)
            return None if failed is None else RunError(failed.path, str(failed.error_type), failed.error_message or "")
        return RunError("", type(self.exception).__name__, str(self.exception))

    def _item_index(self, path: str) -> int | None:
        above = parent_path(path)
        while above:
            record = self.records.get(above)
            if record is not None and record.kind == "parallel":
                return int(last_segment(path)[1]) - 1
            path, above = above, parent_path(above)
        return None

    @property
    def warnings(self) -> list[str]:
        """What a person should know, each with the node's name, once."""
        return [*self._warned, *(sentence(node, note) for node, note in Notes(self.records.values()))]

    @property
    def fold(self) -> RunFold:
        """What views show, up to date as of the last `catch_up`."""
        if self._fold is None:
            self._fold = RunFold(
                self.description,
                name=self.name,
                run_id=self.invocation_id,
                session_id=self.session_id,
                prices=settings.prices(),
            )
            self._fold.taken_up(self._taken_up_at)
            self._unfolded = dict(self.records)
            for warning in self._warned:
                self._fold.warn(warning)
            self.catch_up()
            if self.status != "running":
                self._settle_fold()
        return self._fold

    def catch_up(self) -> None:
        """Fold what happened since the last time."""
        fold = self._fold
        if fold is None:
            return
        for record in self._unfolded.values():
            fold.run(record)
        self._unfolded.clear()
        if self._folded == 0 and self.start_state:
            fold.starts_with(state_at_start(self.start_state))
        for event in self.events[self._folded :]:
            fold.event(event)
        self._folded = len(self.events)

    def _settle_fold(self) -> None:
        if self._fold is None:
            return
        error = self.error
        shown: dict[str, Any] | None = None
        if error is not None:
            shown = {"path": error.path, "type": error.type, "message": error.message}
        if shown is not None and self.exception is not None:
            shown["message"] = "\n".join((shown["message"], *getattr(self.exception, "__notes__", ())))
            shown |= {"short": short_traceback(self.exception), "full": full_traceback(self.exception)}
        self._fold.settle(self.status, at=self._settled_at, result=self.output, error=shown)

    def _learn(self, invocation_id: str) -> None:
        if self.invocation_id:
            return
        self.invocation_id = invocation_id
        if self._fold is not None:
            self._fold.known_as(invocation_id, self.session_id)


def place_of(path: str) -> str:
    """Return where a node run stands below the root, without run ids.

    Example:
        >>> place_of("wf@1/inner@1/a@2")
        'inner/a'
    """
    return "/".join(node_names(path)[1:])
