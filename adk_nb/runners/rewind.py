"""Going back to before a run: what its event says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from google.genai import types

from adk_nb.artifacts.place import TAKEN_BACK
from adk_nb.errors import DataError, InvocationNotFoundError, one_of
from adk_nb.events.event import Event, new_id
from adk_nb.events.event_actions import EventActions
from adk_nb.events.rewinds import visible_events
from adk_nb.events.state import State

_SHARED = (State.APP_PREFIX, State.USER_PREFIX, State.TEMP_PREFIX)


async def rewind_event(session: Any, invocation_id: str, artifact_service: Any) -> Event:
    """Return the event that takes an invocation and all later ones back, with the state and artifacts from before it.

    Keys that were first written since then become `None`, also when the session was created with a value for them:
    events don't tell that value. What sessions share (`app:`, `user:`) stays as it is.

    Raises:
        InvocationNotFoundError: the session has no such invocation, or it was taken back already.
        DataError: an earlier invocation went on since then.
    """
    events = visible_events(session.events)
    first = next((index for index, event in enumerate(events) if event.invocation_id == invocation_id), None)
    if first is None:
        known = dict.fromkeys(event.invocation_id for event in events if event.invocation_id)
        raise InvocationNotFoundError(
            f"Invocation ID not found: {invocation_id!r} isn't in session {session.id!r}, or was taken back already: "
            f"the session's runs are {one_of(invocation_id, known)}."
        )
    before, since = events[:first], events[first:]
    _refuse_to_split(session.id, invocation_id, before, since)
    state = _changes(before, since, "state_delta")
    versions = _changes(before, since, "artifact_delta")
    return Event(
        author="user",
        invocation_id=f"e-{new_id()}",
        actions=EventActions(
            rewind_before_invocation_id=invocation_id,
            state_delta=state,
            artifact_delta=await _restored(session, versions, artifact_service),
        ),
    )


def _refuse_to_split(session_id: str, invocation_id: str, before: Sequence[Event], since: Sequence[Event]) -> None:
    earlier = {event.invocation_id for event in before if event.invocation_id}
    went_on = next((event.invocation_id for event in since if event.invocation_id in earlier), None)
    if went_on is not None:
        raise DataError(
            f"Session {session_id!r} can't be rewound to before {invocation_id!r}: the earlier run {went_on!r} went on "
            f"since then, and half of it can't be taken back. Rewind to before {went_on!r}."
        )


def _changes(before: Iterable[Event], since: Iterable[Event], delta: str) -> dict[str, Any]:
    """Return what a state or the versions of artifacts must become to be as they were; `None` for what wasn't there."""
    changed = {key: None for event in since for key in getattr(event.actions, delta) if not key.startswith(_SHARED)}
    if changed:
        for event in before:
            changed.update({key: value for key, value in getattr(event.actions, delta).items() if key in changed})
    return changed


async def _restored(session: Any, versions: dict[str, int | None], artifact_service: Any) -> dict[str, int]:
    """Save the earlier versions anew, marked empty ones for artifacts that weren't there; return the new versions."""
    if artifact_service is None:
        return {}
    where = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
    restored = {}
    for name, version in versions.items():
        part, more = None, {}
        if version is not None:
            part = await artifact_service.load_artifact(**where, filename=name, version=version)
        if part is None:
            part = types.Part(inline_data=types.Blob(mime_type="application/octet-stream", data=b""))
            more = {"custom_metadata": {TAKEN_BACK: True}}
        restored[name] = await artifact_service.save_artifact(**where, filename=name, artifact=part, **more)
    return restored
