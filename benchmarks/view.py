"""What an open view costs the run that it shows: `python -m benchmarks.view`.

The page is a stand-in that asks for a snapshot when it is shown, as a page does, and takes what is sent; the slow one
never says anything. Each line is the median of several runs, with and without a view in turn.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import comm
from comm.base_comm import BaseComm

from adk_nb import events
from adk_nb.notebook.drawing.graph_view import draw_graph
from adk_nb.notebook.running.starts import run
from adk_nb.notebook.view import run_view
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.description import EdgeDescription, GraphDescription, NodeDescription

Event: Any = events.Event
EVENTS = 1_000
TURNS = 9
ADDED, MESSAGES_S, MEGABYTES = 0.10, 10.0, 0.3
PAINT_MS, GRAPH_S, GRAPH_KB = 150.0, 0.5, 400.0

displayed: list[float] = []
sent: list[int] = []
around: list[int] = []
"""Sizes of what opens and closes the line, the script among it."""
comms: list[Any] = []
ASK: Any = {"content": {"data": {"method": "custom", "content": {"kind": "snapshot"}}}, "buffers": []}


class _Comm(BaseComm):
    """Takes what a widget sends."""

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:
        """Count a message and its size."""
        if msg_type == "comm_open":
            comms.append(self)
        opened_or_said = msg_type != "comm_msg" or (data or {}).get("method") != "custom"
        (around if opened_or_said else sent).append(len(json.dumps(data)))


def _display(*_: Any, **__: Any) -> None:
    displayed.append(time.perf_counter())


def _stand_in() -> None:
    comm.create_comm = _Comm
    target: Any = run_view
    target.front_end = lambda: "live"
    target.display = target.update_display = _display


def loop(passes: int, pause_s: float) -> Workflow:
    """Return a loop of four nodes, each of which writes one event in each pass and takes a moment, as a model would."""
    left = [passes]

    async def work(node_input: Any) -> Any:
        await asyncio.sleep(pause_s)
        return Event(output=left[0], message=f"pass {left[0]}")

    async def decide(node_input: Any) -> Any:
        await asyncio.sleep(pause_s)
        left[0] -= 1
        if left[0] <= 0:
            left[0] = passes
            return Event(output=0, route="done")
        return Event(output=left[0], route="again")

    first, second, third = (node(work, name=name) for name in ("draft", "check", "polish"))
    end = node(lambda node_input: "done", name="end")
    return Workflow(name="loop", edges=[("START", first, second, third, decide, {"again": first, "done": end})])


def chain(count: int, pause_s: float) -> Workflow:
    """Return a chain of nodes, each of which writes one event; the middle ones take a moment, as a model would."""

    def made(number: int) -> Any:
        async def step(node_input: Any) -> Any:
            if pause_s:
                await asyncio.sleep(pause_s)
            return Event(output=number, message=f"line {number}")

        step.__name__ = f"step_{number}"
        return step

    return Workflow(name="chain", edges=[("START", *map(made, range(count)))])


async def once(root: Any, *, is_shown: bool, is_deaf: bool = False) -> tuple[float, float, float]:
    """Run once; return CPU seconds in all, the run's own seconds on the clock, and seconds until the first display."""
    displayed.clear()
    sent.clear()
    around.clear()
    began, cpu = time.perf_counter(), time.process_time()
    made = run(root, "x", sessions="memory", view=False)
    if is_shown:
        made.view()
        if not is_deaf:
            comms[-1].handle_msg(ASK)
    painted = displayed[0] - began if displayed else 0.0
    await made
    if made.status != "completed":
        raise SystemExit(f"the run is {made.status}: {made.error}")
    root_run = next(iter(made.history.records.values()))
    own = (root_run.ended_at or 0.0) - (root_run.started_at or 0.0)
    return time.process_time() - cpu, own, painted


def added_time() -> list[tuple[str, float, float]]:
    """Measure what a view adds to a run in a loop of four nodes that take a millisecond each, and what it sends."""
    bare, watched, rates, sizes, paints = [], [], [], [], []
    small, root = chain(20, 0.001), loop(EVENTS // 4, 0.001)
    for _ in range(TURNS):
        bare.append(asyncio.run(once(root, is_shown=False))[1])
        shown = asyncio.run(once(root, is_shown=True))
        watched.append(shown[1])
        rates.append(len(sent) / shown[1])
        sizes.append((sum(sent) + sum(around)) / 1e6)
        paints.append(1000 * asyncio.run(once(small, is_shown=True))[2])
    more = statistics.median(watched) / statistics.median(bare) - 1
    return [
        (f"time added to a run of {EVENTS:,} events, share", more, ADDED),
        ("messages a second", statistics.median(rates), MESSAGES_S),
        ("megabytes sent, the script included", statistics.median(sizes), MEGABYTES),
        ("first display after run, 20 nodes, ms", statistics.median(paints), PAINT_MS),
    ]


def cpu_of_a_fast_run() -> list[tuple[str, float, float | None]]:
    """Measure the CPU of a run that does nothing but hand on, with a view and without one."""
    root = chain(200, 0.0)
    bare, watched = [], []
    for _ in range(TURNS):
        bare.append(asyncio.run(once(root, is_shown=False))[0])
        watched.append(asyncio.run(once(root, is_shown=True))[0])
    more = statistics.median(watched) - statistics.median(bare)
    return [("CPU ms that a view takes in all, 200 nodes at once (graph, fold, saved copy)", 1000 * more, None)]


def slow_page() -> list[tuple[str, float, float | None]]:
    """Measure a run of 100,000 events beside a page that never answers."""

    async def talk(node_input: str) -> Any:
        for number in range(100_000):
            yield Event(message=f"line {number}")
            if number % 100 == 0:
                await asyncio.sleep(0)

    bare = asyncio.run(once(talk, is_shown=False))[0]
    watched = asyncio.run(once(talk, is_shown=True, is_deaf=True))[0]
    return [
        ("100,000 events, a page that never answers: CPU over the run's own, share", watched / bare - 1, None),
        ("the same: megabytes sent", sum(sent) / 1e6, None),
    ]


def large_graph() -> list[tuple[str, float, float]]:
    """Measure the drawing of 200 nodes."""
    nodes = tuple(NodeDescription(f"n{number}", "function") for number in range(200))
    edges = tuple(
        EdgeDescription(f"n{number}", f"n{min(number + step, 199)}") for number in range(199) for step in (1, 7)
    )
    began = time.perf_counter()
    drawing = draw_graph(GraphDescription("large", nodes=nodes, edges=edges))
    took = time.perf_counter() - began
    return [("a graph of 200 nodes, s", took, GRAPH_S), ("the same, kB of SVG", len(drawing.svg) / 1000, GRAPH_KB)]


def main() -> None:
    """Print a line each, and end with 1 if one is over its limit."""
    _stand_in()
    asyncio.run(once(chain(5, 0.0), is_shown=True))  # imports, and the first start of `dot`
    measures: list[Callable[[], Any]] = [added_time, cpu_of_a_fast_run, slow_page, large_graph]
    is_over = False
    for measure in measures:
        for what, value, limit in measure():
            verdict = "" if limit is None else f"  (limit {limit:g}: {'kept' if value <= limit else 'NOT KEPT'})"
            print(f"{what:82} {value:10.3f}{verdict}")
            is_over |= limit is not None and value > limit
    sys.exit(is_over)


if __name__ == "__main__":
    main()
