"""What the history says of a run that was aborted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from google.genai import types

from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun

ABORTED = "INVOCATION_ABORTED"
_SAID = "The run was aborted before this was done."


def sealing_events(root_name: str, run: NodeRun, events: Iterable[Event], open_ids: set[str]) -> list[Event]:
    """Return the events that end an aborted run.

    A call that nobody will answer any more gets an error as its response, so that models can read on; calls of one
    author, lane and scope share an event. Questions to people stay open and aren't touched. Where nothing is left
    unanswered, one event says that the run was aborted.

    Args:
        root_name: Who says it where no call is answered.
        run: The root's record.
        events: All events of the session, oldest first.
        open_ids: Ids of the open questions.
    """
    calls: dict[str, tuple[Event, types.FunctionCall]] = {}
    for event in events:
        if event.invocation_id != run.invocation_id:
            continue
        calls.update({str(one.id): (event, one) for one in event.get_function_calls() if one.id})
        for response in event.get_function_responses():
            calls.pop(str(response.id), None)
    groups: dict[tuple[str, str | None, str | None], list[types.Part]] = defaultdict(list)
    for event, one in calls.values():
        if one.id not in open_ids:
            response = types.FunctionResponse(id=one.id, name=one.name, response={"error": _SAID})
            groups[event.author, event.branch, event.isolation_scope].append(types.Part(function_response=response))
    if not groups:
        return [_event(run, root_name)]
    return [
        _event(run, author, content=types.Content(role="user", parts=parts), branch=branch, isolation_scope=scope)
        for (author, branch, scope), parts in groups.items()
    ]


def _event(run: NodeRun, author: str, **fields: Any) -> Event:
    return Event(invocation_id=run.invocation_id, author=author, error_code=ABORTED, error_message=_SAID, **fields)
