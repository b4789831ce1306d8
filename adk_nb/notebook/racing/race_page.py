"""A race as HTML and as text: what both designs come to, then case by case. Everything said in it is text."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from adk_nb.calculator.measured import fit_sentences
from adk_nb.errors import ConfigurationError
from adk_nb.notebook.assets import style_sheet
from adk_nb.notebook.drawing.fitting import visible
from adk_nb.notebook.racing.results import SAVED, SHARES, Estimate, RaceRow, estimates
from adk_nb.notebook.view.node_tally import duration

if TYPE_CHECKING:
    from adk_nb.notebook.racing.race import Race

ROWS_SHOWN = 200
_WORDS = {
    "tokens": "tokens a run",
    "calls": "model calls a run",
    "seconds": "time a run",
    "money": "US dollars a run",
    "right_path": "right path",
    "right_answer": "right answer",
}


def race_html(race: Race, theme: str = "") -> str:
    """Return a race as an HTML fragment that needs no script."""
    found = estimates(race.rows)
    forced = f' data-adknb-theme="{html.escape(theme)}"' if theme else ""
    done = len(race.rows)
    bar = f'<progress value="{done}" max="{race.total}" aria-label="{done} of {race.total} runs"></progress>'
    head = (
        f'<div class="adknb-race-head"><b>Agent loop against graph</b><span class="adknb-race-{_e(race.status)}">'
        f"{_e(race.status)}</span>{bar if race.status == 'running' else ''}"
        f"<span>{_count(done, race.total)}</span></div>"
    )
    measures = "".join(_measure(name, by_design) for name, by_design in found.items() if any(by_design.values()))
    table = (
        '<table class="adknb-race-sums"><thead><tr><th></th><th scope="col">agent loop</th><th scope="col">graph</th>'
        f'<th scope="col">saved</th></tr></thead><tbody>{measures}</tbody></table>'
    )
    note = "95 % intervals: of means by bootstrap, of shares Wilson's. Both designs share one process, so times mix."
    return (
        f"<style>{style_sheet('theme', 'race')}</style>"
        f'<div class="adknb adknb-race mathjax_ignore"{forced}>{head}{table if measures else ""}'
        f'<p class="adknb-race-note">{note if measures else "Nothing has ended yet."}</p>'
        f"{_fitted(race)}{_cases(race)}</div>"
    )


def _fitted(race: Race) -> str:
    """What the calculator's formula makes of the runs, beside what was measured, once the race is over."""
    if race.status == "running":
        return ""
    try:
        said = fit_sentences(race.fit())
    except ConfigurationError:  # nothing to fit: no call went well, or nobody counted tokens
        return ""
    return f'<p class="adknb-race-note"><b>Calculator</b> {_e(" ".join(said))}</p>'


def _count(done: int, total: int) -> str:
    return f"{done:,} of {total:,} runs"


def _measure(name: str, by_design: dict[str, Estimate | None]) -> str:
    loop, graph = by_design["loop"], by_design["graph"]
    largest = max((one.value for one in (loop, graph) if one is not None), default=0.0)
    most = 1.0 if name in SHARES else largest
    cells = "".join(f"<td>{_estimate(name, one, design, most)}</td>" for design, one in by_design.items())
    saved = ""
    if loop is not None and graph is not None and loop.value and name in SAVED:
        saved = f"{100 * (1 - graph.value / loop.value):.0f} %"
    return f'<tr><th scope="row">{_WORDS[name]}</th>{cells}<td>{saved}</td></tr>'


def _estimate(name: str, one: Estimate | None, design: str, most: float) -> str:
    if one is None:
        return '<span class="adknb-race-soft">unknown</span>'
    width = 0 if not most else round(100 * one.value / most)
    low, high = _value(name, one.low), _value(name, one.high)
    interval = "" if low == high else f'<span class="adknb-race-soft">{low} to {high}</span>'
    return (
        f'<span class="adknb-race-bar adknb-race-{design}" style="width:{width}%"></span>'
        f"<b>{_value(name, one.value)}</b> {interval}"
    )


def _value(name: str, value: float) -> str:
    if name.startswith("right"):
        return f"{100 * value:.0f} %" if value in (0.0, 1.0) else f"{min(max(100 * value, 0.1), 99.9):.1f} %"
    if name == "money":
        return f"${value:.6f}".rstrip("0").rstrip(".")
    if name == "seconds":
        return duration(value)
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}".removesuffix(".0")


def _cases(race: Race) -> str:
    by_case: dict[tuple[int, int], dict[str, RaceRow]] = {}
    for row in race.rows:
        by_case.setdefault((row.round, row.case), {})[row.design] = row
    lines = []
    for (turn, number), rows in list(by_case.items())[-ROWS_SHOWN:]:
        again = f" · {turn}" if turn > 1 else ""
        said = next(iter(rows.values())).message
        cells = "".join(_run(rows.get(design)) for design in ("loop", "graph"))
        lines.append(f'<tr><td>{number}{again}</td><td class="adknb-race-said">{_e(said)}</td>{cells}</tr>')
    if not lines:
        return ""
    hidden = len(by_case) - len(lines)
    more = f'<p class="adknb-race-note">The last {ROWS_SHOWN} of {len(by_case):,} cases.</p>' if hidden else ""
    return (
        '<div class="adknb-race-scroll" tabindex="0" role="group" aria-label="Cases"><table class="adknb-race-cases">'
        '<thead><tr><th></th><th scope="col">case</th><th scope="col">agent loop</th><th scope="col">graph</th></tr>'
        f"</thead><tbody>{''.join(lines)}</tbody></table></div>{more}"
    )


def _run(row: RaceRow | None) -> str:
    if row is None:
        return '<td class="adknb-race-soft">…</td>'
    if row.error is not None:
        return f'<td class="adknb-race-bad" title="{_e(row.path)}">✗ {_e(row.error)}</td>'
    marks = " ".join(
        f'<span class="adknb-race-{"good" if is_right else "bad"}">{"✓" if is_right else "✗"} {word}</span>'
        for word, is_right in (("path", row.right_path), ("answer", row.right_answer))
        if is_right is not None
    )
    calls = "1 call" if row.calls == 1 else f"{row.calls:,} calls"
    return f'<td title="{_e(row.path)}">{row.tokens:,} tokens · {calls} · {duration(row.seconds)} {marks}</td>'


def race_text(race: Race) -> str:
    """Return a race as plain text."""
    lines = [f"Agent loop against graph: {race.status}, {_count(len(race.rows), race.total)}"]
    for name, by_design in estimates(race.rows).items():
        if any(by_design.values()):
            told = [
                f"{design} unknown"
                if one is None
                else f"{design} {_value(name, one.value)} ({_value(name, one.low)} to {_value(name, one.high)})"
                for design, one in by_design.items()
            ]
            lines.append(f"  {_WORDS[name]}: {', '.join(told)}")
    failed = [row for row in race.rows if row.error is not None]
    lines += [f"  case {row.case}, {row.design}: {row.error}" for row in failed[:10]]
    return visible("\n".join(lines)) if failed else "\n".join(lines)


def _e(text: Any) -> str:
    return html.escape(visible(str(text)))
