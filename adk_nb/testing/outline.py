"""`outline`: a list of events as plain tuples, short enough to compare whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adk_nb.events.event import Event, content_text


def outline(events: Iterable[Event]) -> list[tuple[str, str | None, Any]]:
    """Return `(path, branch, payload)` for each event, in order.

    The payload is the first of these that the event has: `"error: <code>"`, its output, `"call: <names>"`,
    `"answer: <names>"`, its text, `"route: <labels>"`, its state change; otherwise `None`.

    Example:
        >>> outline([Event(author="user", message="hi"), Event(node_path="wf@1/a@1", output=3)])
        [('', None, 'hi'), ('wf@1/a@1', None, 3)]
    """
    return [(event.node_info.path, event.branch, _payload(event)) for event in events]


def _payload(event: Event) -> Any:
    if event.error_code:
        return f"error: {event.error_code}"
    if event.output is not None:
        return event.output
    if calls := event.get_function_calls():
        return f"call: {', '.join(call.name or '' for call in calls)}"
    if answers := event.get_function_responses():
        return f"answer: {', '.join(answer.name or '' for answer in answers)}"
    if text := content_text(event.content):
        return text
    if event.actions.route is not None:
        return f"route: {event.actions.route}"
    return event.actions.state_delta or None
