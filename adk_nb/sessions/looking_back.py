"""What a store tells those who look back: which sessions there are, which runs they hold, and how much each said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from adk_nb.events.apart import CALLS_APART
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun


class FoundSession(NamedTuple):
    """One stored session, named."""

    app_name: str
    user_id: str
    id: str
    last_update_time: float


class Said(NamedTuple):
    """Some events of one invocation that are alike."""

    invocation_id: str
    usage: Any
    """What a model call behind each of them used: ADK's usage metadata, or the same as a dictionary; often `None`."""
    events: int
    """How many there are; 0 stands for one call that was made apart, which an event tells of beside itself."""


@runtime_checkable
class FindsSessions(Protocol):
    """A session service that finds sessions whatever their app and user."""

    async def find_sessions(
        self, *, app_name: str | None = None, user_id: str | None = None, session_id: str | None = None
    ) -> list[FoundSession]:
        """Return the sessions with these names, `None` for any, without reading what is in them; in no order."""


@runtime_checkable
class TellsRuns(Protocol):
    """The log of a session that tells of all runs in it."""

    async def root_runs(self) -> list[NodeRun]:
        """Return the root record of every invocation, in the order of their first append."""

    async def all_runs(self, invocation_id: str) -> list[NodeRun]:
        """Return all records of an invocation, in the order of their first append."""

    async def said(self) -> list[Said]:
        """Return how many events each invocation has and what its model calls used, without reading the events."""


def said_in(events: Iterable[Event]) -> list[Said]:
    """Return what `TellsRuns.said` does, from events that are at hand.

    Example:
        >>> said_in([Event(invocation_id="e"), Event(invocation_id="e")])
        [Said(invocation_id='e', usage=None, events=2)]
    """
    counts: dict[str, int] = {}
    with_usage = []
    for event in events:
        for call in (event.custom_metadata or {}).get(CALLS_APART) or ():
            with_usage.append(Said(event.invocation_id, call["usage"] or {}, 0))
        if event.usage_metadata is not None:
            with_usage.append(Said(event.invocation_id, event.usage_metadata, 1))
        else:
            counts[event.invocation_id] = counts.get(event.invocation_id, 0) + 1
    return [*(Said(name, None, count) for name, count in counts.items()), *with_usage]
