"""The front end's files as every output carries them, and an HTML page to put them into."""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path

_STATIC = Path(__file__).parent / "static"


@functools.cache
def script(*names: str) -> str:
    """Return a module of the front end without comments and indentation.

    Several files become one module, in this order; they import nothing but each other.
    """
    text = "\n".join((_STATIC / f"{name}.js").read_text(encoding="utf-8") for name in names)
    if len(names) > 1:
        text = re.sub(r'^import \{[^}]*\} from "\./[^"]*";$', "", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*/\*.*?\*/\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


@functools.cache
def style_sheet(*names: str) -> str:
    """Return style sheets as one text without comments and spare blanks, in the order of their names."""
    text = "\n".join((_STATIC / f"{name}.css").read_text(encoding="utf-8") for name in names)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", text)).replace(";}", "}").strip()


def page(title: str, inner: str) -> str:
    """Return a whole HTML page around the HTML of an output; it fetches nothing."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
        "<style>:root{color-scheme:light dark;background:light-dark(#eef0f7,#06070a)}"
        "body{max-width:1160px;margin:24px auto;padding:0 12px;font-family:system-ui,sans-serif}</style>\n"
        f"</head>\n<body>\n{inner}\n</body>\n</html>\n"
    )
