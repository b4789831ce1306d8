"""The declared shape of an answer, in the form that the Gemini API takes whole."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import TypeAdapter


def fit_for_gemini(config: types.GenerateContentConfig) -> None:
    """Send a shape as JSON schema when the client would refuse it or drop part of it; change the config in place.

    The client's own conversion refuses dictionaries with free keys and closed models, and empties recursive models.
    """
    declared = config.response_schema
    if declared is None or isinstance(declared, (dict, types.Schema)):
        return
    adapter: TypeAdapter[Any] = TypeAdapter(declared)  # type: ignore[arg-type]  # any type, plain or generic
    schema = adapter.json_schema()
    if _needs_json_schema(schema, schema.get("$defs", {}), ()):
        config.response_schema = None
        config.response_json_schema = _with_enums(schema)


def _needs_json_schema(schema: Any, definitions: dict[str, Any], inside: tuple[str, ...]) -> bool:
    if isinstance(schema, list):
        return any(_needs_json_schema(item, definitions, inside) for item in schema)
    if not isinstance(schema, dict):
        return False
    if "additionalProperties" in schema:
        return True
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in inside:
        return True
    if name and _needs_json_schema(definitions.get(name), definitions, (*inside, name)):
        return True
    return any(_needs_json_schema(inner, definitions, inside) for key, inner in schema.items() if key != "$defs")


def _with_enums(schema: Any) -> Any:
    """The API knows `enum` but not `const`, and unions without a discriminator."""
    if isinstance(schema, list):
        return [_with_enums(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: {name: _with_enums(named) for name, named in inner.items()}
        if key in ("properties", "$defs")
        else _with_enums(inner)
        for key, inner in schema.items()
        if key not in ("const", "discriminator")
    }
    if "const" in schema and not isinstance(schema["const"], dict):
        kept["enum"] = [schema["const"]]
    return kept
