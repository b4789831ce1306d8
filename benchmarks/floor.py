"""The least that an engine with an event log can do: no graph, no decisions, no session, only the unavoidable work.

In memory that is, for every node, one asyncio task, one pydantic event with an id of its own, and one hand-off
to a consumer that acknowledges it. On SQLite it is one pydantic event, turned into JSON and committed.
"""

from __future__ import annotations

import asyncio
import importlib
import sqlite3
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from benchmarks.case import CONCURRENT_NODES, SLEEP_S, Case, Meeting, Outcome, Run


class NodeInfo(BaseModel):
    """Where in the tree the event happened."""

    path: str


class Event(BaseModel):
    """An event with the fields any log of node runs needs."""

    id: str = Field(default_factory=lambda: str(uuid.uuid4()))
    invocation_id: str
    author: str
    timestamp: float = Field(default_factory=time.time)
    node_info: NodeInfo
    output: Any = None


def event_of(index: int, output: Any) -> Event:
    """Make the event that node number `index` leaves behind."""
    return Event(
        invocation_id="invocation", author="chain", node_info=NodeInfo(path=f"chain@1/n{index}@1"), output=output
    )


class Log:
    """A consumer task that keeps each event and acknowledges it, as a session writer would."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._queue: asyncio.Queue[tuple[Event, asyncio.Future[None]] | None] = asyncio.Queue()
        self._consumer = asyncio.create_task(self._consume())

    async def _consume(self) -> None:
        while (item := await self._queue.get()) is not None:
            event, acknowledged = item
            self.events.append(event)
            acknowledged.set_result(None)

    async def append(self, event: Event) -> None:
        """Hand over one event and wait until it is acknowledged."""
        acknowledged = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((event, acknowledged))
        await acknowledged

    async def close(self) -> None:
        """End the consumer."""
        self._queue.put_nowait(None)
        await self._consumer


async def add_one(value: int) -> int:
    """Stand for a node's own code."""
    return value + 1


async def one(_: int) -> int:
    """Stand for a node that doesn't look at its input."""
    return 1


async def sleep(_: int) -> int:
    """Stand for a node that waits for something outside."""
    await asyncio.sleep(SLEEP_S)
    return 1


@asynccontextmanager
async def chain(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run `size` nodes one after the other."""

    async def run() -> Outcome:
        log = Log()
        value = 0
        for index in range(size):
            value = await asyncio.create_task(add_one(value))
            await log.append(event_of(index, value))
        await log.close()
        return Outcome(value, log)

    yield run


def fan_out_of(body: Callable[[int], Awaitable[int]]) -> Case:
    """Make the case that runs `size` nodes side by side and adds up what they return."""

    @asynccontextmanager
    async def fan_out(size: int, directory: Path) -> AsyncIterator[Run]:
        async def run() -> Outcome:
            log = Log()

            async def branch(index: int) -> int:
                value = await body(index)
                await log.append(event_of(index, value))
                return value

            values: Iterable[int] = await asyncio.gather(*(branch(index) for index in range(size)))
            await log.close()
            return Outcome(sum(values), log)

        yield run

    return fan_out


@asynccontextmanager
async def concurrent(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run one chain of a few nodes so often that `size` nodes run; all runs are under way before the first ends."""
    meeting = Meeting(size // CONCURRENT_NODES)

    async def one_chain() -> tuple[int, Log]:
        log, value = Log(), 0
        for index in range(CONCURRENT_NODES):
            value = await asyncio.create_task(add_one(value))
            if index == CONCURRENT_NODES - 1:
                await meeting.all_here()
            await log.append(event_of(index, value))
        await log.close()
        return value, log

    async def run() -> Outcome:
        ends = await asyncio.gather(*[one_chain() for _ in range(meeting.size)])
        return Outcome(sum(value for value, _ in ends), ends)

    yield run


@asynccontextmanager
async def sqlite_chain(size: int, directory: Path) -> AsyncIterator[Run]:
    """Commit `size` events one after the other, on one connection in WAL mode."""
    with closing(sqlite3.connect(directory / "floor.db")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, data TEXT NOT NULL)")

        async def run() -> Outcome:
            value = 0
            for index in range(size):
                value = await add_one(value)
                event = event_of(index, value)
                with connection:
                    connection.execute("INSERT INTO events VALUES (?, ?)", (event.id, event.model_dump_json()))
            return Outcome(value)

        yield run


@asynccontextmanager
async def genai_import(size: int, directory: Path) -> AsyncIterator[Run]:
    """Import google-genai's content types, which every message of an ADK workflow is made of."""

    async def run() -> Outcome:
        # Inside the case, because loading it is what this case measures.
        types = importlib.import_module("google.genai.types")
        return Outcome(len(types.Content(role="user", parts=[types.Part(text="go")]).parts))

    yield run


CASES: dict[str, Case] = {
    "chain": chain,
    "loop": chain,
    "dynamic": chain,
    "fan_out": fan_out_of(one),
    "parallel": fan_out_of(one),
    "concurrent": concurrent,
    "sleep_fan_out": fan_out_of(sleep),
    "sqlite_chain": sqlite_chain,
    "genai_import": genai_import,
}
