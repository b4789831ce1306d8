"""`RunFold`: what a view shows of one run, folded from its events and node-run records, one happening at a time.

Pure and incremental: no clock, no widget, no task. A happening costs the same however long the run is. What is kept is
plain JSON, so the same fold feeds a live view in batches, a stored run and a page without a kernel. Nodes are named by
their path below the root (`inner/a`), as in a drawn graph.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from adk_nb.events.apart import with_calls_apart
from adk_nb.events.event import Event
from adk_nb.events.paths import node_names, parent_path
from adk_nb.events.prices import Price, cost_of_event
from adk_nb.events.questions import Asked, questions_in
from adk_nb.events.record import NodeRun, Question
from adk_nb.frames.notes import Notes
from adk_nb.frames.plain import plain
from adk_nb.frames.reading import Usage, answers_in, kind_of, usage_of
from adk_nb.notebook.drawing.fitting import shorten
from adk_nb.notebook.view.call_rows import CallRow, CallRows
from adk_nb.notebook.view.edge_trail import EdgeTrail
from adk_nb.notebook.view.event_rows import ROWS_KEPT, EventRows, Row
from adk_nb.notebook.view.item_progress import ItemProgress
from adk_nb.notebook.view.log_lines import Line, LogLines
from adk_nb.notebook.view.node_tally import ACTIVE, NodeTally, SeenRun
from adk_nb.notebook.view.question_list import QuestionList
from adk_nb.notebook.view.shown_values import TEXT_LIMIT, result_of
from adk_nb.notebook.view.spans import SpanList
from adk_nb.workflow.description import GraphDescription

WARNINGS_SHOWN = 20

_IDLE = ("waiting", "completed", "incomplete", "failed", "cancelled", "stopped")


class RunFold:
    """What a view shows of one run.

    Feed it with `begin` (a turn starts), `event`, `run` (a record changed) and `settle` (the turn ended), in any
    mixture that keeps the order of the events; records may come again, newer each time, or not at all. Read it with
    `snapshot`, or `take_changes` for what is new since the last call.

    Example:
        >>> fold = RunFold(name="wf")
        >>> fold.event(Event(author="wf", node_path="wf@1/a@1", output=3, timestamp=10.0))
        >>> fold.settle("completed", at=11.0, result=3)
        >>> changes = fold.take_changes()
        >>> changes["seq"], changes["nodes"]["a"]["status"], changes["header"]["status"], changes["result"]["value"]
        (1, 'completed', 'completed', 3)
        >>> fold.take_changes() is None
        True
    """

    def __init__(
        self,
        description: GraphDescription | None = None,
        *,
        name: str = "",
        run_id: str = "",
        session_id: str = "",
        prices: Mapping[str, Price] | None = None,
    ) -> None:
        self.seq = 0
        self.money: float | None = 0.0
        self.usage = Usage()
        self.events_seen = 0
        self._prices = prices
        # A drawing of a single node shows the root itself, a drawing of a workflow only what is below it.
        self._above = 0 if description is not None and description.kind != "workflow" else 1
        self._header: dict[str, Any] = {
            "status": "running",
            "name": name or (description.name if description else ""),
            "run_id": run_id,
            "session_id": session_id,
            "started": None,
            "ended": None,
            "since": None,
            "busy_s": 0.0,
            "waiting_s": 0.0,
            "taken_up": None,
        }
        self._latest = 0.0
        self._seen: dict[str, SeenRun] = {}
        self._nodes: dict[str, NodeTally] = {}
        self.rows = EventRows()
        self._spans = SpanList()
        self._log = LogLines()
        self._calls = CallRows()
        self._start_state: Any = {}
        self._questions = QuestionList()
        self._result: dict[str, Any] | None = None
        self._error: dict[str, Any] | None = None
        self._notes = Notes()
        self._progress = ItemProgress(self._nodes)
        self._edges = EdgeTrail(description, self._place, self._seen, self._nodes)
        self._forget_changes()

    def _forget_changes(self) -> None:
        self._is_changed = False
        self._header_changed = False
        self._outcome_changed = False
        self._new_nodes: dict[str, None] = {}
        self._new_rows: dict[int, Row] = {}
        self._new_spans: dict[str, None] = {}
        self._new_lines: list[Line] = []
        self._new_calls: list[CallRow] = []
        self._new_questions: dict[str, None] = {}
        self._notes_changed = False

    def known_as(self, run_id: str, session_id: str) -> None:
        """The run has its ids."""
        self._header |= {"run_id": run_id, "session_id": session_id}
        self._changed(header=True)

    def taken_up(self, at: float | None) -> None:
        """The run was read from a store at this time and goes on: what had ended by then is kept, not done again."""
        self._header["taken_up"] = at

    def starts_with(self, state: Any) -> None:
        """The session's state before the run, as plain data."""
        self._start_state = state

    def begin(self, at: float) -> None:
        """A turn starts: the run is busy from here on, and a wait ends."""
        header = self._header
        if header["started"] is None:
            header["started"] = at
        if header["status"] == "waiting" and header["since"] is not None:
            header["waiting_s"] += max(0.0, at - header["since"])
        if header["status"] != "running" or header["since"] is None:
            header["status"], header["since"], header["ended"] = "running", at, None
        self._outcome_changed |= self._error is not None
        self._error = None
        self._latest = max(self._latest, at)
        self._changed(header=True)

    def settle(
        self,
        status: str = "",
        *,
        at: float | None = None,
        result: Any = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        """The turn ended.

        Args:
            status: How the run stands; empty reads it from what was folded.
            at: When; `None` is the time of the latest happening.
            result: What the run returned.
            error: What a view shows of a failure: `path`, `type`, `message`, and `short` and `full` tracebacks.
        """
        moment = self._latest if at is None else at
        header = self._header
        if header["status"] == "running" and header["since"] is not None:
            header["busy_s"] += max(0.0, moment - header["since"])
        header["status"] = status or self._status_from_history()
        header["since"] = header["ended"] = moment
        if result is not None:
            self._result = result_of(result)
        if error is not None:
            self._error = plain({**error, "message": shorten(error.get("message") or "", TEXT_LIMIT)})
        self._outcome_changed = True
        if header["status"] not in ("running", "waiting"):
            for path, node in self._nodes.items():
                if node.active.get("gathering"):
                    node.dead_end = "never fired"
                    self._node_changed(path)
        self._latest = max(self._latest, moment)
        self._changed(header=True)

    def event(self, event: Event) -> None:
        """Something was written to the session, or a piece of a streamed message came."""
        self.events_seen += 1
        at = event.timestamp
        answers = answers_in(event)
        if self._header["started"] is None:
            self.begin(at)
        elif answers:
            self._turn_by_answer(at)
        self._latest = max(self._latest, at)
        kind = kind_of(event)
        path = event.node_info.path
        seen = self._seen.get(path)
        node = seen.node if seen is not None else self._place(path)
        usage = usage_of(event)
        row = self.rows.add(event, kind, node, usage)
        self._new_rows[row[0]] = row
        self._changed(header=True)
        for told in with_calls_apart([event]):
            used = usage_of(told)
            if used is not None:
                self._count_tokens(told.node_info.path, used)
                cost = cost_of_event(told, self._prices) if told.usage_metadata is not None else None
                self.money = None if cost is None or self.money is None else self.money + cost
                self._new_calls.append(self._calls.add(told, self._place(told.node_info.path), row[0], used, cost))
        if kind == "question":
            for asked in questions_in(event):
                self.asks(path, at, asked)
        for interrupt_id, answer in answers.items():
            self._close(self._questions.open_key(interrupt_id), answer, at)
        # What a record has told already is not read from events.
        if path and kind != "partial" and (seen is None or not seen.has_record):
            self._note_from_event(event, kind, path, node)

    def run(self, run: NodeRun) -> None:
        """A record is new or has changed."""
        seen = self._seen.get(run.path)
        if seen is None:
            seen = self._meet(run.path)
            self._edges.follow(run, seen)
        elif len(run.sources) > len(seen.sources):  # a join learns one after the other what it gathers
            self._edges.follow(run, seen)
        seen.has_record = True
        if run.route is not None:
            seen.route = run.route
        node = self._nodes[seen.node]
        worker = self._progress.take(run, seen)
        if worker is not None:
            self._node_changed(worker)
            self._changed(header=True)
        seconds, failures = 0.0, 0
        for attempt in run.attempts:
            if attempt.ended_at is not None:
                seconds += attempt.ended_at - attempt.started_at
            if attempt.error_type:
                failures += 1
        node.seconds += seconds - seen.seconds
        node.failures += failures - seen.failures
        seen.seconds, seen.failures = seconds, failures
        status: str = run.status.value
        if run.attempts:
            last = run.attempts[-1]
            node.started, node.retry_at = last.started_at, last.retry_at
            if status == "running" and last.ended_at is not None and last.retry_at is not None:
                status = "retrying"
        node.ended = run.ended_at
        if run.error_type:
            node.error = run.error_type
        if run.questions:
            self._take_questions(run, seen)
        self._set_status(seen, status)
        node.dead_end = "dead end" if run.is_cut_short and run.is_finished else ""
        if self._spans.put(run, seen.node, seen.sources):
            self._new_spans[run.path] = None
        if run.printed:
            self._new_lines += self._log.take(run.path, seen.node, run.printed)
        if len(run.notes) > seen.notes:
            for note in run.notes[seen.notes :]:
                self._notes.add(run.path, run.name, note)
            seen.notes = len(run.notes)
            self._notes_changed = True
        self._node_changed(seen.node)

    def warn(self, message: str, node: str = "") -> None:
        """Add a warning for the person."""
        self._notes.add("", node, message)
        self._notes_changed = True
        self._changed()

    def snapshot(self, rows: int = ROWS_KEPT) -> dict[str, Any]:
        """Return everything a view shows, as of the last batch or newer.

        Args:
            rows: How many of the newest event rows to include.
        """
        return {
            "seq": self.seq,
            "header": self._header_json(),
            "nodes": {path: node.to_json() for path, node in self._nodes.items()},
            "edges": self._edges.to_json(),
            "rows": list(self.rows.newest(rows)),
            "row_count": self.rows.count,
            "spans": list(self._spans.to_json(self._spans)),
            "log": self._log.to_json(),
            "calls": self._calls.to_json(),
            "start_state": self._start_state,
            "questions": self._questions.to_json(self._questions),
            "result": self._result,
            "error": self._error,
            "warnings": self._warnings_json(),
        }

    def take_changes(self, rows: int = ROWS_KEPT) -> dict[str, Any] | None:
        """Return what is new since the last call, numbered, or `None`; values are whole, so applying twice is harmless.

        `rows` is how many of the newest rows to tell; older ones are in `snapshot`.

        Keys are those of `snapshot`; a key that is missing has not changed. `nodes` and `questions` hold the changed
        ones, `edges` the new ones, `rows` the new and the changed ones.
        """
        if not self._is_changed:
            return None
        self.seq += 1
        changes: dict[str, Any] = {"seq": self.seq}
        if self._header_changed:
            changes["header"] = self._header_json()
        if self._new_nodes:
            changes["nodes"] = {path: self._nodes[path].to_json() for path in self._new_nodes}
        if self._edges.new:
            changes["edges"] = self._edges.to_json(self._edges.new)
            self._edges.forget()
        if self._new_rows:
            oldest = self.rows.count - rows
            changes["rows"] = [list(row) for number, row in self._new_rows.items() if number > oldest]
            changes["row_count"] = self.rows.count
        if self._new_spans:
            changes["spans"] = list(self._spans.to_json(self._new_spans))
        if self._new_calls:
            changes["calls"] = self._new_calls
        if self._new_lines:
            changes["log"] = self._new_lines
        if self._new_questions:
            changes["questions"] = self._questions.to_json(self._new_questions)
        if self._outcome_changed:
            changes["result"], changes["error"] = self._result, self._error
        if self._notes_changed:
            changes["warnings"] = self._warnings_json()
        self._forget_changes()
        return changes

    def question(self, key: str) -> dict[str, Any] | None:
        """Return a question by its key, as `snapshot` holds it; `None` when there is none."""
        return self._questions.get(key)

    def _place(self, path: str) -> str:
        """Return where a run stands in the drawing."""
        return "/".join(node_names(path)[self._above :])

    def _changed(self, *, header: bool = False) -> None:
        self._is_changed = True
        self._header_changed |= header

    def _node_changed(self, path: str) -> None:
        self._new_nodes[path] = None
        self._is_changed = True

    def _header_json(self) -> dict[str, Any]:
        usage = self.usage
        return {
            **self._header,
            "busy_s": round(self._header["busy_s"], 6),
            "waiting_s": round(self._header["waiting_s"], 6),
            "model_calls": usage.model_calls,
            "tokens": usage.tokens,
            "money": None if not usage.model_calls else self.money,
            "first_event": self.rows.first_at,
            "events": self.events_seen,
            "open": self._questions.open_count,
            "progress": self._progress.total(),
        }

    def _warnings_json(self) -> list[dict[str, str]]:
        notes = list(itertools.islice(self._notes, WARNINGS_SHOWN))
        left = len(self._notes) - len(notes)
        if left:
            notes.append(("", f"… and {left:,} more in run.warnings"))
        return [{"node": node, "message": message} for node, message in notes]

    def _turn_by_answer(self, at: float) -> None:
        """An answer starts a turn: whatever lies between it and the happening before was waiting."""
        if self._header["status"] == "running":
            self.settle("waiting")
        if self._header["status"] in _IDLE:
            self.begin(at)

    def _status_from_history(self) -> str:
        root = next((seen for path, seen in self._seen.items() if "/" not in path and seen.has_record), None)
        if root is not None and root.status in _IDLE:
            return root.status
        if self._questions.open_count:
            return "waiting"
        last = self.rows.last
        return "failed" if last is not None and last[3] == "error" else "completed"

    def _count_tokens(self, path: str, usage: Usage) -> None:
        self.usage.add(usage)
        self._changed(header=True)
        names = node_names(path)[self._above :]
        for end in range(1, len(names) + 1):
            above = "/".join(names[:end])
            self._nodes.setdefault(above, NodeTally()).tokens += usage.tokens
            self._node_changed(above)

    def _meet(self, path: str) -> SeenRun:
        seen = self._seen[path] = SeenRun(self._place(path))
        self._nodes.setdefault(seen.node, NodeTally()).runs += 1
        return seen

    def _set_status(self, seen: SeenRun, status: str) -> None:
        if status == seen.status:
            return
        node = self._nodes[seen.node]
        if seen.status in ACTIVE:
            node.active[seen.status] -= 1
        if status in ACTIVE:
            node.active[status] = node.active.get(status, 0) + 1
        else:
            node.last = status
        seen.status = status

    def _note_from_event(self, event: Event, kind: str, path: str, node: str) -> None:
        """What an event says about node runs that have no record, as in a log of another engine."""
        seen = self._seen.get(path)
        if seen is None:
            seen = self._meet(path)
            self._edges.guess(path, node)
        if event.actions.route is not None:
            seen.route = event.actions.route
        for claimed in event.node_info.output_for or ():
            above = self._seen.get(claimed)
            if above is not None and not above.has_record and claimed != path:
                self._set_status(above, "completed")
                self._node_changed(above.node)
        if kind == "error":
            self._nodes[node].error = event.error_code or ""
            self._set_status(seen, "failed")
        else:
            self._set_status(seen, "waiting" if kind == "question" else "completed")
        self._see(path, node, seen.status, event.timestamp)
        self._node_changed(node)
        self._meet_parents(path, event.timestamp)

    def _see(self, path: str, node: str, status: str, at: float) -> None:
        self._spans.see(path, node, status, at)
        if path in self._spans:
            self._new_spans[path] = None

    def _meet_parents(self, path: str, at: float) -> None:
        above = parent_path(path)
        while above and above not in self._seen:
            self._see(above, self._place(above), "running", at)
            seen = self._meet(above)
            self._edges.guess(above, seen.node)
            self._set_status(seen, "running")
            self._node_changed(seen.node)
            above = parent_path(above)

    def _take_questions(self, run: NodeRun, seen: SeenRun) -> None:
        for question in run.questions[len(seen.questions) :]:
            seen.questions.append(self.asks(run.path, question.asked_at, question))
        for index in range(seen.answered, len(run.questions)):
            question = run.questions[index]
            if question.is_answered:
                self._close(seen.questions[index], question.answer, question.answered_at or question.asked_at)
                seen.answered += seen.answered == index

    def asks(self, path: str, at: float, asked: Question | Asked) -> str:
        """A node run asks a person something; return the question's key."""
        known = len(self._questions)
        node = self._place(path)
        key = self._questions.ask(path, node, at, asked)
        if len(self._questions) > known:
            self._nodes.setdefault(node, NodeTally()).asked = at
            self._new_questions[key] = None
            self._node_changed(node)
            self._changed(header=True)
        return key

    def _close(self, key: str | None, answer: Any, at: float) -> None:
        question = None if key is None else self._questions.close(key, answer, at)
        if question is None:
            return
        self._new_questions[question["key"]] = None
        self._changed(header=True)
        seen = self._seen.get(question["run"])
        if seen is not None and not seen.has_record and seen.status == "waiting":
            self._set_status(seen, "completed")
            self._node_changed(seen.node)
