"""What a model call costs."""

from __future__ import annotations

import pytest
from google.genai import types

from adk_nb.events import Event
from adk_nb.events.prices import TABLE, Price, cost_of, cost_of_event


def usage(**counts: int) -> types.GenerateContentResponseUsageMetadata:
    """Return usage with these counts."""
    return types.GenerateContentResponseUsageMetadata.model_validate(counts)


def test_cached_tokens_are_charged_once() -> None:
    """The prompt count contains the cached tokens: they are charged at their own price, or at the full one without."""
    used = usage(prompt_token_count=262_960, cached_content_token_count=262_144, candidates_token_count=1_744)
    full = (262_960 * 1.25 + 1_744 * 10) / 1e6
    assert cost_of(used, Price(input=1.25, output=10.0)) == pytest.approx(full)
    less = (816 * 1.25 + 262_144 * 0.3125 + 1_744 * 10) / 1e6
    assert cost_of(used, Price(input=1.25, output=10.0, cached=0.3125)) == pytest.approx(less)


def test_thinking_is_output_and_tool_use_is_prompt() -> None:
    """Thinking tokens cost what output costs, tokens of tool results what the prompt costs."""
    used = usage(prompt_token_count=10, tool_use_prompt_token_count=5, candidates_token_count=2, thoughts_token_count=3)
    assert cost_of(used, Price(input=1e6, output=1e7)) == pytest.approx(15 + 50)


def test_an_unknown_price_is_unknown() -> None:
    """No price is `None` and not 0; an event without usage costs nothing; a person's own price comes first."""
    used = usage(prompt_token_count=1_000_000)
    assert cost_of_event(Event(author="a")) == 0.0
    assert cost_of_event(Event(author="a", usage_metadata=used)) is None
    assert cost_of_event(Event(author="a", usage_metadata=used, model_version="nobody-knows-it")) is None
    flash = Event(author="a", usage_metadata=used, model_version="gemini-2.5-flash")
    assert cost_of_event(flash, {"gemini-2.5-flash": Price(input=7.0, output=0.0)}) == pytest.approx(7.0)
    assert cost_of_event(flash) == pytest.approx(0.30)


@pytest.mark.parametrize("model", TABLE)
def test_the_short_table_says_what_genai_prices_says(model: str) -> None:
    """A call costs the same with and without genai-prices installed."""
    used = usage(prompt_token_count=2_000, cached_content_token_count=500, candidates_token_count=300)
    event = Event(author="a", usage_metadata=used, model_version=model)
    assert cost_of_event(event) == pytest.approx(cost_of(used, TABLE[model]))
