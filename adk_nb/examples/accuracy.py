"""Measure how often a router sends a ticket the right way, and how sure that number is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from adk_nb.errors import DataError
from adk_nb.examples.tickets import LabelledTicket

_Z_95 = 1.959963984540054  # the normal distribution's quantile that leaves 2.5 % on either side


@dataclass(frozen=True, slots=True)
class Misrouted:
    """A ticket that went the wrong way, and where it went."""

    ticket: LabelledTicket
    predicted: str


@dataclass(frozen=True, slots=True)
class RoutingAccuracy:
    """How many of the tickets were sent the right way."""

    correct: int
    """Tickets whose predicted label is the true one."""
    total: int
    """Tickets measured; at least one."""
    interval: tuple[float, float]
    """Wilson's 95 % interval of the accuracy, within 0 and 1."""
    confusion: list[dict[str, Any]]
    """One row a true label, with a count for every predicted one: `{"category": "BUG", "BILLING": 3, "BUG": 47}`."""
    misrouted: list[Misrouted]
    """The mistakes, in the tickets' order."""

    @property
    def accuracy(self) -> float:
        """Share of the tickets that were sent the right way, 0 to 1."""
        return self.correct / self.total

    def __str__(self) -> str:
        share, low, high = (f"{100 * part:.1f} %" for part in (self.accuracy, *self.interval))
        return f"{self.correct} of {self.total} routed right: {share} (95 % interval {low} to {high})"


def routing_accuracy(predict: Callable[[str], str], tickets: Iterable[LabelledTicket]) -> RoutingAccuracy:
    """Ask `predict` for every ticket's label and count how often it is right; it is shown the text only.

    Args:
        predict: Takes a ticket's text, returns a label. A label that no ticket has counts as wrong.
        tickets: What to measure on; tickets that `predict` has learnt from make the number too good.

    Raises:
        DataError: there is no ticket to measure on.

    Example:
        >>> from adk_nb.examples import NaiveBayesReader, load_tickets
        >>> always_bug = routing_accuracy(lambda text: "BUG", load_tickets("test"))
        >>> print(always_bug)
        50 of 100 routed right: 50.0 % (95 % interval 40.4 % to 59.6 %)
        >>> always_bug.confusion
        [{'category': 'BILLING', 'BILLING': 0, 'BUG': 50}, {'category': 'BUG', 'BILLING': 0, 'BUG': 50}]
    """
    answers = [(ticket, predict(ticket.text)) for ticket in tickets]
    if not answers:
        raise DataError(
            "routing_accuracy got no tickets, so there is nothing to measure; give it load_tickets('test')."
        )
    cells = Counter((ticket.category, answer) for ticket, answer in answers)
    truths = sorted({ticket.category for ticket, _ in answers})
    labels = sorted({*truths, *(answer for _, answer in answers)})
    correct = sum(cells[label, label] for label in truths)
    return RoutingAccuracy(
        correct=correct,
        total=len(answers),
        interval=wilson_interval(correct, len(answers)),
        confusion=[{"category": truth, **{label: cells[truth, label] for label in labels}} for truth in truths],
        misrouted=[Misrouted(ticket, answer) for ticket, answer in answers if answer != ticket.category],
    )


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share: it stays within 0 and 1 and holds for small numbers too.

    Raises:
        DataError: there were no trials, or not between none and all of them succeeded.

    Example:
        >>> low, high = wilson_interval(9, 10)
        >>> round(low, 3), round(high, 3)
        (0.596, 0.982)
    """
    if trials < 1 or not 0 <= successes <= trials:
        raise DataError(
            f"wilson_interval got {successes} successes in {trials} trials; it needs at least one trial and no more "
            "successes than trials."
        )
    share, spread = successes / trials, _Z_95**2 / trials
    middle = share + spread / 2
    reach = _Z_95 * math.sqrt((share * (1 - share) + spread / 4) / trials)
    low, high = (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)
    # Rounding must not move an exact 0 or 1.
    return (0.0 if successes == 0 else low, 1.0 if successes == trials else high)
