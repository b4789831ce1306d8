"""What a process knows of one session that other processes may write to as well."""

from __future__ import annotations

import math
from typing import Any

from pydantic_core import from_json

from adk_nb.errors import SessionNotFoundError, StaleSessionError
from adk_nb.events.event import Event
from adk_nb.sessions.refusals import not_found

Key = tuple[str, str, str]
"""App name, user id and session id."""


class Knowledge:
    """What the process knows of a stored session; its `Session` objects and logs share it.

    The session's version is the number of its newest step: whoever appends takes the next one, and finds it taken when
    another process was faster.
    """

    def __init__(self, key: Key) -> None:
        self.key = key
        self.number: int | None = None
        """The session's number in the store, `None` as long as it isn't known."""
        self.step = 0
        """Number of the newest step."""
        self.time = 0.0
        """When the session was last updated."""
        self.attempted: object = None
        """What names the step of an append that was begun and perhaps broken off after it was stored."""
        self.is_stale = False
        """Another process wrote to the session: only newly loaded `Session` objects may append."""
        self.is_deleted = False
        self.state: dict[str, Any] | None = None
        """The session's own state, packed; `None` until it is needed."""
        self.events: list[Event] | None = None
        """All events, once someone has read them."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Knowledge:
        return self

    def load_events(self) -> list[Event]:
        """Return all events, oldest first."""
        return list(self.events or ())

    def check(self, place: str) -> None:
        """Refuse to go on from outdated knowledge."""
        if self.is_deleted:
            raise SessionNotFoundError(not_found(self.key, f"in {place}"))
        if self.is_stale:
            raise stale(self.key)

    def forget_details(self) -> None:
        """Keep the version only, after an append that was broken off in the middle."""
        self.state, self.events = None, None

    def time_of(self, event: Event | None) -> float:
        """Return when an append happens: every one is later than the one before, whatever the clock says."""
        time = math.nextafter(self.time, math.inf)
        return event.timestamp if event is not None and event.timestamp > time else time


def stale(key: Key) -> StaleSessionError:
    """Return the error of a session that another process has changed."""
    return StaleSessionError(
        f"Session {key[2]!r} was changed by another process since it was loaded here, so nothing was written: "
        f"load it again with get_session() and go on from there."
    )


def load_state(text: str) -> dict[str, Any]:
    """Return a stored state, its values packed."""
    state: dict[str, Any] = from_json(text)
    return state
