"""Forms for questions: a JSON schema as fields that a person fills in, and what was filled in as an answer.

A field's value travels as text with a state, `{"state": "value", "text": "5"}`, so that nothing is rounded on the way
and `null`, an empty text, 0 and "left out" stay apart: states are `value`, `null` and `missing`. Fields are plain JSON
and are known by a JSON pointer into the answer: `/limit`, `/address/city`, or `""` for an answer that is one value.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from adk_nb.errors import WorkflowConfigurationError
from adk_nb.events.record import Question
from adk_nb.workflow.answers import asked_schema, field_errors
from adk_nb.workflow.json_schema.references import pointer, resolved, steps

Schema = dict[str, Any]
Field = dict[str, Any]
Values = dict[str, dict[str, str]]

MISSING: dict[str, str] = {"state": "missing"}
_WHOLE = re.compile(r"[+-]?\d+\Z")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")
_DATES = {"date": "date", "time": "time", "date-time": "datetime"}
_LONG = {"textarea", "multiline", "markdown"}


def fields_of(schema: Schema | None) -> list[Field]:
    """Return the fields of a form for an answer; a schema that no form can show gives one field for JSON.

    Each field holds `key`, `label`, `help`, `kind` (`text`, `longtext`, `secret`, `integer`, `number`, `choice`,
    `date`, `time`, `datetime`, `json`, `group`), `required`, `nullable`, `hint` (bounds in words), `initial` (a value
    as in the module docstring), and by kind `choices` (label and value each) with `buttons`, or `fields` for a group.
    No schema gives one text field.

    Example:
        >>> [field] = fields_of({"type": "integer", "maximum": 9})
        >>> field["kind"], field["hint"], field["initial"]
        ('integer', 'at most 9', {'state': 'missing'})
    """
    if schema is None:
        return [_field("", "Answer", {"type": "string"}, is_required=True)]
    whole = resolved(schema, schema)
    properties = whole.get("properties")
    if whole.get("type") == "object" and isinstance(properties, dict) and properties:
        return _properties(schema, whole, "", depth=0)
    field = _built(schema, whole, "", "Answer", is_required=True, depth=0)
    return [field]


def _properties(root: Schema, whole: Schema, above: str, depth: int) -> list[Field]:
    required = whole.get("required") or ()
    return [
        _built(root, part, pointer(above, str(name)), str(name), is_required=name in required, depth=depth)
        for name, part in whole["properties"].items()
    ]


def _built(root: Schema, part: Any, key: str, name: str, *, is_required: bool, depth: int) -> Field:
    schema = resolved(part, root)
    schema, is_nullable = _without_null(root, schema)
    field = _field(key, name, schema, is_required=is_required, is_nullable=is_nullable)
    properties = schema.get("properties")
    if field["kind"] == "json" and depth == 0 and key and isinstance(properties, dict) and properties:
        field |= {"kind": "group", "fields": _properties(root, schema, key, depth + 1)}
        field["initial"] = {"state": "value"} if is_required and not is_nullable else dict(MISSING)
    if "default" in schema:
        filled = fill([field], _at(key, schema["default"]))
        field["initial"] = filled.get(key, dict(MISSING))
        for inner in field.get("fields", ()):
            inner["initial"] = filled.get(inner["key"], inner["initial"])
    elif is_nullable and is_required:
        field["initial"] = {"state": "null"}
    return field


def _field(key: str, name: str, schema: Schema, *, is_required: bool, is_nullable: bool = False) -> Field:
    kind, extra = _kind(schema)
    return {
        "key": key,
        "label": str(schema.get("title") or name),
        "help": str(schema.get("description") or ""),
        "kind": kind,
        "required": is_required,
        "nullable": is_nullable,
        "hint": _hint(schema),
        "initial": dict(MISSING),
        **extra,
    }


def _kind(schema: Schema) -> tuple[str, dict[str, Any]]:
    choices = _choices(schema)
    if choices is not None:
        labels = [choice["label"] for choice in choices]
        return "choice", {"choices": choices, "buttons": len(choices) <= 4 and sum(map(len, labels)) <= 40}
    kind = schema.get("type")
    if kind == "string":
        if schema.get("format") in _DATES:
            return _DATES[schema["format"]], {}
        if schema.get("format") == "password":
            return "secret", {}
        most = schema.get("maxLength")
        is_long = schema.get("format") in _LONG or (isinstance(most, int) and most >= 200)
        return ("longtext" if is_long else "text"), {}
    if kind in ("integer", "number"):
        return str(kind), {}
    if _is_decimal(schema):
        return "number", {"as_text": True}
    return "json", {}


def _choices(schema: Schema) -> list[dict[str, Any]] | None:
    if schema.get("type") == "boolean" and "const" not in schema and "enum" not in schema:
        return [{"label": "Yes", "value": True}, {"label": "No", "value": False}]
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list) or not values:
        return None
    labels = [_choice_label(value) for value in values]
    if len(set(labels)) < len(labels):  # 1 and "1", or true and "Yes": told apart by how JSON writes them
        labels = [json.dumps(value, ensure_ascii=False) for value in values]
    return [{"label": label, "value": value} for label, value in zip(labels, values, strict=True)]


def _choice_label(value: Any) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _is_decimal(schema: Schema) -> bool:
    """A number that may be written as text, as pydantic describes `Decimal`."""
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or len(branches) != 2:
        return False
    by_type = {str(branch.get("type")): branch for branch in branches if isinstance(branch, dict)}
    return set(by_type) == {"number", "string"} and "pattern" in by_type["string"]


def _hint(schema: Schema) -> str:
    words = [
        ("minimum", "at least {}"),
        ("exclusiveMinimum", "more than {}"),
        ("maximum", "at most {}"),
        ("exclusiveMaximum", "less than {}"),
        ("multipleOf", "a multiple of {}"),
        ("minLength", "{} characters or more"),
        ("maxLength", "{} characters or fewer"),
    ]
    return ", ".join(say.format(schema[name]) for name, say in words if name in schema)


def _without_null(root: Schema, schema: Schema) -> tuple[Schema, bool]:
    """Return a schema without its `null` branch, and whether it had one."""
    kinds = schema.get("type")
    if isinstance(kinds, list):
        rest = [kind for kind in kinds if kind != "null"]
        return {**schema, "type": rest[0] if len(rest) == 1 else rest}, "null" in kinds
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        if not isinstance(branches, list):
            continue
        found = [resolved(branch, root) for branch in branches]
        rest = [branch for branch in found if branch.get("type") != "null"]
        beside = {name: value for name, value in schema.items() if name != word}
        if len(rest) == 1:
            return {**rest[0], **beside}, len(found) > 1
        return {**beside, word: rest}, len(rest) < len(found)
    return schema, False


def _at(key: str, value: Any) -> Any:
    """Return an answer that holds a value at one place, for `fill`."""
    for step in reversed(steps(key)):
        value = {step: value}
    return value


def _leaves(fields: Iterable[Field]) -> Iterator[Field]:
    for field in fields:
        yield field
        yield from _leaves(field.get("fields", ()))


def fill(fields: list[Field], answer: Any) -> Values:
    """Return an answer as the values of a form, the inverse of `collect`.

    Example:
        >>> fill(fields_of({"type": "object", "properties": {"n": {"type": "number"}}}), {"n": 1.0})
        {'/n': {'state': 'value', 'text': '1.0'}}
    """
    values: Values = {}
    for field in _leaves(fields):
        found: Any = answer
        for step in steps(field["key"]):
            found = found.get(step, _ABSENT) if isinstance(found, dict) else _ABSENT
        values[field["key"]] = _written(field, found)
    return values


_ABSENT = object()


def _written(field: Field, value: Any) -> dict[str, str]:
    if value is _ABSENT:
        return dict(MISSING)
    kind = field["kind"]
    if kind == "choice":
        for index, choice in enumerate(field["choices"]):
            if _is_same(choice["value"], value):
                return {"state": "value", "text": str(index)}
    if value is None and kind != "json":
        return {"state": "null"}
    if kind == "group":
        return {"state": "value"}
    if isinstance(value, str) and kind != "json":
        return {"state": "value", "text": value}
    return {"state": "value", "text": json.dumps(value, ensure_ascii=False, indent=1 if kind == "json" else None)}


def _is_same(one: Any, other: Any) -> bool:
    """Equal and of the same type all the way down: `1`, `1.0` and `True` differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def collect(fields: list[Field], values: Mapping[str, Mapping[str, str]]) -> tuple[Any, dict[str, str]]:
    """Return the answer in a filled-in form, and what is wrong with it by field key; no errors means it can be read.

    Example:
        >>> fields = fields_of({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
        >>> collect(fields, {"/n": {"state": "value", "text": "x"}})
        ({}, {'/n': 'must be a whole number'})
    """
    errors: dict[str, str] = {}
    if len(fields) == 1 and fields[0]["key"] == "":
        found = _read(fields[0], values, errors)
        return (None if found is _ABSENT else found), errors
    return _collect_object(fields, values, errors), errors


def _collect_object(
    fields: list[Field], values: Mapping[str, Mapping[str, str]], errors: dict[str, str]
) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for field in fields:
        found = _read(field, values, errors)
        if found is not _ABSENT:
            answer[steps(field["key"])[-1]] = found
    return answer


def _read(field: Field, values: Mapping[str, Mapping[str, str]], errors: dict[str, str]) -> Any:
    key = field["key"]
    value = values.get(key, MISSING)
    state = value.get("state")
    if state == "null":
        if not field["nullable"] and field["kind"] != "json":
            errors[key] = "can't be null"
        return None
    if state != "value":
        if field["required"]:
            errors[key] = "needs a value"
        return _ABSENT
    if field["kind"] == "group":
        return _collect_object(field["fields"], values, errors)
    try:
        return _READERS[field["kind"]](str(value.get("text", "")), field)
    except ValueError as error:
        errors[key] = str(error)
        return _ABSENT


def _read_text(text: str, field: Field) -> Any:
    return text


def _read_whole(text: str, field: Field) -> Any:
    if not _WHOLE.match(text.strip()):
        raise ValueError("must be a whole number")
    return int(text)


def _read_number(text: str, field: Field) -> Any:
    bare = text.strip()
    if not _DECIMAL.match(bare):
        comma = " (with a point, not a comma)" if "," in bare else ""
        raise ValueError(f"must be a number{comma}")
    if field.get("as_text"):
        return bare
    if _WHOLE.match(bare):
        return int(bare)
    number = float(bare)
    if not math.isfinite(number):
        raise ValueError("is too large")
    return number


def _read_choice(text: str, field: Field) -> Any:
    choices = field["choices"]
    if not text.isdigit() or int(text) >= len(choices):
        raise ValueError("must be one of the choices")
    return choices[int(text)]["value"]


def read_json(text: str) -> Any:
    """Return the value of a JSON text that a person wrote.

    Raises:
        ValueError: it is none; the message says where.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"isn't JSON: {error.msg.lower()}, {where}") from None
    except RecursionError:
        raise ValueError("isn't JSON that can be read: nested too deeply") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"isn't JSON: {name} has no place in it")


def _read_json(text: str, field: Field) -> Any:
    return read_json(text)


_READERS: dict[str, Callable[[str, Field], Any]] = {
    "text": _read_text,
    "longtext": _read_text,
    "secret": _read_text,
    "date": _read_text,
    "time": _read_text,
    "datetime": _read_text,
    "integer": _read_whole,
    "number": _read_number,
    "choice": _read_choice,
    "json": _read_json,
}


def problems(schema: Schema | None, fields: list[Field], answer: Any) -> dict[str, str]:
    """Return what a schema finds wrong with an answer, one sentence by field key, `""` for the answer as a whole.

    Example:
        >>> schema = {"type": "object", "properties": {"limit": {"type": "number", "maximum": 612}}}
        >>> problems(schema, fields_of(schema), {"limit": 900})
        {'/limit': 'must be at most 612'}
    """
    if schema is None:
        return {}
    try:
        asked_schema(schema, "form")
    except WorkflowConfigurationError:  # kept by an older version: the engine decides about the answer
        return {}
    keys = {field["key"] for field in _leaves(fields)}
    found: dict[str, str] = {}
    for spot, message in field_errors(Question(interrupt_id="", response_schema=schema), answer).items():
        key = functools.reduce(pointer, map(str, spot), "")
        found.setdefault(_nearest(key, keys), message)
    return found


def answer_in(
    question: Mapping[str, Any], values: Mapping[str, Mapping[str, str]], json_text: str | None
) -> tuple[Any, dict[str, str]]:
    """Return the answer in a question's form, and what is wrong with it by field key; no errors means it fits.

    Args:
        question: The question, with its `fields` and its `schema`.
        values: What was filled in, by field key.
        json_text: The answer as JSON in place of the fields; `None` reads the fields.

    Example:
        >>> question = {"schema": {"type": "integer"}, "fields": fields_of({"type": "integer"})}
        >>> answer_in(question, {"": {"state": "value", "text": "5"}}, None), answer_in(question, {}, "5.5")
        ((5, {}), (5.5, {'': 'must be a whole number'}))
    """
    fields = question["fields"]
    if json_text is None:
        answer, errors = collect(fields, values)
    else:
        try:
            answer, errors = read_json(json_text), {}
        except ValueError as error:
            return None, {"": str(error)}
    return answer, errors or problems(question["schema"], fields, answer)


def _nearest(key: str, keys: set[str]) -> str:
    """Return the key of the field that holds a place of the answer."""
    while key and key not in keys:
        key = key.rpartition("/")[0]
    return key
