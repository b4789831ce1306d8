"""Accuracy is counted, with an interval that says how sure it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.errors import DataError
from adk_nb.examples import load_tickets, routing_accuracy, wilson_interval


def test_every_ticket_is_counted_once() -> None:
    """The confusion table's cells add up to all tickets, its diagonal to the right ones, the rest to the mistakes."""
    tickets = load_tickets()
    measured = routing_accuracy(lambda text: "BILLING" if "charge" in text else "BUG", tickets)
    cells = {(row["category"], label): row[label] for row in measured.confusion for label in ("BILLING", "BUG")}
    assert sum(cells.values()) == measured.total == len(tickets)
    assert cells["BILLING", "BILLING"] + cells["BUG", "BUG"] == measured.correct
    assert len(measured.misrouted) == measured.total - measured.correct
    assert all(mistake.predicted != mistake.ticket.category for mistake in measured.misrouted)


def test_predict_is_shown_the_text_only() -> None:
    """What is measured gets each ticket's text, once and in order, and nothing that gives the label away."""
    asked: list[str] = []

    def predict(text: str) -> str:
        asked.append(text)
        return "BUG"

    routing_accuracy(predict, load_tickets("test"))
    assert asked == [ticket.text for ticket in load_tickets("test")]


def test_an_unknown_label_counts_as_wrong() -> None:
    """A label that no ticket has gets a column of its own and is never right."""
    measured = routing_accuracy(lambda text: "OTHER", load_tickets("test"))
    assert measured.accuracy == 0
    assert measured.interval[0] == 0
    assert measured.confusion[0] == {"category": "BILLING", "BILLING": 0, "BUG": 0, "OTHER": 50}


def test_nothing_to_measure_is_refused() -> None:
    """No tickets give no accuracy: neither 0 nor 1 would be true."""
    with pytest.raises(DataError, match="nothing to measure"):
        routing_accuracy(lambda text: "BUG", [])


@pytest.mark.parametrize(("successes", "trials"), [(1, 0), (-1, 5), (6, 5)])
def test_impossible_counts_are_refused(successes: int, trials: int) -> None:
    """More successes than trials, or no trials at all, are a slip of the caller."""
    with pytest.raises(DataError, match="at least one trial"):
        wilson_interval(successes, trials)


def test_interval_of_known_shares() -> None:
    """0 of 10 and 8 of 10 give the interval that solving (p - share)² = z² p (1 - p) / n for p gives."""
    assert wilson_interval(0, 10) == pytest.approx((0, 0.27753), abs=1e-5)
    for bound in wilson_interval(8, 10):
        assert (bound - 0.8) ** 2 == pytest.approx(1.959964**2 * bound * (1 - bound) / 10, rel=1e-5)


@given(st.integers(min_value=1, max_value=10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_holds_the_share(counts: tuple[int, int]) -> None:
    """The interval lies within 0 and 1 and holds the measured share; it is the same turned round for the failures."""
    successes, trials = counts
    low, high = wilson_interval(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
    assert wilson_interval(trials - successes, trials) == pytest.approx((1 - high, 1 - low))
