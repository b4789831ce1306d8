"""The offline model answers the support inbox's agents out of the ticket that it was shown."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from adk_nb.errors import ConfigurationError
from adk_nb.examples import NaiveBayesReader, load_tickets, offline_model
from adk_nb.models import LlmRequest, LlmResponse

_TWICE = "You charged my card twice for order FL-20417, please refund one payment of €34.90. Thanks, Søren"


class _Short(BaseModel):
    category: str
    summary: str


class _Full(_Short):
    order_id: str | None = None
    amount: float | None = None
    currency: str | None = None


def _ask(text: str, *, agent: str = "classifier", shape: Any = None) -> LlmResponse:
    config = types.GenerateContentConfig(labels={"adk_agent_name": agent})
    request = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text=text)])], config=config)
    if shape is not None:
        request.set_output_schema(shape)

    async def only_response() -> LlmResponse:
        [response] = [response async for response in offline_model().generate_content_async(request)]
        return response

    return asyncio.run(only_response())


def _said(response: LlmResponse) -> str:
    assert response.content is not None
    assert response.content.parts is not None
    return response.content.parts[0].text or ""


@pytest.mark.parametrize("shape", [_Full, _Full.model_json_schema()])
def test_the_classifier_reads_the_ticket(shape: Any) -> None:
    """Category, summary, order and sum of the answer all come out of the ticket's text."""
    assert json.loads(_said(_ask(_TWICE, shape=shape))) == {
        "category": "BILLING",
        "summary": "You charged my card twice for order FL-20417, please refund one payment of €34.90.",
        "order_id": "FL-20417",
        "amount": 34.9,
        "currency": "EUR",
    }


@pytest.mark.parametrize("shape", [None, _Short, _Short.model_json_schema()])
def test_the_answer_has_the_fields_asked_for(shape: Any) -> None:
    """The agent's output schema decides which fields are given, so that a strict one accepts them."""
    assert set(json.loads(_said(_ask(_TWICE, shape=shape)))) == {"category", "summary"}


def test_it_says_what_the_reader_says() -> None:
    """For every ticket the model's category is the reader's, so that measuring one measures the other."""
    reader = NaiveBayesReader().fit(load_tickets("train"))
    for ticket in load_tickets("test")[:20]:
        assert json.loads(_said(_ask(ticket.text)))["category"] == reader.predict(ticket.text)[0]


def test_bug_triage_reads_the_summary_it_is_handed() -> None:
    """A classified ticket (JSON) and a plain text give the same report."""
    summary = "The app closes when I open the photo picker."
    handed = _Short(category="BUG", summary=summary).model_dump_json()
    assert _said(_ask(handed, agent="bug_triage")) == _said(_ask(summary, agent="bug_triage"))
    assert f"Title: {summary}" in _said(_ask(handed, agent="bug_triage"))


@pytest.mark.parametrize("text", ["", "7", '["a"]', '{"summary": 5}', "{"])
def test_bug_triage_takes_any_text(text: str) -> None:
    """Text that merely looks like a classified ticket is read as text."""
    assert _said(_ask(text, agent="bug_triage")).startswith("Title: ")


def test_tokens_grow_with_what_was_said() -> None:
    """Usage is counted from the texts: twice the ticket is about twice the prompt."""
    once, twice = _ask(_TWICE).usage_metadata, _ask(_TWICE * 2).usage_metadata
    assert once is not None
    assert twice is not None
    assert once.prompt_token_count == -(-len(_TWICE) // 4)
    assert twice.prompt_token_count == -(-len(_TWICE * 2) // 4)


def test_another_agent_is_refused_by_name() -> None:
    """An agent that the model can't speak for learns which ones it can."""
    with pytest.raises(ConfigurationError, match=r"'poet'.*'classifier' and 'bug_triage'"):
        _ask("hello", agent="poet")
