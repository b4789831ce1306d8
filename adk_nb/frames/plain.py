"""Any value as JSON values, as compact JSON text, or at a glance on one line; never raises."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from adk_nb.events.read_only import ReadOnlyDict, ReadOnlyList

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")
_BREAKS = re.compile(r"\s+")
_DEEPEST = 60
_as_json = json.JSONEncoder(ensure_ascii=False).encode
_as_strict_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_SPELT_OTHERWISE = ('"true": ', '"false": ', '"null": ')
_LONGEST = 10**4300
"""Python writes no larger numbers out."""


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value with nothing but JSON in it.

    Dates become ISO text, bytes their size, numbers that JSON lacks their name, and whatever has no JSON form its
    `str`. Dictionary keys become text.

    Example:
        >>> plain({1: (b"abc", float("nan"))})
        {'1': ['<3 bytes>', 'nan']}
    """
    kind = type(value)
    if kind is str:
        return value if value.isascii() else readable(value)
    if kind is int and not -_LONGEST < value < _LONGEST:
        return f"<a number of {value.bit_length()} bits>"
    if kind is bool or kind is int or value is None:
        return value
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {readable(key if type(key) is str else _str(key)): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    return _plain_rare(value, depth)


def _plain_rare(value: Any, depth: int) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"<{len(value)} bytes>"
    if isinstance(value, BaseModel):
        return plain(value.model_dump(exclude_none=True), depth + 1)
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item, depth + 1) for item in value), key=json.dumps)
    for base in (str, bool, int, float):
        if isinstance(value, base):
            return plain(base(value), depth)
    isoformat = getattr(value, "isoformat", None)
    return readable(_str(isoformat() if callable(isoformat) else value))


def _str(value: Any) -> str:
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001  # a person's own __str__
        return f"<{type(value).__name__} without text: {type(error).__name__}>"


def readable(text: str) -> str:
    r"""Return a text that any encoding takes: half a surrogate pair becomes its escape.

    Example:
        >>> readable("a\ud800") == "a" + chr(92) + "ud800"
        True
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def text_of(value: Any) -> str | None:
    """Return a value as text for one cell of a table: a text as it is, all else as JSON, `None` as `None`.

    Example:
        >>> text_of("yes"), text_of({"a": [1, None]}), text_of(None)
        ('yes', '{"a": [1, null]}', None)
    """
    if value is None:
        return None
    if type(value) is str:
        return value if value.isascii() else readable(value)
    if type(value) is dict or type(value) is list or type(value) is ReadOnlyDict or type(value) is ReadOnlyList:
        text = _json_of(value)
        if text is not None:
            return text
    found = plain(value)
    return found if isinstance(found, str) else _as_json(found)


def _json_of(value: Any) -> str | None:
    """Return the JSON text of what holds JSON values only, much faster than through `plain`; `None` for all else."""
    try:
        text = _as_strict_json(value)
    except (TypeError, ValueError, RecursionError):
        return None
    # Half characters, deep nesting, and keys that JSON spells otherwise than Python are left to `plain`.
    is_simple = text.isascii() and text.count("[") + text.count("{") < _DEEPEST
    return text if is_simple and not any(key in text for key in _SPELT_OTHERWISE) else None


def glance(value: Any, limit: int = 160) -> str:
    """Return a value on one line of at most `limit` characters, keys without quotes, as a table shows it.

    Example:
        >>> glance({"category": "BILLING", "lines": [1, 2]})
        '{category: "BILLING", lines: [1, 2]}'
    """
    if isinstance(value, str):
        return one_line(value, limit)
    taken, length = [], 0
    for piece in _pieces(value, limit, 0):
        taken.append(piece)
        length += len(piece)
        if length > limit:
            break
    return one_line("".join(taken), limit)


def glance_json(value: Any, limit: int = 160) -> str:
    """Return a value at a glance, a text in quotes.

    Example:
        >>> glance_json("Oslo"), glance_json(3)
        ('"Oslo"', '3')
    """
    return json.dumps(one_line(value, limit), ensure_ascii=False) if isinstance(value, str) else glance(value, limit)


def _pieces(value: Any, limit: int, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield "{"
        for index, (key, item) in enumerate(value.items()):
            name = readable(_str(key))
            yield ", " if index else ""
            yield f"{name}: " if _IDENTIFIER.match(name) else f"{json.dumps(name, ensure_ascii=False)}: "
            yield from _pieces(item, limit, depth + 1) if depth < _DEEPEST else "…"
        yield "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for index, item in enumerate(value):
            yield ", " if index else ""
            yield from _pieces(item, limit, depth + 1) if depth < _DEEPEST else "…"
        yield "]"
    elif isinstance(value, str):
        yield json.dumps(readable(value[: limit + 1]), ensure_ascii=False)
    else:
        yield json.dumps(plain(value), ensure_ascii=False)


def one_line(text: str, limit: int = 160) -> str:
    r"""Return the beginning of a text on one line, with `…` where it was cut.

    Example:
        >>> one_line("two\n  lines", 20), one_line("abcdef", 4)
        ('two lines', 'abc…')
    """
    start = readable(_BREAKS.sub(" ", text[: 2 * limit]).strip())
    return start if len(start) <= limit and len(text) <= 2 * limit else start[: limit - 1] + "…"
