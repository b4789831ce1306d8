"""The cases on langgraph, with a checkpoint saver: what it needs in order to resume, as an ADK session can."""

from __future__ import annotations

import asyncio
import importlib
import operator
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from benchmarks.case import CONCURRENT_NODES, SLEEP_S, Case, Meeting, Outcome, Run
from benchmarks.langgraph_resumes import CASES as RESUMES


class Value(TypedDict):
    """State of the graphs in which one node runs at a time."""

    value: int


class Sum(TypedDict):
    """State of the graphs in which nodes run side by side: what they return is added up."""

    value: Annotated[int, operator.add]


async def add_one(state: Value) -> Value:
    """Count one node."""
    return {"value": state["value"] + 1}


async def one(state: Sum) -> Sum:
    """Return 1 whatever came in."""
    return {"value": 1}


async def sleep(state: Sum) -> Sum:
    """Wait as for a slow service, then return 1."""
    await asyncio.sleep(SLEEP_S)
    return {"value": 1}


async def joined(state: Sum) -> Sum:
    """Run after all branches, and add nothing."""
    return {"value": 0}


def thread_run(start: Callable[[Any, Any], Any], saver: Any, first_input: Any, size: int) -> Run:
    """Make the function that runs a compiled graph once, on a new thread of the saver."""

    async def run() -> Outcome:
        config = {"configurable": {"thread_id": str(uuid.uuid4())}, "recursion_limit": size + 10}
        result = await start(first_input, config)
        return Outcome(result["value"] if isinstance(result, dict) else result, saver)

    return run


def graph_run(graph: Any, size: int, saver: Any = None) -> Run:
    """Compile the graph and make the function that runs it once."""
    saver = saver if saver is not None else InMemorySaver()
    return thread_run(graph.compile(checkpointer=saver).ainvoke, saver, {"value": 0}, size)


def chain_graph(size: int, last: Any = add_one) -> Any:
    """Build a graph of `size` different nodes in a row."""
    graph: Any = StateGraph(Value)
    names = [f"n{index}" for index in range(size)]
    for name in names:
        graph.add_node(name, last if name == names[-1] else add_one)
    stops = [START, *names, END]
    for source, target in pairwise(stops):
        graph.add_edge(source, target)
    return graph


@asynccontextmanager
async def chain(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run `size` nodes one after the other."""
    yield graph_run(chain_graph(size), size)


@asynccontextmanager
async def sqlite_chain(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run `size` nodes one after the other, checkpoints kept in SQLite."""
    # Imported by the one case that needs it, so that the import row of the others doesn't pay for SQLite.
    saver_class = importlib.import_module("langgraph.checkpoint.sqlite.aio").AsyncSqliteSaver
    async with saver_class.from_conn_string(str(directory / "langgraph.db")) as saver:
        yield graph_run(chain_graph(size), size, saver)


@asynccontextmanager
async def loop(size: int, directory: Path) -> AsyncIterator[Run]:
    """Send one node back to itself until it has run `size` times."""

    def next_stop(state: Value) -> str:
        return "turn" if state["value"] < size else END

    graph: Any = StateGraph(Value)
    graph.add_node("turn", add_one)
    graph.add_edge(START, "turn")
    graph.add_conditional_edges("turn", next_stop, ["turn", END])
    yield graph_run(graph, size)


@asynccontextmanager
async def dynamic(size: int, directory: Path) -> AsyncIterator[Run]:
    """Let one entrypoint call a task `size` times, each call on the result of the one before."""
    # Imported by the one case that needs it, so that the import row of the others doesn't pay for it.
    functional = importlib.import_module("langgraph.func")
    saver = InMemorySaver()

    @functional.task  # type: ignore[untyped-decorator]
    async def child(value: int) -> int:
        return value + 1

    @functional.entrypoint(checkpointer=saver)  # type: ignore[untyped-decorator]
    async def parent(value: int) -> int:
        for _ in range(size):
            value = await child(value)
        return value

    yield thread_run(parent.ainvoke, saver, 0, size)


def fan_out_of(body: Any) -> Case:
    """Make the case that runs `size` nodes side by side and adds up what they return."""

    @asynccontextmanager
    async def fan_out(size: int, directory: Path) -> AsyncIterator[Run]:
        graph: Any = StateGraph(Sum)
        names = [f"n{index}" for index in range(size)]
        for name in names:
            graph.add_node(name, body)
            graph.add_edge(START, name)
        graph.add_node("joined", joined)
        graph.add_edge(names, "joined")
        graph.add_edge("joined", END)
        yield graph_run(graph, size)

    return fan_out


@asynccontextmanager
async def parallel(size: int, directory: Path) -> AsyncIterator[Run]:
    """Send each of `size` items to one node, and add up what it returns."""
    # Imported by the one case that needs it, so that the import row of the others doesn't pay for it.
    send = importlib.import_module("langgraph.types").Send

    def items(state: Sum) -> list[Any]:
        return [send("item", {"value": 1}) for _ in range(size)]

    graph: Any = StateGraph(Sum)
    graph.add_node("items", joined)
    graph.add_node("item", one)
    graph.add_node("joined", joined)
    graph.add_edge(START, "items")
    graph.add_conditional_edges("items", items, ["item"])
    graph.add_edge("item", "joined")
    graph.add_edge("joined", END)
    yield graph_run(graph, size)


@asynccontextmanager
async def concurrent(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run one chain of a few nodes so often that `size` nodes run; all runs are under way before the first ends."""
    meeting, saver = Meeting(size // CONCURRENT_NODES), InMemorySaver()

    async def together(state: Value) -> Value:
        await meeting.all_here()
        return {"value": state["value"] + 1}

    graph = chain_graph(CONCURRENT_NODES, together)
    chain = graph_run(graph, CONCURRENT_NODES, saver)

    async def run() -> Outcome:
        outcomes = await asyncio.gather(*[chain() for _ in range(meeting.size)])
        return Outcome(sum(outcome.output for outcome in outcomes), saver)

    yield run


CASES: dict[str, Case] = {
    "chain": chain,
    "loop": loop,
    "dynamic": dynamic,
    "fan_out": fan_out_of(one),
    "sleep_fan_out": fan_out_of(sleep),
    "parallel": parallel,
    "concurrent": concurrent,
    "sqlite_chain": sqlite_chain,
    **RESUMES,
}
