"""What a node hands on: a snapshot that nobody can change afterwards, and its exact form in JSON.

`snapshot` makes the copy that successors, history and stores hold. It keeps JSON's own types, `tuple`, `set`,
`frozenset`, `bytes`, dates and times, `Decimal`, `UUID`, dictionaries with keys of any of these simple types, and
google-genai's `Content`. Models and data classes become dictionaries and enums their values, as a receiver with a type
hint gets the object back from those. Anything else is refused with the key path. `pack` and `unpack` carry a snapshot
through JSON without loss, so a resumed run sees what the live run saw.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import uuid
from collections.abc import Callable
from typing import Any

from google.genai import types
from pydantic import BaseModel

from adk_nb.errors import WorkflowDataError

PLAIN = frozenset({str, int, float, bool, type(None)})
_TAG = "$adk_nb"


def snapshot(value: Any, where: str = "value", *, exclude_none: bool = False) -> Any:
    """Return a copy of `value` in which nothing is shared that could change later.

    Args:
        value: What a node returned, or a value written to state.
        where: How to name the value in an error, for instance `node 'bill': output`.
        exclude_none: Leave out the `None` fields of a model.
    Raises:
        WorkflowDataError: something in `value` can't be stored; the message names its key path and type.
    Example:
        >>> snapshot({"pair": (1, 2)})
        {'pair': (1, 2)}
    """
    if type(value) in PLAIN:
        return value
    return _copy(value, where, "", exclude_none)


def _copy(value: Any, where: str, at: str, exclude_none: bool) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is dict:
        return {_key(k, where, at): _copy(v, where, f"{at}[{k!r}]", exclude_none) for k, v in value.items()}
    if kind is list:
        return [_copy(v, where, f"{at}[{i}]", exclude_none) for i, v in enumerate(value)]
    if kind is tuple:
        return tuple(_copy(v, where, f"{at}[{i}]", exclude_none) for i, v in enumerate(value))
    if kind in _IMMUTABLE:
        return value
    if isinstance(value, types.Content):
        return value.model_copy(deep=True)
    if isinstance(value, BaseModel):
        return _copy(value.model_dump(exclude_none=exclude_none), where, at, exclude_none)
    return _copy_rare(value, where, at, exclude_none)


def _copy_rare(value: Any, where: str, at: str, exclude_none: bool) -> Any:
    if isinstance(value, (set, frozenset)):
        kind: Callable[[Any], Any] = set if isinstance(value, set) else frozenset
        return kind(_copy(v, where, f"{at}{{…}}", exclude_none) for v in value)
    if isinstance(value, enum.Enum):
        return _copy(value.value, where, at, exclude_none)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return _copy(fields, where, at, exclude_none)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    for plain in (bool, int, float, str):
        if isinstance(value, plain):
            return plain(value)
    for container in (dict, list, tuple):
        if isinstance(value, container):
            return _copy(container(value), where, at, exclude_none)
    raise WorkflowDataError(
        f"{where}{at} is a {type(value).__module__}.{type(value).__qualname__}, which can't be stored or handed on: "
        f"return JSON values, dates, Decimal, UUID, bytes, a pydantic model or a dataclass, or keep the object out of "
        f"the graph and hand on its name or path."
    )


def _key(key: Any, where: str, at: str) -> Any:
    if type(key) in PLAIN or type(key) in _IMMUTABLE:
        return key
    if isinstance(key, enum.Enum):
        return _key(key.value, where, at)
    if isinstance(key, str):
        return str(key)
    if isinstance(key, tuple):
        return tuple(_key(part, where, at) for part in key)
    raise WorkflowDataError(
        f"{where}{at} has the dictionary key {key!r} of type {type(key).__qualname__}, which can't be stored: "
        f"use a str, number, date, UUID or tuple as key."
    )


_PACKERS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    dt.datetime: ("datetime", dt.datetime.isoformat, dt.datetime.fromisoformat),
    dt.date: ("date", dt.date.isoformat, dt.date.fromisoformat),
    dt.time: ("time", dt.time.isoformat, dt.time.fromisoformat),
    dt.timedelta: (
        "timedelta",
        lambda v: [v.days, v.seconds, v.microseconds],
        lambda v: dt.timedelta(days=v[0], seconds=v[1], microseconds=v[2]),
    ),
    decimal.Decimal: ("decimal", str, decimal.Decimal),
    uuid.UUID: ("uuid", str, uuid.UUID),
    bytes: ("bytes", lambda v: base64.b64encode(v).decode(), base64.b64decode),
    complex: ("complex", lambda v: [v.real, v.imag], lambda v: complex(*v)),
}
_IMMUTABLE = frozenset(_PACKERS)
_UNPACKERS = {tag: unpack for tag, _, unpack in _PACKERS.values()}


def pack(value: Any) -> Any:
    """Return a snapshot as plain JSON values that `unpack` turns back into the same snapshot.

    Example:
        >>> unpack(pack({1: (decimal.Decimal("9.90"), {2})}))
        {1: (Decimal('9.90'), {2})}
    """
    kind = type(value)
    if kind is float and not math.isfinite(value):
        return {_TAG: "float", "v": repr(value)}
    if kind in PLAIN:
        return value
    if kind is list:
        return [pack(v) for v in value]
    if kind is dict:
        if all(type(k) is str for k in value) and _TAG not in value:
            return {k: pack(v) for k, v in value.items()}
        return {_TAG: "dict", "v": [[pack(k), pack(v)] for k, v in value.items()]}
    if kind in _PACKERS:
        tag, to_json, _ = _PACKERS[kind]
        return {_TAG: tag, "v": to_json(value)}
    if isinstance(value, types.Content):
        return {_TAG: "content", "v": value.model_dump(mode="json", exclude_none=True)}
    if isinstance(value, (set, frozenset)):
        return {_TAG: kind.__name__, "v": sorted((pack(v) for v in value), key=json.dumps)}
    return {_TAG: "tuple", "v": [pack(v) for v in value]}


def unpack(value: Any) -> Any:
    """Return the snapshot that `pack` wrote."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list:
        return [unpack(v) for v in value]
    if _TAG not in value:
        return {k: unpack(v) for k, v in value.items()}
    tag, inner = value[_TAG], value["v"]
    if tag in _UNPACKERS:
        return _UNPACKERS[tag](inner)
    if tag == "content":
        return types.Content.model_validate(inner)
    if tag == "dict":
        return {unpack(k): unpack(v) for k, v in inner}
    if tag == "float":
        return float(inner)
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[tag](unpack(v) for v in inner)


def to_json(value: Any) -> str:
    """Return a snapshot as one JSON text, for stores; `None` is `null`."""
    return json.dumps(pack(value), ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> Any:
    """Return the snapshot in a JSON text that `to_json` wrote."""
    return unpack(json.loads(text))
