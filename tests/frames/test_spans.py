"""`Spans`: where the time of node runs went always adds up, whatever records say and in whatever order they come."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_nb.events.paths import parent_path
from adk_nb.events.record import Attempt, NodeRun, Question, Status
from adk_nb.frames.spans import KINDS, PERSON, Spans, key_of, spans_of, times_of

NOW = 100.0
PATHS = ("wf@1", "wf@1/a@1", "wf@1/b@1", "wf@1/in@1", "wf@1/in@1/c@1", "wf@1/in@1/c@2")
MOMENTS = st.integers(0, 90).map(float)


@st.composite
def records(draw: st.DrawFn, path: str) -> NodeRun:
    """Return a record of any kind and status: tries that failed and came again, questions open and answered."""
    moments = sorted(draw(st.lists(MOMENTS, min_size=2, max_size=7)))
    starts_ends = list(pairwise(moments))[::2]
    open_end = draw(st.booleans())
    attempts = tuple(
        Attempt(start, None if open_end and place == len(starts_ends) - 1 else end, retry_at=draw(st.none() | MOMENTS))
        for place, (start, end) in enumerate(starts_ends)
    )
    asked = draw(st.lists(st.tuples(MOMENTS, st.none() | st.integers(0, 9), st.booleans()), max_size=2))
    questions = tuple(
        Question(str(place), asked_at=at, is_answered=is_answered, answered_at=None if took is None else at + took)
        for place, (at, took, is_answered) in enumerate(asked)
    )
    return NodeRun(
        path=path,
        name=path.rpartition("/")[2].partition("@")[0],
        run_id=path.rpartition("@")[2],
        parent=parent_path(path),
        invocation_id="e",
        status=draw(st.sampled_from(list(Status))),
        kind="workflow" if path.endswith(("wf@1", "in@1")) else "node",
        started_at=draw(st.none() | st.just(moments[0])),
        ended_at=draw(st.none() | st.just(moments[-1])),
        attempts=attempts,
        questions=questions,
    )


TREES = st.tuples(*(records(path) for path in PATHS))


@settings(max_examples=60)
@given(TREES)
def test_stretches_have_neither_gap_nor_overlap(runs: tuple[NodeRun, ...]) -> None:
    """For any records the stretches of each run are its time from start to end, and the sums by kind are that too."""
    for span in spans_of(runs, NOW).values():
        for one, other in pairwise(span.stretches):
            assert one.end == other.start
        assert all(one.end >= one.start for one in span.stretches)
        assert sum(span.seconds(what) for what in KINDS) == pytest.approx(span.total)
    assert times_of(runs, NOW).total == pytest.approx(sum(span.total for span in spans_of(runs[:1], NOW).values()))


@settings(max_examples=40)
@given(TREES, TREES, st.permutations(range(len(PATHS))))
def test_records_that_come_one_by_one_give_the_same(
    before: tuple[NodeRun, ...], after: tuple[NodeRun, ...], order: list[int]
) -> None:
    """Records in any order, each in two forms, asked about in between, give what the last forms give at once."""
    spans = Spans()
    for place in order:
        spans.put(before[place])
        spans.all(NOW)
    for place in reversed(order):
        spans.put(after[place])
        spans.of(key_of(after[place]), NOW)
    expected = spans_of(after, NOW + 1)
    assert spans.all(NOW + 1) == {key: expected[key] for key in spans}
    assert all(spans.of(key, NOW + 1) == expected[key] for key in spans)


def test_a_wait_that_outlived_its_run_isnt_its_callers() -> None:
    """A question whose answer never got a time, and a try planned after the end, are waited for until the end only."""
    asked = Question("q", asked_at=1.0, is_answered=True)
    inner = NodeRun(
        "wf@1/a@1", "a", "1", "wf@1", "e", Status.CANCELLED, started_at=0.0, ended_at=2.0, questions=(asked,),
        attempts=(Attempt(0.0, 1.0, "ValueError", "no", 50.0),),
    )  # fmt: skip
    root = NodeRun("wf@1", "wf", "1", "", "e", Status.CANCELLED, kind="workflow", started_at=0.0, ended_at=9.0)
    found = spans_of([root, inner], NOW)["e", "wf@1"]
    assert found.seconds(PERSON) == 1.0
    assert found.seconds("retry") == 0.0
    assert spans_of([root, replace(inner, questions=())], NOW)["e", "wf@1"].seconds("retry") == 1.0
