"""`Timeline`: where a run's time went, drawn at the end of a cell."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_nb.frames.plain import one_line
from adk_nb.notebook.assets import style_sheet
from adk_nb.notebook.drawing.picture import picture_html

if TYPE_CHECKING:
    import pandas as pd

_ROW, _NAMES, _WIDTH = 20, 180, 720
_LARGEST = 400
"""Node runs that are drawn; the first ones."""
_FILLS = {"work": "#3b82c4", "person": "#d99a2b", "retry": "#b04fa8", "stopped": "#8a8f98", "framework": "#c3c9d1"}
"""Colours where a host strips style sheets."""
_WORDS = {
    "work": "at work",
    "person": "waiting for a person",
    "retry": "waiting to try again",
    "stopped": "stopped",
    "framework": "framework",
}


@dataclass(frozen=True)
class Timeline:
    """Where the time of a run's node runs went; `frame` has a row a stretch, `svg` is the drawing."""

    frame: pd.DataFrame

    @property
    def svg(self) -> str:
        """The drawing, one line a node run, siblings one below the other under the run that started them."""
        rows = [dict(zip(self.frame.columns, row, strict=True)) for row in self.frame.itertuples(index=False)]
        lines = list(dict.fromkeys((row["invocation"], row["path"]) for row in rows))[:_LARGEST]
        places = {line: number for number, line in enumerate(lines)}
        whole = max((row["offset_s"] + row["seconds"] for row in rows), default=0.0) or 1.0
        drawn: list[str] = []
        named: set[Any] = set()
        for row in rows:
            line = row["invocation"], row["path"]
            if line in places:
                drawn += _drawn(row, places[line] * _ROW, whole, is_named=line not in named)
                named.add(line)
        height = len(lines) * _ROW + _ROW
        legend = ", ".join(f"{_WORDS[what]} {seconds:.2f} s" for what, seconds in self._sums().items())
        drawn.append(f'<text x="4" y="{height - 5}">{html.escape(legend)}</text>')
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_NAMES + _WIDTH}" height="{height}" '
            f'viewBox="0 0 {_NAMES + _WIDTH} {height}" font-family="sans-serif" font-size="12" fill="#6b7280" '
            f'class="adknb adknb-times"><style>{style_sheet("theme", "times")}</style>'
            f"<title>{html.escape(legend)}</title>{''.join(drawn)}</svg>"
        )

    def _sums(self) -> dict[str, float]:
        roots: Any = self.frame[self.frame["depth"] == 0]
        sums: dict[str, float] = roots.groupby("what")["seconds"].sum().to_dict()
        return {what: sums[what] for what in _WORDS if what in sums}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": picture_html(self.svg, alt="timeline", text=repr(self)), "text/plain": repr(self)}

    def __repr__(self) -> str:
        said = ", ".join(f"{_WORDS[what]} {seconds:.3f} s" for what, seconds in self._sums().items())
        return f"<Timeline: {said or 'nothing ran'}>"


def _drawn(row: dict[str, Any], top: int, whole: float, *, is_named: bool) -> list[str]:
    """Return one stretch as a bar, with the node's name before the first."""
    name = one_line(str(row["node"]), 24)
    left = 4 + 10 * min(int(row["depth"]), 8)
    said = f"{row['path']}: {_WORDS[row['what']]} {row['seconds']:.3f} s"
    start, width = _NAMES + row["offset_s"] / whole * _WIDTH, max(0.5, row["seconds"] / whole * _WIDTH)
    bar = (
        f'<rect x="{start:.1f}" y="{top + 4}" width="{width:.1f}" height="{_ROW - 8}" class="adknb-{row["what"]}" '
        f'fill="{_FILLS[row["what"]]}">'
        f"<title>{html.escape(said)}</title></rect>"
    )
    return [f'<text x="{left}" y="{top + 14}">{html.escape(name)}</text>', bar] if is_named else [bar]
