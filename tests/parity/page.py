"""Writes `docs/parity.md`: what is compared, what agrees, and where adk_nb differs on purpose.

Run `python -m tests.parity.page` after a change of scenarios or of the table of differences.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Iterator

from tests.parity import written
from tests.parity.differences import KNOWN_BUGS, ON_PURPOSE, Difference
from tests.parity.scenarios import CHAPTERS, Scenario, all_scenarios, title_of

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "parity.md"

_HEAD = """# The same code on google-adk and on adk_nb

This page is written by `python -m tests.parity.page`; a test checks that it is up to date.

Each scenario is code that gets its names from google-adk 2.13 and then from adk_nb: changing one import is all that
happens. google-adk is run as it is. What both did is written down line by line: each event with its author, path,
branch, output, whose output it is, route, message, state, question and error, what was raised, and in the end the
session's state and how much it holds. {counts}
"""


def page() -> str:
    """Return the page's text."""
    return "\n".join([*_lines(), ""])


def _lines() -> Iterator[str]:
    scenarios = all_scenarios()
    differing = {name for difference in (*ON_PURPOSE, *KNOWN_BUGS) for name in difference.seen}
    on_purpose = sum(len(difference.seen) for difference in ON_PURPOSE)
    yield _HEAD.format(
        counts=f"**{len(scenarios)} scenarios: {len(scenarios) - len(differing)} agree, {on_purpose} show one of the "
        f"{len(ON_PURPOSE)} deliberate differences, {_known_bugs(len(differing) - on_purpose)}.**"
    )
    yield "How it is compared:\n"
    yield _rules()
    yield "\n## Chapters\n"
    yield from _table(["chapter", "scenarios", "agree", "differ"], _chapters(scenarios, differing))
    yield "\n## Where adk_nb differs on purpose\n"
    yield from _table(["", "what", "google-adk", "adk_nb", "why"], _rows(ON_PURPOSE))
    if KNOWN_BUGS:
        yield "\n## Known bugs\n"
        yield from _table(["", "what", "google-adk", "adk_nb", "why"], _rows(KNOWN_BUGS))
    yield "\n## The differences, line by line\n"
    yield "Lines with `-` only google-adk gave, lines with `+` only adk_nb.\n"
    for number, difference in enumerate((*ON_PURPOSE, *KNOWN_BUGS), 1):
        yield from _in_full(number, difference)
    yield "\n## The scenarios\n"
    numbers = {
        name: number for number, difference in enumerate((*ON_PURPOSE, *KNOWN_BUGS), 1) for name in difference.seen
    }
    for chapter in CHAPTERS:
        yield f"### {title_of(chapter)}\n"
        for one in scenarios:
            if one.chapter == chapter:
                mark = f" (differs: {numbers[one.name]})" if one.name in numbers else ""
                yield f"- `{one.name}`: {one.rule}{mark}"
        yield ""


def _known_bugs(count: int) -> str:
    return f"{count} show a known bug" if count else "none shows a known bug"


def _rules() -> str:
    """Return the rules of the comparison, which stand where they are applied."""
    doc = written.__doc__ or ""
    return doc[doc.index("\n- ") + 1 :].strip() + (
        "\n- events are compared branch by branch, each in its own order, since lanes race."
    )


def _chapters(scenarios: list[Scenario], differing: set[str]) -> Iterator[list[str]]:
    for chapter in CHAPTERS:
        names = [one.name for one in scenarios if one.chapter == chapter]
        differ = len(differing.intersection(names))
        yield [title_of(chapter), str(len(names)), str(len(names) - differ), str(differ)]


def _rows(differences: Iterable[Difference]) -> Iterator[list[str]]:
    for number, one in enumerate(differences, 1 if differences is ON_PURPOSE else len(ON_PURPOSE) + 1):
        yield [str(number), one.what, one.theirs, one.ours, one.why]


def _table(heads: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _in_full(number: int, difference: Difference) -> Iterator[str]:
    yield f"**{number}. {difference.what}**\n"
    for name, lines in difference.seen.items():
        yield f"`{name}`\n"
        yield "\n".join(["```diff", *lines, "```"]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
