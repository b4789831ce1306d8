"""What is filled into a form: entries, read as exactly the answer that was meant.

An entry is what one field holds. Its `state` is `missing` (left out), `null` or `value`, so that nothing is rounded on
the way and `null`, an empty text, 0 and "left out" stay apart. A value is, by the kind of its field:

- `text`: of a box as it was typed, of a choice the number of what was chosen;
- `fields`: the entries of a group by name (one that isn't there is as its field starts), and `pairs` beside them;
- `items`: the entries of a list;
- `pairs`: the keys and entries of a dictionary, in order;
- `variant` and `entry`: which shape of a union it is, and what that holds;
- `json`: any kind may hold JSON in place of these, for a value that its control can't show.

So every answer, also one that doesn't fit, passes through a form unchanged.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from adk_nb.workflow.json_schema.references import pointer

Field = dict[str, Any]
Form = dict[str, Any]
Entry = dict[str, Any]
Defs = Mapping[str, Field]
Errors = dict[str, str]

_WHOLE = re.compile(r"[+-]?[0-9]+\Z")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_LONGEST_NUMBER = 4_000
_BOXES = ("text", "longtext", "secret", "date", "time", "datetime")
_ABSENT = object()


def missing() -> Entry:
    """Return the entry of a value that is left out."""
    return {"state": "missing"}


def dereferenced(field: Field, defs: Defs) -> Field:
    """Return a field with what it refers to in place of the reference; its own words win.

    Example:
        >>> size = {"kind": "integer", "label": "Size", "help": "in cm", "hint": "", "nullable": False}
        >>> own = {"kind": "ref", "ref": "#/S", "label": "Width", "help": "", "hint": "", "nullable": True}
        >>> found = dereferenced(own, {"#/S": size})
        >>> found["kind"], found["label"], found["help"], found["nullable"]
        ('integer', 'Width', 'in cm', True)
    """
    seen = set()
    while field["kind"] == "ref" and field["ref"] not in seen:
        seen.add(field["ref"])
        inner = defs[field["ref"]]
        own = {name: value for name, value in field.items() if name not in ("kind", "ref")}
        words = {name: own[name] or inner[name] for name in ("label", "help", "hint", "nullable")}
        field = {**inner, **own, **words}
    return {**field, "kind": "json"} if field["kind"] == "ref" else field


def fill(field: Field, value: Any, defs: Defs) -> Entry:
    """Return a value as an entry of a field, the inverse of `collect`.

    Example:
        >>> fill({"kind": "number", "nullable": False}, 1.0, {})
        {'state': 'value', 'text': '1.0'}
        >>> fill({"kind": "number", "nullable": False}, "one", {})
        {'state': 'value', 'json': '"one"'}
    """
    field = dereferenced(field, defs)
    kind = field["kind"]
    if kind == "choice":
        for index, choice in enumerate(field["choices"]):
            if _is_same(choice["value"], value):
                return {"state": "value", "text": str(index)}
    if value is None and field["nullable"]:
        return {"state": "null"}
    if kind == "json" or not _fits_kind(field, value):
        return {"state": "value", "json": json.dumps(value, ensure_ascii=False, indent=1)}
    filler = _FILLERS.get(kind)
    if filler is not None:
        return {"state": "value", **filler(field, value, defs)}
    return {"state": "value", "text": value if isinstance(value, str) else json.dumps(value)}


def _fill_group(field: Field, value: dict[str, Any], defs: Defs) -> Entry:
    known = {one["name"]: one for one in field["fields"]}
    fields = {name: fill(one, value[name], defs) if name in value else missing() for name, one in known.items()}
    other = field["others"] or _ANYTHING
    pairs = [[name, fill(other, item, defs)] for name, item in value.items() if name not in known]
    return {"fields": fields, "pairs": pairs}


def _fill_list(field: Field, value: list[Any], defs: Defs) -> Entry:
    return {"items": [fill(_place(field, at), item, defs) for at, item in enumerate(value)]}


def _fill_dict(field: Field, value: dict[str, Any], defs: Defs) -> Entry:
    return {"pairs": [[name, fill(field["item"], item, defs)] for name, item in value.items()]}


def _fill_union(field: Field, value: Any, defs: Defs) -> Entry:
    for number, variant in enumerate(field["variants"]):
        if _fits(variant["field"], value, defs):
            return {"variant": number, "entry": fill(variant["field"], value, defs)}
    return {"json": json.dumps(value, ensure_ascii=False, indent=1)}


_FILLERS: dict[str, Callable[[Field, Any, Defs], Entry]] = {
    "group": _fill_group,
    "list": _fill_list,
    "dict": _fill_dict,
    "union": _fill_union,
}
_ANYTHING: Field = {"kind": "json", "nullable": False, "required": True, "initial": {"state": "missing"}}


def _place(field: Field, at: int) -> Field:
    """Return the field of one place in a list."""
    place: Field = field["first"][at] if at < len(field["first"]) else field["item"] or _ANYTHING
    return place


def _fits_kind(field: Field, value: Any) -> bool:
    """A control of this kind can hold the value."""
    kind = field["kind"]
    if kind in _BOXES:
        return isinstance(value, str)
    if kind in ("group", "dict"):
        return isinstance(value, dict)
    if kind == "list":
        return isinstance(value, list)
    if kind == "number" and field.get("as_text"):
        return isinstance(value, str) and value == value.strip() and bool(_DECIMAL.match(value))
    if kind in ("integer", "number"):
        types = int if kind == "integer" else (int, float)
        return isinstance(value, types) and not isinstance(value, bool)
    return kind in ("union", "json")


def _fits(field: Field, value: Any, defs: Defs) -> bool:
    """The value has the shape that a field asks for, all the way down; bounds don't count."""
    field = dereferenced(field, defs)
    kind = field["kind"]
    if value is None:
        return bool(field["nullable"]) or kind == "json"
    if kind == "choice":
        return any(_is_same(choice["value"], value) for choice in field["choices"])
    if not _fits_kind(field, value):
        return False
    if kind == "group":
        known = {one["name"]: one for one in field["fields"]}
        lacks = any(one["required"] and name not in value for name, one in known.items())
        return not lacks and all(_fits(known[name], item, defs) for name, item in value.items() if name in known)
    if kind == "list":
        return all(_fits(_place(field, at), item, defs) for at, item in enumerate(value))
    if kind == "dict":
        return all(_fits(field["item"], item, defs) for item in value.values())
    if kind == "union":
        return any(_fits(variant["field"], value, defs) for variant in field["variants"])
    return True


def _is_same(one: Any, other: Any) -> bool:
    """Equal and of the same type all the way down: `1`, `1.0` and `True` differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def collect(form: Form, entry: Entry) -> tuple[Any, Errors]:
    """Return the answer in a filled-in form, and what is wrong with it by JSON pointer; no errors means it can be read.

    Example:
        >>> field = {"kind": "integer", "required": True, "nullable": False, "initial": {"state": "missing"}}
        >>> collect({"field": field, "defs": {}}, {"state": "value", "text": "x"})
        (None, {'': 'must be a whole number'})
    """
    errors: Errors = {}
    found = _read(form["field"], entry, "", form["defs"], errors)
    return (None if found is _ABSENT else found), errors


def _read(field: Field, entry: Any, key: str, defs: Defs, errors: Errors) -> Any:
    field = dereferenced(field, defs)
    entry = entry if isinstance(entry, dict) else missing()
    state = entry.get("state")
    if state == "null":
        if not field["nullable"]:
            errors[key] = "can't be null"
        return None
    if state != "value":
        if field["required"]:
            errors[key] = "needs a value"
        return _ABSENT
    try:
        if isinstance(entry.get("json"), str):
            return read_json(entry["json"])
        nested = _NESTED.get(field["kind"])
        if nested is not None:
            return nested(field, entry, key, defs, errors)
        return _READERS[field["kind"]](str(entry.get("text", "")), field)
    except ValueError as error:
        errors[key] = str(error)
        return _ABSENT


def _read_group(field: Field, entry: Entry, key: str, defs: Defs, errors: Errors) -> dict[str, Any]:
    given = entry.get("fields") or {}
    answer = {}
    for one in field["fields"]:
        name = one["name"]
        found = _read(one, given.get(name, one["initial"]), pointer(key, name), defs, errors)
        if found is not _ABSENT:
            answer[name] = found
    return answer | _read_pairs(field["others"] or _ANYTHING, entry, key, defs, errors)


def _read_pairs(item: Field, entry: Entry, key: str, defs: Defs, errors: Errors) -> dict[str, Any]:
    answer = {}
    for name, one in entry.get("pairs") or ():
        spot = pointer(key, str(name))
        if name in answer:
            errors[spot] = "is a key that is there twice"
        found = _read(item, one, spot, defs, errors)
        if found is not _ABSENT:
            answer[str(name)] = found
    return answer


def _read_dict(field: Field, entry: Entry, key: str, defs: Defs, errors: Errors) -> dict[str, Any]:
    return _read_pairs(field["item"], entry, key, defs, errors)


def _read_list(field: Field, entry: Entry, key: str, defs: Defs, errors: Errors) -> list[Any]:
    items = entry.get("items") or []
    found = [_read(_place(field, at), one, pointer(key, str(at)), defs, errors) for at, one in enumerate(items)]
    return [None if one is _ABSENT else one for one in found]  # one that can't be read keeps its place


def _read_union(field: Field, entry: Entry, key: str, defs: Defs, errors: Errors) -> Any:
    number = entry.get("variant")
    if type(number) is not int or not 0 <= number < len(field["variants"]):
        raise ValueError("needs a shape to be chosen")
    return _read(field["variants"][number]["field"], entry.get("entry"), key, defs, errors)


_NESTED: dict[str, Callable[[Field, Entry, str, Defs, Errors], Any]] = {
    "group": _read_group,
    "dict": _read_dict,
    "list": _read_list,
    "union": _read_union,
}


def _read_text(text: str, field: Field) -> Any:
    return text


def _read_whole(text: str, field: Field) -> Any:
    bare = text.strip()
    if not _WHOLE.match(bare):
        raise ValueError("must be a whole number")
    if len(bare) > _LONGEST_NUMBER:
        raise ValueError(f"has more than {_LONGEST_NUMBER:,} digits")
    return int(bare)


def _read_number(text: str, field: Field) -> Any:
    bare = text.strip()
    if not _DECIMAL.match(bare):
        comma = " (with a point, not a comma)" if "," in bare else ""
        raise ValueError(f"must be a number{comma}")
    if field.get("as_text"):
        return bare
    if _WHOLE.match(bare):
        return _read_whole(bare, field)
    number = float(bare)
    if not math.isfinite(number):
        raise ValueError("is too large")
    return number


def _read_choice(text: str, field: Field) -> Any:
    choices = field["choices"]
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) >= len(choices):
        raise ValueError("must be one of the choices")
    return choices[int(text)]["value"]


def _read_json(text: str, field: Field) -> Any:
    return read_json(text)


_READERS: dict[str, Callable[[str, Field], Any]] = {
    **dict.fromkeys(_BOXES, _read_text),
    "integer": _read_whole,
    "number": _read_number,
    "choice": _read_choice,
    "json": _read_json,
}


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
