"""The front end's files as every output carries them, and an HTML page to put them into."""

from __future__ import annotations

import base64
import functools
import html
import json
import re
import zlib
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


def packed(text: str) -> str:
    """Return a text as one that is safe anywhere in a page and a third as long: compressed, in base64."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 6)).decode("ascii")


def script_element(name: str, call: str) -> str:
    """Return an HTML element that runs a module of the front end and then a call of what it exports.

    The module is packed, as every output of a notebook carries it. It runs as a module of its own, as the text would.
    """
    return f'<script type="module">{_UNPACK % (_packed_script(name), _quoted(call))}</script>'


@functools.cache
def packed_module(name: str) -> str:
    """Return a module of the front end as one that unpacks it when it is loaded, and exports its default."""
    return _UNPACK_MODULE % _packed_script(name)


@functools.cache
def _packed_script(name: str) -> str:
    return packed(script(name))


_UNPACK_MODULE = """const bytes = Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
const text = await new Response(stream).text();
const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const made = await import(url);
URL.revokeObjectURL(url);
export default made.default;"""
_UNPACK = """const bytes = Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
const element = document.createElement("script");
element.type = "module";
element.textContent = (await new Response(stream).text()) + "\\n" + %s;
document.head.append(element);
element.remove();"""


def _quoted(code: str) -> str:
    # `</script>` and `<!--` would end or open something inside a script element, whatever they stand in.
    return json.dumps(code).replace("<", "\\u003c")


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
