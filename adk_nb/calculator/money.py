"""Money and seconds: what tokens cost, and how long a person waits for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from adk_nb.calculator.caching import Cache
from adk_nb.calculator.inputs import checked_amount


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """List price of a model, in US dollars per million tokens.

    Example:
        >>> MODEL_PRICES["gemini-3.5-flash"].output
        9.0
    """

    input: float
    cached: float
    """For tokens that come from the cache."""
    output: float
    """For everything that is written, reasoning included."""
    maker: str
    """Whose cache it has: the key of `CACHES` starts with this word."""


PRICES_DATE = "November 2026"
MODEL_PRICES: Mapping[str, ModelPrice] = MappingProxyType(
    {
        "gemini-3.5-flash": ModelPrice(1.50, 0.15, 9.00, "Gemini"),
        "gemini-3.8-flash": ModelPrice(1.50, 0.15, 7.50, "Gemini"),
        "gemini-2.5-flash": ModelPrice(0.30, 0.03, 2.50, "Gemini"),
        "gemini-4-argon": ModelPrice(4.00, 0.20, 20.00, "Gemini"),
        "claude-haiku-4-5": ModelPrice(1.00, 0.10, 5.00, "Anthropic"),
        "claude-sonnet-5": ModelPrice(2.00, 0.20, 10.00, "Anthropic"),
        "gpt-5.4-mini": ModelPrice(0.75, 0.075, 4.50, "OpenAI"),
        "gpt-5.4": ModelPrice(2.50, 0.25, 15.00, "OpenAI"),
    }
)
"""Prices of short prompts (the first tier) as of `PRICES_DATE`."""

CACHES: Mapping[str, Cache] = MappingProxyType(
    {
        "Gemini, implicit": Cache(0.1, 1.0, 1024),
        "Anthropic, 5 minutes": Cache(0.1, 1.25, 1024),
        "Anthropic, 1 hour": Cache(0.1, 2.0, 1024),
        "OpenAI, GPT-5": Cache(0.1, 1.0, 1024),
        "OpenAI, GPT-5.6 and later": Cache(0.1, 1.25, 1024),
        "OpenAI, GPT-4.1": Cache(0.25, 1.0, 1024),
        "OpenAI, GPT-4o": Cache(0.5, 1.0, 1024),
    }
)
"""Cache terms by provider, from their price lists; see `CACHE_CAVEAT`."""

CACHE_CAVEAT = (
    "The shortest prefix is the lowest that a provider names: Gemini’s and Anthropic’s is 1,024 to 4,096 by model, and "
    "sources disagree for Gemini 3; OpenAI’s grows in steps of 128. Gemini’s implicit cache is best effort."
)
PRICES_SOURCE = "genai-prices 0.2.3, short prompts"
"""What the prices of `MODEL_PRICES` are taken from."""


def cost_in_dollars(input_equivalent: float, output_tokens: float, price_input: float, price_output: float) -> float:
    """Give the cost in US dollars: `(P_in · input-equivalent + P_out · output) / 10⁶`.

    Prices are per million tokens; reasoning counts as output.

    Example:
        >>> round(cost_in_dollars(3555, 1597, 1.50, 9.00), 7)
        0.0197055
    """
    sent = checked_amount("input_equivalent", input_equivalent)
    written = checked_amount("output_tokens", output_tokens)
    price_in = checked_amount("price_input", price_input, "dollars a million tokens")
    price_out = checked_amount("price_output", price_output, "dollars a million tokens")
    return (price_in * sent + price_out * written) / 1_000_000


def latency(calls: float, output_tokens: float, per_call: float, per_output_token: float) -> float:
    """Give the seconds spent in model calls: a fixed part of each call, and one of each token that is written.

    For the published refund case 0.68 s a call and 1.96 ms a token give back both times.

    Example:
        >>> round(latency(6, 1597, 0.68, 0.00196), 1), round(latency(4, 1525, 0.68, 0.00196), 1)
        (7.2, 5.7)
    """
    return checked_amount("calls", calls, "calls") * checked_amount("per_call", per_call, "seconds") + checked_amount(
        "output_tokens", output_tokens
    ) * checked_amount("per_output_token", per_output_token, "seconds")
