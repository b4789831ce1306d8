"""`StoredSession`: one session as frames read it, from wherever; and `Where`, which of them are wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from adk_nb.errors import ConfigurationError
from adk_nb.events.carried import own_event, without_records
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun
from adk_nb.workflow.replay import replay

Names = str | Collection[str] | None
Moment = Any
"""Seconds since the epoch, a datetime, a pandas timestamp or a text such as `2026-12-01`; without a zone it is UTC."""

FILTERS = ("app", "user", "session", "invocation", "since", "until")
"""Filters that every frame takes."""


@dataclass(frozen=True, slots=True)
class Where:
    """Which sessions and which of their events are wanted; `None` wants all."""

    app: Names = None
    user: Names = None
    session: Names = None
    invocation: Names = None
    since: float | None = None
    until: float | None = None

    def wants_session(self, app: str | None, user: str | None, session: str | None, updated: float | None) -> bool:
        """Say whether something in a session may be wanted."""
        return (
            _is_among(app, self.app)
            and _is_among(user, self.user)
            and _is_among(session, self.session)
            and (self.since is None or updated is None or updated >= self.since)
        )

    def wants(self, invocation: str, at: float) -> bool:
        """Say whether what happened in an invocation at a time is wanted."""
        return (
            (self.invocation is None or _is_among(invocation, self.invocation))
            and (self.since is None or at >= self.since)
            and (self.until is None or at <= self.until)
        )

    @property
    def is_open(self) -> bool:
        """Everything within a session is wanted."""
        return self.invocation is None and self.since is None and self.until is None


def where(filters: dict[str, Any]) -> Where:
    """Return filters as given by keyword.

    Raises:
        ConfigurationError: there is no filter of such a name, or a time can't be read.

    Example:
        >>> where({"user": "ada", "since": "1970-01-02"}).since
        86400.0
    """
    for name in filters:
        if name not in FILTERS:
            raise ConfigurationError(f"{name}={filters[name]!r:.60} isn't a filter; allowed: {', '.join(FILTERS)}.")
    given = {name: value for name, value in filters.items() if value is not None}
    for name in ("since", "until"):
        if name in given:
            given[name] = seconds(given[name], name)
    return Where(**given)


def seconds(moment: Moment, name: str = "moment") -> float:
    """Return a moment as seconds since the epoch."""
    if isinstance(moment, (int, float)) and not isinstance(moment, bool):
        return float(moment)
    try:
        found = pd.Timestamp(moment)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"{name}={moment!r} isn't a time ({error}); allowed: seconds since 1970, a datetime, or a text such as "
            f"'2026-12-01 14:30'."
        ) from error
    return float((found if found.tzinfo else found.tz_localize("UTC")).timestamp())


@dataclass(slots=True)
class StoredSession:
    """One session as frames read it; events and records are read when they are asked for."""

    app: str | None = None
    user: str | None = None
    id: str | None = None
    state: dict[str, Any] = field(default_factory=dict)
    created_at: float | None = None
    """Seconds since the epoch, `None` where the source doesn't say."""
    updated_at: float | None = None
    read_events: Callable[[], Iterable[Event]] = tuple
    """Gives the events, oldest first; it may be called again."""
    read_records: Callable[[], Iterable[NodeRun]] | None = None
    """Gives the records; `None` works them out from the events."""
    is_live: bool = False
    """It may be at work now: what is open lasts until now, and not until its last event."""

    def events(self, wanted: Where | None = None) -> Iterator[Event]:
        """Give the events that are wanted."""
        found = iter(self.read_events())
        if wanted is None or wanted.is_open:
            return found
        return (event for event in found if wanted.wants(event.invocation_id, event.timestamp))

    def records(self, wanted: Where | None = None) -> list[NodeRun]:
        """Return the node runs that are wanted, in the order of their creation."""
        found = replay(self.read_events()) if self.read_records is None else self.read_records()
        return [run for run in found if wanted is None or wanted.wants(run.invocation_id, _began(run))]


def shown(events: Iterable[Any]) -> Iterator[Event]:
    """Give events of any store as ours, without what carries nothing but records.

    Example:
        >>> [event.output for event in shown([Event(output=1)])]
        [1]
    """
    for event in events:
        own = event if isinstance(event, Event) else own_event(event)
        if own.custom_metadata:
            told = without_records(own)
            if told is None:
                continue
            own = told
        yield own


def of_session(session: Any, read_records: Callable[[], Iterable[NodeRun]] | None = None) -> StoredSession:
    """Return a session object of any service as frames read it."""
    return StoredSession(
        app=session.app_name,
        user=session.user_id,
        id=session.id,
        state=dict(session.state),
        updated_at=session.last_update_time or None,
        read_events=lambda: shown(session.events),
        read_records=read_records or (lambda: replay(session.events)),
    )


def until(session: StoredSession, now: float | None) -> tuple[float, float]:
    """Return until when open questions and open work of a session are counted, in seconds since the epoch."""
    moment = time.time() if now is None else now
    return moment, moment if session.is_live or session.updated_at is None else session.updated_at


def _is_among(name: str | None, wanted: Names) -> bool:
    return wanted is None or (name == wanted if isinstance(wanted, str) else name in wanted)


def _began(run: NodeRun) -> float:
    return run.created_at or run.started_at or 0.0
