"""The formats of texts, checked here: jsonschema checks several only where optional packages are installed."""

from __future__ import annotations

import datetime as dt
import ipaddress
import re
import uuid
from collections.abc import Callable
from typing import Any

from pydantic import AnyUrl, TypeAdapter

_DATE = r"\d{4}-\d\d-\d\d"
_TIME = r"\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?"
_EXAMPLES = {
    "date": "2026-01-31",
    "time": "14:30:00",
    "date-time": "2026-01-31T14:30:00Z",
    "duration": "P1DT12H",
    "email": "ada@example.org",
    "uri": "https://example.org",
}


def example_of(name: str) -> str | None:
    """Return a text in a format, `None` when no example helps."""
    return _EXAMPLES.get(name)


def fits(name: str, value: Any) -> bool:
    """Say whether a value has one of the `FORMATS`; a format is about texts, so that any other value has it.

    Example:
        >>> fits("date", "2026-01-31"), fits("date", "31.1.2026"), fits("date", 5)
        (True, False, True)
    """
    if not isinstance(value, str):
        return True
    try:
        return _CHECKS[name](value) is not False
    except (ValueError, re.error):
        return False


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text, re.ASCII) is not None


def _is_date(text: str) -> bool:
    return _matches(_DATE, text) and bool(dt.date.fromisoformat(text))


def _is_time(text: str) -> bool:
    dt.time.fromisoformat(text)
    return _matches(_TIME, text)


def _is_date_time(text: str) -> bool:
    dt.datetime.fromisoformat(text.upper())
    return _matches(f"{_DATE}[Tt ]{_TIME}", text)


def _is_duration(text: str) -> bool:
    TypeAdapter(dt.timedelta).validate_python(text)
    return _matches(r"[+-]?P.+", text)


def _is_email(text: str) -> bool:
    return _matches(r"[^@\s]{1,64}@[^@\s]{1,255}", text)


_CHECKS: dict[str, Callable[[str], Any]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_date_time,
    "duration": _is_duration,
    "email": _is_email,
    "uri": TypeAdapter(AnyUrl).validate_python,
    "uuid": uuid.UUID,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "regex": re.compile,
}

FORMATS = frozenset(_CHECKS)
"""The names of the formats that are checked; any other is a remark."""
