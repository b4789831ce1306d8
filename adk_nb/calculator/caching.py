"""Prompt caching: what the tokens of a context count for when a repeated prefix is cheaper.

The result is in input-equivalent tokens: multiply by the input price. Caching scales what a context sends again; it
doesn't remove it. Sources: the terms are those of the providers' price lists, see `CACHES`; the sum follows from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adk_nb.calculator.contexts import Context, least_variance
from adk_nb.calculator.inputs import checked_amount, checked_fraction


@dataclass(frozen=True, slots=True)
class Cache:
    """The terms of a prompt cache; the default is none at all.

    Example:
        >>> Cache(read=0.1).hit
        1.0
    """

    read: float = 1.0
    """d: price of a cached token, as a multiple of the input price."""
    write: float = 1.0
    """w: price of a token that is written to the cache, as a multiple of the input price."""
    minimum: float = 0.0
    """M: tokens of the shortest prefix that is cached."""
    hit: float = 1.0
    """H: chance that a repeated prefix is found, 0 to 1."""

    def __post_init__(self) -> None:
        for name in ("read", "write"):
            object.__setattr__(self, name, checked_amount(name, getattr(self, name), "times the input price"))
        object.__setattr__(self, "minimum", checked_amount("minimum", self.minimum))
        object.__setattr__(self, "hit", checked_fraction("hit", self.hit))


NO_CACHE = Cache()
"""Every token counts once."""


def input_equivalent(context: Context, cache: Cache = NO_CACHE) -> float:
    """Count what a context sends in input-equivalent tokens.

    Call 1 sends `b`; call k repeats the prompt before it, `X = b + (k−2)·g`, and adds `g`. With `X ≥ M` it counts
    `H·(d·X + w·g) + (1−H)·w·(X + g)`. Before that a prompt that reaches M is written, `w·(X + g)`, and a shorter one
    counts as it is. Always hit and no minimum make `w·(b + (κ−1)·g) + d·((κ−1)·b + g·(κ−1)(κ−2)/2)`.

    When the number of calls varies, the formula is averaged; with a minimum, the part that the variance adds counts
    at the rate of the mean run's last call.

    Example:
        >>> context = Context(15, 2000, result=500)
        >>> context.prompt_tokens, round(input_equivalent(context, Cache(read=0.1)), 6)
        (82500.0, 16350.0)
        >>> round(input_equivalent(context, Cache(read=0.1, minimum=4096)), 6)
        29850.0
    """
    if context.calls == 0:
        return 0.0
    whole = math.floor(context.calls)
    part = context.calls - whole
    counted = _of_calls(whole, context, cache)
    if part > 0:
        counted = (1 - part) * counted + part * _of_calls(whole + 1, context, cache)
    beyond = context.spread - least_variance(context.calls)
    if beyond <= 0:
        return counted
    return counted + context.growth * _rate(math.ceil(context.calls), context, cache) * beyond / 2


def _of_calls(calls: int, context: Context, cache: Cache) -> float:
    """The same for a whole number of calls: those before the cache, the one that writes it, those that read it."""
    if calls == 0:
        return 0.0
    base, growth = context.base, context.growth
    reading = _first_reading(context, cache)
    plain = min(calls, reading - 2)
    counted = plain * base + growth * (plain * (plain - 1) / 2)
    if calls < reading - 1:
        return counted
    counted += cache.write * (base + growth * (reading - 2))
    readers = calls - (reading - 1)
    repeated = readers * base + growth * (readers * (reading - 2) + readers * (readers - 1) / 2)
    hits = cache.read * repeated + cache.write * (growth * readers)
    misses = cache.write * (repeated + growth * readers)
    return counted + cache.hit * hits + (1 - cache.hit) * misses


def _first_reading(context: Context, cache: Cache) -> float:
    """Number of the first call, 2 or later, whose prefix is long enough to be cached; infinite when none is."""
    base, growth = context.base, context.growth
    if base >= cache.minimum:
        return 2
    if growth == 0:
        return math.inf
    steps = (cache.minimum - base) / growth
    if steps > 1e15:
        return math.inf
    call = 2 + math.ceil(steps)
    # A quotient can lie a last digit beside the whole number that it stands for.
    if base + (call - 3) * growth >= cache.minimum:
        return call - 1
    return call if base + (call - 2) * growth >= cache.minimum else call + 1


def _rate(call: int, context: Context, cache: Cache) -> float:
    reading = _first_reading(context, cache)
    if call >= reading:
        return cache.hit * cache.read + (1 - cache.hit) * cache.write
    return cache.write if call == reading - 1 else 1.0
