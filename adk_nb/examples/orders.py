"""Find order ids and sums of money in a ticket's text, by patterns alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_CODES = [
    "AED", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR",
    "JPY", "KES", "KRW", "MXN", "NGN", "NOK", "NZD", "PLN", "RON", "SEK", "SGD", "THB", "TRY", "UAH", "USD",
    "ZAR",
]  # fmt: skip
_SIGNS = {
    "US$": "USD", "R$": "BRL", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₩": "KRW", "₪": "ILS", "₹": "INR",
    "R": "ZAR", "Ft": "HUF", "Kč": "CZK", "zł": "PLN", "TL": "TRY", "euros": "EUR", "euro": "EUR", "dollars": "USD",
    "dollar": "USD", "bucks": "USD", "pounds": "GBP", "quid": "GBP",
}  # fmt: skip
_CURRENCIES = {**{code: code for code in _CODES}, **_SIGNS}

# Longest first, so that `R$` isn't read as `R`; a letter before or after would make it part of a word.
_CURRENCY = "|".join(re.escape(sign) for sign in sorted(_CURRENCIES, key=len, reverse=True))
_NUMBER = r"\d{1,3}(?:[ ,.]\d{3})+(?:[.,]\d{2})?(?!\d)|\d+(?:[.,]\d{2})?(?!\d)"
_MONEY = re.compile(
    rf"(?<![^\W\d_])(?P<before>{_CURRENCY})\s?(?P<after_sign>{_NUMBER})"
    rf"|(?<![\w.,])(?P<before_sign>{_NUMBER})\s?(?P<after>{_CURRENCY})(?![^\W\d_])"
)
_BARE_SUM = re.compile(r"(?<![\w.,])\d+[.,]\d{2}(?![\w]|[.,]\d)")
_ORDER = re.compile(r"\bFL-\d{5}\b")


@dataclass(frozen=True, slots=True)
class OrderDetails:
    """What a ticket says of an order; `None` for what it doesn't say."""

    order_id: str | None = None
    amount: Decimal | None = None
    currency: str | None = None


def order_details(text: str) -> OrderDetails:
    """Return the first order id and the first sum of money that stand in the text.

    A sum is a number beside a currency sign, code or name; if there is none, a number with two decimals. Nothing is
    computed, and no other order is looked up.

    Example:
        >>> order_details("Charged twice for FL-20417, 2 × €34.90!")
        OrderDetails(order_id='FL-20417', amount=Decimal('34.90'), currency='EUR')
        >>> order_details("refund pls")
        OrderDetails(order_id=None, amount=None, currency=None)
    """
    order = _ORDER.search(text)
    order_id = order.group() if order else None
    if money := _MONEY.search(text):
        number = money["after_sign"] or money["before_sign"]
        return OrderDetails(order_id, _decimal(number), _CURRENCIES[money["before"] or money["after"]])
    bare = _BARE_SUM.search(text)
    return OrderDetails(order_id, _decimal(bare.group()) if bare else None)


def mask_orders(text: str, *, order: str, money: str) -> str:
    """Return the text with every order id and every sum of money replaced by the word given for it.

    Example:
        >>> mask_orders("FL-20417: €34.90 twice", order="ORDER", money="MONEY")
        'ORDER: MONEY twice'
    """
    return _BARE_SUM.sub(money, _MONEY.sub(money, _ORDER.sub(order, text)))


def _decimal(number: str) -> Decimal:
    """Read `1,120`, `18 400`, `310,00` and `2.948,50` alike: a last group of two digits are decimals."""
    digits = re.sub(r"[ .,]", "", number)
    has_cents = len(number) > 3 and number[-3] in ".,"
    return Decimal(f"{digits[:-2]}.{digits[-2:]}") if has_cents else Decimal(digits)
