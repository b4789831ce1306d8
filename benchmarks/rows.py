"""The rows of the table: which case, how many nodes, what is measured, and what adk_nb must reach."""

from __future__ import annotations

from typing import Literal, NamedTuple

Measure = Literal["cpu_per_node", "cpu", "cpu_in_new_process", "wall_over_ideal", "first_run", "memory", "memory_peak"]

UNITS: dict[Measure, str] = {
    "cpu_per_node": "µs",
    "cpu": "ms",
    "cpu_in_new_process": "ms",
    "wall_over_ideal": "x",
    "first_run": "ms",
    "memory": "MiB",
    "memory_peak": "MiB",
}


class Limit(NamedTuple):
    """What adk_nb must stay within, in the row's unit: `plus`, and `times` of what an engine measured in a row."""

    plus: float = 0.0
    times: float = 0.0
    engine: str = "floor"
    row: str | None = None
    """`None` is the limit's own row."""


class Row(NamedTuple):
    """One line of the table."""

    name: str
    label: str
    case: str
    size: int
    measure: Measure
    limits: tuple[Limit, ...] = ()
    after: str | None = None
    """Not tried for an engine for which this row was too much, or shows that this one would be."""
    is_quoted: bool = False
    """The README quotes it."""

    @property
    def unit(self) -> str:
        """The unit of the row's values."""
        return UNITS[self.measure]


def floors(times: float) -> Limit:
    """Limit a row to so many times its floor."""
    return Limit(times=times)


def at_most(value: float) -> Limit:
    """Limit a row to a value."""
    return Limit(plus=value)


def flat(row: str) -> Limit:
    """Limit a row to what adk_nb measured in another, and 15 %: its cost doesn't grow with the size."""
    return Limit(times=1.15, engine="adk_nb", row=row)


CHAIN = floors(2.5)

ROWS = (
    Row("chain_100", "chain of 100", "chain", 100, "cpu_per_node", (CHAIN,), is_quoted=True),
    Row("chain_1000", "chain of 1,000", "chain", 1_000, "cpu_per_node", (CHAIN, flat("chain_100")), is_quoted=True),
    Row("chain_10000", "chain of 10,000", "chain", 10_000, "cpu_per_node", (CHAIN, flat("chain_1000"))),
    Row("loop_1000", "loop of 1,000 turns", "loop", 1_000, "cpu_per_node", (CHAIN,), is_quoted=True),
    Row("dynamic_1000", "1,000 `run_node` calls in a row", "dynamic", 1_000, "cpu_per_node", (CHAIN,), is_quoted=True),
    Row("fan_out_100", "fan-out to 100 and join", "fan_out", 100, "cpu_per_node", (floors(4),), is_quoted=True),
    Row("parallel_1000", "parallel worker, 1,000 items", "parallel", 1_000, "cpu_per_node", (floors(4),)),
    Row(
        "sqlite_chain_100", "chain of 100 on SQLite", "sqlite_chain", 100, "cpu_per_node", (floors(4),), is_quoted=True
    ),
    Row(
        "sqlite_chain_1000",
        "chain of 1,000 on SQLite",
        "sqlite_chain",
        1_000,
        "cpu_per_node",
        (floors(4), flat("sqlite_chain_100")),
    ),
    Row(
        "sqlite_chain_10000",
        "chain of 10,000 on SQLite",
        "sqlite_chain",
        10_000,
        "cpu_per_node",
        (floors(4), flat("sqlite_chain_1000")),
        after="sqlite_chain_1000",
    ),
    Row("resume_50", "resume after 50 finished node runs", "resume", 50, "cpu", (at_most(2),)),
    Row("resume_500", "resume after 500", "resume", 500, "cpu", (at_most(2),)),
    Row("resume_5000", "resume after 5,000", "resume", 5_000, "cpu", (at_most(2),), "resume_500", is_quoted=True),
    Row("sqlite_resume_50", "resume after 50 on SQLite", "sqlite_resume", 50, "cpu", (at_most(5),)),
    Row("sqlite_resume_500", "resume after 500 on SQLite", "sqlite_resume", 500, "cpu", (at_most(5),)),
    Row(
        "sqlite_resume_5000",
        "resume after 5,000 on SQLite",
        "sqlite_resume",
        5_000,
        "cpu",
        (at_most(5),),
        "sqlite_resume_500",
        is_quoted=True,
    ),
    Row("new_process_50", "the same in a new process, after 50", "sqlite_resume", 50, "cpu_in_new_process"),
    Row(
        "new_process_5000",
        "the same in a new process, after 5,000",
        "sqlite_resume",
        5_000,
        "cpu_in_new_process",
        (flat("new_process_50"),),
        "sqlite_resume_5000",
    ),
    Row("replay_100", "replay of 100 finished children", "replay", 100, "cpu_per_node", (at_most(35),)),
    Row("replay_1000", "replay of 1,000", "replay", 1_000, "cpu_per_node", (at_most(15),), "replay_100"),
    Row(
        "replay_5000", "replay of 5,000", "replay", 5_000, "cpu_per_node", (at_most(15),), "replay_1000", is_quoted=True
    ),
    Row(
        "sqlite_replay_5000",
        "replay of 5,000 on SQLite",
        "sqlite_replay",
        5_000,
        "cpu_per_node",
        (at_most(15),),
        "replay_5000",
    ),
    Row(
        "sleep_100",
        "100 x sleep(0.05) fan-out, wall over ideal",
        "sleep_fan_out",
        100,
        "wall_over_ideal",
        (at_most(1.1),),
    ),
    Row("genai_import", "google-genai's own import", "genai_import", 1, "first_run"),
    Row(
        "first_run",
        "import to the end of a first run",
        "chain",
        1,
        "first_run",
        (Limit(plus=150, times=1, row="genai_import"),),
    ),
    Row(
        "memory_10000",
        "memory held by a chain of 10,000",
        "chain",
        10_000,
        "memory",
        (at_most(60),),
        after="chain_10000",
    ),
    Row(
        "concurrent_memory",
        "memory at the peak of 1,000 concurrent 10-node runs",
        "concurrent",
        10_000,
        "memory_peak",
        (at_most(250),),
    ),
)

ROWS_BY_NAME = {row.name: row for row in ROWS}
