"""Rewound sessions: what was taken back stays in the history, and nobody goes on from it."""

from __future__ import annotations

from collections.abc import Iterable

from adk_nb.events.event import Event


def visible_events(events: Iterable[Event]) -> list[Event]:
    """Return the events that weren't taken back, without those that take back.

    An event with `actions.rewind_before_invocation_id` takes back everything between that invocation's first event and
    itself. In a list that begins later than that invocation, it takes back all that is before it.

    Example:
        >>> said = [Event(invocation_id=one, output=one) for one in ("e-1", "e-2", "e-3")]
        >>> back = Event(invocation_id="e-4", actions={"rewind_before_invocation_id": "e-2"})
        >>> [event.output for event in visible_events([*said, back, Event(invocation_id="e-5", output="e-5")])]
        ['e-1', 'e-5']
    """
    seen: list[Event] = []
    gone: set[str] = set()
    for event in events:
        target = event.actions.rewind_before_invocation_id
        if target is None:
            seen.append(event)
        elif target not in gone:
            first = next((index for index, one in enumerate(seen) if one.invocation_id == target), 0)
            gone.update(one.invocation_id for one in seen[first:])
            del seen[first:]
    return seen
