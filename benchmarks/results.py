"""Keep what was measured (`results.json`) and write the table that people read (`results.md`)."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cells import Cell, Status
from benchmarks.engines import ENGINES, ENGINES_BY_NAME
from benchmarks.rows import ROWS, Row

NOTHING = "–"
"""What a cell without a value shows."""

PEERS = tuple(engine.name for engine in ENGINES if engine.name not in ("floor", "adk_nb"))


def cpu_model() -> str:
    """Name the processor, as far as the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def environment(python_version: str) -> dict[str, Any]:
    """Describe what the numbers depend on; results of another environment are not mixed in."""
    return {
        "python": python_version,
        "system": platform.system(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
    }


@dataclass
class Results:
    """All cells of one environment: `cells[row][engine]`."""

    environment: dict[str, Any]
    cells: dict[str, dict[str, Cell]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path, current: dict[str, Any]) -> Results:
        """Read the stored results, or start empty where there are none of this environment."""
        if not path.exists():
            return cls(current)
        stored = json.loads(path.read_text())
        if stored["environment"] != current:
            return cls(current)
        cells = {
            row: {engine: Cell(**{**cell, "status": Status(cell["status"])}) for engine, cell in by_engine.items()}
            for row, by_engine in stored["cells"].items()
        }
        return cls(current, cells)

    def save(self, directory: Path) -> None:
        """Write `results.json` and `results.md`."""
        cells = {
            row: {engine: dataclasses.asdict(cell) for engine, cell in by_engine.items()}
            for row, by_engine in self.cells.items()
        }
        content = json.dumps({"environment": self.environment, "cells": cells}, indent=1)
        (directory / "results.json").write_text(content + "\n")
        (directory / "results.md").write_text(self.markdown())

    def put(self, row: Row, engine: str, cell: Cell) -> None:
        """Keep a cell, in place of an older one."""
        self.cells.setdefault(row.name, {})[engine] = cell

    def get(self, row_name: str, engine: str) -> Cell | None:
        """Find a cell, if it was ever tried."""
        return self.cells.get(row_name, {}).get(engine)

    def value(self, row_name: str, engine: str) -> float | None:
        """Find a measured value; a lower bound is none."""
        cell = self.get(row_name, engine)
        return cell.value if cell is not None and cell.status is Status.MEASURED else None

    def best_peer(self, row: Row) -> str | None:
        """Name the fastest other engine in the row."""
        measured = {peer: value for peer in PEERS if (value := self.value(row.name, peer)) is not None}
        return min(measured, key=measured.__getitem__) if measured else None

    def limit(self, row: Row) -> float | None:
        """Work out what adk_nb must stay within, in the row's unit."""
        if row.limit_floors is not None:
            floor = self.value(row.name, "floor")
            return None if floor is None else floor * row.limit_floors
        if row.limit is not None and row.limit_over_row is not None:
            start = self.value(row.limit_over_row, "floor")
            return None if start is None else start + row.limit
        return row.limit

    def markdown(self) -> str:
        """Write the table, and under it what the numbers were measured with."""
        engines = [engine.name for engine in ENGINES]
        head = ["", "unit", *(self.title(engine) for engine in engines)]
        head += ["adk_nb / floor", "adk_nb must reach", "google-adk / adk_nb", "best peer / adk_nb"]
        lines = [table_line(head), "|---|---|" + "--:|" * (len(head) - 2)]
        lines += [table_line(self.row_fields(row, engines)) for row in ROWS if row.name in self.cells]
        return "\n".join([*lines, "", *self.footnotes()]) + "\n"

    def title(self, engine: str) -> str:
        """Head the engine's column; google-adk says whether its a2a extra, which makes it faster, was there."""
        if engine == "google-adk" and "a2a-sdk" in self.versions():
            return "google-adk[a2a]"
        return engine

    def row_fields(self, row: Row, engines: list[str]) -> list[str]:
        """Write one row's values and ratios."""
        ours = self.value(row.name, "adk_nb")
        best = self.best_peer(row)
        best_ratio = ratio(self.value(row.name, best), ours) if best is not None else NOTHING
        return [
            row.label,
            row.unit,
            *(cell_text(self.get(row.name, engine)) for engine in engines),
            ratio(ours, self.value(row.name, "floor")),
            self.verdict(row),
            self.ratio_to_ours(row, "google-adk"),
            best_ratio if best_ratio == NOTHING else f"{best_ratio} ({best})",
        ]

    def ratio_to_ours(self, row: Row, engine: str) -> str:
        """Say how many times ours the engine needs; `>` where it was stopped at the limit."""
        cell, ours = self.get(row.name, engine), self.value(row.name, "adk_nb")
        if cell is None or cell.value is None:
            return NOTHING
        return (">" if cell.status is Status.OVER_LIMIT else "") + ratio(cell.value, ours)

    def verdict(self, row: Row) -> str:
        """Say what adk_nb must stay within in this row, and whether it does."""
        limit, ours = self.limit(row), self.value(row.name, "adk_nb")
        if limit is None:
            return NOTHING
        said = f"≤ {number(limit)}"
        if row.limit_floors is not None:
            said += f" ({row.limit_floors:g} x floor)"
        if ours is None:
            return said
        return f"{said}: {'yes' if ours <= limit else '**no**'}"

    def versions(self) -> dict[str, str]:
        """Collect the package versions of all cells that have any."""
        cells = [cell for by_engine in self.cells.values() for cell in by_engine.values()]
        return {package: version for cell in cells for package, version in cell.versions.items()}

    def footnotes(self) -> list[str]:
        """Write what the numbers were measured with, and the reason for every cell that should have one."""
        loads = [
            cell.load_average
            for by_engine in self.cells.values()
            for cell in by_engine.values()
            if cell.load_average is not None
        ]
        versions = ", ".join(f"{package} {version}" for package, version in sorted(self.versions().items()))
        where = "{cpu}, {cores} cores, {system}, Python {python}".format(**self.environment)
        notes = [
            f"Measured on {where}; load average {min(loads):.1f} to {max(loads):.1f}." if loads else f"On {where}.",
            f"Versions: {versions}.",
            "µs are CPU time a node, median of the runs. Compare across a line, not with another machine's.",
        ]
        reasons = [
            f"- {row.label}, {engine}: {cell.status}, {cell.detail}"
            for row in ROWS
            for engine, cell in self.cells.get(row.name, {}).items()
            if cell.status in (Status.OVER_LIMIT, Status.UNABLE, Status.SKIPPED, Status.FAILED)
            and engine in ENGINES_BY_NAME
        ]
        return [" ".join(notes), "", *reasons] if reasons else [" ".join(notes)]


def table_line(fields: list[str]) -> str:
    """Write one line of a Markdown table."""
    return "| " + " | ".join(fields) + " |"


def number(value: float) -> str:
    """Write a value with as many digits as carry meaning."""
    if value < 10:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def ratio(numerator: float | None, denominator: float | None) -> str:
    """Write how many times one value is of another."""
    if numerator is None or denominator is None or denominator <= 0:
        return NOTHING
    return f"{number(numerator / denominator)}x"


def cell_text(cell: Cell | None) -> str:
    """Write a cell: its value, a lower bound, or why there is none."""
    if cell is None or cell.status in (Status.NOT_OFFERED, Status.SKIPPED):
        return NOTHING
    if cell.status is Status.OVER_LIMIT:
        return "over limit" if cell.value is None else f"> {number(cell.value)}"
    return str(cell.status) if cell.value is None else number(cell.value)
