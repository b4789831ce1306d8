"""Parts of a JSON schema found by their references, and places in an answer written as JSON pointers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def pointer(above: str, name: str) -> str:
    """Return the JSON pointer of a property below another one.

    Example:
        >>> pointer("/address", "a/b")
        '/address/a~1b'
    """
    return f"{above}/{name.replace('~', '~0').replace('/', '~1')}"


def steps(pointer: str) -> list[str]:
    """Return the names in a JSON pointer, from the outside in.

    Example:
        >>> steps("/address/a~1b")
        ['address', 'a/b']
    """
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def references_in(schema: Any) -> Iterator[str]:
    """Yield every reference of a schema, at any depth."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for inner in schema.values():
            yield from references_in(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from references_in(inner)


def leads_out(reference: str) -> bool:
    """Say whether a reference is to another document, which would have to be fetched."""
    return not reference.startswith("#")


def target(reference: str, root: Any) -> Any:
    """Return what a reference stands for in the whole schema, `None` when it leads out of it or nowhere.

    Example:
        >>> target("#/$defs/Size", {"$defs": {"Size": {"type": "integer"}}})
        {'type': 'integer'}
    """
    if leads_out(reference):
        return None
    at = root
    for step in steps(reference):
        if isinstance(at, list) and step.isdigit() and int(step) < len(at):
            at = at[int(step)]
        elif isinstance(at, dict):
            at = at.get(step)
        else:
            return None
    return at


def resolved(schema: Any, root: Any) -> dict[str, Any]:
    """Return a part of a schema with its references followed; what stands beside a reference wins.

    An `allOf` of one is such a reference, too: older versions of pydantic write a field with a default that way.

    Example:
        >>> root = {"$defs": {"Size": {"type": "integer"}}}
        >>> resolved({"$ref": "#/$defs/Size", "title": "How wide"}, root)
        {'type': 'integer', 'title': 'How wide'}
    """
    seen: set[str] = set()
    while isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            word, inner = "$ref", None if reference in seen else target(reference, root)
            seen.add(reference)
        elif isinstance(parts := schema.get("allOf"), list) and len(parts) == 1:
            word, inner = "allOf", parts[0]
        else:
            return schema
        beside = {key: value for key, value in schema.items() if key != word}
        schema = {**inner, **beside} if isinstance(inner, dict) else beside
    return {}
