"""Runs on a store that offers only ADK's interface: records in its events, and events that carry no records.

That a run cut at any append of such a store comes to the same end is shown with the other stores, in `test_resume`.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import given, seed, settings

from adk_nb.events.record import NodeRun, Question, Status
from adk_nb.workflow.replay import replay
from tests.workflow.cuts import Uncut
from tests.workflow.driving import run
from tests.workflow.lives import Lives
from tests.workflow.mortal_stores import OnlyEvents, Store
from tests.workflow.promises import Ending
from tests.workflow.random_graphs import TOLD_BY_EVENTS, Maker, makers

EXAMPLES = int(os.environ.get("ADK_NB_TEST_EXAMPLES", "20"))


async def lived(make: Maker, store: Store) -> Lives:
    """Run to the end in one process."""
    lives = Lives(make, store)
    await lives.begin()
    assert await lives.live()
    assert lives.story.processes == 1
    return lives


@seed(2032)
@settings(max_examples=EXAMPLES, deadline=None)
@given(make=makers(TOLD_BY_EVENTS))
def test_records_in_events_are_the_live_ones(make: Maker) -> None:
    """At the end of each turn the records in a plain store's events are what the run reported, in every field."""

    async def test() -> None:
        lives = await lived(make, OnlyEvents())
        assert await lives.talk.records() == lives.told

    run(test)


@seed(2033)
@settings(max_examples=EXAMPLES, deadline=None)
@given(make=makers(TOLD_BY_EVENTS))
def test_records_worked_out_from_events_are_the_live_ones(make: Maker) -> None:
    """Events that carry no records tell what ran, why, on which branch, what it gave and asked; never what didn't run.

    What they can't tell: whether a run has ended that said nothing and led to nothing that did, and the edges of graphs
    that code started.
    """

    async def test() -> None:
        talk = (await lived(make, Store())).talk
        live, events = await talk.records(), await talk.stored()
        told = {one.path: one for one in replay(events, talk.runner.agent)}
        assert set(told) <= set(live)
        closed = {
            e.node_info.path for e in events if e.output is not None or e.actions.route is not None or e.error_code
        }
        for path, one in live.items():
            other = told.get(path)
            assert other is not None or path not in closed
            if other is None or is_below_code(path, live):
                continue
            assert (other.branch, other.sources) == (one.branch, one.sources)
            if other.status is not one.status:
                ended_in_silence = one.output is None and one.route is None
                assert other.status is not Status.COMPLETED
                assert one.kind == "workflow" or ended_in_silence
                continue
            assert (other.output, other.route) == (one.output, one.route)
            assert [asked(question) for question in other.questions] == [asked(question) for question in one.questions]

    run(test)


def is_below_code(path: str, runs: dict[str, NodeRun]) -> bool:
    """Say whether code started a run, or one above it, rather than a graph."""
    parents = [path[:end] for end, letter in enumerate(path) if letter == "/"]
    return any(runs[parent].kind != "workflow" for parent in parents)


def asked(question: Question) -> tuple[Any, ...]:
    """Return what a question and its answer say."""
    return (question.interrupt_id, question.message, question.response_schema, question.is_answered, question.answer)


@seed(2034)
@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(make=makers(TOLD_BY_EVENTS))
def test_a_run_goes_on_from_events_without_records(make: Maker) -> None:
    """A session cut anywhere, of plain events, comes to the same end, and what they tell isn't run again.

    In a loop, what was still on its way when events stop may meet later passes in another order.
    """

    async def test() -> None:
        await Uncut.of(make)  # of a size that can be cut everywhere
        whole = await Ending.of((await lived(make, Store())).talk)
        for cut in range(1, len(whole.events)):
            store = OnlyEvents()
            service = await store.open()
            lives = Lives(make, store)
            session = await service.create_session(app_name="app", user_id="u", session_id=lives.session_id)
            for event in whole.events[:cut]:
                await service.append_event(session, event.model_copy(deep=True))
            await lives.begin()
            assert await lives.live()
            told = {
                e.node_info.path for e in whole.events[:cut] if e.output is not None and not e.long_running_tool_ids
            }
            ending = await Ending.of(lives.talk)
            assert make.has_loop or of_graphs(ending, whole) == of_graphs(whole, whole)
            assert not told & set(lives.story.ran)

    run(test)


def of_graphs(ending: Ending, whole: Ending) -> dict[str, Any]:
    """Return what came of the runs that graphs started; what code gave to others isn't in events, nor are notes."""
    runs: dict[str, Any] = ending.compared()["runs"]
    return {path: one[:6] for path, one in runs.items() if not is_below_code(path, whole.records)}
