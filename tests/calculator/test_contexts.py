"""Contexts, caching and money: known values, edges, and each closed form against adding up call by call."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.calculator import (
    CACHES,
    MODEL_PRICES,
    NO_CACHE,
    Cache,
    Context,
    break_even_nodes,
    cost_in_dollars,
    input_equivalent,
    latency,
)
from adk_nb.errors import ConfigurationError

AMOUNTS = st.integers(0, 5_000)
CALLS = st.integers(0, 60)
CACHE_TERMS = st.builds(Cache, st.floats(0, 1), st.floats(0, 3), st.integers(0, 20_000), st.floats(0, 1))


def one_by_one(context: Context, cache: Cache = NO_CACHE) -> float:
    """Input-equivalent tokens of a fixed number of calls, each call looked at alone."""
    total = 0.0
    for call in range(1, int(context.calls) + 1):
        prompt = context.base + (call - 1) * context.growth
        repeated = 0.0 if call == 1 else prompt - context.growth
        if call > 1 and repeated >= cache.minimum:
            hit = cache.read * repeated + cache.write * context.growth
            total += cache.hit * hit + (1 - cache.hit) * cache.write * prompt
        else:
            total += cache.write * prompt if prompt >= cache.minimum else prompt
    return total


@given(CALLS, AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS)
def test_context_is_the_sum_of_its_calls(calls: int, base: int, visible: int, result: int, hidden: int) -> None:
    """Call k sends the first prompt and all that k − 1 calls added, and writes its visible and hidden output."""
    context = Context(calls, base, visible, result, hidden)
    assert context.prompt_tokens == sum(base + k * (visible + result) for k in range(calls))
    assert context.output_tokens == sum(visible + hidden for _ in range(calls))


@given(st.lists(CALLS, min_size=1, max_size=30), AMOUNTS, AMOUNTS)
def test_varying_length_counts_its_variance(lengths: list[int], base: int, growth: int) -> None:
    """For runs of different lengths, mean and variance give the mean of their totals."""
    mean = sum(lengths) / len(lengths)
    variance = sum((length - mean) ** 2 for length in lengths) / len(lengths)
    mean_total = sum(Context(length, base, result=growth).prompt_tokens for length in lengths) / len(lengths)
    assert Context(mean, base, result=growth, variance=variance).prompt_tokens == pytest.approx(mean_total, rel=1e-9)


@given(st.floats(0, 50), AMOUNTS, AMOUNTS)
def test_mean_between_two_counts(mean: float, base: int, growth: int) -> None:
    """A mean of 2.5 calls is at least a mixture of 2 and 3 calls."""
    low, part = math.floor(mean), mean - math.floor(mean)
    mixed = (1 - part) * one_by_one(Context(low, base, result=growth))
    mixed += part * one_by_one(Context(low + 1, base, result=growth))
    assert Context(mean, base, result=growth).prompt_tokens == pytest.approx(mixed, rel=1e-9, abs=1e-6)


def test_published_trajectories() -> None:
    """The quadratic law with its variance term comes within 1 % of 200 measured trajectories, without it 11 % short."""
    assert Context(12.27, 1274, result=203, variance=40.2).prompt_tokens == pytest.approx(33_724, rel=0.001)
    assert Context(12.27, 1274, result=203).prompt_tokens == pytest.approx(29_646, rel=0.002)


@given(CALLS, AMOUNTS, AMOUNTS, CACHE_TERMS)
def test_cache_is_the_sum_of_its_calls(calls: int, base: int, growth: int, cache: Cache) -> None:
    """The closed form of caching equals looking at each call: what it repeats, if that is long enough, and found."""
    context = Context(calls, base, result=growth)
    assert input_equivalent(context, cache) == pytest.approx(one_by_one(context, cache), rel=1e-9, abs=1e-6)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=20), AMOUNTS, AMOUNTS, st.floats(0, 1), st.floats(0, 1))
def test_cache_with_varying_length(lengths: list[int], base: int, growth: int, read: float, hit: float) -> None:
    """Without a minimum, mean and variance of the length give the mean of the cached totals as well."""
    cache = Cache(read, 1.25, hit=hit)
    mean = sum(lengths) / len(lengths)
    variance = sum((length - mean) ** 2 for length in lengths) / len(lengths)
    mean_total = sum(one_by_one(Context(length, base, result=growth), cache) for length in lengths) / len(lengths)
    context = Context(mean, base, result=growth, variance=variance)
    assert input_equivalent(context, cache) == pytest.approx(mean_total, rel=1e-9, abs=1e-6)


@given(CALLS, AMOUNTS, AMOUNTS)
def test_no_cache_is_the_prompt(calls: int, base: int, growth: int) -> None:
    """No cache, a minimum above every prompt, and no hits at a write price of 1 all count every token once."""
    context = Context(calls, base, result=growth)
    for cache in (NO_CACHE, Cache(0.1, 2.0, minimum=1e9), Cache(0.1, hit=0)):
        assert input_equivalent(context, cache) == pytest.approx(context.prompt_tokens)


def test_known_values_of_caching() -> None:
    """The published example comes out, with and without a minimum prefix, and with the write price of an hour."""
    context = Context(15, 2000, result=500)
    assert context.prompt_tokens == 82_500
    assert input_equivalent(context, Cache(0.1)) == pytest.approx(16_350)
    assert input_equivalent(context, Cache(0.1, minimum=4096)) == pytest.approx(29_850)
    assert 1 - 4_000 / input_equivalent(context, Cache(0.1)) == pytest.approx(0.755, abs=5e-4)
    written = 2 * (2000 + 14 * 500) + 0.1 * (14 * 2000 + 500 * 14 * 13 / 2)
    assert input_equivalent(context, Cache(0.1, 2.0)) == pytest.approx(written)


def test_edges_of_contexts() -> None:
    """No calls are nothing; a context that doesn't grow is its calls; what costs nothing breaks even nowhere."""
    assert (Context(0, 500, 1, 2, 3).tokens, input_equivalent(Context(0, 500))) == (0, 0)
    assert Context(3, 500).tokens == 1500
    assert input_equivalent(Context(3, 500), Cache(0.1, minimum=1024)) == 1500
    assert break_even_nodes(Context(15, 500, 0, 500), Context(1, 500)) == 120
    assert break_even_nodes(Context(1, 500), Context(0, 500)) == math.inf
    assert break_even_nodes(Context(0, 500), Context(0, 500)) == 0


def test_money_and_seconds() -> None:
    """The refund case in money and in seconds, from its tokens."""
    price = MODEL_PRICES["gemini-3.5-flash"]
    assert cost_in_dollars(3555, 1597, price.input, price.output) == pytest.approx(0.0197055, abs=1e-12)
    assert cost_in_dollars(740, 1525, price.input, price.output) == pytest.approx(0.014835, abs=1e-12)
    assert latency(6, 1597, 0.68, 0.00196) == pytest.approx(7.2, abs=0.05)
    assert latency(4, 1525, 0.68, 0.00196) == pytest.approx(5.7, abs=0.05)


def test_every_model_has_a_cache() -> None:
    """A model's maker is the first word of one of the caches, and its cached price is below its input price."""
    for price in MODEL_PRICES.values():
        assert any(name.startswith(f"{price.maker},") for name in CACHES)
        assert 0 < price.cached < price.input < price.output


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Context(-1, 5), "calls must be a finite number of calls, 0 or more; found -1."),
        (lambda: Context(1, math.inf), "base must be a finite number of tokens, 0 or more; found inf."),
        (lambda: Cache(hit=2), "hit must be a number from 0 to 1, such as 0.5 for half; found 2."),
        (lambda: Cache(read=-1), "read must be a finite number of times the input price, 0 or more; found -1."),
        (lambda: latency(1, 1, True, 0), "per_call must be a finite number of seconds, 0 or more; found True."),
    ],
)
def test_refusals(make: object, message: str) -> None:
    """An amount outside its range is refused where it is given, in one sentence."""
    with pytest.raises(ConfigurationError) as caught:
        make()  # type: ignore[operator]  # a lambda of the table
    assert str(caught.value) == message
