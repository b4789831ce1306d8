"""The front end's files as every output carries them, and an HTML page to put them into."""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path

_STATIC = Path(__file__).parent / "static"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)


@functools.cache
def script(*names: str) -> str:
    """Return modules of the front end, with the modules they import put before them, as one module.

    It exports what the named ones export. An output can fetch nothing, so it carries all of its script. What stands at
    the top of a module is known by its name in all of them. Comments and indentation are left out.
    """
    joined: dict[Path, str] = {}

    def join(path: Path) -> None:
        if path in joined:
            return
        text = path.read_text(encoding="utf-8")
        joined[path] = ""  # a module that imports itself through another one is joined once
        for other in _IMPORT.findall(text):
            join(path.with_name(f"{other}.js"))
        del joined[path]
        joined[path] = _IMPORT.sub("", text)

    named = [_STATIC / f"{name}.js" for name in names]
    for path in named:
        join(path)
    parts = [
        text if path in named else re.sub(r"^export ", "", text, flags=re.MULTILINE) for path, text in joined.items()
    ]
    text = re.sub(r"^\s*/\*.*?\*/\s*$", "", "\n".join(parts), flags=re.DOTALL | re.MULTILINE)
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
