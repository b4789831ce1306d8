"""A store that keeps records of node runs, made of any store."""

from __future__ import annotations

import functools
from typing import Any

from adk_nb.sessions.event_sessions import EventSessions
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.ports import KeepsRuns
from adk_nb.workflow.replay import changes


def with_records(service: Any, root: BaseNode) -> Any:
    """Return a session service that keeps records: the given one, or one that keeps them in the events of it.

    Args:
        service: Any session service, also one that offers only ADK's interface.
        root: The root that runs in its sessions; its graph helps to understand events of google-adk.
    """
    if isinstance(service, KeepsRuns):
        return service
    return EventSessions(service, functools.partial(changes, root=root))
