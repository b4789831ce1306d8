"""Events, records and model calls as pandas frames; pandas is imported when the first frame is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.lazy import loaded_when_used

if TYPE_CHECKING:
    from adk_nb.frames.calls import calls_frame
    from adk_nb.frames.comparison import compare
    from adk_nb.frames.events import events_frame
    from adk_nb.frames.files import export_jsonl, load_frame, save_frame
    from adk_nb.frames.importing import import_jsonl
    from adk_nb.frames.messages import messages_frame
    from adk_nb.frames.nodes import nodes_frame
    from adk_nb.frames.paging import pages
    from adk_nb.frames.routing import routing_accuracy
    from adk_nb.frames.service_source import read_sessions
    from adk_nb.frames.sessions import runs_frame, sessions_frame
    from adk_nb.frames.state import state_frame
    from adk_nb.frames.timeline import timeline_frame, times
    from adk_nb.frames.usage import usage_frame

_HOMES = {
    "calls_frame": "adk_nb.frames.calls",
    "compare": "adk_nb.frames.comparison",
    "events_frame": "adk_nb.frames.events",
    "export_jsonl": "adk_nb.frames.files",
    "import_jsonl": "adk_nb.frames.importing",
    "load_frame": "adk_nb.frames.files",
    "messages_frame": "adk_nb.frames.messages",
    "nodes_frame": "adk_nb.frames.nodes",
    "pages": "adk_nb.frames.paging",
    "read_sessions": "adk_nb.frames.service_source",
    "routing_accuracy": "adk_nb.frames.routing",
    "runs_frame": "adk_nb.frames.sessions",
    "save_frame": "adk_nb.frames.files",
    "sessions_frame": "adk_nb.frames.sessions",
    "state_frame": "adk_nb.frames.state",
    "timeline_frame": "adk_nb.frames.timeline",
    "times": "adk_nb.frames.timeline",
    "usage_frame": "adk_nb.frames.usage",
}

__all__ = [
    "calls_frame",
    "compare",
    "events_frame",
    "export_jsonl",
    "import_jsonl",
    "load_frame",
    "messages_frame",
    "nodes_frame",
    "pages",
    "read_sessions",
    "routing_accuracy",
    "runs_frame",
    "save_frame",
    "sessions_frame",
    "state_frame",
    "timeline_frame",
    "times",
    "usage_frame",
]

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
