"""The rows of the table: which case, how many nodes, what is measured, and what adk_nb must reach."""

from __future__ import annotations

from typing import Literal, NamedTuple

Measure = Literal["cpu_per_node", "wall_over_ideal", "first_run", "memory"]

UNITS: dict[Measure, str] = {
    "cpu_per_node": "µs",
    "wall_over_ideal": "x",
    "first_run": "ms",
    "memory": "MiB",
}


class Row(NamedTuple):
    """One line of the table."""

    name: str
    label: str
    case: str
    size: int
    measure: Measure
    limit_floors: float | None = None
    """adk_nb must stay within this many times the floor."""
    limit: float | None = None
    """adk_nb must stay within this value, in the row's unit."""
    limit_over_row: str | None = None
    """`limit` counts from what the floor measured in this row."""
    after: str | None = None
    """Not tried for an engine that was too slow or unable in this row: it would be the same run again."""

    @property
    def unit(self) -> str:
        """The unit of the row's values."""
        return UNITS[self.measure]


ROWS = (
    Row("chain_100", "chain of 100", "chain", 100, "cpu_per_node", limit_floors=2.5),
    Row("chain_1000", "chain of 1,000", "chain", 1_000, "cpu_per_node", limit_floors=2.5),
    Row("chain_10000", "chain of 10,000", "chain", 10_000, "cpu_per_node", limit_floors=2.5),
    Row("loop_1000", "loop of 1,000 turns", "loop", 1_000, "cpu_per_node", limit_floors=2.5),
    Row("dynamic_1000", "1,000 `run_node` calls in a row", "dynamic", 1_000, "cpu_per_node", limit_floors=2.5),
    Row("fan_out_100", "fan-out to 100 and join", "fan_out", 100, "cpu_per_node", limit_floors=4),
    Row("sqlite_chain_100", "chain of 100 on SQLite", "sqlite_chain", 100, "cpu_per_node", limit_floors=4),
    Row("sleep_100", "100 x sleep(0.05) fan-out, wall over ideal", "sleep_fan_out", 100, "wall_over_ideal", limit=1.1),
    Row("genai_import", "google-genai's own import", "genai_import", 1, "first_run"),
    Row(
        "first_run",
        "import to the end of a first run",
        "chain",
        1,
        "first_run",
        limit=150,
        limit_over_row="genai_import",
    ),
    Row(
        "memory_10000",
        "memory held by a chain of 10,000",
        "chain",
        10_000,
        "memory",
        limit=60,
        after="chain_10000",
    ),
)

ROWS_BY_NAME = {row.name: row for row in ROWS}
