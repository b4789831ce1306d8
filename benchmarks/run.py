"""Measure the table, or a part of it: `python -m benchmarks.run [--rows ...] [--engines ...]`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.cells import Cell, Status
from benchmarks.engines import ENGINES_BY_NAME, OURS, Engine
from benchmarks.quoting import write
from benchmarks.results import Results, environment
from benchmarks.rows import ROWS_BY_NAME, Row
from benchmarks.table import cell_text, markdown

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
WALL_LIMIT_S = 300.0
"""A cell that takes longer is given up, however little CPU it used: it hangs."""
TRY_S = 8.0
"""A row isn't tried where one run of it would take more CPU seconds, judging by a smaller one."""


def chosen(text: str | None, allowed: list[str], what: str) -> list[str]:
    """Split a comma-separated option and refuse names that don't exist."""
    if text is None:
        return allowed
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in allowed]
    if unknown:
        raise SystemExit(f"unknown {what}: {', '.join(unknown)}; there are: {', '.join(allowed)}")
    return [name for name in allowed if name in names]


def measured_cell(python: str, engine: Engine, row: Row) -> Cell:
    """Measure one cell in a process of its own."""
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    command = [python, "-m", "benchmarks.worker", engine.name, row.name]
    try:
        done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, timeout=WALL_LIMIT_S)
    except subprocess.TimeoutExpired:
        cell = Cell(Status.FAILED, detail=f"no result after {WALL_LIMIT_S:.0f} s of wall time")
    else:
        cell = read_cell(done)
    cell.load_average = load
    cell.measured_at = datetime.now(UTC).isoformat(timespec="seconds")
    return cell


def read_cell(done: subprocess.CompletedProcess[str]) -> Cell:
    """Read the cell that a worker printed; a worker that printed none has failed."""
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        sys.stderr.write(done.stderr)
        return Cell(Status.FAILED, detail=f"the worker ended with exit code {done.returncode}")
    fields = json.loads(lines[-1])
    cell = Cell(**{**fields, "status": Status(fields["status"])})
    if cell.status is Status.FAILED:
        sys.stderr.write(done.stderr)
    return cell


def python_version(python: str) -> str:
    """Ask the interpreter that runs the engines for its version."""
    command = [python, "-c", "import platform; print(platform.python_version())"]
    return subprocess.check_output(command, text=True).strip()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--rows", help="comma-separated; all by default: " + ", ".join(ROWS_BY_NAME))
    parser.add_argument("--engines", help="comma-separated; all by default: " + ", ".join(ENGINES_BY_NAME))
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the engines installed")
    parser.add_argument(
        "--output",
        type=Path,
        default=HERE,
        help="another folder for results.json and results.md; the README is left alone then",
    )
    parser.add_argument("--dry", action="store_true", help="print the table and leave the results as they are")
    return parser.parse_args()


def too_much(results: Results, row: Row, engine: Engine) -> str | None:
    """Say why a row isn't tried for an engine, judging by the row before it; `None` when it is."""
    before = results.get(row.after, engine.name) if row.after is not None else None
    if before is None or row.after is None or engine.name == OURS:
        return None
    if before.status in (Status.OVER_LIMIT, Status.UNABLE, Status.SKIPPED):
        return f"{before.status} in {row.after}"
    at_least_s = (before.run_s or 0.0) * row.size / ROWS_BY_NAME[row.after].size
    if at_least_s > TRY_S:
        return f"one run would take {at_least_s:.0f} s of CPU or more, judging by {row.after}"
    return None


def measure_all(
    results: Results, python: str, rows: list[Row], engines: list[Engine], save_to: Path | None
) -> list[str]:
    """Measure the cells, row by row so that all engines of a row meet the same load; name those that failed.

    The results are saved after each row, so that stopping half-way keeps what was measured.
    """
    failed = []
    for row in rows:
        for engine in engines:
            reason = too_much(results, row, engine)
            if reason is not None:
                cell = Cell(Status.SKIPPED, detail=reason)
            else:
                cell = measured_cell(python, engine, row)
            results.put(row, engine.name, cell)
            if cell.status is Status.FAILED or (cell.status is Status.UNABLE and engine.name == OURS):
                failed.append(f"{row.name}, {engine.name}: {cell.detail}")
            said = str(cell.status) if cell.value is None else f"{cell_text(cell)} {row.unit}"
            print(f"{row.name:18} {engine.name:15} {said:>15}", flush=True)
        if save_to is not None:
            write(results, save_to, README if save_to == HERE else None)
    return failed


def main() -> int:
    """Measure what was asked for, write the results, and fail if a case failed."""
    options = arguments()
    rows = [ROWS_BY_NAME[name] for name in chosen(options.rows, list(ROWS_BY_NAME), "row")]
    engines = [ENGINES_BY_NAME[name] for name in chosen(options.engines, list(ENGINES_BY_NAME), "engine")]
    results = Results.load(options.output / "results.json", environment(python_version(options.python)))
    failed = measure_all(results, options.python, rows, engines, None if options.dry else options.output)
    print()
    print(markdown(results))
    for line in failed:
        print("failed:", line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
