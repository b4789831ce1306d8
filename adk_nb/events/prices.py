"""What model calls cost: a person's own prices first, then genai-prices where it is installed, then a short table.

A price that nobody knows is `None`, never 0.
"""

from __future__ import annotations

import bisect
import functools
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.genai import types

from adk_nb.errors import ConfigurationError, DataError
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


AnyPrice = Price | tuple[float, ...] | Mapping[str, float]
"""A price, or its numbers: `(input, output)`, `(input, output, cached)`, `{"input": ..., "output": ...}`."""
Prices = Mapping[str, Price] | None


def as_prices(prices: Mapping[str, AnyPrice] | None) -> Prices:
    """Return prices by model name, however they were written.

    Raises:
        ConfigurationError: one of them isn't a price.

    Example:
        >>> as_prices({"big": (1.0, 10.0)})
        {'big': Price(input=1.0, output=10.0, cached=None)}
    """
    return None if prices is None else {name: _as_price(name, price) for name, price in prices.items()}


def _as_price(name: str, price: Any) -> Price:
    if isinstance(price, Price):
        return price
    try:
        return Price(**price) if isinstance(price, Mapping) else Price(*price)
    except TypeError:
        raise ConfigurationError(
            f"prices[{name!r}]={price!r:.60} isn't a price: write Price(input=0.3, output=2.5) or (0.3, 2.5), US "
            f"dollars per million tokens, input before output."
        ) from None


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

    Raises:
        DataError: more tokens are cached than the prompt has, so the counts can't be right.

    Example:
        >>> usage = types.GenerateContentResponseUsageMetadata(
        ...     prompt_token_count=1_000_000, cached_content_token_count=400_000, candidates_token_count=100_000
        ... )
        >>> cost_of(usage, Price(input=1.0, output=10.0, cached=0.25))
        1.7
    """
    prompt, cached, output = _counts(usage)
    if cached > prompt:
        raise DataError(
            f"Usage with {cached} cached tokens in a prompt of {prompt} can't be priced: the cached ones are a part of "
            f"the prompt. Look into who counted them apart."
        )
    cached_price = price.input if price.cached is None else price.cached
    return ((prompt - cached) * price.input + cached * cached_price + output * price.output) / PER


def cost_of_event(event: Event, prices: Mapping[str, Price] | None = None) -> float | None:
    """Return what the model call behind an event cost in US dollars, `None` when the price isn't known.

    Counts that can't be right, more cached tokens than the prompt has, have no known price either.

    Args:
        event: An event with `usage_metadata`; without, the answer is 0.
        prices: A person's own prices by model name, which count before all others.
    """
    usage, model = event.usage_metadata, event.model_version
    if usage is None:
        return 0.0
    counts = _counts(usage)
    if model is None or counts[1] > counts[0]:
        return None
    name = model.rpartition("/")[2]
    own = (prices or {}).get(model) or (prices or {}).get(name)
    if own is not None:
        return cost_of(usage, own)
    known = _listed_price(name, counts[0]) or TABLE.get(name)
    return None if known is None else cost_of(usage, known)


def _counts(usage: types.GenerateContentResponseUsageMetadata) -> tuple[int, int, int]:
    """Return the tokens of the whole prompt, of its cached part, and of the output."""
    prompt = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
    output = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    return prompt, usage.cached_content_token_count or 0, output


def _listed_price(model: str, prompt: int) -> Price | None:
    """Return what genai-prices says of a model, for a prompt of so many tokens."""
    sizes = _sizes(model)
    return None if sizes is None else _price_at(model, 1 + sizes[bisect.bisect_left(sizes, prompt) - 1])


@functools.lru_cache(4_096)
def _sizes(model: str) -> list[int] | None:
    """Return the sizes of prompts above which a model has other prices, -1 first; `None` for an unknown model."""
    calc = _genai_prices()
    if calc is None:
        return None
    calc_price, usage_type = calc
    try:
        listed = calc_price(usage_type(input_tokens=1), model_ref=model).model_price
    except LookupError:  # a model that it doesn't know
        return None
    tiers = [tier for price in vars(listed).values() for tier in getattr(price, "tiers", ())]
    return sorted({-1, *(tier.start for tier in tiers)})


@functools.lru_cache(4_096)
def _price_at(model: str, above: int) -> Price | None:
    """Return a model's price for prompts from this size to where the next one begins; asking each time takes 0.2 ms."""
    calc = _genai_prices()
    if calc is None:
        return None
    calc_price, usage_type = calc

    def rate(prompt: int, output: int = 0, cached: int = 0) -> Any:
        used = usage_type(input_tokens=prompt, output_tokens=output, cache_read_tokens=cached)
        return calc_price(used, model_ref=model).total_price

    size = above + 99
    own = rate(size)
    return Price(
        input=float(own / size * PER),
        output=float((rate(size, output=size) - own) / size * PER),
        cached=float(rate(size, cached=size) / size * PER),
    )


@functools.cache
def _genai_prices() -> tuple[Any, Any] | None:
    """Return genai-prices' two names, `None` where it isn't installed; it takes half a second to load."""
    if importlib.util.find_spec("genai_prices") is None:
        return None
    from genai_prices import Usage, calc_price  # an extra, and slow: loaded when a price is first asked for

    return calc_price, Usage
