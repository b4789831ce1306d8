"""What model calls cost: a person's own prices first, then genai-prices where it is installed, then a short table.

A price that nobody knows is `None`, never 0.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.genai import types

from adk_nb.events.event import Event

PER = 1_000_000
"""Tokens that a price is for."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Example:
        >>> Price(input=0.30, output=2.50, cached=0.03).output
        2.5
    """

    input: float
    output: float
    """For visible and hidden output, thinking included."""
    cached: float | None = None
    """For the part of the prompt that came from a cache; `None` means the full price."""


TABLE_DATE = "2026-11-30"
TABLE = {
    "gemini-2.5-pro": Price(1.25, 10.0, 0.125),
    "gemini-2.5-flash": Price(0.30, 2.50, 0.03),
    "gemini-2.5-flash-lite": Price(0.10, 0.40, 0.01),
}
"""List prices of short prompts on `TABLE_DATE`, for when genai-prices isn't installed."""


def cost_of(usage: types.GenerateContentResponseUsageMetadata, price: Price) -> float:
    """Return what a call with this usage costs in US dollars.

    The prompt count already contains the cached tokens; thinking and tool-use tokens stand beside the other counts.

    Example:
        >>> usage = types.GenerateContentResponseUsageMetadata(
        ...     prompt_token_count=1_000_000, cached_content_token_count=400_000, candidates_token_count=100_000
        ... )
        >>> cost_of(usage, Price(input=1.0, output=10.0, cached=0.25))
        1.7
    """
    prompt, cached, output = _counts(usage)
    cached_price = price.input if price.cached is None else price.cached
    return ((prompt - cached) * price.input + cached * cached_price + output * price.output) / PER


def cost_of_event(event: Event, prices: Mapping[str, Price] | None = None) -> float | None:
    """Return what the model call behind an event cost in US dollars, `None` when the price isn't known.

    Args:
        event: An event with `usage_metadata`; without, the answer is 0.
        prices: A person's own prices by model name, which count before all others.
    """
    usage, model = event.usage_metadata, event.model_version
    if usage is None:
        return 0.0
    if model is None:
        return None
    name = model.rpartition("/")[2]
    own = (prices or {}).get(model) or (prices or {}).get(name)
    if own is not None:
        return cost_of(usage, own)
    listed = _listed_cost(name, *_counts(usage))
    if listed is not None:
        return listed
    known = TABLE.get(name)
    return None if known is None else cost_of(usage, known)


def _counts(usage: types.GenerateContentResponseUsageMetadata) -> tuple[int, int, int]:
    """Return the tokens of the whole prompt, of its cached part, and of the output."""
    prompt = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
    output = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    return prompt, min(usage.cached_content_token_count or 0, prompt), output


def _listed_cost(model: str, prompt: int, cached: int, output: int) -> float | None:
    calc = _genai_prices()
    if calc is None:
        return None
    calc_price, usage_type = calc
    usage = usage_type(input_tokens=prompt, output_tokens=output, cache_read_tokens=cached)
    try:
        return float(calc_price(usage, model_ref=model).total_price)
    except LookupError:  # a model that it doesn't know
        return None


@functools.cache
def _genai_prices() -> tuple[Any, Any] | None:
    """Return genai-prices' two names, `None` where it isn't installed; it takes half a second to load."""
    if importlib.util.find_spec("genai_prices") is None:
        return None
    from genai_prices import Usage, calc_price  # an extra, and slow: loaded when a price is first asked for

    return calc_price, Usage
