"""`RunGraph`: a run's graph at the end of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RunGraph:
    """A run's graph with where it stands, drawn at the end of a cell."""

    svg: str
    outline: str
    """The graph as text where it can't be drawn."""
    text: str

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        if not self.svg:
            return {"text/plain": self.outline}
        return {
            "text/html": f'<div class="mathjax_ignore" style="overflow-x:auto">{self.svg}</div>',
            "text/plain": self.text,
        }

    def __repr__(self) -> str:
        return self.text
