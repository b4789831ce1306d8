"""JSON schemas as the Gemini API takes them: every rule in a keyword that it knows, or in words in the description.

It knows types, enums of texts and numbers, properties, items, bounds, references and `anyOf`. A reference may stand in
a circle only where a property isn't required. What comes back is checked against the schema as written, so a rule that
is only said in words is still kept.
"""

from __future__ import annotations

import json
from typing import Any

from adk_nb.errors import ConfigurationError

_KNOWN = frozenset(
    {"type", "title", "description", "enum", "format", "minimum", "maximum", "minItems", "maxItems"}
    | {"nullable", "propertyOrdering"}
)
_FORMATS = frozenset({"date-time", "date", "time", "int32", "int64", "float", "double", "enum"})
_NO_EQUAL = (
    *("not", "if", "then", "else", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"),
    *("$dynamicRef", "$recursiveRef"),
)
_SILENT = frozenset(
    {"default", "examples", "example", "deprecated", "readOnly", "writeOnly", "discriminator", "$schema", "$id"}
    | {"$comment", "$defs", "definitions", "$anchor", "contentMediaType", "contentEncoding"}
)
"""Keywords that allow and forbid nothing."""
_ROOT = "Whole"


def gemini_json_schema(schema: dict[str, Any], what: str = "The schema") -> dict[str, Any]:
    """Return a JSON schema in the keywords that the Gemini API knows.

    Args:
        schema: Any JSON schema; it isn't changed.
        what: What it is for, as the beginning of an error message.
    Raises:
        ConfigurationError: a rule has no equal form; the message names the field.

    Example:
        >>> gemini_json_schema({"const": "a"}), gemini_json_schema({"type": "string", "pattern": "^x"})
        ({'enum': ['a'], 'type': 'string'}, {'type': 'string', 'description': '(pattern: ^x)'})
    """
    return _Rewriting(schema, what).whole()


class _Rewriting:
    """The rewriting of one schema."""

    def __init__(self, schema: dict[str, Any], what: str) -> None:
        self._schema = schema
        self._what = what
        self._definitions: dict[str, Any] = {**schema.get("definitions", {}), **schema.get("$defs", {})}
        self._used: dict[str, Any] = {}
        self._circular = {name for name in self._definitions if self._reaches(name, name, set())}

    def whole(self) -> dict[str, Any]:
        written = self._at(self._schema, ())
        if self._used:
            written["$defs"] = self._used
        return written

    def _at(self, schema: Any, place: tuple[str, ...]) -> dict[str, Any]:
        if schema is True:
            return {}
        if not isinstance(schema, dict):
            raise self._refusal("a schema that allows nothing (false)", place)
        for keyword in _NO_EQUAL:
            if keyword in schema:
                raise self._refusal(repr(keyword), place)
        if "$ref" in schema:
            return self._reference(schema, place)
        if "allOf" in schema:
            return self._at(self._merged(schema, place), place)
        found: dict[str, Any] = {}
        words: list[str] = []
        for keyword, value in schema.items():
            if keyword in _SILENT:
                continue
            self._write(keyword, value, schema, found, words, place)
        if words:
            found["description"] = f"{found.get('description', '')} ({'; '.join(words)})".strip()
        return found

    def _write(
        self, keyword: str, value: Any, schema: dict[str, Any], found: dict[str, Any], words: list[str], place: Any
    ) -> None:
        """Write one keyword down, as itself, as another one, or in words."""
        if keyword in ("const", "enum"):
            found |= _enum([value] if keyword == "const" else value, schema.get("type"))
        elif keyword == "format" and value not in _FORMATS:
            words.append(f"format: {value}")
        elif keyword == "properties":
            found["properties"] = {name: self._at(inner, (*place, name)) for name, inner in value.items()}
        elif keyword == "required":
            found["required"] = [name for name in value if not self._leads_in_a_circle(schema, name)]
        elif keyword in ("anyOf", "oneOf"):
            found["anyOf"] = [*found.get("anyOf", ()), *(self._at(inner, place) for inner in value)]
        elif keyword == "items":
            if isinstance(value, list):  # the form before 2020-12
                found["prefixItems"] = [self._at(inner, (*place, str(i))) for i, inner in enumerate(value)]
            elif value is False:
                found.setdefault("maxItems", len(schema.get("prefixItems", ())))
            else:
                found["items"] = self._at(value, (*place, "*"))
        elif keyword == "prefixItems":
            found["prefixItems"] = [self._at(inner, (*place, str(i))) for i, inner in enumerate(value)]
        elif keyword == "additionalProperties":
            found[keyword] = value if isinstance(value, bool) else self._at(value, (*place, "*"))
        elif keyword == "patternProperties":
            found["additionalProperties"] = {"anyOf": [self._at(inner, (*place, "*")) for inner in value.values()]}
            words.append(f"names match {' or '.join(value)}")
        elif keyword in _KNOWN:
            # A type already told by const or enum stays as it is there.
            found.setdefault(keyword, value)
        elif keyword == "propertyNames":
            words.append(f"names: {json.dumps(self._resolved(value), ensure_ascii=False)}")
        else:
            words.append(f"{keyword}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")

    def _reference(self, schema: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
        name = self._name_of(schema["$ref"], place)
        beside = {key: value for key, value in schema.items() if key != "$ref" and key not in _SILENT}
        if beside and name not in self._circular and name != _ROOT:
            # Nothing may stand beside a reference: what it names is written out.
            return self._at({**self._definitions[name], **beside}, place)
        if name not in self._used:
            self._used[name] = {}
            target = self._schema if name == _ROOT else self._definitions[name]
            self._used[name] = self._at({k: v for k, v in target.items() if k not in ("$defs", "definitions")}, place)
        return {"$ref": f"#/$defs/{name}"}

    def _name_of(self, reference: Any, place: tuple[str, ...]) -> str:
        if reference == "#":
            return _ROOT
        start, _, name = str(reference).rpartition("/")
        if start not in ("#/$defs", "#/definitions") or name not in self._definitions:
            raise self._refusal(f"a reference to {str(reference)!r}, which isn't in its $defs", place)
        return name

    def _merged(self, schema: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
        """One schema for all that `allOf` lists: objects come together, one rule twice is refused."""
        whole = {key: value for key, value in schema.items() if key != "allOf"}
        for one in schema["allOf"]:
            for key, value in self._resolved(one, place).items():
                if key in ("properties", "$defs") and key in whole:
                    whole[key] = {**whole[key], **value}
                elif key == "required" and key in whole:
                    whole[key] = list(dict.fromkeys([*whole[key], *value]))
                elif key in whole and whole[key] != value and key not in ("title", "description", *_SILENT):
                    raise self._refusal(f"'allOf' with several rules for {key!r}", place)
                else:
                    whole.setdefault(key, value)
        return whole

    def _resolved(self, schema: Any, place: tuple[str, ...] = ()) -> Any:
        while isinstance(schema, dict) and "$ref" in schema:
            name = self._name_of(schema["$ref"], place)
            if name == _ROOT or name in self._circular:
                raise self._refusal("'allOf' with a schema that contains itself", place)
            schema = {**self._definitions[name], **{key: value for key, value in schema.items() if key != "$ref"}}
        return schema

    def _leads_in_a_circle(self, schema: dict[str, Any], name: str) -> bool:
        """The API takes circles only where a property may be missing; the answer is checked in full anyway."""
        return any(
            found == "#" or found.rpartition("/")[2] in self._circular
            for found in _references(schema.get("properties", {}).get(name))
        )

    def _reaches(self, start: str, goal: str, seen: set[str]) -> bool:
        for reference in _references(self._definitions.get(start)):
            name = reference.rpartition("/")[2]
            if name == goal:
                return True
            if name not in seen:
                seen.add(name)
                if self._reaches(name, goal, seen):
                    return True
        return False

    def _refusal(self, rule: str, place: tuple[str, ...]) -> ConfigurationError:
        where = f"its field {'.'.join(place)!r}" if place else "it"
        return ConfigurationError(
            f"{self._what} can't be sent to Gemini: {where} uses {rule}, which has no equal form there. Describe the "
            f"rule in words, or check it in a function node after the agent."
        )


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [found for inner in schema for found in _references(inner)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    return own + [found for key, inner in schema.items() if key != "$ref" for found in _references(inner)]


def _enum(values: list[Any], declared: Any) -> dict[str, Any]:
    """Allowed values: texts and numbers as an enum, the rest by their types."""
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    ways: list[dict[str, Any]] = []
    if texts:
        ways.append({"enum": texts, "type": "string"})
    if numbers:
        is_whole = declared == "integer" or all(isinstance(value, int) for value in numbers)
        ways.append({"enum": numbers, "type": "integer" if is_whole else "number"})
    if any(isinstance(value, bool) for value in values):
        told = [value for value in values if isinstance(value, bool)]
        only = {"description": f"(always {json.dumps(told[0])})"} if len(told) == 1 else {}
        ways.append({"type": "boolean", **only})
    if None in values:
        ways.append({"type": "null"})
    if any(isinstance(value, (dict, list)) for value in values):
        ways.append({"description": f"(one of {json.dumps(values, ensure_ascii=False)})"})
    return ways[0] if len(ways) == 1 else {"anyOf": ways}
