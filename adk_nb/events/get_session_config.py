"""`GetSessionConfig`: which events of a session to load."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from adk_nb.events.event import Event


class GetSessionConfig(BaseModel):
    """Which events of a session to load; its state is always whole.

    Example:
        >>> GetSessionConfig(num_recent_events=10).num_recent_events
        10
    """

    model_config = ConfigDict(extra="forbid")

    num_recent_events: int | None = Field(default=None, ge=0)
    """The newest this many; 0 loads none, `None` all."""
    after_timestamp: float | None = None
    """Those at or after this time, in seconds since the epoch; `None` all."""

    def apply(self, events: list[Event]) -> list[Event]:
        """Return those of all events of a session, oldest first, that are asked for."""
        if self.after_timestamp is not None:
            events = [event for event in events if event.timestamp >= self.after_timestamp]
        if self.num_recent_events is not None:
            events = events[-self.num_recent_events :] if self.num_recent_events else []
        return events
