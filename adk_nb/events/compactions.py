"""Summaries in place of older events: which events a summary stands for, and how a history reads with it.

An event with `actions.compaction` stands for the events before it on its own lane and in its own scope whose times lie
in the summary's span. Nothing is taken out of the store: who needs the events themselves still finds them.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from google.genai import types

from adk_nb.events.event import Event
from adk_nb.events.event_actions import EventCompaction

Lane = tuple[str | None, str | None]
"""Branch and isolation scope of an event."""


def lane_of(event: Event) -> Lane:
    """Return where an event stands: a summary stands for events of its own lane only."""
    return event.branch, event.isolation_scope


def compaction_of(event: Event) -> EventCompaction | None:
    """Return the summary that an event holds, `None` for any other event."""
    return event.actions.compaction


def with_summaries(events: list[Event], agent: str) -> list[Event]:
    """Return a history as an agent reads it: each summary, as a word of its own, in place of what it stands for.

    A summary that a later one covers is left out. Without summaries the list itself is returned.

    Args:
        events: What wasn't taken back, oldest first.
        agent: Name of the agent that reads.

    Example:
        >>> said = [Event(author="user", timestamp=at, message=f"m{at:.0f}") for at in (1.0, 2.0, 3.0)]
        >>> summary = types.Content(role="model", parts=[types.Part(text="m1 and m2")])
        >>> span = EventCompaction(start_timestamp=1.0, end_timestamp=2.0, compacted_content=summary)
        >>> told = Event(author="user", timestamp=4.0, actions={"compaction": span})
        >>> [event.content.parts[0].text for event in with_summaries([*said, told], "bot")]
        ['m1 and m2', 'm3']
    """
    summaries = _in_force(events)
    if not summaries:
        return events
    spans: dict[Lane, list[_Span]] = {}
    for one in summaries:
        spans.setdefault(lane_of(one.event), []).append(one)
    for found in spans.values():
        found.sort(key=lambda one: one.start)
    starts = {lane: [one.start for one in found] for lane, found in spans.items()}
    untold = sorted(summaries, key=lambda one: one.end, reverse=True)
    seen: list[Event] = []
    for index, event in enumerate(events):
        if compaction_of(event) is not None:
            while untold and untold[-1].index <= index:
                seen.append(untold.pop().word(agent))
            continue
        lane = lane_of(event)
        if lane in spans and _covers(spans[lane], starts[lane], index, event.timestamp):
            continue
        while untold and untold[-1].end < event.timestamp:
            seen.append(untold.pop().word(agent))
        seen.append(event)
    seen.extend(one.word(agent) for one in reversed(untold))
    return seen


class _Span:
    """A summary with its place in the history."""

    __slots__ = ("content", "end", "event", "index", "start")

    def __init__(self, index: int, event: Event, compaction: EventCompaction) -> None:
        self.index = index
        self.event = event
        self.start = compaction.start_timestamp
        self.end = compaction.end_timestamp
        self.content: types.Content = compaction.compacted_content

    def word(self, agent: str) -> Event:
        """Return the summary as something that an agent said."""
        event = self.event
        return Event(
            author=agent,
            invocation_id=event.invocation_id,
            branch=event.branch,
            isolation_scope=event.isolation_scope,
            timestamp=self.end,
            content=types.Content(role="model", parts=self.content.parts),
        )


def _in_force(events: Sequence[Event]) -> list[_Span]:
    """Return the summaries that no later one covers, so that on each lane who begins later also ends later."""
    found: dict[Lane, list[_Span]] = {}
    for index, event in enumerate(events):
        compaction = compaction_of(event)
        if compaction is not None:
            new, lane = _Span(index, event, compaction), found.setdefault(lane_of(event), [])
            while lane and new.start <= lane[-1].start and lane[-1].end <= new.end:
                lane.pop()
            if not lane or not (lane[-1].start <= new.start and new.end <= lane[-1].end):
                lane.append(new)
    return [one for lane in found.values() for one in lane]


def _covers(spans: list[_Span], starts: list[float], index: int, at: float) -> bool:
    last = bisect.bisect_right(starts, at) - 1
    return last >= 0 and at <= spans[last].end and index < spans[last].index
