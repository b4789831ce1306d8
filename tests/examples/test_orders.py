"""Order ids and sums are read from a text as a person would read them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.examples import OrderDetails, load_tickets, order_details


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("€34.90", "34.90", "EUR"),
        ("6,90 €", "6.90", "EUR"),
        ("R 310,00 each", "310.00", "ZAR"),
        ("R$ 612,00", "612.00", "BRL"),
        ("US$131.00.", "131.00", "USD"),
        ("KES 1,120 of it", "1120", "KES"),
        ("¥6,800 on 3 June", "6800", "JPY"),
        ("18 400 Ft", "18400", "HUF"),
        ("2.948,50 EUR", "2948.50", "EUR"),
        ("25,000 NGN, and", "25000", "NGN"),
        ("9 bucks", "9", "USD"),
        ("you took 4.99 every month", "4.99", None),
        ("MARCH 14, PIN 1234", None, None),
        ("app 5.2.1 on Android 14", None, None),
        ("3 Euroshops", None, None),
    ],
)
def test_sums_are_read_in_many_notations(text: str, amount: str | None, currency: str | None) -> None:
    """A sum is found before or after its sign, code or name, with either decimal mark; other numbers are no sums."""
    assert order_details(text) == OrderDetails(None, Decimal(amount) if amount else None, currency)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    """Whatever a person typed is read without an error, and what is returned stands in it."""
    found = order_details(text)
    assert found.order_id is None or found.order_id in text


@given(st.decimals(min_value=0, max_value=999_999, places=2))
def test_a_sum_with_cents_survives(amount: Decimal) -> None:
    """A sum written with two decimals is read back exactly, with a point, a comma, or groups of thousands."""
    for written in (f"{amount}", f"{amount}".replace(".", ","), f"{amount:,}"):
        assert order_details(f"I paid {written} EUR").amount == amount


def test_orders_and_sums_of_the_inbox_are_found() -> None:
    """Order ids are found in every ticket that has one, sums in most: of two sums in a ticket the first is taken."""
    tickets = load_tickets()
    read = [order_details(ticket.text) for ticket in tickets]
    assert [found.order_id for found in read] == [ticket.order_id for ticket in tickets]
    right = [found.amount == ticket.amount for found, ticket in zip(read, tickets, strict=True)]
    assert sum(right) >= 0.9 * len(right)
