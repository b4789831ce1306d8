"""The cases on langgraph in which a run is answered and goes on: only that turn counts."""

from __future__ import annotations

import importlib
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from benchmarks.case import Case, Outcome, Resumable


class Value(TypedDict):
    """The state."""

    value: int


class Calls:
    """Counts the calls of what ends before the question, in this process."""

    def __init__(self) -> None:
        self.count = 0


def resumable(start: Callable[[Any, Any], Any], calls: Calls, first_input: Any, size: int) -> Resumable:
    """Make the two parts of a run that asks once after `size` steps."""

    def config_of(thread_id: str) -> Any:
        return {"configurable": {"thread_id": thread_id}, "recursion_limit": size + 10}

    async def begin() -> str:
        thread_id, calls.count = str(uuid.uuid4()), 0
        await start(first_input, config_of(thread_id))
        if calls.count != size:
            raise RuntimeError(f"{size} steps were expected before the question, {calls.count} came")
        return thread_id

    async def go_on(thread_id: str) -> Outcome:
        before = calls.count
        result = await start(Command(resume="yes"), config_of(thread_id))
        if calls.count != before:
            raise RuntimeError(f"{calls.count - before} finished steps ran again")
        return Outcome(result["value"] if isinstance(result, dict) else result)

    return Resumable(begin, go_on)


def paused_loop(size: int, saver: Any) -> Resumable:
    """Build a graph in which one node runs `size` times, and the one after it asks."""
    calls = Calls()

    async def turn(state: Value) -> Value:
        calls.count += 1
        return {"value": state["value"] + 1}

    async def ask(state: Value) -> Value:
        interrupt("Go on?")
        return {"value": state["value"]}

    def next_stop(state: Value) -> str:
        return "turn" if state["value"] < size else "ask"

    graph: Any = StateGraph(Value)
    graph.add_node("turn", turn)
    graph.add_node("ask", ask)
    graph.add_edge(START, "turn")
    graph.add_conditional_edges("turn", next_stop, ["turn", "ask"])
    graph.add_edge("ask", END)
    return resumable(graph.compile(checkpointer=saver).ainvoke, calls, {"value": 0}, size)


def replaying(size: int, saver: Any) -> Resumable:
    """Build an entrypoint that calls `size` tasks, asks, and calls them again after the answer."""
    # Imported by the cases that need it, so that the import row of the others doesn't pay for it.
    functional = importlib.import_module("langgraph.func")
    calls = Calls()

    @functional.task  # type: ignore[untyped-decorator]
    async def child(value: int) -> int:
        calls.count += 1
        return value + 1

    @functional.entrypoint(checkpointer=saver)  # type: ignore[untyped-decorator]
    async def parent(value: int) -> int:
        for _ in range(size):
            value = await child(value)
        interrupt("Go on?")
        return value

    return resumable(parent.ainvoke, calls, 0, size)


def in_memory(build: Callable[[int, Any], Resumable]) -> Case:
    """Make the case that answers a run of which `size` steps have finished."""

    @asynccontextmanager
    async def case(size: int, directory: Path) -> AsyncIterator[Resumable]:
        yield build(size, InMemorySaver())

    return case


def on_sqlite(build: Callable[[int, Any], Resumable]) -> Case:
    """Make the case that answers a run of which `size` steps have finished, checkpoints kept in SQLite."""

    @asynccontextmanager
    async def case(size: int, directory: Path) -> AsyncIterator[Resumable]:
        # Imported by the cases that need it, so that the import row doesn't pay for SQLite.
        saver_class = importlib.import_module("langgraph.checkpoint.sqlite.aio").AsyncSqliteSaver
        async with saver_class.from_conn_string(str(directory / "langgraph.db")) as saver:
            yield build(size, saver)

    return case


CASES: dict[str, Case] = {
    "resume": in_memory(paused_loop),
    "sqlite_resume": on_sqlite(paused_loop),
    "replay": in_memory(replaying),
    "sqlite_replay": on_sqlite(replaying),
}
