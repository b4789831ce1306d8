"""Schemas as a form meets them, and answers for them, made by Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Schema = dict[str, Any]

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**53, 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from(["", "1", "true", "null", "2026-01-31", "__proto__", "a/b~c", " x ", "\u202e"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from(["a", "b", "__proto__", "kind"]), inner, max_size=3)
    ),
    max_leaves=8,
)
"""Any JSON."""

_NAMES = st.sampled_from(["a", "b", "c d", "a/b~c", "__proto__", "toString", "kind", "0", ""])
_CHOICES: list[Any] = ["", "a", 1, 1.0, True, None, "1", [1], {"a": 1}, 2**60]
_LEAVES: list[Schema] = [
    {"type": "string"},
    {"type": "string", "maxLength": 500},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "password"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"const": "card"},
    {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9]+$"}]},
    {},
    {"type": "array"},
    {"type": "object"},
    {"$ref": "#/$defs/Tree"},
    {"$ref": "#/$defs/Size"},
]
TREE: Schema = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
    "required": ["a"],
}


def _objects(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    @st.composite
    def build(draw: st.DrawFn) -> Schema:
        properties = draw(st.dictionaries(_NAMES, inner, min_size=1, max_size=3))
        schema = {"type": "object", "properties": properties}
        schema["required"] = [name for name in properties if draw(st.booleans())]
        if draw(st.booleans()):
            schema["additionalProperties"] = draw(inner)
        return schema

    return build()


_PARTS = st.recursive(
    st.sampled_from(_LEAVES) | st.lists(st.sampled_from(_CHOICES), min_size=1, max_size=5).map(lambda e: {"enum": e}),
    lambda inner: (
        _objects(inner)
        | inner.map(lambda item: {"type": "array", "items": item})
        | st.lists(inner, min_size=1, max_size=2).map(lambda first: {"type": "array", "prefixItems": first})
        | inner.map(lambda item: {"type": "object", "additionalProperties": item})
        | st.lists(inner, min_size=2, max_size=3).map(lambda branches: {"anyOf": branches})
        | inner.map(lambda part: {"anyOf": [part, {"type": "null"}]})
        | st.tuples(inner, VALUES).map(lambda both: {**both[0], "default": both[1]})
    ),
    max_leaves=5,
)
SCHEMAS = _PARTS.map(
    lambda part: {**part, "$defs": {"Tree": TREE, "Size": {"type": ["integer", "null"], "title": "Size"}}}
)
"""Schemas of every kind of field, nested, with references and defaults."""


@st.composite
def fitting(draw: st.DrawFn, schema: Schema) -> Any:
    """A value of roughly the shape that a schema asks for: mostly it fits, and the form has to hold it either way."""
    if draw(st.integers(0, 9)) == 0:
        return draw(VALUES)
    return draw(_shaped(schema))


def _shaped(schema: Schema) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    if "anyOf" in schema:
        return st.one_of([fitting(branch) for branch in schema["anyOf"]])
    if "$ref" in schema:
        size = st.integers() | st.none()
        return size if schema["$ref"].endswith("Size") else fitting(TREE)
    kind = schema.get("type")
    if kind == "object" and "properties" in schema:
        return _shaped_object(schema)
    if kind == "object" and "additionalProperties" in schema:
        return st.dictionaries(_NAMES, fitting(schema["additionalProperties"]), max_size=3)
    if kind == "array" and "prefixItems" in schema:
        return st.tuples(*map(fitting, schema["prefixItems"])).map(list)
    if kind == "array" and "items" in schema:
        return st.lists(fitting(schema["items"]), max_size=3)
    simple: dict[Any, st.SearchStrategy[Any]] = {
        "string": st.text(max_size=5) | st.sampled_from(["2026-01-31", "", "1"]),
        "integer": st.integers() | st.integers(2**53, 2**70),
        "number": st.integers() | st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
    }
    return simple.get(kind, VALUES)


@st.composite
def _shaped_object(draw: st.DrawFn, schema: Schema) -> dict[str, Any]:
    required = schema.get("required", ())
    value = {}
    for name, part in schema["properties"].items():
        if name in required or draw(st.booleans()):
            value[name] = draw(fitting(part))
    if "additionalProperties" in schema and draw(st.booleans()):
        value[draw(_NAMES)] = draw(fitting(schema["additionalProperties"]))
    return value


@st.composite
def cases(draw: st.DrawFn) -> tuple[Schema, Any]:
    """A schema and an answer for it."""
    schema = draw(SCHEMAS)
    return schema, draw(fitting(schema))
