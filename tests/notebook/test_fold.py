"""The fold of a run: what a view shows, as plain data, whatever mixture of events and records it is fed with."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types

from adk_nb import events
from adk_nb.events import Attempt, NodeRun, Question, Status
from adk_nb.events.request_input import answer_content
from adk_nb.notebook.view.event_rows import ROWS_KEPT
from adk_nb.notebook.view.fold import RunFold
from adk_nb.notebook.view.shown_values import result_of
from adk_nb.workflow.description import EdgeDescription, GraphDescription, NodeDescription

Event: Any = events.Event  # its shortcuts (message=, route=, …) are unknown to a type checker

GRAPH = GraphDescription(
    "tickets",
    nodes=(
        NodeDescription("__START__", "start"),
        NodeDescription("classifier", "agent"),
        NodeDescription("router", "function"),
        NodeDescription("approve", "human"),
        NodeDescription("refund", "function"),
        NodeDescription("triage", "agent"),
    ),
    edges=(
        EdgeDescription("__START__", "classifier"),
        EdgeDescription("classifier", "router"),
        EdgeDescription("router", "approve", ("BILLING",)),
        EdgeDescription("router", "triage", ("BUG",)),
        EdgeDescription("approve", "refund"),
    ),
)
USAGE = types.GenerateContentResponseUsageMetadata(prompt_token_count=400, candidates_token_count=12)


def fold_history(
    events: list[Any], runs: Any = (), description: GraphDescription | None = None, **names: Any
) -> RunFold:
    """The fold of what a store kept of a run."""
    fold = RunFold(description, **names)
    for run in runs:
        fold.run(run)
    for event in events:
        fold.event(event)
    return fold


def asked(path: str, interrupt_id: str, at: float, message: str = "ok?") -> Any:
    """The event of a question."""
    call = types.FunctionCall(id=interrupt_id, name="adk_request_input", args={"message": message, "payload": {"n": 1}})
    content = types.Content(role="model", parts=[types.Part(function_call=call)])
    return Event(author="tickets", node_path=path, content=content, long_running_tool_ids={interrupt_id}, timestamp=at)


def answered(interrupt_id: str, answer: Any, at: float) -> Any:
    """The event of an answer."""
    return Event(author="user", content=answer_content({interrupt_id: answer}), timestamp=at)


def log() -> list[Any]:
    """The events of a run with one question."""
    return [
        Event(author="user", message="charged twice", timestamp=100.0),
        Event(
            author="classifier",
            node_path="tickets@1/classifier@1",
            output={"category": "BILLING"},
            usage_metadata=USAGE,
            timestamp=102.0,
        ),
        Event(author="tickets", node_path="tickets@1/router@1", output="b", route="BILLING", timestamp=102.1),
        asked("tickets@1/approve@1", "q", 102.2, "Approve?"),
        answered("q", "yes", 142.2),
        Event(author="tickets", node_path="tickets@1/refund@1", output={"paid": True}, timestamp=142.5),
    ]


def record(path: str, status: Status, *sources: str, **fields: Any) -> NodeRun:
    """A record as the engine writes it."""
    parent, _, last = path.rpartition("/")
    name, _, run_id = last.partition("@")
    return NodeRun(path, name, run_id, parent, "e", status=status, sources=tuple(sources), **fields)


def records() -> list[NodeRun]:
    """The records of the same run."""
    done, top = Status.COMPLETED, "tickets@1"
    question = Question("q", "Approve?", {"n": 1}, None, 102.2, True, True, "yes", 142.2)
    return [
        record(
            top,
            done,
            attempts=(
                Attempt(100.0, 102.2),
                Attempt(142.2, 142.5),
            ),
        ),
        record(f"{top}/classifier@1", done, attempts=(Attempt(100.0, 102.0),)),
        record(f"{top}/router@1", done, f"{top}/classifier@1", route="BILLING", attempts=(Attempt(102.0, 102.1),)),
        record(f"{top}/approve@1", done, f"{top}/router@1", attempts=(Attempt(102.1, 102.2),), questions=(question,)),
        record(f"{top}/refund@1", done, f"{top}/approve@1", attempts=(Attempt(142.3, 142.5),)),
    ]


TAKEN = [
    ["__START__", "classifier"],
    ["classifier", "router"],
    ["router", "approve"],
    ["approve", "refund"],
]


def test_records_and_events_give_the_view() -> None:
    """States, times, tokens, edges, rows, questions and the header come out of one run's events and records."""
    fold = fold_history(log(), records(), GRAPH, run_id="e-1")
    fold.settle("completed", result={"paid": True})
    shown = fold.snapshot()
    assert shown["header"] == {
        "status": "completed",
        "name": "tickets",
        "run_id": "e-1",
        "session_id": "",
        "started": 100.0,
        "ended": 142.5,
        "since": 142.5,
        "busy_s": 2.5,
        "waiting_s": 40.0,
        "model_calls": 1,
        "tokens": 412,
        "money": None,
        "first_event": 100.0,
        "events": 6,
        "open": 0,
        "taken_up": None,
        "progress": None,
    }
    assert shown["nodes"]["classifier"]["detail"] == "2.0 s · 412 tok"
    assert {path: node["status"] for path, node in shown["nodes"].items()} == dict.fromkeys(
        ["", "classifier", "router", "approve", "refund"], "completed"
    )
    assert shown["edges"] == TAKEN
    assert [row[2:6] for row in shown["rows"]] == [
        ["user", "message", "charged twice", None],
        ["classifier", "output", '{category: "BILLING"}', 412],
        ["router", "route BILLING", "b", None],
        ["approve", "question", "Approve?", None],
        ["user", "answer", "yes", None],
        ["refund", "output", "{paid: true}", None],
    ]
    [question] = shown["questions"]
    assert (question["message"], question["answer"], question["answered"]) == ("Approve?", "yes", 142.2)
    assert json.loads(json.dumps(shown)) == shown


def test_events_alone_give_nearly_the_same_view() -> None:
    """Without records, as for a log of another engine, states and edges are read from the events."""
    fold = fold_history(log(), description=GRAPH)
    fold.settle()
    shown = fold.snapshot()
    assert shown["header"]["status"] == "completed"
    assert round(shown["header"]["waiting_s"], 6) == 40.0
    assert shown["edges"] == TAKEN
    assert {path: shown["nodes"][path]["status"] for path in ("classifier", "router", "approve", "refund")} == (
        dict.fromkeys(["classifier", "router", "approve", "refund"], "completed")
    )
    assert shown["questions"][0]["answer"] == "yes"


def test_order_of_sources_does_not_matter() -> None:
    """Records may come before, after or between the events, and again: the view is the same."""
    first = fold_history(log(), records(), GRAPH)
    later = RunFold(GRAPH)
    for event in log():
        later.event(event)
    for run in records() * 2:
        later.run(run)
    one, other = first.snapshot(), later.snapshot()
    for part in ("rows", "questions", "header"):
        assert one[part] == other[part]
    assert sorted(one["edges"]) == sorted(other["edges"])
    for path in ("classifier", "approve", "refund"):
        assert one["nodes"][path] == other["nodes"][path]


def test_pause_is_waiting() -> None:
    """A run that stopped at a question is waiting, its node shows since when, and the clock of the wait runs."""
    fold = fold_history(log()[:4], description=GRAPH)
    fold.settle(at=102.2)
    shown = fold.snapshot()
    assert (shown["header"]["status"], shown["header"]["since"], shown["header"]["open"]) == ("waiting", 102.2, 1)
    assert (shown["nodes"]["approve"]["status"], shown["nodes"]["approve"]["since"]) == ("waiting", 102.2)
    fold.begin(110.0)
    shown = fold.snapshot()
    assert (shown["header"]["status"], round(shown["header"]["waiting_s"], 6)) == ("running", 7.8)


def test_changes_rebuild_the_snapshot() -> None:
    """Batches applied one after the other, some of them twice, give what a snapshot gives."""
    fold = RunFold(GRAPH)
    view: dict[str, Any] = {}
    batches = []
    for run, event in zip([*records(), *records()[:1]], log(), strict=True):
        fold.run(run)
        fold.event(event)
        batches.append(fold.take_changes())
    assert fold.take_changes() is None
    assert [batch["seq"] for batch in batches if batch] == [1, 2, 3, 4, 5, 6]
    for batch in [*batches, *batches[-2:]]:
        assert batch is not None
        view |= {key: batch[key] for key in ("seq", "header", "row_count", "result", "error") if key in batch}
        view.setdefault("nodes", {}).update(batch.get("nodes", {}))
        for key, index in (("rows", 0), ("questions", "key")):
            known = view.setdefault(key, {})
            known.update({item[index]: item for item in batch.get(key, ())})
        view.setdefault("edges", []).extend(edge for edge in batch.get("edges", ()) if edge not in view["edges"])
    whole = fold.snapshot()
    assert {**view, "rows": list(view["rows"].values()), "questions": list(view["questions"].values())} == {
        key: whole[key] for key in view
    }


def test_same_id_asked_again_is_a_new_question() -> None:
    """A loop that asks with one id each round gives a question a round; the old one keeps its answer."""
    path = "tickets@1/approve@1"
    fold = RunFold(GRAPH)
    for event in (asked(path, "q", 1.0), answered("q", "revise", 2.0), asked(path, "q", 3.0)):
        fold.event(event)
    assert [(q["answer"], q["answered"]) for q in fold.snapshot()["questions"]] == [("revise", 2.0), (None, None)]
    first = Question("q", "ok?", asked_at=1.0, is_answered=True, answer="revise", answered_at=2.0)
    fold.run(
        record(
            path,
            Status.WAITING,
            questions=(
                first,
                Question("q", "ok?", asked_at=3.0),
            ),
        )
    )
    assert len(fold.snapshot()["questions"]) == 2


def test_pieces_fold_into_their_message() -> None:
    """Pieces of a streamed message are one row, which the whole message takes over: rows and folded ones add up."""
    fold = RunFold()
    for _ in range(5_000):
        fold.event(Event(author="m", node_path="m@1", message="tok ", partial=True, timestamp=1.0))
    assert [row[3] for row in fold.snapshot()["rows"]] == ["partial"]
    fold.event(Event(author="m", node_path="m@1", message="tok " * 5_000, timestamp=2.0))
    shown = fold.snapshot()
    assert [(row[0], row[3]) for row in shown["rows"]] == [(1, "message")]
    assert len(shown["rows"][0][4]) <= 180
    assert shown["header"]["events"] == 5_001


def test_many_rows_keep_their_numbers() -> None:
    """Only the newest rows are held, numbered on from the first event of the run."""
    fold = RunFold()
    for index in range(ROWS_KEPT + 10):
        fold.event(Event(author="m", output=index, timestamp=float(index)))
    shown = fold.snapshot(rows=3)
    assert [row[0] for row in shown["rows"]] == [ROWS_KEPT + 8, ROWS_KEPT + 9, ROWS_KEPT + 10]
    changes = fold.take_changes()
    assert changes is not None
    assert len(changes["rows"]) == ROWS_KEPT


def test_loop_and_concurrent_runs_of_one_node() -> None:
    """A node shows the status of a run that goes on, then that of the last one, with the times of all together."""
    fold = RunFold()
    fold.run(record("w@1/a@1", Status.COMPLETED, attempts=(Attempt(0.0, 1.0),)))
    second = record("w@1/a@2", Status.RUNNING, attempts=(Attempt(1.0),))
    fold.run(second)
    assert fold.snapshot()["nodes"]["a"] == {
        "status": "running",
        "passes": 2,
        "seconds": 1.0,
        "tokens": 0,
        "failures": 0,
        "since": 1.0,
        "ended": None,
        "detail": "2× · running",
    }
    second.end_attempt(3.0)
    second.complete(3.0)
    fold.run(second)
    assert fold.snapshot()["nodes"]["a"]["detail"] == "2× · 3.0 s"


def test_failed_attempts_and_errors_are_seen() -> None:
    """Failed tries are counted, and a failed node names its error."""
    fold = RunFold()
    run = record(
        "w@1/a@1",
        Status.RUNNING,
        attempts=(
            Attempt(0.0, 1.0, "ValueError", "no", 2.0),
            Attempt(2.0),
        ),
    )
    fold.run(run)
    shown = fold.snapshot()["nodes"]["a"]
    assert (shown["failures"], shown["detail"]) == (1, "running · 1 failed")
    run.status, run.error_type = Status.FAILED, "ValueError"
    fold.run(run)
    fold.settle("failed", at=3.0, error={"path": "w@1/a@1", "type": "ValueError", "message": "no"})
    assert fold.snapshot()["nodes"]["a"]["detail"] == "ValueError"
    assert fold.snapshot()["error"]["message"] == "no"


def test_warnings_come_once() -> None:
    """A note on a record is one warning with its node's name, however often the record comes."""
    fold = RunFold()
    run = record("w@1/a@1", Status.INCOMPLETE, notes=("join never fired",))
    for _ in range(3):
        fold.run(run)
    assert fold.snapshot()["warnings"] == [{"node": "a", "message": "join never fired"}]


def test_tokens_of_children_count_for_their_callers() -> None:
    """Tokens used below a node, by a dynamic child or an inner graph, count for it, once in the header."""
    fold = RunFold()
    fold.event(Event(author="c", node_path="w@1/orch@1/critic@2", message="x", usage_metadata=USAGE, timestamp=1.0))
    assert {path: node["tokens"] for path, node in fold.snapshot()["nodes"].items() if path} == {
        "orch": 412,
        "orch/critic": 412,
    }
    assert fold.usage.tokens == 412


def test_results_are_kept_as_far_as_a_page_can_show() -> None:
    """A model's message is its text, a list of rows a table, and a huge result a beginning that says so."""
    message = types.Content(role="model", parts=[types.Part(text="Hi "), types.Part(text="Ada")])
    assert result_of(message) == {"kind": "text", "value": "Hi Ada", "is_cut": False}
    assert result_of([1, 2])["kind"] == "json"
    assert result_of(list(range(100_000)))["is_cut"]


def test_a_node_between_two_tries_says_so() -> None:
    """A node that waits to try again looks neither at work nor failed, and says when it goes on."""
    fold = RunFold()
    fold.run(record("w@1/a@1", Status.RUNNING, attempts=(Attempt(1.0, 2.0, "ValueError", "no", 7.0),)))
    node = fold.snapshot()["nodes"]["a"]
    assert (node["status"], node["since"], node["detail"]) == ("retrying", 7.0, "tries again · 1 failed")
    tries = (Attempt(1.0, 2.0, "ValueError", "no", 7.0), Attempt(7.0))
    fold.run(record("w@1/a@1", Status.RUNNING, attempts=tries))
    node = fold.snapshot()["nodes"]["a"]
    assert (node["status"], node["since"]) == ("running", 7.0)


def test_where_a_branch_ended_is_marked() -> None:
    """A node whose route no edge took and a join that never fired are dead ends; while the run lives, it gathers on."""
    fold = RunFold()
    fold.begin(1.0)
    fold.run(record("w@1/a@1", Status.COMPLETED, is_cut_short=True))
    fold.run(record("w@1/j@1", Status.GATHERING, kind="join"))
    nodes = fold.snapshot()["nodes"]
    assert (nodes["a"]["status"], nodes["a"]["detail"], nodes["j"]["status"]) == ("incomplete", "dead end", "gathering")
    fold.settle("incomplete", at=2.0)
    changes = fold.take_changes()
    assert changes is not None
    node = changes["nodes"]["j"]
    assert (node["status"], node["detail"]) == ("incomplete", "never fired")


def test_progress_is_told_where_the_work_is_known() -> None:
    """A parallel worker tells how many of its items are done; each counts once, however often it is told."""
    fold = RunFold()
    fold.begin(1.0)
    assert fold.snapshot()["header"]["progress"] is None
    fold.run(record("w@1/p@1", Status.RUNNING, kind="parallel", input=[1, 2, 3]))
    for status in (Status.RUNNING, Status.COMPLETED, Status.COMPLETED):
        fold.run(record("w@1/p@1/x@1", status))
    assert fold.snapshot()["header"]["progress"] == [1, 3]
    assert fold.snapshot()["nodes"]["p"]["detail"] == "1 of 3"
    fold.run(record("w@1/p@1", Status.COMPLETED, kind="parallel", input=[1, 2, 3]))
    assert fold.snapshot()["header"]["progress"] is None
