"""A person's answer checked in full against its question, before anything is stored."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
from pydantic import TypeAdapter, ValidationError

from adk_nb.errors import AnswerError
from adk_nb.events.record import Question
from adk_nb.events.request_input import parse_json
from adk_nb.events.values import Answer, snapshot

_LAX: dict[str, TypeAdapter[Any]] = {
    "integer": TypeAdapter(int),
    "number": TypeAdapter(float),
    "boolean": TypeAdapter(bool),
}


def read_answer(question: Question, response: Any) -> Any:
    """Return the answer inside a function response: text is read as JSON unless the question wants text."""
    wants_text = question.response_schema is not None and "string" in _types(question.response_schema)
    return parse_json(response) if isinstance(response, str) and not wants_text else response


def check_answer(question: Question, answer: Any) -> Any:
    """Return the answer as the question's schema wants it: numbers and booleans read, defaults filled in.

    Objects come back as `Answer`, a dictionary whose keys can be read as attributes.

    Raises:
        AnswerError: it doesn't fit; the message names every field that is wrong. Nothing was changed.
    """
    value = snapshot(answer, f"answer to {question.interrupt_id!r}")
    schema = question.response_schema
    if schema is not None:
        value = _with_defaults(_lax(value, schema), schema, schema)
        problems = [_problem(error) for error in _validator(schema).iter_errors(_as_json(value))]
        if problems:
            raise AnswerError(
                f"Validation failed for interrupt {question.interrupt_id!r}: "
                f"{'; '.join(sorted(problems))}. The question "
                f"stays open: answer again."
            )
    return Answer(value) if type(value) is dict else value


def field_errors(question: Question, answer: Any) -> dict[tuple[str | int, ...], str]:
    """Return what is wrong with an answer by the place in it, `{}` when it fits; for showing beside form fields."""
    schema = question.response_schema
    if schema is None:
        return {}
    value = _with_defaults(_lax(snapshot(answer), schema), schema, schema)
    found: dict[tuple[str | int, ...], str] = {}
    for error in _validator(schema).iter_errors(_as_json(value)):
        place = tuple(error.absolute_path)
        if error.validator == "required":
            place = (*place, next(name for name in error.validator_value if name not in error.instance))
        found.setdefault(place, _say(error))
    return found


def _validator(schema: dict[str, Any]) -> Any:
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def _problem(error: Any) -> str:
    place = ".".join(map(str, error.absolute_path))
    return f"{place}: {_say(error)}" if place else _say(error)


def _say(error: Any) -> str:
    limit, found = error.validator_value, error.instance
    sayings = {
        "minimum": f"must be at least {limit}",
        "maximum": f"must be at most {limit}",
        "exclusiveMinimum": f"must be more than {limit}",
        "exclusiveMaximum": f"must be less than {limit}",
        "enum": "must be one of "
        "{', '.join(map(repr, limit)) if isinstance(limit, list) else limit}, found {found!r:.60}",
        "const": f"must be {limit!r}, found {found!r:.60}",
        "type": f"must be {limit if isinstance(limit, str) else ' or '.join(map(str, limit))}, found {found!r:.60}",
        "minLength": f"must have at least {limit} characters",
        "maxLength": f"must have at most {limit} characters",
        "format": f"must be a {limit}, found {found!r:.60}",
        "pattern": f"must match {limit}, found {found!r:.60}",
    }
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"{', '.join(map(repr, missing))} is required"
    return sayings.get(str(error.validator), str(error.message)[:200])


def _types(schema: dict[str, Any]) -> set[str]:
    kind = schema.get("type")
    found = {kind} if isinstance(kind, str) else set(kind or ())
    for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        found |= _types(option)
    for value in schema.get("enum", ()):
        if isinstance(value, str):
            found.add("string")
    if isinstance(schema.get("const"), str):
        found.add("string")
    return found


def _lax(value: Any, schema: dict[str, Any]) -> Any:
    kinds = _types(schema)
    if not isinstance(value, str) or "string" in kinds:
        return value
    for kind in kinds & _LAX.keys():
        try:
            return _LAX[kind].validate_python(value)
        except ValidationError:
            continue
    return value


def _with_defaults(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> Any:
    schema = _resolved(schema, root)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        filled = {k: _with_defaults(v, properties.get(k, {}), root) for k, v in value.items()}
        for name, one in properties.items():
            if name not in filled and "default" in _resolved(one, root):
                filled[name] = copy.deepcopy(_resolved(one, root)["default"])
        return filled
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_with_defaults(item, schema["items"], root) for item in value]
    return value


def _resolved(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        target = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})
        return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _as_json(value: Any) -> Any:
    return TypeAdapter(Any).dump_python(value, mode="json")
