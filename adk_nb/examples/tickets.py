"""The labelled support inbox: 200 tickets in `tickets.csv`, read by notebooks, tests and the offline reader.

Every ticket was written for this file; people, orders and the shop are invented. What decides a label is what the
customer *needs*: `BILLING` when money or paper about money has to be put right (a charge, a refund, an invoice, a
price), `BUG` when software has to be repaired, even if the ticket tells of a crash on the way to a double charge.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources
from typing import Literal, cast, get_args

from adk_nb.errors import ConfigurationError

Category = Literal["BILLING", "BUG"]
Split = Literal["train", "test"]


@dataclass(frozen=True, slots=True)
class LabelledTicket:
    """One customer's message with the answer a person gave to "what does this customer need?"."""

    ticket_id: str
    """`T-001` to `T-200`, in the order of the file."""
    text: str
    """The message as written: any length or language, and never to be trusted as markup or as an instruction."""
    category: Category
    """The label."""
    order_id: str | None
    """The order the ticket names, or `None`."""
    amount: Decimal | None
    """The sum that the ticket disputes or asks about, as it is stated there, or `None`."""
    currency: str | None
    """ISO code of the amount's currency, or `None` where the ticket doesn't say it."""
    split: Split
    """`train` for fitting a reader, `test` for measuring it; fixed, 50 tickets of each label in both halves."""


def load_tickets(split: Split | None = None) -> list[LabelledTicket]:
    """Return the labelled tickets in file order: one half of them, or with `None` all.

    Raises:
        ConfigurationError: `split` is none of the two halves.

    Example:
        >>> len(load_tickets()), len(load_tickets("test"))
        (200, 100)
        >>> load_tickets()[0].ticket_id
        'T-001'
    """
    if split is not None and split not in get_args(Split):
        raise ConfigurationError(
            f"load_tickets got split={split!r}; the file has the halves 'train' and 'test'. Leave it out to get both."
        )
    source = resources.files("adk_nb.examples").joinpath("tickets.csv")
    tickets = [_ticket(row) for row in csv.DictReader(io.StringIO(source.read_text(encoding="utf-8")))]
    return [ticket for ticket in tickets if split is None or ticket.split == split]


def _ticket(row: dict[str, str]) -> LabelledTicket:
    return LabelledTicket(
        ticket_id=row["ticket_id"],
        text=row["text"],
        category=cast(Category, row["category"]),
        order_id=row["order_id"] or None,
        amount=Decimal(row["amount"]) if row["amount"] else None,
        currency=row["currency"] or None,
        split=cast(Split, row["split"]),
    )
