"""Keep what was measured: `results.json`."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cells import Cell, Status
from benchmarks.rows import Limit, Row


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
        """Write `results.json`."""
        cells = {
            row: {engine: dataclasses.asdict(cell) for engine, cell in by_engine.items()}
            for row, by_engine in self.cells.items()
        }
        content = json.dumps({"environment": self.environment, "cells": cells}, indent=1)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "results.json").write_text(content + "\n")

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

    def limit(self, row: Row, limit: Limit) -> float | None:
        """Work out one of a row's limits; `None` while what it depends on isn't measured."""
        if not limit.times:
            return limit.plus
        measured = self.value(limit.row or row.name, limit.engine)
        return None if measured is None else limit.plus + limit.times * measured

    def versions(self) -> dict[str, str]:
        """Collect the package versions of all cells that have any."""
        cells = [cell for by_engine in self.cells.values() for cell in by_engine.values()]
        return {package: version for cell in cells for package, version in cell.versions.items()}
