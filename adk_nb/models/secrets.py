"""Blots out API keys in what is shown or written to a file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

HIDDEN = "<hidden>"
"""What stands where a secret stood."""

# The forms in which Google, OpenAI, Anthropic, GitHub, AWS and bearer headers write their keys.
_SHAPES = re.compile(
    r"AIza[\w-]{30,}|\bsk-[A-Za-z0-9][\w-]{18,}|\bgh[pousr]_\w{30,}|\bAKIA[0-9A-Z]{16}\b|\bya29\.[\w-]{20,}"
    r"|(?<=[Bb]earer )[\w.~+/-]{16,}=*"
)
_VARIABLE = re.compile(r"(API_?KEY|ACCESS_KEY|AUTH_TOKEN|API_TOKEN|SECRET)", re.IGNORECASE)
_SHORTEST = 8


def without_secrets(value: Any) -> Any:
    """Return JSON values with every API key in their texts replaced by `<hidden>`.

    A key is what has a well-known provider's form, or is the value of an environment variable named like one.

    Example:
        >>> without_secrets({"said": ["my key is sk-abcdefghijklmnopqrstuvwx, keep it"]})
        {'said': ['my key is <hidden>, keep it']}
    """
    return _blotted(value, _known())


def hiding_secrets() -> Callable[[Any], Any]:
    """Return `without_secrets` for many values in a row: the environment is looked through once."""
    known = _known()
    return lambda value: _blotted(value, known)


def _known() -> re.Pattern[str] | None:
    values = {value for name, value in os.environ.items() if _VARIABLE.search(name) and len(value.strip()) >= _SHORTEST}
    if not values:
        return None
    return re.compile("|".join(re.escape(value) for value in sorted(values, key=len, reverse=True)))


def _blotted(value: Any, known: re.Pattern[str] | None) -> Any:
    if isinstance(value, str):
        if known is not None:
            value = known.sub(HIDDEN, value)
        return _SHAPES.sub(HIDDEN, value)
    if isinstance(value, dict):
        return {_blotted(key, known): _blotted(inner, known) for key, inner in value.items()}
    if isinstance(value, list):
        return [_blotted(inner, known) for inner in value]
    return value
