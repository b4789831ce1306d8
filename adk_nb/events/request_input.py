"""`RequestInput`: a node's question to a person, and the answers to it."""

from __future__ import annotations

import json
import re
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, alias_generators

from adk_nb.events.event import new_id

REQUEST_INPUT = "adk_request_input"
"""Name of the function call that carries a question in an event."""


class RequestInput(BaseModel):
    """Yield or return this from a node to pause the run until a person answers.

    Example:
        >>> RequestInput(message="Approve?", response_schema=bool).message
        'Approve?'
    """

    model_config = ConfigDict(
        alias_generator=alias_generators.to_camel, populate_by_name=True, arbitrary_types_allowed=True, extra="forbid"
    )

    interrupt_id: str = Field(default_factory=new_id)
    """Names the question; answers go by it."""
    payload: Any = None
    """Data for the person to look at."""
    message: str | None = None
    """The question in words."""
    response_schema: Any = None
    """What the answer must be: a type, a pydantic model or a JSON schema; `None` takes anything."""


def chose_its_id(interrupt_id: str) -> bool:
    """Say whether a node named the question itself, as against the random id that `RequestInput` gives.

    Example:
        >>> chose_its_id("approval"), chose_its_id(RequestInput().interrupt_id)
        (True, False)
    """
    return _RANDOM_ID.fullmatch(interrupt_id) is None


_RANDOM_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def schema_of(response_schema: Any) -> dict[str, Any] | None:
    """Return a response schema as JSON schema, `None` when anything is allowed.

    Example:
        >>> schema_of(int)
        {'type': 'integer'}
    """
    if response_schema is None or isinstance(response_schema, dict):
        return response_schema
    return TypeAdapter(response_schema).json_schema()


def unwrap_answer(response: dict[str, Any] | None) -> Any:
    """Return the answer inside a function response: `{"result": v}` is `v`, other dictionaries are taken whole."""
    if response is not None and set(response) == {"result"}:
        return response["result"]
    return response


def answer_content(answers: dict[str, Any]) -> types.Content:
    """Return a user message that answers questions, `{interrupt id: answer}`.

    Example:
        >>> answer_content({"q": "yes"}).parts[0].function_response.response
        {'result': 'yes'}
    """
    return types.Content(
        role="user",
        parts=[
            types.Part(
                function_response=types.FunctionResponse(
                    id=interrupt_id,
                    name=REQUEST_INPUT,
                    response=answer if isinstance(answer, dict) and set(answer) != {"result"} else {"result": answer},
                )
            )
            for interrupt_id, answer in answers.items()
        ],
    )


def parse_json(text: str) -> Any:
    """Return the value of a JSON text, or the text itself when it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text
