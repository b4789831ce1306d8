"""`NodeRun`: the one record of one execution of one node, kept beside the events it wrote.

The engine writes it, session stores keep it in the same transaction as the node's events, and views and frames read
it. It says what an event can't: that a node has started, that it finished without a word, what it was given, how often
it was tried.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from itertools import compress
from operator import attrgetter, is_not
from typing import Any, NamedTuple

from adk_nb.events.packing import pack, unpack


class Status(enum.StrEnum):
    """Where a node run stands."""

    GATHERING = "gathering"
    """A join that waits for more of its predecessors."""
    PENDING = "pending"
    """Has its input and will start."""
    RUNNING = "running"
    WAITING = "waiting"
    """It, or a child of it, waits for a person."""
    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    """Ended short of what its graph, or the node itself, should have handed on; `notes` say why."""
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Stopped from outside; runs again when the run is continued."""
    STOPPED = "stopped"
    """It, or a run below it, came to a limit; goes on when the run is continued."""


ENDED = frozenset({Status.COMPLETED, Status.INCOMPLETE})
"""Statuses of runs that have handed on all that they ever will."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a node run to a person, and its answer."""

    interrupt_id: str
    message: str | None = None
    payload: Any = None
    response_schema: dict[str, Any] | None = None
    """JSON schema of the answer; `None` takes anything."""
    asked_at: float = 0.0
    is_named: bool = True
    """The node chose the id itself."""
    is_answered: bool = False
    answer: Any = None
    answered_at: float | None = None
    is_secret: bool = False
    """The answer is a credential: it is checked as one, and what is kept here doesn't show it."""
    is_spoken: bool = False
    """An agent said it in the course of a task: the person's next message answers it, whatever it says."""


class Attempt(NamedTuple):
    """One try of a node run."""

    started_at: float
    ended_at: float | None = None
    error_type: str | None = None
    error_message: str | None = None
    retry_at: float | None = None
    """When the next try was planned, `None` for the last one."""


class Printed(NamedTuple):
    """A line that a node run printed."""

    at: float
    text: str
    is_error: bool = False
    """It went to `sys.stderr`."""


@dataclass(slots=True)
class NodeRun:
    """One execution of one node. Times are seconds since the epoch; values are snapshots.

    Nothing that a field holds ever changes: a change puts another value in its place, so that a log keeps a record by
    keeping its fields.
    """

    path: str
    """Where it ran, for instance `wf@1/a@2`; unique within the invocation."""
    name: str
    run_id: str
    parent: str
    """Path of the workflow or node that started it, `""` for the root."""
    invocation_id: str
    status: Status = Status.PENDING
    input: Any = None
    output: Any = None
    route: Any = None
    branch: str | None = None
    isolation_scope: str | None = None
    """Which conversation its questions belong to, `None` for the common one."""
    sources: tuple[str, ...] = ()
    """Paths of the runs whose completion triggered this one, in the order of their arrival."""
    kind: str = "node"
    """What kind of node it is, as the graph's description names it."""
    created_at: float = 0.0
    started_at: float | None = None
    ended_at: float | None = None
    attempts: tuple[Attempt, ...] = ()
    questions: tuple[Question, ...] = ()
    """All questions asked by this run itself, open and answered."""
    open_below: tuple[str, ...] = ()
    """Interrupt ids that this run's children wait for."""
    held_for: tuple[str, ...] = ()
    """Paths of the joins that took this run's output; each holds it until it fires."""
    rounds: tuple[str, ...] = ()
    """Of each join behind it that fires early, the newest run that an output of this run's node belongs to."""
    follows: tuple[str, ...] = ()
    """Of each join in its loop that fires early, the newest run whose firing led to this run."""
    error_type: str | None = None
    error_message: str | None = None
    """What went wrong, or why a limit stopped the run."""
    error_path: str | None = None
    """Path of the run that raised the error first."""
    notes: tuple[str, ...] = ()
    """Warnings of this run and of the runs below it, one sentence each."""
    wrote: dict[str, Any] | None = None
    """State keys that a child of a node and what is below it wrote, with the values written last."""
    stopped_by: str | None = None
    """Name of the limit that stopped it."""
    is_cut_short: bool = False
    """A branch at or below this run ended where it should not; `notes` say where and why."""
    printed: tuple[Printed, ...] = ()
    """What it printed while it was watched in a notebook, line by line."""
    has_escalated: bool = False
    """It, or a run below it, wanted the agents around to end, up to the nearest loop."""

    @property
    def is_finished(self) -> bool:
        """The run has its result and will never execute again."""
        return self.status is Status.COMPLETED

    @property
    def is_told(self) -> bool:
        """It was read from events that carry no records, so what it was given isn't known."""
        return self.created_at == 0.0

    @property
    def open_questions(self) -> list[Question]:
        """The run's own questions that have no answer yet, oldest first."""
        return [question for question in self.questions if not question.is_answered]

    def waits_for(self, interrupt_id: str) -> bool:
        """Say whether this run itself waits for an answer to this question."""
        return any(one.interrupt_id == interrupt_id and not one.is_answered for one in self.questions)

    @property
    def answers(self) -> dict[str, Any]:
        """The newest answer to each of the run's own questions, by interrupt id."""
        return {q.interrupt_id: q.answer for q in self.questions if q.is_answered}

    def take_over(self, told: NodeRun) -> None:
        """Take over how this run stands and what it said, from a record that events tell."""
        for name in _TOLD:
            setattr(self, name, getattr(told, name))
        self.branch = told.branch or self.branch

    def begin(self, at: float) -> None:
        """It executes, for the first time or again: a try begins."""
        self.status = Status.RUNNING
        self.output = self.route = None
        self.open_below = ()
        self.attempts = (*self.attempts, Attempt(at))
        self.error_type = self.error_message = self.error_path = self.stopped_by = None
        if self.started_at is None:
            self.started_at = at

    def begin_attempt(self, at: float) -> None:
        """Another try begins."""
        self.output = self.route = None
        self.attempts = (*self.attempts, Attempt(at))

    def end_attempt(
        self,
        at: float,
        error_type: str | None = None,
        error_message: str | None = None,
        retry_at: float | None = None,
    ) -> None:
        """The try that began last has ended."""
        last = Attempt(self.attempts[-1].started_at, at, error_type, error_message, retry_at)
        self.attempts = (*self.attempts[:-1], last)

    def complete(self, at: float) -> None:
        """It has its result."""
        self.status, self.ended_at = Status.COMPLETED, at

    def complete_with_answers(self, at: float) -> None:
        """Its answers are its result: the one answer, or all of them by interrupt id."""
        answers = self.answers
        self.output = next(iter(answers.values())) if len(answers) == 1 else answers
        self.complete(at)

    def fall_short(self, at: float) -> None:
        """It has ended short of what it should have handed on."""
        self.status, self.ended_at = Status.INCOMPLETE, at

    def fail(self, at: float, error_type: str, error_message: str, error_path: str) -> None:
        """It has failed for good."""
        self.status, self.ended_at = Status.FAILED, at
        self.output = self.route = None
        self.error_type, self.error_message, self.error_path = error_type, error_message, error_path

    def cancel(self, at: float) -> None:
        """It was stopped from outside."""
        self.status, self.ended_at = Status.CANCELLED, at

    def stop(self, reason: str | None = None, message: str | None = None) -> None:
        """It, or a run below it, came to a limit."""
        self.status, self.output = Status.STOPPED, None
        self.stopped_by, self.error_message = reason, message

    def wait(self) -> None:
        """It, or a run below it, waits for a person."""
        self.status, self.output = Status.WAITING, None

    def make_ready(self) -> None:
        """It has something to do: it has its input, or an answer came."""
        self.status = Status.PENDING

    def note(self, *notes: str) -> None:
        """Add warnings that it doesn't have yet."""
        new = [note for note in notes if note not in self.notes]
        if new:
            self.notes = (*self.notes, *new)

    def ask(self, question: Question) -> None:
        """It asks a person."""
        self.questions = (*self.questions, question)

    def take_answer(self, interrupt_id: str, answer: Any, at: float) -> None:
        """A person answered the open question with this id."""
        asked = list(self.questions)
        index = next(i for i, one in enumerate(asked) if one.interrupt_id == interrupt_id and not one.is_answered)
        asked[index] = replace(asked[index], is_answered=True, answer=answer, answered_at=at)
        self.questions = tuple(asked)
        self.make_ready()


def open_ids(run: NodeRun) -> tuple[str, ...]:
    """Return the ids of all questions that a run and the runs below it wait for."""
    return tuple(dict.fromkeys([*(q.interrupt_id for q in run.open_questions), *run.open_below]))


_VALUES = ("input", "output", "route", "wrote")
_TOLD = (
    "status", "output", "route", "started_at", "ended_at", "attempts", "questions", "open_below",
    "error_type", "error_message", "error_path",
)  # fmt: skip
"""Fields of which events without records tell."""


def run_to_dict(run: NodeRun) -> dict[str, Any]:
    """Return a record as plain JSON values, fields at their default left out; `run_from_dict` reads it back."""
    values = _fields(run)
    # Defaults are single objects (None, False, (), literals), so identity finds them, and twice as fast as equality.
    data: dict[str, Any] = dict(compress(zip(_NAMES, values, strict=True), map(is_not, values, _DEFAULT_VALUES)))
    for name in _VALUES:
        if name in data:
            data[name] = pack(data[name])
    data["status"] = str(run.status)
    if run.questions:
        data["questions"] = [_question_to_dict(question) for question in run.questions]
    return data


def run_from_dict(data: dict[str, Any]) -> NodeRun:
    """Return the record that `run_to_dict` wrote."""
    fields = dict(data)
    fields["status"] = Status(fields.get("status", Status.PENDING))
    for name in _VALUES:
        if name in fields:
            fields[name] = unpack(fields[name])
    for name in ("sources", "open_below", "held_for", "rounds", "follows", "notes"):
        if name in fields:
            fields[name] = tuple(fields[name])
    if "attempts" in fields:
        fields["attempts"] = tuple([Attempt(*attempt) for attempt in fields["attempts"]])
    if "printed" in fields:
        fields["printed"] = tuple([Printed(*line) for line in fields["printed"]])
    if "questions" in fields:
        fields["questions"] = tuple([_question_from_dict(question) for question in fields["questions"]])
    return NodeRun(**fields)


def _question_to_dict(question: Question) -> dict[str, Any]:
    data = {name: getattr(question, name) for name in Question.__slots__}
    data["payload"], data["answer"] = pack(question.payload), pack(question.answer)
    return data


def _question_from_dict(data: dict[str, Any]) -> Question:
    return Question(**{**data, "payload": unpack(data["payload"]), "answer": unpack(data["answer"])})


_DEFAULTS: dict[str, Any] = {
    name: value
    for name, value in {slot: getattr(NodeRun("", "", "", "", ""), slot) for slot in NodeRun.__slots__}.items()
    if name not in ("questions", "status")
}
for _required in ("path", "name", "run_id", "parent", "invocation_id"):
    _DEFAULTS[_required] = None
_NAMES, _DEFAULT_VALUES = tuple(_DEFAULTS), tuple(_DEFAULTS.values())
_fields = attrgetter(*_NAMES)
