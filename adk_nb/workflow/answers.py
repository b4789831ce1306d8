"""A person's answer checked in full against its question, before anything is stored."""

from __future__ import annotations

import copy
import datetime as dt
import functools
import ipaddress
import json
import math
import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import AnyUrl, FiniteFloat, TypeAdapter, ValidationError

from adk_nb.errors import AnswerError, WorkflowConfigurationError
from adk_nb.events.record import Question
from adk_nb.events.request_input import parse_json, schema_of
from adk_nb.events.values import Answer, snapshot

Place = tuple[str | int, ...]
"""Where in an answer: keys and positions from the outside in; `()` is the whole answer."""

_PROBLEMS_SHOWN = 5
_READERS: dict[str, TypeAdapter[Any]] = {
    "integer": TypeAdapter(int),
    "number": TypeAdapter(FiniteFloat),
    "boolean": TypeAdapter(bool),
}


def asked_schema(response_schema: Any, node_name: str) -> dict[str, Any] | None:
    """Return the JSON schema that a node asks with, `None` when any answer will do.

    Raises:
        WorkflowConfigurationError: it is neither a type nor a JSON schema, so that no answer could ever be checked.
    """
    try:
        schema = schema_of(response_schema)
        if isinstance(response_schema, dict):
            _check_schema(json.dumps(schema))
    except Exception as error:  # pydantic and a type's own hooks may raise anything here
        first = str(error).strip().partition("\n")[0]
        raise WorkflowConfigurationError(
            f"Node {node_name!r} asks with response_schema={response_schema!r:.200}, which isn't a schema that an "
            f"answer can be checked against ({first:.200}): give a type, a pydantic model or a JSON schema dictionary."
        ) from error
    return schema


def read_answer(question: Question, response: Any) -> Any:
    """Return the answer inside a function response: text is read as JSON unless the question takes text.

    Example:
        >>> read_answer(Question("q", response_schema={"type": "integer"}), "5")
        5
        >>> read_answer(Question("q", response_schema={"type": "string"}), "5")
        '5'
    """
    schema = question.response_schema
    if not isinstance(response, str) or (schema is not None and "string" in _kinds(schema, schema)):
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
        told = [
            f"{_dotted(place)}{': ' if place else ''}{text}{'' if found is None else f', found {found}'}"
            for place, (text, found) in faults.items()
        ]
        more = f"; and {len(told) - _PROBLEMS_SHOWN} more" if len(told) > _PROBLEMS_SHOWN else ""
        raise AnswerError(
            f"Validation failed for interrupt {question.interrupt_id!r}: {'; '.join(told[:_PROBLEMS_SHOWN])}{more}. "
            f"The question stays open: answer again."
        )
    return Answer(value) if type(value) is dict else value


def field_errors(question: Question, answer: Any) -> dict[Place, str]:
    """Return what is wrong with an answer by the place in it, `{}` when it fits; for showing beside form fields.

    Example:
        >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        >>> field_errors(Question("q", response_schema=schema), {})
        {('n',): 'is required'}
    """
    return {place: text for place, (text, _) in _checked(question, answer)[1].items()}


def _checked(question: Question, answer: Any) -> tuple[Any, dict[Place, tuple[str, str | None]]]:
    value = snapshot(answer, f"answer to {question.interrupt_id!r}")
    schema = question.response_schema
    if schema is None:
        return value, {}
    validator = _validator(json.dumps(schema))
    value = _shaped(value, schema, validator)
    if not _is_json(value):
        return value, {(): ("must hold finite numbers only, no NaN or Infinity", None)}
    faults: dict[Place, tuple[str, str | None]] = {}
    for error in validator.iter_errors(_as_json(value)):
        for place, text, found in _told(error):
            faults.setdefault(place, (text, found))
    return value, faults


# What a schema allows


@functools.lru_cache(maxsize=256)
def _validator(schema_text: str) -> Any:
    # Where its optional format packages are installed, as with JupyterLab, this takes two seconds to import.
    import jsonschema

    schema = json.loads(schema_text)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    formats = jsonschema.FormatChecker(formats=())
    for name, check in _CHECKS.items():
        formats.checks(name, raises=(ValueError, re.error))(_format_check(check))
    return kind(schema, format_checker=formats)


@functools.lru_cache(maxsize=256)
def _check_schema(schema_text: str) -> None:
    validator = _validator(schema_text)
    kind = type(validator)
    for fault in kind(kind.META_SCHEMA, format_checker=validator.format_checker).iter_errors(validator.schema):
        raise ValueError(f"{_dotted(tuple(fault.absolute_path)) or 'schema'}: {_say(fault)}")
    for reference in _references(validator.schema):
        # A reference to another document would be fetched from the network when the answer comes.
        if not reference.startswith("#"):
            raise ValueError(f"$ref {reference!r:.80} leads out of the schema")
        if not isinstance(_target(reference, validator.schema), (dict, bool)):
            raise ValueError(f"$ref {reference!r:.80} leads nowhere")
    try:
        validator.is_valid(None)
    except RecursionError:
        raise ValueError("$ref leads back to itself") from None


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for inner in schema.values():
            yield from _references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _references(inner)


def _target(reference: str, root: dict[str, Any]) -> Any:
    at: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, list) and step.isdigit() and int(step) < len(at):
            at = at[int(step)]
        elif isinstance(at, dict):
            at = at.get(step)
        else:
            return None
    return at


def _resolved(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    seen: set[str] = set()
    while isinstance(schema, dict) and isinstance(reference := schema.get("$ref"), str) and reference not in seen:
        seen.add(reference)
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        target = _target(reference, root)
        schema = {**target, **beside} if isinstance(target, dict) else beside
    return schema if isinstance(schema, dict) else {}


def _options(schema: dict[str, Any]) -> list[Any]:
    return [*schema.get("anyOf", ()), *schema.get("oneOf", ())]


_JSON_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def _kinds(schema: Any, root: dict[str, Any]) -> set[str]:
    schema = _resolved(schema, root)
    kind = schema.get("type")
    found = {kind} if isinstance(kind, str) else set(kind or ())
    for option in _options(schema):
        found |= _kinds(option, root)
    for value in (*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())):
        found.add(_JSON_KINDS.get(type(value), "object"))
    return found


# What an answer becomes


def _shaped(value: Any, schema: Any, validator: Any) -> Any:
    """Return a value with its numbers and booleans read and its defaults filled in, at every depth."""
    root = validator.schema
    schema = _resolved(schema, root)
    options = _options(schema)
    if options:
        return _shaped_option(value, options, validator)
    if isinstance(value, dict):
        return _shaped_object(value, schema, validator)
    if isinstance(value, (list, tuple)):
        first = schema.get("prefixItems", ())
        rest = schema.get("items", {})
        return type(value)(
            _shaped(item, first[at] if at < len(first) else rest, validator) for at, item in enumerate(value)
        )
    return _read(value, _kinds(schema, root))


def _shaped_option(value: Any, options: list[Any], validator: Any) -> Any:
    """Shape by the option that the value fits as it stands, else by the first that it fits once shaped."""
    as_json = _as_json(value)
    for option in options:
        if validator.evolve(schema=option).is_valid(as_json):
            return _shaped(value, option, validator)
    for option in options:
        shaped = _shaped(value, option, validator)
        if validator.evolve(schema=option).is_valid(_as_json(shaped)):
            return shaped
    # It fits none: let what is said be about the form that it was meant for.
    kinds = [option for option in options if _of_kind(value, _kinds(option, validator.schema))]
    return _shaped(value, kinds[0], validator) if len(kinds) == 1 else value


def _of_kind(value: Any, kinds: set[str]) -> bool:
    if isinstance(value, dict):
        return "object" in kinds
    return "array" in kinds if isinstance(value, (list, tuple)) else _JSON_KINDS.get(type(value)) in kinds


def _shaped_object(value: dict[str, Any], schema: dict[str, Any], validator: Any) -> dict[str, Any]:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    filled = {name: _shaped(one, properties.get(name, others), validator) for name, one in value.items()}
    for name, one in properties.items():
        resolved = _resolved(one, validator.schema)
        if name not in filled and "default" in resolved:
            filled[name] = copy.deepcopy(resolved["default"])
    return filled


def _read(value: Any, kinds: set[str]) -> Any:
    """Return what a text, or a number of another kind, says when a number or a boolean is asked for."""
    own = _JSON_KINDS.get(type(value))
    if own is None or own in kinds or own == "boolean" or (own == "integer" and "number" in kinds):
        return value
    for kind, reader in _READERS.items():
        if kind in kinds:
            try:
                return reader.validate_python(value)
            except ValidationError:
                continue
    return value


_json_values: TypeAdapter[Any] = TypeAdapter(Any)


def _as_json(value: Any) -> Any:
    return _json_values.dump_python(value, mode="json")


def _is_json(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(_is_json(inner) for inner in value.values())
    return all(_is_json(inner) for inner in value) if isinstance(value, (list, tuple)) else True


# What is said about an answer that doesn't fit


def _told(error: Any) -> Iterator[tuple[Place, str, str | None]]:
    """Yield place, what must be, and what was found where that helps."""
    place = tuple(error.absolute_path)
    if error.validator == "required":
        for name in error.validator_value:
            if name not in error.instance:
                yield (*place, name), "is required", None
    elif error.validator in ("anyOf", "oneOf") and error.context:
        meant = _meant(error)
        if meant:
            for one in meant:
                yield from _told(one)
        else:
            yield place, "must fit one of the allowed forms", _short(error.instance)
    else:
        found = None if error.validator in _PLAIN_FAULTS else _short(error.instance)
        yield place, _say(error), found


_PLAIN_FAULTS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "uniqueItems"})


def _meant(error: Any) -> list[Any]:
    """Return the errors of the one option whose type the value has, `[]` when there isn't exactly one."""
    by_option: dict[Any, list[Any]] = {}
    for one in error.context:
        by_option.setdefault(one.schema_path[0], []).append(one)
    depth = len(error.absolute_path)
    by_type = [
        errors
        for errors in by_option.values()
        if not any(one.validator in ("type", "const", "enum") and len(one.absolute_path) == depth for one in errors)
    ]
    if len(by_type) == 1:
        return by_type[0]
    rest = [e for e in by_option.values() if not any(o.validator == "type" and o.validator_value == "null" for o in e)]
    return rest[0] if len(rest) == 1 else []


def _say(error: Any) -> str:
    say = _SAYINGS.get(str(error.validator))
    return say(error.validator_value) if say is not None else str(error.message)[:200]


_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _count(limit: Any, noun: str) -> str:
    return f"{limit} {noun}" if limit == 1 else f"{limit} {noun}s"


_SAYINGS: dict[str, Callable[[Any], str]] = {
    "type": lambda limit: (
        f"must be {' or '.join(_TYPES[one] for one in (limit if isinstance(limit, list) else [limit]))}"
    ),
    "enum": lambda limit: f"must be one of {', '.join(_short(one) for one in limit[:30])}",
    "const": lambda limit: f"must be {_short(limit)}",
    "minimum": lambda limit: f"must be at least {limit}",
    "maximum": lambda limit: f"must be at most {limit}",
    "exclusiveMinimum": lambda limit: f"must be more than {limit}",
    "exclusiveMaximum": lambda limit: f"must be less than {limit}",
    "multipleOf": lambda limit: f"must be a multiple of {limit}",
    "minLength": lambda limit: f"must have at least {_count(limit, 'character')}",
    "maxLength": lambda limit: f"must have at most {_count(limit, 'character')}",
    "pattern": lambda limit: f"must match {limit}",
    "format": lambda limit: f"must be {'an' if str(limit)[:1] in 'aeio' else 'a'} {limit}{_like(limit)}",
    "minItems": lambda limit: f"must have at least {_count(limit, 'item')}",
    "maxItems": lambda limit: f"must have at most {_count(limit, 'item')}",
    "uniqueItems": lambda limit: "must not hold one item twice",
    "additionalProperties": lambda limit: "holds a name that isn't asked for",
}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _dotted(place: Place) -> str:
    text = ".".join(map(str, place))
    return text if len(text) <= 100 else f"{text[:97]}..."


# Formats: jsonschema checks several of them only where optional packages are installed, and lets everything pass where
# they aren't.

_DATE = r"\d{4}-\d\d-\d\d"
_TIME = r"\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?"
_EXAMPLES = {
    "date": "2026-01-31",
    "time": "14:30:00",
    "date-time": "2026-01-31T14:30:00Z",
    "duration": "P1DT12H",
    "email": "ada@example.org",
    "uri": "https://example.org",
}


def _like(name: Any) -> str:
    return f" such as {_EXAMPLES[name]}" if name in _EXAMPLES else ""


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text, re.ASCII) is not None


def _is_date(text: str) -> bool:
    return _matches(_DATE, text) and bool(dt.date.fromisoformat(text))


def _is_time(text: str) -> bool:
    dt.time.fromisoformat(text)
    return _matches(_TIME, text)


def _is_date_time(text: str) -> bool:
    dt.datetime.fromisoformat(text.upper())
    return _matches(f"{_DATE}[Tt ]{_TIME}", text)


def _is_duration(text: str) -> bool:
    TypeAdapter(dt.timedelta).validate_python(text)
    return _matches(r"[+-]?P.+", text)


def _is_email(text: str) -> bool:
    return _matches(r"[^@\s]{1,64}@[^@\s]{1,255}", text)


_CHECKS: dict[str, Callable[[str], Any]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_date_time,
    "duration": _is_duration,
    "email": _is_email,
    "uri": lambda text: TypeAdapter(AnyUrl).validate_python(text),
    "uuid": uuid.UUID,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "regex": re.compile,
}


def _format_check(check: Callable[[str], Any]) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, str) or check(value) is not False
