"""The notebooks with agents as a person meets them: run all, and look at teams, conversations and approvals."""

from __future__ import annotations

from collections.abc import Iterator

import nbformat
import pytest

from tests.browser.conftest import OpenNotebook
from tests.browser.lab import ROOT

NOTEBOOKS = ROOT / "notebooks"


@pytest.fixture(scope="module", autouse=True)
def without_key() -> Iterator[None]:
    """Keep a key of the person who tests away from the kernels, which would spend money on Gemini."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GOOGLE_API_KEY", raising=False)
        yield


def cells_of(name: str) -> dict[str, int]:
    """Return the number of each cell by its id."""
    return {cell.id: i for i, cell in enumerate(nbformat.read(NOTEBOOKS / name, as_version=4).cells)}


def test_the_travel_planner_talks(open_notebook: OpenNotebook) -> None:
    """The team is drawn, the booking agent's question is answered in the same run, tables show calls and nodes."""
    cell = cells_of("02_travel_planner.ipynb")
    nb = open_notebook(NOTEBOOKS / "02_travel_planner.ipynb")
    nb.run_all()
    nb.wait_text("Booked CD 330 on 2027-02-03 for 149 euros", cell["send"])
    nb.wait_text("flight_booker", cell["calls"])
    nb.screenshot("travel-team", cell["team"])
    nb.screenshot("travel-run", cell["run"])
    nb.screenshot("travel-calls", cell["calls"])
    assert nb.run_code("run.status, len(run.outputs('weather_checker'))") == "('completed', 2)"
    nb.assert_clean()


def test_the_refund_assistant_decides(open_notebook: OpenNotebook) -> None:
    """A large refund waits for a person; the run goes on under its own cell."""
    cell = cells_of("03_refund_assistant.ipynb")
    nb = open_notebook(NOTEBOOKS / "03_refund_assistant.ipynb")
    nb.run_all()
    nb.wait_text("No refund.", cell["open"])
    nb.wait_text("1240.0 paid back", cell["answer"])
    nb.screenshot("refund-graph", cell["workflow"])
    nb.screenshot("refund-high", cell["high"])
    assert nb.run_code("big.status, len(receipts)") == "('completed', 2)"
    nb.assert_clean()
