"""An agent's `output_schema`: what fits becomes the output, and what doesn't is said once, with agent and field."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel, Field, ValidationError

from adk_nb.agents import Agent
from adk_nb.errors import InvalidAnswerError, ModelAnswerError
from adk_nb.models import LlmResponse
from adk_nb.testing import ScriptedModel, outline
from tests.agents.asking import Category, flow, run


class Person(BaseModel):
    """A model with another key in JSON than in Python."""

    first: str = Field(alias="firstName")


@pytest.mark.parametrize(
    ("schema", "reply", "output"),
    [
        (Category, '{"name": "BUG", "score": "5"}', {"name": "BUG", "score": 5}),
        (Category, '```json\n{"name": "BUG"}\n```', {"name": "BUG", "score": 0}),
        (list[Category], [{"name": "BUG"}], [{"name": "BUG", "score": 0}]),
        (list[int], "[1, 2]", [1, 2]),
        (Person, {"firstName": "Ada"}, {"first": "Ada"}),
        ({"type": "object", "required": ["a"]}, {"a": 1}, {"a": 1}),
        (types.Schema(type=types.Type.OBJECT), {"a": 1}, {"a": 1}),
    ],
)
def test_output_schema(schema: Any, reply: Any, output: Any) -> None:
    """The checked data is the output, on the event and downstream, without None fields; the request asks for it."""
    model = ScriptedModel([reply])
    turns = run(flow(Agent(name="a", model=model, output_schema=schema, output_key="kept")))
    assert turns.output == output
    assert turns.events[0].output == output
    assert turns.events[0].node_info.message_as_output is None
    assert turns.state["kept"] == output
    assert model.requests[0].config.response_mime_type == "application/json"


@pytest.mark.parametrize(
    ("schema", "reply", "words"),
    [
        (Category, "not json", ["'a'", "Category", "Invalid JSON", "not json"]),
        (Category, {"name": 3, "score": "x"}, ["name: ", "score: ", "valid string"]),
        (list[Category], [{}], ["[0].name: Field required"]),
        ({"type": "object", "required": ["a"], "title": "T"}, {}, ["T", "a: is required"]),
        (
            {"type": "object", "properties": {"tags": {"items": {"type": "integer"}}}},
            {"tags": [1, "x"]},
            ["tags[1]: must be a whole number, found 'x'"],
        ),
        (
            {"type": "object", "properties": {"due": {"type": "string", "format": "date"}}},
            {"due": "31.1."},
            ["due: must be a date such as 2026-01-31, found '31.1.'"],
        ),
        ({"type": "array"}, "no", ["Invalid JSON"]),
        (Category, "z" * 500, ["z" * 199 + "…"]),
    ],
)
def test_answers_that_dont_fit(schema: Any, reply: Any, words: list[str]) -> None:
    """One error names agent, schema, field and what was said, cut to 200 characters; its tokens are still counted."""
    turns = run(flow(Agent(name="a", model=ScriptedModel([reply]), output_schema=schema)))
    assert isinstance(turns.error, InvalidAnswerError)
    assert isinstance(turns.error, ModelAnswerError)
    for one in words:
        assert one in str(turns.error)
    if schema is Category:
        assert isinstance(turns.error.__cause__, ValidationError)
    assert [bool(event.usage_metadata) for event in turns.events] == [True, False]
    assert outline(turns.events) == [("wf@1/a@1", None, None), ("wf@1/a@1", None, "error: INVALID_ANSWER")]


def test_cut_json_says_that_it_was_cut() -> None:
    """JSON cut at the output limit is reported as cut, not as a parse error alone."""
    half = LlmResponse(
        content=types.Content(role="model", parts=[types.Part(text='{"name": "B')]),
        finish_reason=types.FinishReason.MAX_TOKENS,
    )
    turns = run(flow(Agent(name="a", model=ScriptedModel([half]), output_schema=Category)))
    assert isinstance(turns.error, InvalidAnswerError)
    assert "cut at the output limit" in str(turns.error)
    assert turns.error.status == "MAX_TOKENS"
