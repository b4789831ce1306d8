"""What resuming costs, counted in steps: it must not grow with what is finished."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from adk_nb.events import Event, Question, Status
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing.samples import APP, record


async def finished_runs(service: Any, count: int) -> None:
    """Store a run with many finished nodes, of ten names in a loop, one waiting and one open below."""
    session = await service.create_session(**APP, session_id="s")
    log = service.open_log(session)
    await log.append(None, [record("wf", parent="", status=Status.WAITING)])
    for i in range(count):
        run = record(f"n{i % 10}", str(i), status=Status.COMPLETED)
        await log.append(Event(author="wf", output=i, invocation_id="e-1"), [run])
    await log.append(None, [record("ask", status=Status.WAITING, questions=(Question("q"),))])


async def resume(service: Any) -> None:
    """Read what the engine needs to go on."""
    session = await service.get_session(**APP, session_id="s")
    log = service.open_log(session)
    root = await log.root_run()
    asking = await log.asking_run("q")
    assert asking is not None
    assert asking.name == "ask"
    assert await log.run_at("e-1", "wf@1/n3@3") is not None
    assert [run.name for run in await log.open_runs(root.invocation_id)] == ["wf", "ask"]
    assert len(await log.latest_runs(root.invocation_id, root.path)) == 10
    await log.append(Event(author="wf", output="go on"), [asking])


async def calls_of(steps: Awaitable[None]) -> int:
    """Count the Python functions that are called."""
    count = 0

    def counted(frame: Any, kind: str, argument: Any) -> None:
        nonlocal count
        count += kind == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        await steps
    finally:
        sys.setprofile(before)
    return count


def instructions_of(service: Any) -> Callable[[], int]:
    """Return a counter of the instructions that SQLite executes from now on."""
    # The count is SQLite's own, and only the connection that works has it.
    connection = service._connection._connection()
    count = 0

    def counted() -> int:
        nonlocal count
        count += 1
        return 0

    connection.set_progress_handler(counted, 1)
    return lambda: count


@pytest.mark.parametrize("make", [InMemorySessionService, lambda: SqliteSessionService(":memory:")])
def test_resuming_costs_the_same_after_many_runs(make: Any) -> None:
    """Finding what is open, last, asked and root takes as many calls and instructions after 1,500 runs as after 50."""

    async def cost(count: int) -> tuple[int, int]:
        async with make() as service:
            await finished_runs(service, count)
            await resume(service)
            instructions = instructions_of(service) if isinstance(service, SqliteSessionService) else lambda: 0
            calls = await calls_of(resume(service))
            return calls, instructions()

    few, many = asyncio.run(cost(50)), asyncio.run(cost(1500))
    assert many[0] <= few[0] * 1.1
    assert many[1] <= few[1] * 1.1


def test_events_are_read_once_and_when_asked_for() -> None:
    """Opening a session in a file reads no event; later sessions share those that were read."""

    async def steps() -> None:
        async with SqliteSessionService(":memory:") as service:
            await finished_runs(service, 300)
            few = await calls_of(resume(service))
            session = await service.get_session(**APP, session_id="s")
            assert session is not None
            events = session.events
            assert len(events) == 301
            again = await service.get_session(**APP, session_id="s")
            assert again is not None
            assert all(one is other for one, other in zip(again.events, events, strict=True))
            assert few < 600

    asyncio.run(steps())
