"""What is measured comes to its result, and what is told of it is what was measured."""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

import pytest

from benchmarks import adk_nb_engine, floor
from benchmarks.case import CONCURRENT_NODES, Case, Outcome, Resumable
from benchmarks.cells import Cell, Status
from benchmarks.engines import ENGINES_BY_NAME, OURS
from benchmarks.quoting import BEGIN, END, with_quotation
from benchmarks.results import Results
from benchmarks.rows import ROWS, ROWS_BY_NAME, Row, at_most, flat, floors
from benchmarks.run import too_much
from benchmarks.table import markdown, quoted, verdict

ROOT = pathlib.Path(__file__).resolve().parents[1]
SIZE = 2 * CONCURRENT_NODES
WHERE = {"cpu": "a processor", "cores": 2, "system": "Linux", "python": "3.12"}
CHAIN = ROWS_BY_NAME["chain_1000"]


def stored() -> Results:
    """Return the results that are kept with the project."""
    path = ROOT / "benchmarks" / "results.json"
    return Results.load(path, json.loads(path.read_text(encoding="utf-8"))["environment"])


def measured(**values: float) -> Results:
    """Return results in which ours, and the floor of the chain of 1,000, came to these values."""
    results = Results(WHERE)
    for name, value in values.items():
        row, engine = (CHAIN, "floor") if name == "floor" else (ROWS_BY_NAME[name], OURS)
        results.put(row, engine, Cell(Status.MEASURED, value))
    return results


@pytest.mark.parametrize("name", sorted(adk_nb_engine.CASES))
def test_a_case_comes_to_its_result_twice(name: str, tmp_path: pathlib.Path) -> None:
    """Each case of ours ends with the number of its nodes, again and again; what had finished never runs again."""
    assert outputs(adk_nb_engine.CASES[name], tmp_path) == [SIZE, SIZE]


@pytest.mark.parametrize("name", sorted(floor.CASES.keys() - {"genai_import"}))
def test_the_floor_comes_to_its_result(name: str, tmp_path: pathlib.Path) -> None:
    """The floor of each case ends with the number of its nodes, too."""
    assert outputs(floor.CASES[name], tmp_path) == [SIZE, SIZE]


def test_a_run_goes_on_with_what_another_process_would_find(tmp_path: pathlib.Path) -> None:
    """A run that a case began on SQLite is answered by a case that was built anew on the same file."""

    async def go_on() -> Outcome:
        case = adk_nb_engine.CASES["sqlite_resume"]
        async with case(SIZE, tmp_path) as work:
            assert isinstance(work, Resumable)
            waiting = await work.begin()
        async with case(SIZE, tmp_path) as work:
            assert isinstance(work, Resumable)
            return await work.go_on(waiting)

    assert asyncio.run(go_on()).output == SIZE


def test_every_row_names_a_case_of_ours_and_earlier_rows() -> None:
    """A row has a case of ours (or is the floor's own), and its limits and conditions refer to rows that exist."""
    for index, row in enumerate(ROWS):
        assert row.case in adk_nb_engine.CASES or row.name == "genai_import"
        assert row.after is None or row.after in [before.name for before in ROWS[:index]]
        assert all(limit.row is None or limit.row in ROWS_BY_NAME for limit in row.limits)


def test_a_limit_says_whether_it_is_kept() -> None:
    """A limit is a value, a multiple of the floor, or 15 % more than another size costs; each says if ours keeps it."""
    results = measured(chain_100=50.0, chain_1000=58.0, floor=20.0)
    assert verdict(results, CHAIN, at_most(60)) == "≤ 60.0: yes"
    assert verdict(results, CHAIN, floors(2.5)) == "≤ 50.0 (2.5 x floor): **no**"
    assert verdict(results, CHAIN, flat("chain_100")) == "≤ 57.5 (1.15 x chain of 100): **no**"


def test_a_limit_waits_for_what_it_depends_on() -> None:
    """A limit that depends on a row that wasn't measured says so, and doesn't count as kept."""
    assert verdict(measured(chain_1000=58.0), CHAIN, flat("chain_100")) == "1.15 x chain of 100: not measured"


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (Cell(Status.UNABLE), "unable in sqlite_chain_1000"),
        (Cell(Status.MEASURED, 2e3, run_s=2.0), "one run would take 20 s of CPU or more, judging by sqlite_chain_1000"),
        (Cell(Status.MEASURED, 2e2, run_s=0.2), None),
        (Cell(Status.NOT_OFFERED), None),
    ],
)
def test_what_would_take_too_long_is_not_tried(before: Cell, reason: str | None) -> None:
    """A row isn't tried where a smaller one failed or shows that it would take too long; ours is always tried."""
    row, peer, ours = ROWS_BY_NAME["sqlite_chain_10000"], ENGINES_BY_NAME["google-adk"], ENGINES_BY_NAME[OURS]
    results = Results(WHERE)
    for engine in (peer, ours):
        results.put(ROWS_BY_NAME["sqlite_chain_1000"], engine.name, before)
    assert too_much(results, row, peer) == reason
    assert too_much(results, row, ours) is None


def test_results_survive_being_stored(tmp_path: pathlib.Path) -> None:
    """Stored results read back as they were, and are dropped when the machine is another one."""
    results = measured(chain_100=50.0)
    results.save(tmp_path)
    assert Results.load(tmp_path / "results.json", WHERE) == results
    assert Results.load(tmp_path / "results.json", {**WHERE, "cores": 4}).cells == {}


def test_the_table_on_file_is_that_of_the_results() -> None:
    """`results.md` is what `results.json` comes to."""
    assert (ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8") == markdown(stored())


def test_the_readme_quotes_the_results() -> None:
    """The README's table is the quoted part of the results, word for word."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_quotation(text, quoted(stored())) == text


def test_a_quotation_takes_the_place_of_the_one_before() -> None:
    """A new table replaces the old one and nothing else; without a place for it, that is said."""
    text = f"before\n{BEGIN}\n\n| old |\n{END}\nafter\n"
    assert with_quotation(text, "| new |\n") == f"before\n{BEGIN}\n\n| new |\n\n{END}\nafter\n"
    with pytest.raises(ValueError, match="no place for the table"):
        with_quotation("nothing", "| new |\n")


def outputs(case: Case, directory: pathlib.Path) -> list[Any]:
    """Run a case twice."""

    async def run_twice() -> list[Any]:
        async with case(SIZE, directory) as work:
            if isinstance(work, Resumable):
                return [(await work.go_on(await work.begin())).output for _ in range(2)]
            return [(await work()).output for _ in range(2)]

    return asyncio.run(run_twice())


def test_a_quoted_row_is_in_the_table() -> None:
    """What the README quotes are rows of the table, with what each engine measured."""
    row: Row = CHAIN
    assert row.is_quoted
    assert f"| {row.label} | µs | 20.0 | 58.0 |" in quoted(measured(chain_1000=58.0, floor=20.0))
