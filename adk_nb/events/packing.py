"""A snapshot's exact form in JSON.

`pack` and `unpack` carry it through without loss, so a resumed run sees what the live run saw.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import json
import math
import uuid
from collections.abc import Callable
from typing import Any

from google.genai import types

from adk_nb.errors import WorkflowDataError
from adk_nb.events.read_only import ReadOnlyDict, ReadOnlyList
from adk_nb.events.values import PLAIN, Answer

TAG = "$adk_nb"
"""The key that marks a packed value in JSON."""
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
    complex: ("complex", repr, complex),
}
_UNPACKERS = {tag: unpack for tag, _, unpack in _PACKERS.values()}


def pack(value: Any) -> Any:
    """Return a snapshot as plain JSON values that `unpack` turns back into the same snapshot.

    Example:
        >>> unpack(pack({1: (decimal.Decimal("9.90"), {2})}))
        {1: (Decimal('9.90'), {2})}
    """
    kind = type(value)
    if kind is float and not math.isfinite(value):
        return {TAG: "float", "v": repr(value)}
    if kind in PLAIN:
        return value
    if kind is list or kind is ReadOnlyList:
        return [pack(v) for v in value]
    if kind is dict or kind is ReadOnlyDict:
        if all(type(k) is str for k in value) and TAG not in value:
            return {k: pack(v) for k, v in value.items()}
        return {TAG: "dict", "v": [[pack(k), pack(v)] for k, v in value.items()]}
    if kind in _PACKERS:
        tag, to_json, _ = _PACKERS[kind]
        return {TAG: tag, "v": to_json(value)}
    if isinstance(value, Answer):
        return {TAG: "answer", "v": pack(dict(value))}
    if isinstance(value, types.Content):
        return {TAG: "content", "v": value.model_dump(mode="json", exclude_none=True)}
    if isinstance(value, (set, frozenset)):
        tag = "set" if isinstance(value, set) else "frozenset"
        return {TAG: tag, "v": sorted((pack(v) for v in value), key=json.dumps)}
    if kind is tuple:
        return {TAG: "tuple", "v": [pack(v) for v in value]}
    raise WorkflowDataError(
        f"A {kind.__module__}.{kind.__qualname__} can't be packed as JSON: pack only what snapshot() returned."
    )


def unpack(value: Any) -> Any:
    """Return the snapshot that `pack` wrote."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list:
        return [unpack(v) for v in value]
    if TAG not in value or "v" not in value or len(value) != 2:
        return {k: unpack(v) for k, v in value.items()}
    tag, inner = value[TAG], value["v"]
    try:
        return _unpack_tagged(tag, inner)
    except (KeyError, TypeError, ValueError, ArithmeticError):  # someone else wrote it, and it only looks like ours
        return value


def _unpack_tagged(tag: str, inner: Any) -> Any:
    if tag in _UNPACKERS:
        return _UNPACKERS[tag](inner)
    if tag == "content":
        return types.Content.model_validate(inner)
    if tag == "answer":
        return Answer(unpack(inner))
    if tag == "dict":
        return {unpack(k): unpack(v) for k, v in inner}
    if tag == "float":
        return float(inner)
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[tag](unpack(v) for v in inner)


def needs_packing(value: Any) -> bool:
    """Say whether JSON has no form for something in a snapshot, so that `pack` would change it."""
    kind = type(value)
    if kind in PLAIN:
        return kind is float and not math.isfinite(value)
    if kind is list or kind is ReadOnlyList:
        return any(needs_packing(inner) for inner in value)
    if kind is dict or kind is ReadOnlyDict:
        return any(type(key) is not str or key == TAG or needs_packing(inner) for key, inner in value.items())
    return True
