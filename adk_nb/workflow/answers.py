"""A person's answer checked in full against its question, before anything is stored."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

from pydantic import FiniteFloat, TypeAdapter, ValidationError

from adk_nb.errors import AnswerError, WorkflowConfigurationError
from adk_nb.events.record import Question
from adk_nb.events.request_input import parse_json, schema_of
from adk_nb.events.tool_confirmation import CONFIRMATION_SCHEMA
from adk_nb.events.values import Answer, snapshot
from adk_nb.workflow.json_schema.faults import Fault, Spot, dotted, faults_of
from adk_nb.workflow.json_schema.kinds import kind_of, kinds_allowed, options
from adk_nb.workflow.json_schema.references import resolved
from adk_nb.workflow.json_schema.validator import check_schema, validator_of

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_PROBLEMS_SHOWN = 5
_READERS: dict[str, TypeAdapter[Any]] = {
    "integer": TypeAdapter(int),
    "number": TypeAdapter(FiniteFloat),
    "boolean": TypeAdapter(bool),
}
_json_values: TypeAdapter[Any] = TypeAdapter(Any)


def asked_schema(response_schema: Any, node_name: str) -> dict[str, Any] | None:
    """Return the JSON schema that a node asks with, `None` when any answer will do.

    Raises:
        WorkflowConfigurationError: it is neither a type nor a JSON schema, so that no answer could ever be checked.
    """
    try:
        schema = schema_of(response_schema)
        if isinstance(response_schema, dict):
            check_schema(response_schema)
    except Exception as error:  # pydantic and a type's own hooks may raise anything here
        first = str(error).strip().partition("\n")[0]
        raise WorkflowConfigurationError(
            f"Node {node_name!r} asks with response_schema={response_schema!r:.200}, which isn't a schema that an "
            f"answer can be checked against ({first:.200}): give a type, a pydantic model or a JSON schema dictionary."
        ) from error
    return schema


def usable_schema(schema: Any) -> dict[str, Any] | None:
    """Return a schema that was asked with, `None` for one that no answer can be checked against: a model made it up.

    Example:
        >>> usable_schema({"type": "integer"}), usable_schema({"type": "age"})
        ({'type': 'integer'}, None)
    """
    if not isinstance(schema, dict):
        return None
    try:
        check_schema(schema)
    except (ValueError, TypeError):
        return None
    return schema


def read_answer(question: Question, response: Any) -> Any:
    """Return the answer inside a function response: text is read as JSON unless the question takes text.

    Example:
        >>> read_answer(Question("q", response_schema={"type": "integer"}), "5")
        5
        >>> read_answer(Question("q", response_schema={"type": "string"}), "5")
        '5'
        >>> read_answer(Question("q", response_schema={"type": "boolean"}), {"response": "true"})
        True
    """
    schema = question.response_schema
    if isinstance(response, dict) and set(response) == {"response"} and _checked(question, response)[1]:
        response = response["response"]  # ADK's web client wraps an answer so
    if not isinstance(response, str) or (schema is not None and "string" in kinds_allowed(schema, schema)):
        return response
    value = parse_json(response)
    return value if _is_json(value) else response


def check_answer(question: Question, answer: Any) -> Any:
    """Return the answer as the question's schema wants it: numbers and booleans read, defaults filled in.

    Objects come back as `Answer`, a dictionary whose keys can be read as attributes.

    Raises:
        AnswerError: it doesn't fit; the message names every field that is wrong. Nothing was changed.

    Example:
        >>> check_answer(Question("q", response_schema={"type": "integer", "maximum": 9}), "5")
        5
    """
    value, faults = _checked(question, answer)
    if faults:
        told = [f"{dotted(fault.spot)}{': ' if fault.spot else ''}{fault.said}" for fault in faults]
        more = f"; and {len(told) - _PROBLEMS_SHOWN} more" if len(told) > _PROBLEMS_SHOWN else ""
        raise AnswerError(
            f"Validation failed for interrupt {question.interrupt_id!r}: {'; '.join(told[:_PROBLEMS_SHOWN])}{more}. "
            f"The question stays open: answer again."
        )
    return Answer(value) if type(value) is dict else value


def field_errors(question: Question, answer: Any) -> dict[Spot, str]:
    """Return what is wrong with an answer by the spot in it, `{}` when it fits; for showing beside form fields.

    Example:
        >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        >>> field_errors(Question("q", response_schema=schema), {})
        {('n',): 'is required'}
    """
    return {fault.spot: fault.text for fault in _checked(question, answer)[1]}


def _checked(question: Question, answer: Any) -> tuple[Any, list[Fault]]:
    value = snapshot(answer, f"answer to {question.interrupt_id!r}")
    schema = question.response_schema
    if schema is None:
        return value, []
    validator = validator_of(schema)
    if isinstance(value, bool) and schema == CONFIRMATION_SCHEMA:
        value = {"confirmed": value}
    value = _shaped(value, schema, validator)
    if not _is_json(value):
        return value, [Fault((), "must hold finite numbers only, no NaN or Infinity")]
    return value, faults_of(_as_json(value), validator)


def _shaped(value: Any, schema: Any, validator: Validator) -> Any:
    """Return a value with its numbers and booleans read and its defaults filled in, at every depth."""
    root = validator.schema
    schema = resolved(schema, root)
    if choices := options(schema):
        return _shaped_option(value, choices, validator)
    if isinstance(value, dict):
        return _shaped_object(value, schema, validator)
    if isinstance(value, (list, tuple)):
        first = schema.get("prefixItems", ())
        rest = schema.get("items", {})
        return type(value)(
            _shaped(item, first[at] if at < len(first) else rest, validator) for at, item in enumerate(value)
        )
    return _read(value, kinds_allowed(schema, root))


def _shaped_option(value: Any, choices: list[Any], validator: Validator) -> Any:
    """Shape by the option that the value fits as it stands, else by the first that it fits once shaped."""
    as_json = _as_json(value)
    for option in choices:
        if validator.evolve(schema=option).is_valid(as_json):
            return _shaped(value, option, validator)
    for option in choices:
        shaped = _shaped(value, option, validator)
        if validator.evolve(schema=option).is_valid(_as_json(shaped)):
            return shaped
    # It fits none: let what is said be about the form that it was meant for.
    meant = [option for option in choices if kind_of(value) in kinds_allowed(option, validator.schema)]
    return _shaped(value, meant[0], validator) if len(meant) == 1 else value


def _shaped_object(value: dict[str, Any], schema: dict[str, Any], validator: Validator) -> dict[str, Any]:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    filled = {name: _shaped(one, properties.get(name, others), validator) for name, one in value.items()}
    for name, one in properties.items():
        asked = resolved(one, validator.schema)
        if name not in filled and "default" in asked:
            filled[name] = copy.deepcopy(asked["default"])
    return filled


def _read(value: Any, kinds: set[str]) -> Any:
    """Return what a text, or a number of another kind, says when a number or a boolean is asked for."""
    own = kind_of(value)
    if own is None or own in kinds or own == "boolean" or (own == "integer" and "number" in kinds):
        return value
    for kind, reader in _READERS.items():
        if kind in kinds:
            try:
                return reader.validate_python(value)
            except ValidationError:
                continue
    return value


def _as_json(value: Any) -> Any:
    return _json_values.dump_python(value, mode="json")


def _is_json(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(_is_json(inner) for inner in value.values())
    return all(_is_json(inner) for inner in value) if isinstance(value, (list, tuple)) else True
