"""An agent's `output_schema`: checked when the agent is built, and turned to when its model has spoken."""

from __future__ import annotations

import json
import re
from typing import Any

from google.genai import types
from pydantic import TypeAdapter, ValidationError

from adk_nb.errors import ConfigurationError, InvalidAnswerError
from adk_nb.workflow.json_schema.faults import Spot, faults_of
from adk_nb.workflow.json_schema.validator import check_schema as check_json_schema
from adk_nb.workflow.json_schema.validator import validator_of
from adk_nb.workflow.nodes import adapter_for

_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\r?\n?(.*?)\r?\n?```\s*", re.DOTALL | re.IGNORECASE)
_SAID_LIMIT = 200
_FAULTS_SHOWN = 3


def check_schema(schema: Any) -> None:
    """Refuse an output schema that no answer can be checked against.

    Raises:
        ConfigurationError: it is neither a type, nor a JSON schema, nor a google-genai Schema.
    """
    if schema is None or isinstance(schema, types.Schema):
        return
    try:
        if isinstance(schema, (str, list, tuple)):
            raise TypeError("a value, not a type")
        if isinstance(schema, dict):
            check_json_schema(schema)
        else:
            _adapter(schema)
    except Exception as error:  # pydantic and a type's own hooks may raise anything here
        reason = str(error) if isinstance(schema, dict) else f"{type(error).__name__}: {error}"
        raise ConfigurationError(
            f"output_schema={schema!r} can't be used ({reason}); allowed are a pydantic model, "
            f"list[...] of models or plain types, another type that pydantic can check, or a JSON schema dictionary."
        ) from error


def parse_answer(text: str, schema: Any, agent: str, *, is_cut: bool = False) -> Any:
    r"""Return a model's JSON text as plain data in the declared shape, models as dictionaries without `None` fields.

    Args:
        text: What the model said; a Markdown fence around it is taken off.
        schema: A checked output schema.
        agent: The agent's name, for messages.
        is_cut: The model stopped at its output limit.
    Raises:
        InvalidAnswerError: it doesn't fit; the message names agent, field and what was said.

    Example:
        >>> parse_answer('```json\n[1, 2]\n```', list[int], "counter")
        [1, 2]
    """
    fenced = _FENCE.fullmatch(text)
    body = fenced[1] if fenced else text
    try:
        if isinstance(schema, (dict, types.Schema)):
            value = json.loads(body)
            faults = _faults(value, schema)
            if faults:
                raise _invalid(text, schema, agent, is_cut, faults)
            return value
        adapter = _adapter(schema)
        return as_data(adapter, adapter.validate_json(body))
    except ValidationError as error:
        faults = [f"{_path(line['loc'])}{line['msg']}" for line in error.errors(include_url=False)]
        raise _invalid(text, schema, agent, is_cut, faults) from error
    except json.JSONDecodeError as error:
        raise _invalid(text, schema, agent, is_cut, [f"Invalid JSON: {error}"]) from error


def as_data(adapter: TypeAdapter[Any], value: Any) -> Any:
    """Return checked values with models as dictionaries; `None` stays where the shape can't do without it.

    Example:
        >>> from pydantic import create_model
        >>> order = create_model("Order", id=(str | None, ...), note=(str | None, None))
        >>> as_data(TypeAdapter(order), order(id=None)), as_data(TypeAdapter(order), order(id="7"))
        ({'id': None, 'note': None}, {'id': '7'})
    """
    short = adapter.dump_python(value, exclude_none=True)
    try:
        adapter.validate_python(short)
    except ValidationError as error:
        if any(line["type"] == "missing" for line in error.errors()):
            return adapter.dump_python(value)
    return short


def _adapter(schema: Any) -> TypeAdapter[Any]:
    try:
        return adapter_for(schema)
    except TypeError:  # an unhashable type can't be cached
        return TypeAdapter(schema)


def _faults(value: Any, schema: dict[str, Any] | types.Schema) -> list[str]:
    if isinstance(schema, types.Schema):
        return []
    return [f"{_path(fault.spot)}{fault.said}" for fault in faults_of(value, validator_of(schema))]


def _path(spot: Spot) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in spot).lstrip(".")
    return f"{text}: " if text else ""


def _invalid(text: str, schema: Any, agent: str, is_cut: bool, faults: list[str]) -> InvalidAnswerError:
    said = text if len(text) <= _SAID_LIMIT else f"{text[: _SAID_LIMIT - 1]}…"
    shown = "; ".join(faults[:_FAULTS_SHOWN])
    if len(faults) > _FAULTS_SHOWN:
        shown += f"; and {len(faults) - _FAULTS_SHOWN} more"
    name = schema.get("title", "its JSON schema") if isinstance(schema, dict) else _name(schema)
    if is_cut:
        return InvalidAnswerError(
            f"The answer of agent {agent!r} was cut at the output limit (MAX_TOKENS) and isn't whole JSON for {name}: "
            f"{shown}. It said: {said!r}. Raise max_output_tokens or lower the thinking budget.",
            "MAX_TOKENS",
        )
    return InvalidAnswerError(
        f"The answer of agent {agent!r} doesn't fit {name}: {shown}. It said: {said!r}. Ask again (retry_config=), "
        f"describe the fields in the instruction, or loosen the output_schema.",
        "INVALID_ANSWER",
    )


def _name(schema: Any) -> str:
    return schema.__name__ if isinstance(schema, type) and not hasattr(schema, "__origin__") else str(schema)
