"""Values as HTML that is read without scripts: the same tables, rows and trees that a live view makes of them."""

from __future__ import annotations

import html
import json
import re
from typing import Any

_ACTING = re.compile("[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""Characters that act instead of showing: they stand as their escapes, as in the live view."""
_LEFT = ' style="text-align:left"'
_RIGHT = ' style="text-align:right"'
_ROWS = 100
_COLUMNS = 30
_FLAT = 56
_OPEN = 1
"""Levels of a tree that are open at first."""


def escaped(text: Any) -> str:
    r"""Return any text as HTML that shows all of it and does nothing.

    Example:
        >>> escaped("<b>\u202eabc")
        '&lt;b&gt;\\u202eabc'
    """
    return html.escape(_ACTING.sub(_escape_of, str(text)))


def value_html(value: Any, depth: int = 0) -> str:
    """Return a plain value as HTML: a text as text, like things as a table, a dictionary as rows, else a tree.

    Example:
        >>> value_html({"id": 7})
        '<table><tr><th style="text-align:left">id</th><td style="text-align:left"><code>7</code></td></tr></table>'
    """
    if isinstance(value, str):
        return f'<pre style="white-space:pre-wrap">{escaped(value)}</pre>'
    rows = _table_rows(value)
    if rows:
        return _table(rows, value[len(rows) :])
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value:
        return f"<code>{escaped(flat)}</code>"
    if isinstance(value, dict) and depth == 0:
        body = [
            f"<tr><th{_LEFT}>{escaped(name)}</th><td{_LEFT}>{_inner(item)}</td></tr>"
            for name, item in list(value.items())[:_ROWS]
        ]
        return f"<table>{''.join(body)}</table>{_more(len(value), 'rows')}"
    return f"<code>{escaped(flat)}</code>" if len(flat) <= _FLAT else f"<ul>{_branches(value, depth)}</ul>"


def _inner(value: Any) -> str:
    return escaped(value) if isinstance(value, str) and "\n" not in value else value_html(value, 1)


def _branches(value: dict[str, Any] | list[Any], depth: int) -> str:
    named = list(value.items() if isinstance(value, dict) else enumerate(value))
    parts = [_branch(name, item, depth) for name, item in named[:_ROWS]]
    return f"{''.join(parts)}{_more(len(named), 'items')}"


def _branch(name: Any, value: Any, depth: int) -> str:
    label = f"<b>{escaped(name)}</b>"
    if not isinstance(value, (dict, list)) or not value:
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return f"<li>{label} {escaped(shown)}</li>"
    size = f"{{{len(value)}}}" if isinstance(value, dict) else f"[{len(value)}]"
    is_open = " open" if depth <= _OPEN else ""
    return (
        f"<li><details{is_open}><summary>{label} {size}</summary><ul>{_branches(value, depth + 1)}</ul></details></li>"
    )


def _table_rows(value: Any) -> list[dict[str, Any]]:
    """Return the rows of a list of dictionaries with nothing below their values, `[]` of all else."""
    if not isinstance(value, list) or not value:
        return []
    last = value[-1]
    rows = value[:-1] if isinstance(last, str) and last.startswith("… (") else value
    is_table = all(
        isinstance(row, dict) and row and not any(isinstance(item, (dict, list)) for item in row.values())
        for row in rows
    )
    return rows if is_table else []


def _table(rows: list[dict[str, Any]], rest: list[Any]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = names[:_COLUMNS]
    sides = [_RIGHT if _is_numeric([row.get(name) for row in rows]) else _LEFT for name in shown]
    head = "".join(f"<th{side}>{escaped(name)}</th>" for name, side in zip(shown, sides, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{side}>{_cell(row, name)}</td>" for name, side in zip(shown, sides, strict=True))
        + "</tr>"
        for row in rows[:_ROWS]
    )
    notes = [*map(escaped, rest), *([f"{_COLUMNS} of {len(names)} columns"] if len(names) > _COLUMNS else [])]
    told = f"<p>{' · '.join(notes)}</p>" if notes else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div style="overflow:auto">{table}</div>{_more(len(rows), "rows")}{told}'


def _is_numeric(values: list[Any]) -> bool:
    kinds = {type(value) for value in values} - {type(None)}
    return bool(kinds) and kinds <= {int, float}


def _cell(row: dict[str, Any], name: str) -> str:
    if name not in row:
        return ""
    value = row[name]
    return escaped(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _more(count: int, what: str) -> str:
    return f"<p>{_ROWS} of {count:,} {what}</p>" if count > _ROWS else ""


def _escape_of(found: re.Match[str]) -> str:
    return "" if found[0] == "\r" else f"\\u{ord(found[0]):04x}"
