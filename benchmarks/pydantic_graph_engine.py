"""The cases on pydantic-graph's builder. It keeps no event log, and has neither `run_node` nor a durable store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic_graph import GraphBuilder, reduce_sum

from benchmarks.case import CONCURRENT_NODES, SLEEP_S, Case, Meeting, Outcome, Run


async def add_one(ctx: Any) -> int:
    """Count one node."""
    value: int = ctx.inputs
    return value + 1


async def one(ctx: Any) -> int:
    """Return 1 whatever came in."""
    return 1


async def sleep(ctx: Any) -> int:
    """Wait as for a slow service, then return 1."""
    await asyncio.sleep(SLEEP_S)
    return 1


def new_builder() -> Any:
    """Start a graph from int to int, without spans: the engine at its best."""
    return GraphBuilder(input_type=int, output_type=int, auto_instrument=False)


def graph_run(builder: Any) -> Run:
    """Build the graph and make the function that runs it once."""
    graph = builder.build()

    async def run() -> Outcome:
        return Outcome(await graph.run(inputs=0))

    return run


def chain_run(size: int, last: Any = add_one) -> Run:
    """Build a graph of `size` different steps in a row."""
    builder = new_builder()
    steps = [builder.step(add_one if index < size - 1 else last, node_id=f"n{index}") for index in range(size)]
    stops = [builder.start_node, *steps, builder.end_node]
    for source, target in pairwise(stops):
        builder.add_edge(source, target)
    return graph_run(builder)


@asynccontextmanager
async def chain(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run `size` nodes one after the other."""
    yield chain_run(size)


@asynccontextmanager
async def concurrent(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run one chain of a few nodes so often that `size` nodes run; all runs are under way before the first ends."""
    meeting = Meeting(size // CONCURRENT_NODES)

    async def add_one_together(ctx: Any) -> int:
        await meeting.all_here()
        value: int = ctx.inputs
        return value + 1

    chain = chain_run(CONCURRENT_NODES, add_one_together)

    async def run() -> Outcome:
        outcomes = await asyncio.gather(*[chain() for _ in range(meeting.size)])
        return Outcome(sum(outcome.output for outcome in outcomes), outcomes)

    yield run


@asynccontextmanager
async def parallel(size: int, directory: Path) -> AsyncIterator[Run]:
    """Run one step for each of `size` items, and add up what they return."""
    builder = new_builder()

    async def items(ctx: Any) -> list[int]:
        return [1] * size

    first = builder.step(items, node_id="items")
    item = builder.step(one, node_id="item")
    join = builder.join(reduce_sum, initial=0)
    builder.add(
        builder.edge_from(builder.start_node).to(first),
        builder.edge_from(first).map().to(item),
        builder.edge_from(item).to(join),
        builder.edge_from(join).to(builder.end_node),
    )
    yield graph_run(builder)


@asynccontextmanager
async def loop(size: int, directory: Path) -> AsyncIterator[Run]:
    """Send one node back to itself until it has run `size` times."""
    builder = new_builder()
    turn = builder.step(add_one, node_id="turn")
    again = builder.match(int, matches=lambda value: value < size).to(turn)
    done = builder.match(int, matches=lambda value: value >= size).to(builder.end_node)
    builder.add(
        builder.edge_from(builder.start_node).to(turn),
        builder.edge_from(turn).to(builder.decision().branch(again).branch(done)),
    )
    yield graph_run(builder)


def fan_out_of(body: Any) -> Case:
    """Make the case that runs `size` nodes side by side and adds up what they return."""

    @asynccontextmanager
    async def fan_out(size: int, directory: Path) -> AsyncIterator[Run]:
        builder = new_builder()
        steps = [builder.step(body, node_id=f"n{index}") for index in range(size)]
        join = builder.join(reduce_sum, initial=0)
        builder.add(
            builder.edge_from(builder.start_node).to(*steps),
            builder.edge_from(*steps).to(join),
            builder.edge_from(join).to(builder.end_node),
        )
        yield graph_run(builder)

    return fan_out


CASES: dict[str, Case] = {
    "chain": chain,
    "loop": loop,
    "fan_out": fan_out_of(one),
    "parallel": parallel,
    "concurrent": concurrent,
    "sleep_fan_out": fan_out_of(sleep),
}
