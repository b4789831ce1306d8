"""Values as a page can hold and show them: plain JSON, never endless, no digit of a long number lost."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

from adk_nb.frames.plain import plain
from adk_nb.notebook.drawing.fitting import shorten

RESULT_LIMIT = 60_000
"""Characters of JSON up to which a result is kept whole."""
TEXT_LIMIT = 10_000
"""Characters of a message or an error that a view shows."""


def result_of(value: Any) -> dict[str, Any]:
    """Return a result as a view shows it: `kind` is `text`, `table` or `json`, `is_cut` says that it is only a part.

    Example:
        >>> result_of([{"a": 1}, {"a": 2, "b": 3}])["kind"], result_of("done")
        ('table', {'kind': 'text', 'value': 'done', 'is_cut': False})
    """
    found = plain(value)
    if isinstance(found, dict) and set(found) <= {"parts", "role"} and found.get("parts"):
        texts = [part.get("text") for part in found["parts"] if isinstance(part, dict)]
        if texts and all(isinstance(text, str) for text in texts):
            found = "".join(map(str, texts))
    if isinstance(found, str):
        return {"kind": "text", "value": found[:RESULT_LIMIT], "is_cut": len(found) > RESULT_LIMIT}
    text = json.dumps(found, ensure_ascii=False, indent=1)
    if len(text) > RESULT_LIMIT:
        return {"kind": "text", "value": text[:RESULT_LIMIT], "is_cut": True}
    found = _whole_numbers_kept(found)
    is_table = isinstance(found, list) and len(found) > 0 and all(isinstance(one, dict) and one for one in found)
    return {"kind": "table" if is_table else "json", "value": found, "is_cut": False}


def for_page(value: Any) -> Any:
    """Return a value as a page shows it beside a question: plain, of what is very large in it the beginning.

    Example:
        >>> for_page({"id": 2**60, "n": 1}), for_page(list(range(10**5)))[-1]
        ({'id': '1152921504606846976', 'n': 1}, '… (100,000 items)')
    """
    found = plain(value)
    if isinstance(found, str):
        return found if len(found) <= RESULT_LIMIT else shorten(found, TEXT_LIMIT)
    return _whole_numbers_kept(bounded(found, RESULT_LIMIT))


def bounded(value: Any, limit: int) -> Any:
    """Return plain JSON of at most `limit` characters: of long texts and lists the beginning, with the length told.

    Example:
        >>> bounded(["x" * 5000, 1], 4000)[0][-24:], len(bounded(list(range(10**5)), 4000))
        ('xxxx… (5,000 characters)', 201)
    """
    found = value
    for length in (10_000, 2_000, 200, 40, 10):
        text = json.dumps(found, ensure_ascii=False)
        if len(text) <= limit:
            return found
        found = _shortened(value, length)
    text = json.dumps(found, ensure_ascii=False)
    return found if len(text) <= limit else shorten(text, min(limit, TEXT_LIMIT))


def _shortened(value: Any, length: int) -> Any:
    if isinstance(value, str):
        return shorten(value, length)
    if isinstance(value, dict):
        kept = {shorten(key, length): _shortened(item, length) for key, item in islice(value.items(), length)}
        return kept if len(value) <= length else {**kept, "…": f"({len(value):,} keys)"}
    if isinstance(value, list):
        some = [_shortened(item, length) for item in value[:length]]
        return some if len(value) <= length else [*some, f"… ({len(value):,} items)"]
    return value


def _whole_numbers_kept(value: Any) -> Any:
    """Write whole numbers out that a browser would round."""
    if type(value) is int:
        return value if -(2**53) < value < 2**53 else str(value)
    if isinstance(value, dict):
        return {key: _whole_numbers_kept(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_numbers_kept(item) for item in value]
    return value
