"""`nodes_frame`: one row a node run, with its own time and tokens."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adk_nb.events import Attempt, Event, NodeRun, Question, Status
from adk_nb.frames import nodes_frame
from adk_nb.frames.nodes import COLUMNS


def record(path: str, start: float, end: float | None, **fields: object) -> NodeRun:
    """A completed record of one run, `fields` as in `NodeRun`."""
    parent, _, last = path.rpartition("/")
    name, _, run_id = last.partition("@")
    run = NodeRun(path=path, name=name, run_id=run_id, parent=parent, invocation_id="e", status=Status.COMPLETED)
    run.started_at, run.ended_at = start, end
    run.attempts = (Attempt(start, end),)
    for key, value in fields.items():
        setattr(run, key, value)
    return run


def asking(path: str, start: float, asked: float, answered: float | None) -> NodeRun:
    """A run that worked from `start` to `asked` and then waited for its answer."""
    question = Question("q", asked_at=asked, answered_at=answered, is_answered=answered is not None)
    return record(path, start, answered, questions=(question,), attempts=(Attempt(start, asked),))


def test_waiting_for_a_person_is_not_work() -> None:
    """Seconds at work and seconds waiting for an answer are told apart, in the asking run and in what is around it."""
    runs = [
        record("wf@1", 0.0, 11.0),
        record("wf@1/a@1", 0.0, 1.0),
        asking("wf@1/ask@1", 1.0, 1.5, 10.5),
        record("wf@1/b@1", 10.5, 11.0),
    ]
    frame: Any = nodes_frame(runs).set_index("node")
    assert frame["seconds"].to_dict() == {"wf": 2.0, "a": 1.0, "ask": 0.5, "b": 0.5}
    assert frame["waiting_s"].to_dict() == {"wf": 9.0, "a": 0.0, "ask": 9.0, "b": 0.0}


def test_work_beside_an_open_question_is_work() -> None:
    """A workflow that still works in another lane while a question is open isn't waiting in that time."""
    runs = [record("wf@1", 0.0, None), asking("wf@1/ask@1", 0.0, 1.0, None), record("wf@1/b@1", 0.0, 4.0)]
    frame: Any = nodes_frame(runs, now=10.0).set_index("node")
    assert frame.loc["wf", ["seconds", "waiting_s"]].tolist() == [4.0, 6.0]
    assert frame.loc["ask", ["seconds", "waiting_s"]].tolist() == [1.0, 9.0]


def test_attempts_add_up_without_the_delay_between() -> None:
    """All tries of a run count as work, the delay before a retry doesn't."""
    tries = [Attempt(0.0, 1.0, "ValueError", "no", 3.0), Attempt(3.0, 4.0)]
    frame: Any = nodes_frame([record("a@1", 0.0, 4.0, attempts=tries)])
    assert frame.loc[0, ["seconds", "attempts"]].tolist() == [2.0, 2]


def test_tokens_add_up() -> None:
    """Own tokens add up to the total; inclusive ones show what a caller's children used."""
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=100, candidates_token_count=10)
    runs = [record("wf@1", 0, 1), record("wf@1/twice@1", 0, 1), record("wf@1/twice@1/critic@1", 0, 1)]
    spoken = [
        Event(invocation_id="e", node_path="wf@1/twice@1/critic@1", usage_metadata=usage, model_version="m"),
        Event(invocation_id="other", node_path="wf@1/twice@1", usage_metadata=usage),
    ]
    frame: Any = nodes_frame(runs, spoken).set_index("node")
    assert frame["tokens"].to_dict() == {"wf": 0, "twice": 0, "critic": 110}
    assert frame["tokens_incl"].to_dict() == {"wf": 110, "twice": 110, "critic": 110}
    assert frame.loc["critic", ["model", "model_calls"]].tolist() == ["m", 1]


def test_columns_and_types_never_change() -> None:
    """No run at all gives the columns and types of a full frame."""
    failed = record("a@1", 0, 1, status=Status.FAILED, error_type="ValueError", error_message="no", output=(1,))
    full: Any = nodes_frame([failed])
    empty = nodes_frame([])
    assert empty.dtypes.astype(str).to_dict() == full.dtypes.astype(str).to_dict() == COLUMNS
    assert full.loc[0, ["status", "output", "error", "route"]].tolist() == ["failed", "[1]", "ValueError", None]
