"""What is said about a value that doesn't fit a JSON schema: where, what must be, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_nb.workflow.json_schema.formats import example_of

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Spot = tuple[str | int, ...]
"""Where in a value: keys and positions from the outside in; `()` is the whole value."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a value."""

    spot: Spot
    text: str
    """What must be, as in "must be a whole number"."""
    found: str | None = None
    """What is there instead, `None` where that doesn't help."""

    @property
    def said(self) -> str:
        """The text with what was found."""
        return self.text if self.found is None else f"{self.text}, found {self.found}"


def faults_of(value: Any, validator: Validator) -> list[Fault]:
    """Return what is wrong with a value, one fault for each spot, `[]` when it fits.

    Args:
        value: Plain JSON.
        validator: From `validator_of`.
    """
    by_spot: dict[Spot, Fault] = {}
    for error in validator.iter_errors(value):
        for fault in _told(error):
            by_spot.setdefault(fault.spot, fault)
    return list(by_spot.values())


def dotted(spot: Spot) -> str:
    """Return a spot as text, `""` for the whole value.

    Example:
        >>> dotted(("tags", 0))
        'tags.0'
    """
    text = ".".join(map(str, spot))
    return text if len(text) <= 100 else f"{text[:97]}..."


def say(error: Any) -> str:
    """Return what must be in our words, or in jsonschema's where we have none."""
    saying = _SAYINGS.get(str(error.validator))
    return saying(error.validator_value) if saying is not None else str(error.message)[:200]


def _told(error: Any) -> Iterator[Fault]:
    spot = tuple(error.absolute_path)
    if error.validator == "required":
        for name in error.validator_value:
            if name not in error.instance:
                yield Fault((*spot, name), "is required")
    elif error.validator in ("anyOf", "oneOf") and error.context:
        meant = _meant(error)
        if meant:
            for one in meant:
                yield from _told(one)
        else:
            yield Fault(spot, "must fit one of the allowed forms", _short(error.instance))
    else:
        yield Fault(spot, say(error), None if error.validator in _PLAIN else _short(error.instance))


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


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _count(limit: Any, noun: str) -> str:
    return f"{limit} {noun}" if limit == 1 else f"{limit} {noun}s"


def _say_type(limit: Any) -> str:
    return f"must be {' or '.join(_TYPES[one] for one in (limit if isinstance(limit, list) else [limit]))}"


def _say_format(limit: Any) -> str:
    example = example_of(limit)
    like = "" if example is None else f" such as {example}"
    return f"must be {'an' if limit[:1] in 'aeio' else 'a'} {limit}{like}"


_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}

_SAYINGS: dict[str, Callable[[Any], str]] = {
    "type": _say_type,
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
    "format": _say_format,
    "minItems": lambda limit: f"must have at least {_count(limit, 'item')}",
    "maxItems": lambda limit: f"must have at most {_count(limit, 'item')}",
    "uniqueItems": lambda limit: "must not hold one item twice",
    "additionalProperties": lambda limit: "holds a name that isn't asked for",
}

# The value itself, often a long one, doesn't help with these.
_PLAIN = frozenset({"minLength", "maxLength", "minItems", "maxItems", "uniqueItems"})
