"""Text that fits: what a person wrote made harmless to show, measured and cut to a width, without any font at hand."""

from __future__ import annotations

import unicodedata

# Advance widths of the printable ASCII characters in fiftieths of the font size, one character each, counted from "0".
# They are those of a wide font, so that text drawn in a narrower one leaves air instead of running over its box.
_REGULAR = "@DGZP`W>DDIZ@B@APPPPPPPPPPAAZZZKbRRSWPMWV??QL[UWNWSPOURaRORDADZIIOPKPOBPP>>M>aPOPPEJDPNYNNJPAPZ"
_BOLD = "AGJZSb\\?GGJZCECBSSSSSSSSSSDDZZZMbWVUZRRYZCCWPbZ[U[WTRYWgWTTGBGZIIRTNTRFTTAAQAdTRTTINHTQ^PQMTBTZ"

_MARKS_IN_A_ROW = 3
_JOINERS = frozenset("\u200c\u200d")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_MARKS = frozenset({"Mn", "Me"})


def visible(text: str) -> str:
    r"""Turn any text into one line that shows all of itself and steers nothing.

    Characters that act instead of showing (control, direction, unassigned, half a surrogate pair) become their escapes,
    runs of white space one space, and piles of accents are cut to three.

    Example:
        >>> visible("a\tb\n c"), visible("pay\u202e\x1b[2J")
        ('a b c', 'pay\\u202e\\x1b[2J')
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    shown: list[str] = []
    marks = 0
    for char in text:
        category = unicodedata.category(char)
        marks = marks + 1 if category in _MARKS else 0
        if char.isspace() and char not in "\x1c\x1d\x1e\x1f":
            shown.append(" ")
        elif category in _HIDDEN and char not in _JOINERS:
            shown.append(char.encode("unicode_escape", "surrogatepass").decode("ascii"))
        elif marks <= _MARKS_IN_A_ROW:
            shown.append(char)
    return " ".join("".join(shown).split())


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Say how wide a line is drawn at most, in pixels, for the fonts that our style sheets name.

    Example:
        >>> 60 < text_width("classifier", 13, bold=True) < 80
        True
    """
    table = _BOLD if bold else _REGULAR
    return size / 50 * sum(_fiftieths(char, table) for char in text)


def fit(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Cut a line to a width in pixels; a cut line ends in an ellipsis.

    Example:
        >>> fit("approve", 200, 13), fit("a_very_long_name_of_a_node", 80, 13)
        ('approve', 'a_very_lo…')
    """
    table = _BOLD if bold else _REGULAR
    room = width * 50 / size
    mark = _fiftieths("…", table)
    used = 0.0
    kept = 0
    for count, char in enumerate(text, 1):
        used += _fiftieths(char, table)
        if used > room:
            return text[:kept].rstrip() + "…"
        if used + mark <= room:
            kept = count
    return text


def fit_parts(text: str, width: float, size: float) -> str:
    """Cut a line of parts between dots to a width: a part is left out whole, because a cut number is a wrong one.

    Example:
        >>> fit_parts("15 ms · 1,664 tok", 60, 11), fit_parts("15 ms · 1,664 tok", 200, 11), fit_parts("Error", 20, 11)
        ('15 ms', '15 ms · 1,664 tok', 'E…')
    """
    while " · " in text and text_width(text, size) > width:
        text = text.rpartition(" · ")[0]
    return fit(text, width, size)


def shorten(text: str, length: int) -> str:
    """Cut a long text to a number of characters, and say how long it was.

    Example:
        >>> shorten("x" * 5000, 10)
        'xxxxxxxxxx… (5,000 characters)'
    """
    return text if len(text) <= length else f"{text[:length].rstrip()}… ({len(text):,} characters)"


def _fiftieths(char: str, table: str) -> float:
    code = ord(char)
    if 32 <= code < 127:
        return ord(table[code - 32]) - 48
    if unicodedata.category(char) in _MARKS or char in _JOINERS:
        return 0
    if unicodedata.east_asian_width(char) in "WF" or code >= 0x1F000:
        return 66
    return 44 if char.islower() else 52
