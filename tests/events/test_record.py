"""Records: what a node run's record says, and its form in JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adk_nb.events import NodeRun, Question, Status
from adk_nb.events.record import run_from_dict, run_to_dict
from adk_nb.events.stored import run_from_json, run_to_json
from adk_nb.testing.samples import assert_same_record, record, whole_record


def test_records_survive_json() -> None:
    """A record with something in every field comes back from JSON as it was."""
    assert_same_record(run_from_json(run_to_json(whole_record())), whole_record())
    assert_same_record(run_from_dict(json.loads(json.dumps(run_to_dict(whole_record())))), whole_record())


def test_defaults_are_not_written() -> None:
    """A short record has a short form; `0`, `False` and `""` as values aren't taken for absent."""
    assert run_to_dict(record("a")) == {
        "path": "wf@1/a@1", "name": "a", "run_id": "1", "parent": "wf@1", "invocation_id": "e-1", "status": "running"
    }  # fmt: skip
    falsy: tuple[Any, ...] = (0, False, "", [], {}, ())
    for value in falsy:
        assert_same_record(run_from_json(run_to_json(record("a", output=value))), record("a", output=value))


@pytest.mark.parametrize("status", list(Status))
def test_finished(status: Status) -> None:
    """Only a completed record is finished."""
    assert record("a", status=status).is_finished is (status is Status.COMPLETED)


def test_questions_and_answers() -> None:
    """Open questions keep their order; of several answers to one id the newest counts."""
    run = NodeRun("a@1", "a", "1", "", "e")
    run.questions = (
        Question("p", is_answered=True, answer=1),
        Question("q"),
        Question("p", is_answered=True, answer=2),
    )
    assert [question.interrupt_id for question in run.open_questions] == ["q"]
    assert run.answers == {"p": 2}
