"""Events, records and model calls as pandas frames; pandas is imported when the first frame is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.lazy import loaded_when_used

if TYPE_CHECKING:
    from adk_nb.frames.calls import calls_frame
    from adk_nb.frames.events import events_frame
    from adk_nb.frames.nodes import nodes_frame
    from adk_nb.frames.service_source import read_sessions
    from adk_nb.frames.timeline import timeline_frame, times
    from adk_nb.frames.usage import usage_frame

_HOMES = {
    "calls_frame": "adk_nb.frames.calls",
    "events_frame": "adk_nb.frames.events",
    "nodes_frame": "adk_nb.frames.nodes",
    "read_sessions": "adk_nb.frames.service_source",
    "timeline_frame": "adk_nb.frames.timeline",
    "times": "adk_nb.frames.timeline",
    "usage_frame": "adk_nb.frames.usage",
}

__all__ = [
    "calls_frame",
    "events_frame",
    "nodes_frame",
    "read_sessions",
    "timeline_frame",
    "times",
    "usage_frame",
]

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
