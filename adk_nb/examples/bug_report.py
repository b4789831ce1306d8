"""Draft a bug report out of a customer's own sentences."""

from __future__ import annotations

import re

from adk_nb.examples.reader import NaiveBayesReader, sentences

_STEPS = re.compile(
    r"\b(when(ever)?|as soon as|after|every time|steps?|click\w*|press\w*|tap\w*|typ(e|ing)|drag\w*|choos\w*|select\w*|"
    r"open\w*|upload\w*|import\w*|switch\w*)\b|^\d+[.)]",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"(?<!,)(?<!\band)\s+(when(ever)?|as soon as|(every|each) time)\b", re.IGNORECASE)
_EXPECTED = re.compile(
    r"\b(expect\w*|should|supposed|used to|worked|was working|is fine|it's ok|instead of)\b", re.IGNORECASE
)
_ENVIRONMENT = re.compile(
    r"\b(iPhone|iPad|iOS|Android|Pixel|Galaxy|Samsung|Fairphone|Xiaomi|Windows|macOS|MacBook|Mac|Linux|Ubuntu|Chrome|"
    r"Firefox|Safari|Edge|NVDA|VoiceOver|(?:app )?v(?:ersion)?\.?)(?: ?[A-Z]?\d\w*(?:\.\w+)*)?",
    re.IGNORECASE,
)
_NOT_STATED = "not stated"


def draft_bug_report(text: str, reader: NaiveBayesReader) -> str:
    """Return a bug report of five lines, filled with the customer's own words; what isn't in them is "not stated".

    The lines are `Title`, `Steps`, `Expected`, `Actual` and `Environment`, each a quotation on one line. Nothing is
    made up, and what the text asks for is not done: it is only quoted. "It closes when I open an album" tells two
    things: what happens, and when.

    Args:
        text: A ticket, or its summary.
        reader: A fitted reader; its summary is the title, its most telling sentence is what goes wrong.

    Example:
        >>> from adk_nb.examples import load_tickets
        >>> reader = NaiveBayesReader().fit(load_tickets("train"))
        >>> print(draft_bug_report("When I press Save the caption disappears. It should stay. Firefox 126.", reader))
        Title: When I press Save the caption disappears.
        Steps: When I press Save the caption disappears.
        Expected: It should stay.
        Actual: When I press Save the caption disappears.
        Environment: Firefox 126
    """
    parts = sentences(text)
    expected = [part for part in parts if _EXPECTED.search(part)]
    steps = [part for part in parts if _STEPS.search(part) and part not in expected]
    observed = [part for part in parts if part not in expected] or parts
    actual = max(observed, key=lambda part: reader.weight(part, "BUG"), default="")
    named = [match.group().strip() for match in _ENVIRONMENT.finditer(text) if _says_something(match.group())]
    lines = {
        "Title": reader.summary(text, label="BUG"),
        "Steps": " ".join(_condition(step) for step in steps),
        "Expected": " ".join(expected),
        "Actual": _CONDITION.split(actual, maxsplit=1)[0],
        "Environment": ", ".join(dict.fromkeys(named)),
    }
    return "\n".join(f"{name}: {line or _NOT_STATED}" for name, line in lines.items())


def _condition(sentence: str) -> str:
    """The part of a sentence from its "when" on; the whole sentence where it has none, or begins with it."""
    found = _CONDITION.search(sentence)
    return sentence[found.start() :].lstrip() if found else sentence


def _says_something(name: str) -> bool:
    """A bare "version" or "v" names nothing."""
    return not re.fullmatch(r"(app )?v(ersion)?\.?", name.strip(), re.IGNORECASE)
