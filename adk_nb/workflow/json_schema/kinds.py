"""The kinds of JSON values, and those that a schema allows."""

from __future__ import annotations

from typing import Any

from adk_nb.workflow.json_schema.references import resolved

_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def kind_of(value: Any) -> str | None:
    """Return the JSON type of a value, `None` when JSON has no such values.

    Example:
        >>> kind_of(5), kind_of(5.0), kind_of([5])
        ('integer', 'number', 'array')
    """
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, (list, tuple)) else _KINDS.get(type(value))


def options(schema: dict[str, Any]) -> list[Any]:
    """Return the schemas of which a value must fit one, `[]` when there is no such choice."""
    return [*schema.get("anyOf", ()), *schema.get("oneOf", ())]


def kinds_allowed(schema: Any, root: Any) -> set[str]:
    """Return the JSON types that a part of a schema names, in its options and constants as well.

    Example:
        >>> schema = {"anyOf": [{"type": "integer"}, {"const": "all"}]}
        >>> sorted(kinds_allowed(schema, schema))
        ['integer', 'string']
    """
    schema = resolved(schema, root)
    kind = schema.get("type")
    found = {kind} if isinstance(kind, str) else set(kind or ())
    for option in options(schema):
        found |= kinds_allowed(option, root)
    for value in (*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())):
        found |= {kind_of(value)}
    return found - {None}
