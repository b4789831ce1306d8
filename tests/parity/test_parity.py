"""The same code on google-adk and on adk_nb: what happens agrees, or differs exactly as the table says."""

from __future__ import annotations

import pytest

from tests.parity.differences import KNOWN_BUGS, lines_by_scenario
from tests.parity.page import PAGE, page
from tests.parity.scenarios import Scenario, all_scenarios, difference

SCENARIOS = all_scenarios()
EXPECTED = lines_by_scenario()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: f"{one.chapter}-{one.name}")
def test_scenario(scenario: Scenario) -> None:
    """A scenario gives the same events, outputs, state and errors on both, except for exactly what the table lists."""
    assert scenario.rule, "a scenario's docstring states its rule"
    found, expected = difference(scenario), EXPECTED.get(scenario.name, [])
    assert found == expected, (
        f"{scenario.name}: {scenario.rule}\nThe differences package lists:\n{_shown(expected)}\nthe two packages "
        f"differ in:\n{_shown(found)}\nMend adk_nb, or say in the table what differs and why."
    )


def _shown(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines) or "    nothing"


def test_the_table_knows_its_scenarios() -> None:
    """Every scenario that the table of differences names is there."""
    assert set(EXPECTED) <= {one.name for one in SCENARIOS}


def test_there_are_enough_scenarios() -> None:
    """Parity is measured by many scenarios, and every chapter has some."""
    assert len(SCENARIOS) >= 300


def test_no_known_bug_is_left() -> None:
    """A difference that is a bug may stand in its list while it is being mended, and no longer."""
    assert [bug.what for bug in KNOWN_BUGS] == []


def test_the_page_is_up_to_date() -> None:
    """`docs/parity.md` says what the table and the scenarios say; `python -m tests.parity.page` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()
