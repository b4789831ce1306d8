"""Events and records as pandas frames; pandas is imported when the first frame is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adk_nb.frames.events import events_frame
    from adk_nb.frames.nodes import nodes_frame

_HOMES = {"events_frame": "adk_nb.frames.events", "nodes_frame": "adk_nb.frames.nodes"}

__all__ = ["events_frame", "nodes_frame"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
