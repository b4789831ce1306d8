"""A store that keeps records of node runs, made of any store."""

from __future__ import annotations

import functools
from typing import Any

from adk_nb.sessions.event_sessions import EventSessions
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.ports import KeepsRuns
from adk_nb.workflow.replay import changes


def with_records(service: Any, root: BaseNode | None) -> Any:
    """Return a session service that keeps records: the given one, or one that keeps them in the events of it.

    Args:
        service: Any session service, also one that offers only ADK's interface.
        root: The root that runs in its sessions; its graph helps to understand events of google-adk.
    """
    return service if isinstance(service, KeepsRuns) else records_in_events(service, root)


def records_in_events(service: Any, root: BaseNode | None) -> EventSessions:
    """Return a session service that keeps records in the events of the given one, whatever that one can do.

    Args:
        service: Any session service.
        root: As in `with_records`; `None` reads what stands in the events.
    """
    return EventSessions(service, functools.partial(changes, root=root))
