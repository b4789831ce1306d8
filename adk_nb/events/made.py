"""Models made of fields that need no check: copies, and what the engine writes itself."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)

# A model's parts are written past its own `__setattr__`, which would ask its fields, and those may be read-only.
put_fields, put_names, _put_extra, _put_private = (
    BaseModel.__dict__[part].__set__
    for part in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


_new: Any = object.__new__


def made(kind: type[M], fields: dict[str, Any], names: set[str], extra: Any = None, private: Any = None) -> M:
    """Return a model with these very fields; `names` are those that count as set.

    Example:
        >>> class Point(BaseModel):
        ...     x: int = 0
        >>> made(Point, {"x": 1}, {"x"})
        Point(x=1)
    """
    model: M = _new(kind)
    put_fields(model, fields)
    put_names(model, names)
    _put_extra(model, extra)
    _put_private(model, private)
    return model
