"""Runs on a store that offers only ADK's interface, cut at every append: what holds for any store holds there."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import Any

from hypothesis import given, seed, settings

from adk_nb.events import Event
from adk_nb.events.record import NodeRun, Question, Status
from adk_nb.sessions import Session
from adk_nb.workflow.replay import replay
from tests.sessions.plain_store import PlainStore
from tests.workflow.driving import Conversation, run
from tests.workflow.test_resume import EXAMPLES, KilledError, World, check_events, finish, makers, outcome, whole

CUTS = Counter[str]()


class MortalStore(PlainStore):
    """A plain store whose process dies at an append."""

    left = 1_000_000
    """Appends until then."""
    remains: PlainStore | None = None
    """What is left after that."""

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event, or die."""
        if self.left == 0:
            if self.remains is None:
                self.remains = PlainStore()
                self.remains.texts, self.remains.shared = dict(self.texts), dict(self.shared)
            raise KilledError
        self.left -= 1
        return await super().append_event(session, event)


async def uncut(make: Any) -> tuple[dict[str, Any], int, dict[str, Any]]:
    """Run in memory and on a plain store; return the outcome, the number of appends, and the state of the latter."""
    expected, _, _, expected_state = await whole(make)
    talk = Conversation(make([World()]), PlainStore())
    await talk.say()
    await finish(talk)
    records, state = await talk.records(), await talk.state()
    await check_events(talk, records)
    assert make.is_racy or (outcome(records), state) == (expected, expected_state)
    return outcome(records), talk.service.appends, state


@seed(2031)
@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(make=makers())
def test_a_run_killed_at_any_append_comes_to_the_same_end(make: Any) -> None:
    """Lose the process at any append, in any turn: the rest comes out the same, what was finished isn't repeated."""

    async def test() -> None:
        expected, appends, state = await uncut(make)
        for cut in range(1, appends):
            store = MortalStore()
            store.left = cut
            with contextlib.suppress(ValueError, KilledError):
                talk = Conversation(make([World()]), store)
                await talk.say()
                await finish(talk)
            assert store.remains is not None
            world = World()
            talk = Conversation(make([world]), store.remains)
            finished = {path for path, one in (await talk.records()).items() if one.status is Status.COMPLETED}
            await finish(talk)
            records = await talk.records()
            assert make.is_racy or outcome(records) == expected
            assert make.is_racy or await talk.state() == state
            assert not finished & set(world.ran)
            await check_events(talk, records)
            CUTS["append"] += 1

    run(test)


@seed(2032)
@settings(max_examples=EXAMPLES, deadline=None)
@given(make=makers())
def test_records_in_events_are_the_live_ones(make: Any) -> None:
    """At the end of each turn the records in a plain store's events are what the run reported, in every field."""

    async def test() -> None:
        talk = Conversation(make([World()]), PlainStore())
        live: dict[str, NodeRun] = {}
        talk.on_run = lambda one: live.update({one.path: one})
        with contextlib.suppress(ValueError):
            await talk.say()
            await finish(talk)
        assert await talk.records() == live

    run(test)


@seed(2033)
@settings(max_examples=EXAMPLES, deadline=None)
@given(make=makers())
def test_records_worked_out_from_events_are_the_live_ones(make: Any) -> None:
    """Events that carry no records tell what ran, why, on which branch, what it gave and asked; never what didn't run.

    What they can't tell: whether a run has ended that said nothing and led to nothing that did, and the edges of graphs
    that code started.
    """

    async def test() -> None:
        talk = Conversation(make([World()]))
        with contextlib.suppress(ValueError):
            await talk.say()
            await finish(talk)
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
@given(make=makers())
def test_a_run_goes_on_from_events_without_records(make: Any) -> None:
    """A session cut anywhere, of plain events, comes to the same end, and what they tell isn't run again."""

    async def test() -> None:
        await whole(make)  # of a size that can be cut everywhere
        talk = Conversation(make([World()]))
        with contextlib.suppress(ValueError):
            await talk.say()
            await finish(talk)
        events, live = await talk.stored(), await talk.records()
        for cut in range(1, len(events)):
            store = PlainStore()
            session = await store.create_session(app_name="app", user_id="u", session_id="s")
            for event in events[:cut]:
                await store.append_event(session, event.model_copy(deep=True))
            world = World()
            talk = Conversation(make([world]), store)
            told = {e.node_info.path for e in events[:cut] if e.output is not None and not e.long_running_tool_ids}
            if (await talk.root()).status is Status.FAILED:  # cut between two tries
                await talk.go_on()
            await finish(talk)
            assert make.is_racy or of_graphs(await talk.records(), live) == of_graphs(live, live)
            assert not told & set(world.ran)
            CUTS["told"] += 1

    run(test)


def of_graphs(records: dict[str, NodeRun], live: dict[str, NodeRun]) -> dict[str, Any]:
    """Return the outcome of the runs that graphs started; what code gave to others isn't in events."""
    return {path: one for path, one in outcome(records).items() if not is_below_code(path, live)}
