"""Forms for questions: what was filled in, as an answer that the question's schema has been asked about."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from adk_nb.errors import WorkflowConfigurationError
from adk_nb.events.record import Question
from adk_nb.notebook.view.form_fields import Schema, form_of
from adk_nb.notebook.view.form_values import Entry, collect, read_json
from adk_nb.workflow.answers import asked_schema, field_errors
from adk_nb.workflow.json_schema.references import pointer

__all__ = ["answer_in", "form_of", "problems"]


def problems(schema: Schema | None, answer: Any) -> dict[str, str]:
    """Return what a schema finds wrong with an answer, one sentence by JSON pointer, `""` for the answer as a whole.

    Example:
        >>> schema = {"type": "object", "properties": {"limit": {"type": "number", "maximum": 612}}}
        >>> problems(schema, {"limit": 900})
        {'/limit': 'must be at most 612'}
    """
    if schema is None:
        return {}
    try:
        asked_schema(schema, "form")
    except WorkflowConfigurationError:  # kept by an older version: the engine decides about the answer
        return {}
    found: dict[str, str] = {}
    for spot, message in field_errors(Question(interrupt_id="", response_schema=schema), answer).items():
        found.setdefault(functools.reduce(pointer, map(str, spot), ""), message)
    return found


def answer_in(question: Mapping[str, Any], entry: Entry | None, json_text: str | None) -> tuple[Any, dict[str, str]]:
    """Return the answer in a question's form, and what is wrong with it by JSON pointer; no errors means it fits.

    Args:
        question: The question, with its `form` and its `schema`.
        entry: What was filled in.
        json_text: The answer as JSON in place of the fields; `None` reads the fields.

    Example:
        >>> question = {"schema": {"type": "integer"}, "form": form_of({"type": "integer"})}
        >>> answer_in(question, {"state": "value", "text": "5"}, None), answer_in(question, None, "5.5")
        ((5, {}), (5.5, {'': 'must be a whole number'}))
    """
    if json_text is None:
        answer, errors = collect(question["form"], entry or {})
    else:
        try:
            answer, errors = read_json(json_text), {}
        except ValueError as error:
            return None, {"": str(error)}
    # What the schema says about places that can't be read, or about what holds them, would be said twice.
    more = problems(question["schema"], answer)
    told = [f"{key}/" for key in errors]
    more = {key: text for key, text in more.items() if not any(_is_near(f"{key}/", one) for one in told)}
    return answer, errors | more


def _is_near(key: str, other: str) -> bool:
    """One place holds the other one."""
    return key.startswith(other) or other.startswith(key)
