"""What every store refuses, and the sentences it says it with."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from adk_nb.errors import DataError
from adk_nb.events.event import Event
from adk_nb.events.state import State
from adk_nb.events.values import freeze


def checked_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state as history holds it, or say which key or value can't be stored."""
    check_keys(state)
    return {key: freeze(value, f"state[{key!r}]") for key, value in state.items()}


def check_keys(state: Mapping[str, Any]) -> None:
    """Refuse state keys that aren't texts."""
    for key in state:
        if not isinstance(key, str):
            raise DataError(
                f"State has the key {key!r} of type {type(key).__name__}: keys are str, for instance {str(key)!r}."
            )


def already_exists(key: tuple[str, str, str]) -> str:
    """Say that a session id is taken."""
    app_name, user_id, session_id = key
    return (
        f"Session {session_id!r} of user {user_id!r} in app {app_name!r} exists already: get it with get_session(), "
        f"or leave session_id out to have a new id made."
    )


def event_exists(event_id: str, key: tuple[str, str, str]) -> str:
    """Say that an event id is taken."""
    return (
        f"Event {event_id!r} is in session {key[2]!r} already, with other content: history can't be changed; "
        f"give the new event an id of its own."
    )


def not_found(key: tuple[str, str, str], where: str) -> str:
    """Say that there is no such session."""
    app_name, user_id, session_id = key
    return (
        f"Session not found: {session_id} of user {user_id!r} in app {app_name!r} isn't {where}, or was deleted: "
        f"create it first with create_session()."
    )


def is_busy(key: tuple[str, str, str], host: str, pid: int, invocation_id: str | None, since: float) -> str:
    """Say that another process runs a session."""
    started = time.strftime("%H:%M:%S", time.localtime(since))
    run = f"run {invocation_id}" if invocation_id else "a run"
    return (
        f"Session {key[2]!r} is busy ({run} in process {pid} on {host}, since {started}): "
        f"wait for it to end, stop that process, or use another session."
    )


def take_temporary(event: Event) -> dict[str, Any]:
    """Remove the `temp:` keys from an event's state change, and return them with their values."""
    delta = event.actions.state_delta
    if not delta:
        return {}
    check_keys(delta)
    temporary = {key: value for key, value in delta.items() if key.startswith(State.TEMP_PREFIX)}
    if temporary:
        event.actions.state_delta = {key: value for key, value in delta.items() if key not in temporary}
    return temporary
