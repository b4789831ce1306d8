"""Everything that an object holds, to see that it stays as it is."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from pydantic import BaseModel


def deep_view(thing: Any, place: str = "", seen: dict[int, tuple[Any, str]] | None = None) -> dict[str, Any]:
    """Return everything that an object holds, by place; what is worked out once and kept is left out."""
    seen = {} if seen is None else seen
    if thing is None or isinstance(thing, (str, bytes, int, float, type)):
        return {place: thing}
    if id(thing) in seen:
        return {place: f"the same as at {seen[id(thing)][1]}"}
    seen[id(thing)] = thing, place  # held, so that its id stays its own
    view = {place: type(thing).__qualname__}
    for name, held in _held_by(thing):
        view |= deep_view(held, f"{place}.{name}", seen)
    return view


def _held_by(thing: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(thing, dict):
        yield from list(thing.items())
    elif isinstance(thing, (list, tuple)):
        yield from enumerate(thing)
    elif isinstance(thing, (set, frozenset)):
        yield "items", sorted(map(repr, thing))
    elif isinstance(thing, FunctionType):
        yield "cells", [cell.cell_contents for cell in thing.__closure__ or ()]
        yield "defaults", thing.__defaults__
    if isinstance(thing, BaseModel):
        yield "private", thing.__pydantic_private__
        yield "set", sorted(thing.model_fields_set)
    classes = type(thing).__mro__
    cached = {
        name for one in classes for name, value in vars(one).items() if isinstance(value, functools.cached_property)
    }
    yield from ((name, held) for name, held in getattr(thing, "__dict__", {}).items() if name not in cached)
    for name in {name for one in classes for name in getattr(one, "__slots__", ())}:
        if not name.startswith("__") and hasattr(thing, name):
            yield name, getattr(thing, name)
