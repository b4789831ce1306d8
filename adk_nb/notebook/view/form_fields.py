"""What a form asks for: a JSON schema as a tree of fields, each drawn by one control.

Fields are plain JSON. Each holds `name` (of the property that it stands for, else `""`), `label`, `help`, `hint`
(bounds in words), `kind`, `required`, `nullable` and `initial`, an entry as in `form_values`. By kind it holds more:

| kind | what a person sees | more |
|---|---|---|
| `text`, `longtext`, `secret` | a box for text | |
| `integer`, `number` | a box for a number | `as_text`: a decimal that is sent as text |
| `date`, `time`, `datetime` | the browser's own picker | |
| `choice` | buttons or a list | `choices` (label and value each), `buttons` |
| `group` | a frame around fields | `fields`; `others`, the field of a property that has no name yet, or `None` |
| `list` | rows to add, move and remove | `item`, a field or `None`; `first`, fields of a tuple's places; `rows` |
| `dict` | rows of a key and a value | `item` |
| `union` | a choice of a shape, then its fields | `variants`: `label`, `field`, `start` (an entry), `fixed` (names) |
| `json` | a box for JSON | |
| `ref` | what `defs` holds under `ref` | `ref` |

A part that the schema names (`$ref`) is built once and stands in the form's `defs`, so that models may hold themselves
and a form is never larger than its schema.
"""

from __future__ import annotations

import json
from typing import Any

from adk_nb.notebook.drawing.fitting import shorten
from adk_nb.notebook.view.form_values import Entry, Field, Form, dereferenced, fill, missing
from adk_nb.workflow.json_schema.references import resolved, target

Schema = dict[str, Any]

_DATES = {"date": "date", "time": "time", "date-time": "datetime"}
_LONG = {"textarea", "multiline", "markdown"}
_WORDS = {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
"""Keys of a schema that say nothing about which values fit."""
_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "array": "list",
    "object": "fields",
}
_ROWS_AT_FIRST = 5
_LABEL, _HELP, _DEFAULT = 200, 4_000, 20_000
"""Characters of a name, of what is said about a field, and of a default that a form shows."""
_LARGEST = 1_000_000
"""Characters of a form as JSON; what would be larger is a box for JSON."""
_DEEPEST = 12
"""Levels of a schema without names that are drawn; what lies deeper is JSON."""
_LONGEST_CHAIN = 50
"""Names of a schema that each stand for a part with the next one in it."""


def form_of(schema: Schema | None) -> Form:
    """Return the form for an answer: its `field` and the `defs` that fields refer to. No schema asks for a text.

    Example:
        >>> form = form_of({"type": "integer", "maximum": 9})
        >>> form["field"]["kind"], form["field"]["hint"], form["field"]["initial"]
        ('integer', 'at most 9', {'state': 'missing'})
    """
    builder = _Builder({"type": "string"} if schema is None else schema)
    field = builder.build(builder.root, "", "Answer", is_required=True)
    form = {"field": field, "defs": builder.defs}
    size = len(json.dumps(form))
    if size <= _LARGEST:
        return form
    words = f"Its fields are too many to be drawn ({size:,} characters): write the answer as JSON."
    box = {**_UNNAMED, "label": field["label"], "help": words, "required": True, "kind": "json"}
    return {"field": box, "defs": {}}


class _Builder:
    """Builds the fields of one schema."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.defs: dict[str, Field] = {}
        self._under_way: list[str] = []

    def build(self, part: Any, name: str, label: str, *, is_required: bool, depth: int = 0) -> Field:
        """Return the field of one part of the schema."""
        part, is_nullable = self._without_null(part)
        reference = _reference(part)
        is_too_deep = len(self._under_way) >= _LONGEST_CHAIN
        if reference is not None and not is_too_deep and isinstance(target(reference, self.root), dict):
            made: dict[str, Any] = {"kind": "ref", "ref": reference}
            is_recursive = self._define(reference)
            schema = part
        else:
            schema, is_recursive = resolved(part, self.root), False
            made = {"kind": "json"} if is_too_deep or depth >= _DEEPEST else self._kind(schema, depth)
        field: Field = {
            "name": name,
            "label": shorten(str(schema.get("title") or label), _LABEL),
            "help": shorten(str(schema.get("description") or ""), _HELP),
            "hint": shorten(_hint(schema), _LABEL),
            "required": is_required,
            "nullable": is_nullable,
            "initial": missing(),
            **made,
        }
        field["initial"] = self._initial(field, schema, is_recursive)
        return field

    def _define(self, reference: str) -> bool:
        """Build what a reference stands for unless it is built; say whether that is under way, as it holds itself."""
        if reference in self._under_way:
            return True
        if reference not in self.defs:
            self._under_way.append(reference)
            self.defs[reference] = {"kind": "json", **_UNNAMED}  # for a reference that leads to itself only
            self.defs[reference] = self.build(target(reference, self.root), "", "", is_required=False)
            self._under_way.pop()
        return False

    def _initial(self, field: Field, schema: Schema, is_recursive: bool) -> Entry:
        if "default" in schema:
            size = len(json.dumps(schema["default"], default=str))
            if size > _DEFAULT:
                words = f"Left out, it gets a default that is too long to be shown ({size:,} characters)."
                field["help"] = " ".join(filter(None, [field["help"], words]))
                return missing()
            return fill(field, schema["default"], self.defs)
        whole = dereferenced(field, self.defs)
        if field["required"] and whole["nullable"]:
            return {"state": "null"}
        if not field["required"] or is_recursive:
            return missing()
        return _start(whole)

    def _kind(self, schema: Schema, depth: int) -> dict[str, Any]:
        choices = _choices(schema)
        if choices is not None:
            labels = [choice["label"] for choice in choices]
            return {"kind": "choice", "choices": choices, "buttons": len(choices) <= 5 and sum(map(len, labels)) <= 40}
        if _is_decimal(schema):
            return {"kind": "number", "as_text": True}
        branches = _branches(schema)
        if branches:
            variants = [self._variant(branch, number, depth) for number, branch in enumerate(branches)]
            return {"kind": "union", "variants": variants}
        kind = schema.get("type")
        if kind == "string":
            return {"kind": _text_kind(schema)}
        if kind in ("integer", "number"):
            return {"kind": str(kind)}
        if kind == "array":
            return self._list(schema, depth)
        if kind == "object":
            return self._object(schema, depth)
        return {"kind": "json"}

    def _variant(self, branch: Any, number: int, depth: int) -> dict[str, Any]:
        field = self.build(branch, "", "", is_required=True, depth=depth + 1)
        whole = dereferenced(field, self.defs)
        start = _start(whole)
        fixed = {}
        for one in whole.get("fields", ()):
            choices = one.get("choices", ())
            if len(choices) == 1 and isinstance(choices[0]["value"], str):
                fixed[one["name"]] = {"state": "value", "text": "0"}
        if fixed:
            start = {"state": "value", "fields": fixed}
        schema = resolved(branch, self.root)
        named = str(schema.get("title") or "") or " ".join(
            choice["value"] for one in whole.get("fields", ()) if one["name"] in fixed for choice in one["choices"]
        )
        label = named or _TYPES.get(str(schema.get("type")), f"shape {number + 1}")
        return {"label": label, "field": {**field, "label": label}, "start": start, "fixed": list(fixed)}

    def _list(self, schema: Schema, depth: int) -> dict[str, Any]:
        first = schema.get("prefixItems")
        items = schema.get("items")
        parts = first if isinstance(first, list) else []
        if not parts and not _says_something(items):
            return {"kind": "json"}
        places = [
            self.build(part, "", f"{number}", is_required=True, depth=depth + 1)
            for number, part in enumerate(parts, start=1)
        ]
        most = schema.get("maxItems")
        is_closed = items is False or (isinstance(most, int) and bool(parts) and most <= len(parts))
        item = None if is_closed else self.build(items or {}, "", "", is_required=True, depth=depth + 1)
        least = schema.get("minItems")
        rows = min(least if isinstance(least, int) else 0, _ROWS_AT_FIRST)
        return {"kind": "list", "first": places, "item": item, "rows": max(rows, len(places))}

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        others = schema.get("additionalProperties")
        item = self.build(others, "", "", is_required=True, depth=depth + 1) if _says_something(others) else None
        properties = schema.get("properties")
        if not isinstance(properties, dict) or not properties:
            return {"kind": "dict", "item": item} if item is not None else {"kind": "json"}
        required = schema.get("required")
        names = required if isinstance(required, list) else []
        fields = [
            self.build(part, str(name), self._label(part, str(name)), is_required=name in names, depth=depth + 1)
            for name, part in properties.items()
        ]
        return {"kind": "group", "fields": fields, "others": item}

    def _label(self, part: Any, name: str) -> str:
        # pydantic gives a title to every property except to one that is a model: that one's name is its label, too.
        own, _ = self._without_null(part)
        return name.replace("_", " ").title() if _reference(own) is not None else name

    def _without_null(self, part: Any) -> tuple[Any, bool]:
        """Return a part without its `null` branch, and whether it had one."""
        if not isinstance(part, dict):
            return {}, False
        kinds = part.get("type")
        if isinstance(kinds, list):
            rest = [kind for kind in kinds if kind != "null"]
            return {**part, "type": rest[0] if len(rest) == 1 else rest}, "null" in kinds
        for word in ("anyOf", "oneOf"):
            branches = part.get(word)
            if not isinstance(branches, list):
                continue
            rest = [one for one in branches if resolved(one, self.root).get("type") != "null"]
            beside = {name: value for name, value in part.items() if name != word}
            is_nullable = len(rest) < len(branches)
            if len(rest) == 1 and isinstance(rest[0], dict):
                inner, is_inner_nullable = self._without_null({**rest[0], **beside})
                return inner, is_nullable or is_inner_nullable
            return {**beside, word: rest}, is_nullable
        return part, False


_UNNAMED: dict[str, Any] = {
    "name": "",
    "label": "",
    "help": "",
    "hint": "",
    "required": False,
    "nullable": False,
    "initial": {"state": "missing"},
}


def _start(field: Field) -> Entry:
    """Return what a field that is there holds before anything is filled in."""
    kind = field["kind"]
    if kind == "group":
        return {"state": "value", "fields": {}}
    if kind == "dict":
        return {"state": "value", "pairs": []}
    if kind == "list":
        places = [one["initial"] for one in field["first"]]
        item = field["item"]
        more = [item["initial"] if item else missing()] * (field["rows"] - len(places))
        return {"state": "value", "items": [*places, *more]}
    return missing()


def _reference(part: Any) -> str | None:
    """Return what a part refers to, if it is that and no more; older versions of pydantic put it into an `allOf`."""
    if not isinstance(part, dict):
        return None
    telling = set(part) - _WORDS - {"$defs", "definitions"}
    if telling == {"allOf"} and isinstance(part["allOf"], list) and len(part["allOf"]) == 1:
        part, telling = part["allOf"][0], set(part["allOf"][0]) if isinstance(part["allOf"][0], dict) else set()
    reference = part.get("$ref") if telling == {"$ref"} else None
    return reference if isinstance(reference, str) else None


def _says_something(part: Any) -> bool:
    return isinstance(part, dict) and bool(set(part) - _WORDS)


def _branches(schema: Schema) -> list[Any] | None:
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return [{**schema, "type": kind} for kind in kinds]
    beside = set(schema) - _WORDS - {"anyOf", "oneOf", "discriminator", "$defs", "definitions"}
    for word in ("oneOf", "anyOf"):
        branches = schema.get(word)
        if isinstance(branches, list) and len(branches) > 1 and not beside:
            return branches
    return None


def _text_kind(schema: Schema) -> str:
    if schema.get("format") in _DATES:
        return _DATES[schema["format"]]
    if schema.get("format") == "password":
        return "secret"
    most = schema.get("maxLength")
    is_long = schema.get("format") in _LONG or (isinstance(most, int) and most >= 200)
    return "longtext" if is_long else "text"


def _choices(schema: Schema) -> list[dict[str, Any]] | None:
    if schema.get("type") == "boolean" and "const" not in schema and "enum" not in schema:
        values: Any = [True, False]
    else:
        values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list) or not values:
        return None
    labels = [_choice_label(value) for value in values]
    if len(set(labels)) < len(labels):  # 1 and "1", or true and "Yes": told apart by how JSON writes them
        labels = [json.dumps(value, ensure_ascii=False) for value in values]
    # As the kernel writes it: a page that reads numbers would round a large one.
    texts = [json.dumps(value, ensure_ascii=False) for value in values]
    return [
        {"label": shorten(label, _LABEL), "value": value, "json": text}
        for label, value, text in zip(labels, values, texts, strict=True)
    ]


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
        ("minItems", "{} or more"),
        ("maxItems", "{} or fewer"),
    ]
    if "prefixItems" in schema:  # a tuple shows its places
        words = []
    return ", ".join(say.format(schema[name]) for name, say in words if name in schema)
