"""The calculator without scripts: tables and sentences, for previews and notebooks that aren't trusted."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from adk_nb.calculator import (
    Comparison,
    DetailedComparison,
    Phrase,
    detailed_rows,
    detailed_success_phrases,
    detailed_summary,
    detailed_token_phrases,
    format_count,
    format_percent,
    mistake_phrases,
    policy_rows,
    success_phrases,
    summary,
    token_phrases,
)


def static_simple(comparison: Comparison) -> str:
    """Return the simple model's results as HTML: a table and two sentences."""
    rows = (
        ("model calls", f"{comparison.process_length:,}", f"{comparison.judgment_nodes:,}"),
        ("tokens", format_count(comparison.loop_tokens), format_count(comparison.graph_tokens)),
        (
            "intended path",
            format_percent(comparison.loop_success),
            f"{format_percent(comparison.graph_success)} to {format_percent(comparison.graph_success_exact)}",
        ),
    )
    return _box(
        summary(comparison).splitlines()[0],
        _table(("", "agent loop", "graph"), rows),
        *(_paragraph(say(comparison)) for say in (token_phrases, success_phrases)),
        "<p>A picture of the mechanism, not a benchmark: it ignores prompt caching and takes mistakes as "
        "independent.</p>",
    )


def static_detailed(comparison: DetailedComparison, notes: Sequence[str]) -> str:
    """Return the extended model's results as HTML; `notes` tell where its values come from."""
    return _box(
        detailed_summary(comparison).splitlines()[0],
        *(f"<p>{html.escape(note)}</p>" for note in notes),
        _table(("", "agent loop", "graph", "saved"), detailed_rows(comparison)),
        _table(("tokens until it is right; a mistake is", "agent loop", "graph"), policy_rows(comparison)),
        *(_paragraph(say(comparison)) for say in (detailed_token_phrases, detailed_success_phrases, mistake_phrases)),
        "<p>A picture of the mechanism, not a benchmark.</p>",
    )


def _box(head: str, *parts: str) -> str:
    return f'<div class="adknb-calc-static"><p><strong>{html.escape(head)}</strong></p>{"".join(parts)}</div>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    titles = "".join(f"<th>{html.escape(text)}</th>" for text in head)
    body = "".join(
        f"<tr><th>{html.escape(name)}</th>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in rows
    )
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _paragraph(phrases: list[Phrase]) -> str:
    text = "".join(
        f"<strong>{html.escape(phrase.text)}</strong>" if phrase.is_strong else html.escape(phrase.text)
        for phrase in phrases
    )
    return f"<p>{text}</p>"
