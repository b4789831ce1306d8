"""Write what was measured as tables for people: all of it, and the part that the README quotes."""

from __future__ import annotations

from benchmarks.cells import Cell, Status
from benchmarks.engines import ENGINES, ENGINES_BY_NAME, OURS, PEERS
from benchmarks.results import Results
from benchmarks.rows import ROWS, ROWS_BY_NAME, Limit, Row

NOTHING = "–"
"""What a cell without a value shows."""
NAMES = [engine.name for engine in ENGINES]


def markdown(results: Results) -> str:
    """Write the whole table, and under it what the numbers were measured with."""
    head = ["", "unit", *(title(results, name) for name in NAMES), "adk_nb / floor", "adk_nb must reach"]
    lines = [table_line(head), "|---|---|" + "--:|" * len(NAMES) + "--:|---|"]
    for row in rows_of(results):
        ours = results.value(row.name, OURS)
        fields = [row.label, row.unit, *values(results, row), ratio(ours, results.value(row.name, "floor"))]
        lines.append(table_line([*fields, verdicts(results, row)]))
    return "\n".join([*lines, "", *footnotes(results)]) + "\n"


def quoted(results: Results) -> str:
    """Write the part of the table that the README quotes, the engines with their versions."""
    head = ["", "unit", *(title(results, name, with_version=True) for name in NAMES)]
    lines = [table_line(head), "|---|---|" + "--:|" * len(NAMES)]
    lines += [table_line([row.label, row.unit, *values(results, row)]) for row in rows_of(results) if row.is_quoted]
    return "\n".join(lines) + "\n"


def rows_of(results: Results) -> list[Row]:
    """Return the rows of which something was tried, in the order of the table."""
    return [row for row in ROWS if row.name in results.cells]


def values(results: Results, row: Row) -> list[str]:
    """Write what each engine measured in a row, and for a peer how many times ours that is."""
    return [
        cell_text(results.get(row.name, name)) + (ratio_to_ours(results, row, name) if name in PEERS else "")
        for name in NAMES
    ]


def title(results: Results, engine: str, *, with_version: bool = False) -> str:
    """Head the engine's column; google-adk says whether its a2a extra, which makes it faster, was there."""
    versions = results.versions()
    name = "google-adk[a2a]" if engine == "google-adk" and "a2a-sdk" in versions else engine
    version = versions.get(ENGINES_BY_NAME[engine].packages[0], "")
    return f"{name} {'.'.join(version.split('.')[:2])}" if with_version and version and engine in PEERS else name


def ratio_to_ours(results: Results, row: Row, engine: str) -> str:
    """Say in brackets how many times ours a peer needs; `>` where it was stopped at the limit."""
    cell, ours = results.get(row.name, engine), results.value(row.name, OURS)
    if cell is None or cell.value is None or ours is None:
        return ""
    return f" ({'>' if cell.status is Status.OVER_LIMIT else ''}{ratio(cell.value, ours)})"


def verdicts(results: Results, row: Row) -> str:
    """Say what adk_nb must stay within in this row, and whether it does."""
    return "; ".join(verdict(results, row, limit) for limit in row.limits) or NOTHING


def verdict(results: Results, row: Row, limit: Limit) -> str:
    """Say what one limit of a row is and whether adk_nb keeps it."""
    value, ours = results.limit(row, limit), results.value(row.name, OURS)
    if value is None:
        return f"{origin(limit)}: not measured"
    said = f"≤ {number(value)}" + (f" ({origin(limit)})" if limit.times else "")
    if ours is None:
        return said
    return f"{said}: {'yes' if ours <= value else '**no**'}"


def origin(limit: Limit) -> str:
    """Say what a limit is reckoned from."""
    of = limit.engine if limit.row is None else ROWS_BY_NAME[limit.row].label
    return f"{of} + {limit.plus:g}" if limit.plus else f"{limit.times:g} x {of}"


def footnotes(results: Results) -> list[str]:
    """Write what the numbers were measured with, and the reason for every cell that should have one."""
    cells = [cell for by_engine in results.cells.values() for cell in by_engine.values()]
    loads = [cell.load_average for cell in cells if cell.load_average is not None]
    versions = ", ".join(f"{package} {version}" for package, version in sorted(results.versions().items()))
    where = "{cpu}, {cores} cores, {system}, Python {python}".format(**results.environment)
    notes = [
        f"Measured on {where}; load average {min(loads):.1f} to {max(loads):.1f}." if loads else f"On {where}.",
        f"Versions: {versions}.",
        "µs are CPU time a node, median of the runs; in brackets, how many times adk_nb's.",
        "Compare across a line, not with another machine's.",
    ]
    reasons = [
        f"- {row.label}, {engine}: {cell.status}, {cell.detail}"
        for row in ROWS
        for engine, cell in results.cells.get(row.name, {}).items()
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
    if cell is None or cell.status is Status.NOT_OFFERED:
        return NOTHING
    if cell.status is Status.OVER_LIMIT:
        return "over limit" if cell.value is None else f"> {number(cell.value)}"
    return str(cell.status) if cell.value is None else number(cell.value)
