"""What an event does besides saying something: a route taken, state changed, a hand-over."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, alias_generators

RouteValue = StrictBool | StrictInt | StrictStr
"""One route label. `1` and `True` name the same edge, as they are equal in Python."""
Route = RouteValue | list[RouteValue]
"""One label, or a list that follows every edge with one of its labels."""


class EventCompaction(BaseModel):
    """A summary that models read in place of older events, which stay stored.

    Example:
        >>> said = types.Content(role="model", parts=[types.Part(text="They planned a trip to Rome.")])
        >>> EventCompaction(start_timestamp=1.0, end_timestamp=9.0, compacted_content=said).end_timestamp
        9.0
    """

    model_config = ConfigDict(alias_generator=alias_generators.to_camel, populate_by_name=True, extra="forbid")

    start_timestamp: float
    """When the first event was written that it stands for."""
    end_timestamp: float
    """When the last one was."""
    compacted_content: types.Content
    """What is read in their place."""


class EventActions(BaseModel):
    """The side effects of one event."""

    model_config = ConfigDict(
        alias_generator=alias_generators.to_camel,
        populate_by_name=True,
        extra="forbid",
        arbitrary_types_allowed=True,
    )

    skip_summarization: bool | None = None
    state_delta: dict[str, Any] = Field(default_factory=dict)
    """State keys written, with their new values; prefixes `app:`, `user:` and `temp:` give the scope."""
    artifact_delta: dict[str, int] = Field(default_factory=dict)
    """Artifacts saved, name to version."""
    transfer_to_agent: str | None = None
    transfer_reason: str | None = None
    escalate: bool | None = None
    requested_auth_configs: dict[str, Any] = Field(default_factory=dict)
    requested_tool_confirmations: dict[str, Any] = Field(default_factory=dict)
    compaction: EventCompaction | None = None
    """This event is a summary of earlier ones on its lane and in its scope."""
    end_of_agent: bool | None = None
    agent_state: dict[str, Any] | None = None
    rewind_before_invocation_id: str | None = None
    route: Route | None = None
    """Which routed edges to follow; `None` follows only unrouted and default edges."""
    render_ui_widgets: list[Any] | None = None
    set_model_response: Any = None

    @property
    def is_empty(self) -> bool:
        """Nothing is to be done.

        Example:
            >>> EventActions().is_empty, EventActions(escalate=True).is_empty
            (True, False)
        """
        return all(value is None or value == {} for value in self.__dict__.values())
