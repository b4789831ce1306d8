"""Whatever can be stored comes back the same from every store."""

from __future__ import annotations

import asyncio
import copy
import datetime as dt
from typing import Any

import pytest
from google.genai import types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adk_nb.events import Attempt, Event, EventActions, NodeInfo, NodeRun, Question, Status
from adk_nb.events.values import snapshot
from adk_nb.sessions import BaseSessionService, InMemorySessionService, SqliteSessionService
from adk_nb.testing.samples import APP, assert_same, assert_same_record

texts = st.text(st.characters(codec="utf-8"), max_size=20)
numbers = st.one_of(st.integers(), st.integers(-(2**200), 2**200), st.floats(allow_nan=False))
plain = st.one_of(st.none(), st.booleans(), numbers, texts)
keys = st.one_of(texts, st.integers(), st.dates(), st.tuples(st.integers(), texts))
exact = st.one_of(
    plain,
    st.dates(),
    st.datetimes(timezones=st.one_of(st.none(), st.just(dt.UTC))),
    st.times(),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.uuids(),
    st.binary(max_size=20),
    st.complex_numbers(allow_nan=False),
)
hashable = st.one_of(texts, st.integers(), st.dates(), st.binary(max_size=5))
values = st.recursive(
    exact,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(keys, inner, max_size=3),
        st.dictionaries(st.sampled_from(["$adk_nb", "v", "tuple"]), inner, max_size=3),
        st.sets(hashable, max_size=3),
        st.frozensets(hashable, max_size=3),
    ),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=3)
state_keys = st.one_of(texts, texts.map("app:{}".format), texts.map("user:{}".format)).filter(
    lambda key: not key.startswith("temp:")
)
parts = st.one_of(
    st.builds(types.Part, text=texts),
    st.builds(types.Part, function_call=st.builds(types.FunctionCall, id=texts, name=texts, args=objects)),
    st.builds(types.Part, function_response=st.builds(types.FunctionResponse, id=texts, name=texts, response=objects)),
    st.builds(types.Part, inline_data=st.builds(types.Blob, data=st.binary(max_size=9), mime_type=st.just("x/y"))),
)
times = st.floats(0, 4e9)
events = st.builds(
    Event,
    author=texts,
    invocation_id=texts,
    content=st.none() | st.builds(types.Content, role=texts, parts=st.lists(parts, max_size=3)),
    output=values,
    branch=st.none() | texts,
    timestamp=times,
    long_running_tool_ids=st.none() | st.sets(texts, max_size=3),
    custom_metadata=st.none() | objects,
    error_message=st.none() | texts,
    actions=st.builds(
        EventActions,
        state_delta=st.dictionaries(state_keys, values, max_size=3),
        route=st.one_of(st.none(), st.booleans(), st.integers(-9, 9), texts, st.lists(texts, max_size=2)),
        agent_state=st.none() | objects,
    ),
    node_info=st.builds(NodeInfo, path=texts, output_for=st.none() | st.lists(texts, max_size=2)),
)
runs = st.builds(
    NodeRun,
    path=texts,
    name=texts,
    run_id=texts,
    parent=texts,
    invocation_id=texts,
    status=st.sampled_from(Status),
    input=values,
    output=values,
    route=st.one_of(st.none(), texts, st.lists(st.one_of(texts, st.booleans(), st.integers()), max_size=2)),
    branch=st.none() | texts,
    sources=st.lists(texts, max_size=2).map(tuple),
    created_at=times,
    started_at=st.none() | times,
    attempts=st.lists(
        st.builds(Attempt, times, st.none() | times, st.none() | texts, st.none() | texts, st.none() | times),
        max_size=2,
    ).map(tuple),
    questions=st.lists(
        st.builds(Question, texts, st.none() | texts, values, is_answered=st.booleans(), answer=values), max_size=2
    ).map(tuple),
    open_below=st.lists(texts, max_size=2).map(tuple),
    held_for=st.lists(texts, max_size=2).map(tuple),
    error_message=st.none() | texts,
    notes=st.lists(texts, max_size=2).map(tuple),
)
services = pytest.mark.parametrize(
    "make", [InMemorySessionService, lambda: SqliteSessionService(":memory:")], ids=["memory", "sqlite"]
)
thorough = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@services
@thorough
@given(st.lists(events, max_size=3))
def test_events_come_back_the_same(make: Any, written: list[Event]) -> None:
    """Events, their values and the state they leave come back equal and of the same types."""
    before = copy.deepcopy(written)

    async def steps() -> None:
        service: BaseSessionService
        async with make() as service:
            session = await service.create_session(**APP, session_id="s")
            for event in written:
                await service.append_event(session, event)
            found = await service.get_session(**APP, session_id="s")
            assert found is not None
            assert len(found.events) == len(before)
            state: dict[str, Any] = {}
            for one, other in zip(found.events, before, strict=True):
                assert one == other
                assert_same(one.output, other.output)
                assert_same(one.actions.state_delta, other.actions.state_delta)
                assert_same(one.custom_metadata, other.custom_metadata)
                state |= other.actions.state_delta
            assert_same(dict(sorted(found.state.items())), dict(sorted(state.items())))
            assert_same(dict(sorted(session.state.items())), dict(sorted(state.items())))

    asyncio.run(steps())


@services
@thorough
@given(st.lists(runs, max_size=4, unique_by=lambda run: (run.invocation_id, run.path)))
def test_records_come_back_the_same(make: Any, written: list[NodeRun]) -> None:
    """Records come back equal, their values of the same types, by path."""
    before = copy.deepcopy(written)

    async def steps() -> None:
        async with make() as service:
            log = service.open_log(await service.create_session(**APP))
            await log.append(None, written)
            for run in before:
                found = await log.run_at(run.invocation_id, run.path)
                assert_same_record(found, run)

    asyncio.run(steps())


names = st.sampled_from(["a", "b", "c"])
changes = st.lists(
    st.tuples(
        st.sampled_from(["e-1", "e-2"]),
        st.sampled_from(["", "wf@1"]),
        names,
        st.integers(1, 3),
        st.sampled_from([Status.RUNNING, Status.COMPLETED, Status.COMPLETED, Status.FAILED]),
        st.sets(st.sampled_from(["q1", "q2"])),
        st.booleans(),
    ),
    max_size=25,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(changes, max_size=6))
def test_both_stores_answer_alike(appends: list[list[Any]]) -> None:
    """After any sequence of appends both stores give the same answers to every question of the engine."""

    async def answers(service: Any) -> list[Any]:
        async with service:
            log = service.open_log(await service.create_session(**APP))
            for appended in appends:
                await log.append(None, [run_of(*change) for change in appended])
            found: list[Any] = [await log.root_run(), await log.asking_run("q1"), await log.asking_run("q2")]
            for invocation_id in ("e-1", "e-2", "e-3"):
                found += [await log.root_run(invocation_id), await log.open_runs(invocation_id)]
                for parent in ("", "wf@1"):
                    found += [await log.latest_runs(invocation_id, parent), await log.child_runs(invocation_id, parent)]
            return found

    def run_of(
        invocation_id: str, parent: str, name: str, run_id: int, status: Status, asked: set[str], is_held: bool
    ) -> NodeRun:
        path = f"{parent}/{name}@{run_id}"
        run = NodeRun(path, name, str(run_id), parent, invocation_id, status)
        run.questions = tuple(Question(interrupt_id) for interrupt_id in sorted(asked))
        run.held_for = ("join",) if is_held else ()
        return run

    in_memory = asyncio.run(answers(InMemorySessionService()))
    in_file = asyncio.run(answers(SqliteSessionService(":memory:")))
    assert in_memory == in_file


@given(values)
def test_snapshots_are_stored_as_they_are(value: Any) -> None:
    """A snapshot is equal to what it was made of, types included."""
    assert_same(snapshot(value), value)
