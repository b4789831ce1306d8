"""The process that measures one cell: `python -m benchmarks.worker ENGINE ROW` prints the cell as JSON.

`benchmarks.run` starts one of these for each cell, so that no engine's heap, caches or failure touches another's.
"""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import importlib
import importlib.metadata
import json
import logging
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.case import SLEEP_S, Case, Resumable, Run
from benchmarks.cells import Cell, Status
from benchmarks.engines import ENGINES_BY_NAME, Engine
from benchmarks.rows import ROWS_BY_NAME, Row

RUNS = 5
SHORT_RUNS = 25
SHORT_S = 0.3
"""Five runs are enough if they used this many CPU seconds together; up to 25 are taken if they didn't."""
NEW_PROCESSES = 5
"""So many new processes are enough: each of them imports its engine first."""
RUN_LIMIT_S = 20.0
"""CPU seconds after which a run is given up."""
BEGIN_LIMIT_S = 90.0
"""CPU seconds after which the part of a run that isn't measured is given up."""
ENOUGH_S = 4.0
"""No further run is started once the runs have used this many CPU seconds."""
WATCH_S = 0.5
WARM_UP_SIZE = 100


class WrongOutputError(Exception):
    """A case ran but came to another result than it must, so its time means nothing."""


async def checked(run: Run, size: int) -> object:
    """Run once, check the output, and hand back what holds the run's history."""
    outcome = await run()
    if outcome.output != size:
        raise WrongOutputError(f"output {size} was expected, {outcome.output!r} came")
    return outcome.held


def per_node_us(cpu_s: float, row: Row) -> float:
    """Turn the CPU seconds of a run into microseconds a node."""
    return cpu_s * 1e6 / row.size


@contextmanager
def limited(engine: Engine, limit_s: float, cell: Cell) -> Iterator[None]:
    """End the process with `cell` once the block has used so much CPU, whatever the engine is doing.

    A thread looks at the clock: a CPU interval timer would make Linux update the very clock that is read here only
    at its ticks, which loses runs of a few milliseconds.
    """
    started_s = time.process_time()
    finished = threading.Event()

    def watch() -> None:
        while not finished.wait(WATCH_S):
            if time.process_time() - started_s > limit_s:
                print_cell(engine, cell)
                sys.stdout.flush()
                os._exit(0)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()


def run_limit(row: Row) -> Cell:
    """Make the cell of a run that is given up: what it had used by then is a lower bound."""
    bound = {"cpu_per_node": per_node_us(RUN_LIMIT_S, row), "cpu": RUN_LIMIT_S * 1e3}.get(row.measure)
    return Cell(Status.OVER_LIMIT, value=bound, detail=f"stopped after {RUN_LIMIT_S:.0f} s of CPU")


async def begin(engine: Engine, work: Resumable) -> str:
    """Run the part that isn't measured, and return the id of the session that waits."""
    detail = f"what has to run before wasn't done after {BEGIN_LIMIT_S:.0f} s of CPU"
    with limited(engine, BEGIN_LIMIT_S, Cell(Status.OVER_LIMIT, detail=detail)):
        return await work.begin()


async def begun(engine: Engine, work: Run | Resumable) -> Run:
    """Return what is measured, after what has to run before it."""
    return partial(work.go_on, await begin(engine, work)) if isinstance(work, Resumable) else work


def is_wanted(runs: int, spent_s: float) -> bool:
    """Say whether to run once more: five times, up to 25 if the runs are short, fewer if they are long."""
    if runs < RUNS:
        return spent_s < ENOUGH_S
    return runs < SHORT_RUNS and spent_s < SHORT_S


async def measure_time(engine: Engine, case: Case, row: Row, directory: Path) -> Cell:
    """Warm up, then run the case again and again: the median of CPU time, or the best of wall time."""
    warm_up_size = min(row.size, WARM_UP_SIZE)
    async with case(warm_up_size, directory) as work:
        await checked(await begun(engine, work), warm_up_size)
    cpu_s: list[float] = []
    wall_s: list[float] = []
    spent_s = 0.0
    async with case(row.size, directory) as work:
        while is_wanted(len(cpu_s), spent_s):
            cpu = time.process_time()
            run = await begun(engine, work)
            begun_s = time.process_time() - cpu
            gc.collect()
            with limited(engine, RUN_LIMIT_S, run_limit(row)):
                wall, cpu = time.perf_counter(), time.process_time()
                await checked(run, row.size)
                cpu_s.append(time.process_time() - cpu)
                wall_s.append(time.perf_counter() - wall)
            spent_s += begun_s + cpu_s[-1]
    if row.measure == "wall_over_ideal":
        values = [wall / SLEEP_S for wall in wall_s]
        value = min(values)
    else:
        values = [cpu * 1e3 if row.measure == "cpu" else per_node_us(cpu, row) for cpu in cpu_s]
        value = statistics.median(values)
    return Cell(
        Status.MEASURED,
        value,
        min(values),
        max(values),
        len(values),
        best_wall_s=min(wall_s),
        run_s=spent_s / len(values),
    )


def resident_mib() -> float:
    """Say how much memory of this process is resident now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_mib() -> float:
    """Say how much memory of this process was resident at most, up to now (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**10


async def measure_memory(engine: Engine, case: Case, row: Row, directory: Path) -> Cell:
    """Measure what a run takes over the bare import: while its graph and history are held, or at its peak."""
    gc.collect()
    before = resident_mib()
    async with case(row.size, directory) as work:
        run = await begun(engine, work)
        with limited(engine, RUN_LIMIT_S, run_limit(row)):
            held = await checked(run, row.size)
        gc.collect()
        value = (peak_mib() if row.measure == "memory_peak" else resident_mib()) - before
        del held
    return Cell(Status.MEASURED, value, value, value, 1)


async def measure_new_processes(engine: Engine, case: Case, row: Row, directory: Path) -> Cell:
    """Begin a run, and let new processes, which have only imported the engine, each go on with a copy of it."""
    cpu = time.process_time()
    begun_in = directory / "begun"
    begun_in.mkdir()
    async with case(row.size, begun_in) as work:
        assert isinstance(work, Resumable)  # the row's case is one
        waiting = await begin(engine, work)
    run_s = time.process_time() - cpu
    values = []
    for number in range(NEW_PROCESSES):
        place = shutil.copytree(begun_in, directory / str(number))
        command = [sys.executable, "-m", "benchmarks.new_process", engine.module, row.case, str(row.size)]
        output = await asyncio.to_thread(subprocess.check_output, [*command, str(place), waiting], text=True)
        values.append(float(output.split()[-1]))
    return Cell(Status.MEASURED, statistics.median(values), min(values), max(values), len(values), run_s=run_s)


def measure_first_run(engine: Engine, row: Row) -> Cell:
    """Time import and first run in five fresh processes, after one that fills a bytecode cache of their own."""
    command = [sys.executable, "-m", "benchmarks.first_run", engine.module, row.case]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as bytecode:
        environment["PYTHONPYCACHEPREFIX"] = bytecode
        outputs = [subprocess.check_output(command, env=environment) for _ in range(RUNS + 1)]
    values = [float(output.split()[-1]) for output in outputs[1:]]
    return Cell(Status.MEASURED, statistics.median(values), min(values), max(values), len(values))


TAKES = {
    "memory": measure_memory,
    "memory_peak": measure_memory,
    "cpu_in_new_process": measure_new_processes,
}
"""How a measure is taken, where it isn't by running a case again and again in one process."""


def measure(engine: Engine, row: Row) -> Cell:
    """Measure one cell, or say why it can't be."""
    try:
        cases: dict[str, Case] = importlib.import_module(engine.module).CASES
    except ModuleNotFoundError as error:
        return Cell(Status.NOT_INSTALLED, detail=str(error))
    if row.case not in cases:
        return Cell(Status.NOT_OFFERED)
    if row.measure == "first_run":
        return measure_first_run(engine, row)
    if row.measure in ("memory", "memory_peak") and not Path("/proc/self/statm").exists():
        return Cell(Status.SKIPPED, detail="resident memory is read from /proc, which this system hasn't")
    take = TAKES.get(row.measure, measure_time)
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(take(engine, cases[row.case], row, Path(directory)))


def versions_of(engine: Engine) -> dict[str, str]:
    """Find the installed versions of the engine's packages."""
    versions = {}
    for package in engine.packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def print_cell(engine: Engine, cell: Cell) -> None:
    """Print the cell, with the engine's versions, as the one line of JSON that `benchmarks.run` reads."""
    cell.versions = versions_of(engine)
    print(json.dumps(dataclasses.asdict(cell)))


def main() -> None:
    """Measure the cell named on the command line."""
    engine, row = ENGINES_BY_NAME[sys.argv[1]], ROWS_BY_NAME[sys.argv[2]]
    logging.disable(logging.WARNING)
    try:
        cell = measure(engine, row)
    except RecursionError:
        cell = Cell(Status.UNABLE, detail="it recurses with the size of the graph and meets Python's recursion limit")
    # Whatever an engine raises is a result to report in its cell; the other cells go on.
    except Exception as error:
        logging.getLogger(__name__).exception("%s, %s", engine.name, row.name)
        cell = Cell(Status.FAILED, detail=f"{type(error).__name__}: {error}")
    print_cell(engine, cell)


if __name__ == "__main__":
    main()
