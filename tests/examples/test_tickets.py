"""The labelled file keeps what its readers rely on."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from itertools import combinations

import pytest

from adk_nb.errors import ConfigurationError
from adk_nb.examples import load_tickets


def test_split_is_balanced_and_complete() -> None:
    """Both halves hold as many tickets of each label, and together they are the whole file."""
    counted = Counter((ticket.split, ticket.category) for ticket in load_tickets())
    assert counted == {(split, label): 50 for split in ("train", "test") for label in ("BILLING", "BUG")}
    halves = load_tickets("train") + load_tickets("test")
    assert sorted(halves, key=lambda ticket: ticket.ticket_id) == load_tickets()


def test_unknown_split_is_refused() -> None:
    """A half that doesn't exist is refused with the names of those that do, instead of giving an empty list."""
    with pytest.raises(ConfigurationError, match=r"split='dev'.*'train' and 'test'"):
        load_tickets("dev")  # type: ignore[arg-type]


def test_tickets_cannot_be_changed() -> None:
    """A loaded ticket is frozen, so that no cell of a notebook can alter a label by accident."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        load_tickets()[0].category = "BUG"  # type: ignore[misc]


def test_ids_count_up() -> None:
    """Ids are unique and follow the order of the file."""
    assert [ticket.ticket_id for ticket in load_tickets()] == [f"T-{number:03}" for number in range(1, 201)]


def test_no_two_tickets_are_near_duplicates() -> None:
    """No two tickets share more than half of their words: a test ticket can't be known from its twin in training."""
    known = [(ticket.ticket_id, set(re.findall(r"\w+", ticket.text.casefold()))) for ticket in load_tickets()]
    alike = [
        (first, second)
        for (first, ours), (second, theirs) in combinations(known, 2)
        if len(ours & theirs) > 0.5 * len(ours | theirs)
    ]
    assert alike == []


def test_stated_facts_stand_in_the_text() -> None:
    """Order ids and amounts are quoted from the ticket, never computed; a currency comes with an amount only."""
    for ticket in load_tickets():
        assert ticket.order_id is None or ticket.order_id in ticket.text, ticket
        assert ticket.amount is None or _digits(str(ticket.amount)) in _digits(ticket.text), ticket
        assert ticket.currency is None or ticket.amount is not None, ticket


def test_an_order_id_in_the_text_is_in_its_column() -> None:
    """A ticket that names an order has it in its column too."""
    assert [ticket.ticket_id for ticket in load_tickets() if "FL-" in ticket.text and not ticket.order_id] == []


def test_the_inbox_is_varied() -> None:
    """Short and long messages, many currencies, scripts and moods: readers and displays meet what an inbox holds."""
    tickets = load_tickets()
    lengths = sorted(len(ticket.text) for ticket in tickets)
    assert lengths[0] < 15
    assert lengths[-1] > 400
    assert len({ticket.currency for ticket in tickets} - {None}) >= 20
    assert sum(not ticket.text.isascii() for ticket in tickets) >= 40
    assert sum("\n" in ticket.text for ticket in tickets) >= 2


@pytest.mark.parametrize(
    "trap", ["<script>", "onerror=", "&amp;", '"', "'; DROP TABLE", "gnore your previous instructions", "😡", "ليلى"]
)
def test_the_inbox_holds_hostile_texts(trap: str) -> None:
    """Markup, quotes, injected orders, emojis and right-to-left text are among the tickets, for displays to survive."""
    assert any(trap in ticket.text for ticket in load_tickets())


def _digits(text: str) -> str:
    return re.sub(r"[ .,]", "", text)
