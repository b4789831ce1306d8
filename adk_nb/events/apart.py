"""Model calls that were made in a session of its own, for a tool that asks an agent: the caller's event tells of them.

The events of such a session are gone with it. What its model calls used is kept with the call's response, so that sums
and tables count it, in any process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from adk_nb.events.event import Event

CALLS_APART = "calls_apart"
"""Key of an event's `custom_metadata` with these calls."""
_INVOCATION, _PATH = "apart_invocation_id", "apart_path"


def call_apart(event: Event, path: str) -> dict[str, Any] | None:
    """Return what an event of another session tells of a model call, as JSON values; `None` when it tells of none.

    Args:
        event: The event.
        path: Of the run that asked for it.
    """
    if event.partial or (event.usage_metadata is None and event.model_version is None):
        return None
    own = event.custom_metadata or {}
    usage = event.usage_metadata
    return {
        "author": event.author,
        "path": path,
        "at": event.timestamp,
        "model": event.model_version,
        "usage": None if usage is None else usage.model_dump(mode="json", exclude_none=True),
        _INVOCATION: own.get(_INVOCATION, event.invocation_id),
        _PATH: own.get(_PATH, event.node_info.path),
    }


def with_calls_apart(events: Iterable[Event]) -> Iterator[Event]:
    """Give events, each followed by one for every model call that it tells of beside itself.

    Example:
        >>> call = {"author": "helper", "path": "bot@1/helper@c1", "at": 1.0, "model": "m", "usage": None}
        >>> told = Event(author="bot", custom_metadata={CALLS_APART: [call]})
        >>> [(event.author, event.node_info.path, event.model_version) for event in with_calls_apart([told])]
        [('bot', '', None), ('helper', 'bot@1/helper@c1', 'm')]
    """
    for event in events:
        yield event
        for call in (event.custom_metadata or {}).get(CALLS_APART) or ():
            yield Event(
                author=call["author"],
                node_path=call["path"],
                invocation_id=event.invocation_id,
                timestamp=call["at"],
                model_version=call["model"],
                usage_metadata=call["usage"],
                custom_metadata={_INVOCATION: call.get(_INVOCATION), _PATH: call.get(_PATH)},
            )


def place_of_call(event: Event) -> tuple[str, str]:
    """Return the invocation and path under which the call that an event tells of was made."""
    own = event.custom_metadata or {}
    return own.get(_INVOCATION) or event.invocation_id, own.get(_PATH) or event.node_info.path
