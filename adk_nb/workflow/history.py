"""What the events of one session say about its node runs, told as the records that adk_nb would have kept.

Events written by adk_nb on a store that keeps only events carry the records themselves. Those of google-adk don't: what
a run gave, asked, was answered and failed with stands in its events, what it was given and which joins hold it follows
when its graph is walked again, and whether a run that says nothing has ended can't be known from its own events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from adk_nb.auth.answers import stored_answer
from adk_nb.errors import DataError
from adk_nb.events.carried import Reader
from adk_nb.events.event import Event, content_text
from adk_nb.events.paths import child_path, last_segment, parent_path
from adk_nb.events.questions import Asked, questions_in
from adk_nb.events.record import ENDED, Attempt, NodeRun, Question, Status
from adk_nb.events.request_input import chose_its_id, unwrap_answer
from adk_nb.events.values import freeze, freeze_each
from adk_nb.workflow.answers import check_answer, read_answer


class Invocation:
    """What is known of one invocation."""

    def __init__(self, invocation_id: str, began_at: float = 0.0) -> None:
        self.id = invocation_id
        self.began_at = began_at
        self.message: Any = None
        """What the user said first."""
        self.is_whole = True
        """All of it was written by adk_nb, so that nothing has to be worked out."""
        self.carried: list[NodeRun] = []
        """The records that its events carry, in the order in which they were written."""
        self.runs: dict[str, NodeRun] = {}
        """Records by path, in the order in which they were first heard of."""
        self.children: dict[str, list[str]] = {}
        """Paths directly below a path."""
        self.seen: dict[str, int] = {}
        """Number of the event that first told of a path."""
        self.order: list[str] = []
        """Paths of the runs of graphs that were walked, in the order of creation."""
        self.ended: dict[str, int] = {}
        """Number of the event that told last how a run ended, or gave its last answer."""
        self.askers: dict[str, str] = {}
        """Path of the run that asked a question last, by interrupt id."""
        self.open: dict[str, str] = {}
        """Path of the run that waits for an answer, by interrupt id."""
        self._sure: set[str] = set()
        self.checkpoints: dict[tuple[str, str], Any] = {}
        """google-adk's number for the state of a node, by the names of workflow and node."""

    def carry(self, run: NodeRun, number: int) -> None:
        """Take over a record that the event with this number carries."""
        self.carried.append(run)
        self.put(run, number)

    def put(self, run: NodeRun, number: int) -> None:
        """Take over a record as it is after the event with this number."""
        known = self.runs.get(run.path)
        if known is None:
            self.children.setdefault(run.parent, []).append(run.path)
        self.runs[run.path] = replace(run)
        self.seen.setdefault(run.path, number)
        for question in run.questions:
            self.askers[question.interrupt_id] = run.path
            if question.is_answered:
                self.open.pop(question.interrupt_id, None)
            else:
                self.open[question.interrupt_id] = run.path
        (self._sure.add if run.status in ENDED and not run.is_told else self._sure.discard)(run.path)
        if run.status in ENDED and (known is None or known.status is not run.status):
            self.ended[run.path] = number

    def is_open_below(self, path: str) -> bool:
        """Say whether a run below this one waits for an answer, or one directly below hasn't ended."""
        if any(asker.startswith(f"{path}/") for asker in self.open.values()):
            return True
        return any(self.runs[child].status not in ENDED for child in self.children.get(path, ()))

    def root_run(self, name: str) -> NodeRun | None:
        """Return the record of the root with this name, `None` when another one ran; a message alone asks for a run."""
        path = child_path("", name, "1")
        if not self.runs and self.message is not None:
            self.runs[path] = self.first_run(path, self.began_at)
        return self.runs.get(path)

    def first_run(self, path: str, at: float) -> NodeRun:
        """Return the record of a run that was never heard of before."""
        name, run_id = last_segment(path)
        run = NodeRun(path, name, run_id, parent_path(path), self.id, started_at=at)
        if not run.parent:
            run.input = None if self.message is None else freeze(self.message)
            run.created_at = run.started_at = self.began_at
        return run

    def is_sure(self, run: NodeRun) -> bool:
        """Say whether a record tells that a run ended, not only events."""
        return run.path in self._sure and run.status in ENDED

    def settle(self) -> None:
        """Say of each run that hasn't ended how it stands, by what is below it."""
        children: dict[str, list[NodeRun]] = {}
        for run in sorted(self.runs.values(), key=lambda one: one.path.count("/"), reverse=True):
            below = children.pop(run.path, [])
            children.setdefault(run.parent, []).append(run)
            if below and run.status not in ENDED:
                stand_by(run, below)


def stand_by(run: NodeRun, below: Iterable[NodeRun]) -> None:
    """Give a run that hasn't ended the status that follows from the runs directly below it."""
    below = list(below)
    run.open_below = tuple(
        dict.fromkeys(i for one in below for i in (*(q.interrupt_id for q in one.open_questions), *one.open_below))
    )
    failed = next((one for one in below if one.status is Status.FAILED), None)
    if run.open_below or run.open_questions:
        run.wait()
    elif failed is not None:
        kind, text = failed.error_type or "", failed.error_message or ""
        run.fail(failed.ended_at or 0.0, kind, text, failed.error_path or failed.path)
    else:
        run.status = Status.RUNNING


class History:
    """The invocations of one session, read event by event, oldest first."""

    def __init__(self) -> None:
        self.invocations: dict[str, Invocation] = {}
        self._reader = Reader()
        self._number = 0

    def read(self, event: Event) -> None:
        """Take note of an event."""
        if event.partial:
            return
        self._number += 1
        if event.actions.rewind_before_invocation_id:
            self._rewind(event.actions.rewind_before_invocation_id)
        carried = self._reader.runs_in(event)
        for run in carried or ():
            self._invocation(run.invocation_id, event).carry(run, self._number)
        if not event.invocation_id:
            return
        invocation = self._invocation(event.invocation_id, event)
        if event.author == "user" and invocation.message is None and not event.get_function_responses():
            invocation.message = event.content
            invocation.is_whole = carried is not None
        if carried is None:
            _Told(invocation, event, self._number).note()

    def _invocation(self, invocation_id: str, event: Event) -> Invocation:
        found = self.invocations.get(invocation_id)
        if found is None:
            found = self.invocations[invocation_id] = Invocation(invocation_id, event.timestamp)
        return found

    def _rewind(self, invocation_id: str) -> None:
        """Forget an invocation and all later ones."""
        if invocation_id in self.invocations:
            ids = list(self.invocations)
            for later in ids[ids.index(invocation_id) :]:
                del self.invocations[later]


class _Told:
    """What one event without records says."""

    def __init__(self, invocation: Invocation, event: Event, number: int) -> None:
        self.invocation = invocation
        self.event = event
        self.number = number

    def note(self) -> None:
        event, path = self.event, self.event.node_info.path
        if event.author == "user":
            for reply in event.get_function_responses():
                self._answer(str(reply.id), unwrap_answer(reply.response))
        elif path:
            self.invocation.is_whole = False
            self._node_event(path)
        elif event.actions.agent_state is not None:
            for name, node in (event.actions.agent_state.get("nodes") or {}).items():
                self.invocation.checkpoints[event.author, name] = node.get("status") if isinstance(node, dict) else None

    def _node_event(self, path: str) -> None:
        event = self.event
        run = self._run(path)
        if event.branch is not None:
            run.branch = event.branch
        written = event.actions.state_delta
        if written:
            run.wrote = freeze_each({**(run.wrote or {}), **written}, "state")
        for above in map(self._run, _paths_above(path)):
            self._go_on_above(above)
            if written:
                above.wrote = freeze_each({**(above.wrote or {}), **written}, "state")
        for asked in questions_in(event):
            self._ask(run, asked)
        if event.actions.route is not None:
            run.route = event.actions.route
        value = _output_of(event)
        if event.error_code and value is None:
            self._end_attempt(run, event.error_code, event.error_message)
            run.fail(event.timestamp, event.error_code, event.error_message or "", path)
            self.invocation.ended.pop(path, None)
        elif run.open_questions:
            run.wait()
        elif value is not None or event.actions.route is not None or self._is_last_word(path):
            for claimed in dict.fromkeys((path, *(event.node_info.output_for or ()))):
                self._complete(self._run(claimed), value)
        elif run.status is not Status.COMPLETED:
            self._go_on(run)

    def _is_last_word(self, path: str) -> bool:
        """Say whether an event without output and route ends its run, as far as events tell; google-adk reads it so."""
        return self.event.is_final_response() and not self.invocation.is_open_below(path)

    def _run(self, path: str) -> NodeRun:
        """Return the record at a path; a new one, and those above it, when nothing was heard of it."""
        invocation = self.invocation
        run = invocation.runs.get(path)
        if run is not None:
            return run
        parent = parent_path(path)
        if parent:
            self._run(parent)
        run = invocation.first_run(path, self.event.timestamp)
        run.status = Status.RUNNING
        invocation.runs[path] = run
        invocation.children.setdefault(run.parent, []).append(path)
        invocation.seen[path] = self.number
        return run

    def _go_on_above(self, run: NodeRun) -> None:
        """A run below this one spoke, so it hasn't ended, unless what it gave is known already."""
        if run.status is not Status.COMPLETED or (run.output is None and run.route is None):
            self._go_on(run)

    def _go_on(self, run: NodeRun) -> None:
        run.status, run.ended_at = Status.RUNNING, None
        run.error_type = run.error_message = run.error_path = None
        self.invocation.ended.pop(run.path, None)

    def _complete(self, run: NodeRun, value: Any) -> None:
        if value is not None:
            run.output = value
        run.error_type = run.error_message = run.error_path = None
        self._end_attempt(run)
        run.complete(self.event.timestamp)
        self.invocation.ended[run.path] = self.number

    def _end_attempt(self, run: NodeRun, error_type: str | None = None, error_message: str | None = None) -> None:
        before, answered = run.attempts, last_answer(run)
        if before and before[-1].error_type is None and not answered > (before[-1].ended_at or 0.0):
            began, before = before[-1].started_at, before[:-1]  # a try that goes on after a word of its own
        else:
            began = answered or (before[-1].ended_at if before else run.started_at) or self.event.timestamp
        run.attempts = (*before, Attempt(began, self.event.timestamp, error_type, error_message))

    def _ask(self, run: NodeRun, asked: Asked) -> None:
        if any(one.interrupt_id == asked.interrupt_id for one in run.open_questions):
            return
        run.ask(
            Question(
                interrupt_id=asked.interrupt_id,
                message=asked.message,
                payload=asked.payload,
                response_schema=asked.response_schema,
                asked_at=self.event.timestamp,
                is_named=chose_its_id(asked.interrupt_id),
                is_secret=asked.is_secret,
            )
        )
        run.output = None
        self._end_attempt(run)
        self.invocation.askers[asked.interrupt_id] = self.invocation.open[asked.interrupt_id] = run.path
        self.invocation.ended.pop(run.path, None)

    def _answer(self, interrupt_id: str, response: Any) -> None:
        """Give an answer to the run that asked last; one that doesn't fit, or comes twice, counts for nothing."""
        run = self.invocation.runs.get(self.invocation.askers.get(interrupt_id, ""))
        question = next((q for q in run.open_questions if q.interrupt_id == interrupt_id), None) if run else None
        if run is None or question is None:
            return
        try:
            if question.is_secret:
                answer = stored_answer(question, response)
            else:
                answer = check_answer(question, read_answer(question, response))
        except DataError:
            return
        self.invocation.is_whole = False
        self.invocation.open.pop(interrupt_id, None)
        run.take_answer(interrupt_id, answer, self.event.timestamp)
        if run.open_questions:
            run.wait()
        self.invocation.ended[run.path] = self.number
        for above in _paths_above(run.path):
            self._go_on_above(self._run(above))


def last_answer(run: NodeRun) -> float:
    """Return when a run got its last answer, 0.0 when it has none."""
    return max((question.answered_at or 0.0 for question in run.questions), default=0.0)


def _paths_above(path: str) -> Iterator[str]:
    while path := parent_path(path):
        yield path


def _output_of(event: Event) -> Any:
    """Return what an event hands on, `None` when it hands on nothing."""
    if event.output is not None:
        return freeze(event.output)
    is_agents = event.author == event.node_info.name  # google-adk's agents hand on the text of their message
    is_reply = is_agents and "/" not in event.node_info.path and event.is_final_response()
    if event.content is None or not (event.node_info.message_as_output or is_reply):
        return None
    return content_text(event.content) if is_agents else freeze(event.content)
