"""`RunConfig`: settings of one call of the runner."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field

from adk_nb.events.event import Event
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.events.prices import Price
from adk_nb.workflow.limits import Limits


class ToolThreadPoolConfig(BaseModel):
    """Lets all sync functions work in threads, and says how many at a time."""

    model_config = ConfigDict(extra="forbid")

    max_workers: int = Field(default=4, ge=1)
    """How many threads work at a time."""


class StreamingMode(enum.Enum):
    """Whether a model's answers come piece by piece."""

    NONE = None
    SSE = "sse"


class RunConfig(BaseModel):
    """Settings of one call of the runner."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    custom_metadata: dict[str, Any] | None = None
    """Merged into `custom_metadata` of every event of the call."""
    get_session_config: GetSessionConfig | None = None
    """Which events the session that nodes and models see is loaded with; what a run goes on with is never limited."""
    include_thoughts_from_other_agents: bool = False
    """Agents also read what other agents only thought."""
    labels: dict[str, str] | None = None
    """Added to the labels of every model request."""
    limits: Limits | None = None
    """What the call may use up; `None` means those of `Limits()`."""
    prices: Mapping[str, Price] | None = None
    """Prices of models by name, for `max_cost`; they count before all that is known of a model."""
    max_llm_calls: int = 500
    """Model calls allowed in one call of the runner; 0 or less means no limit."""
    model_input_context: list[types.Content] | None = None
    """Messages that models read before what is to be answered now; they are not stored."""
    streaming_mode: StreamingMode = StreamingMode.NONE
    """`SSE` gives what a model says piece by piece, as events with `partial=True`, before the whole."""
    tool_thread_pool_config: ToolThreadPoolConfig | None = None
    """All sync functions work in so many threads; `None` uses threads only where others run beside a function."""

    def mark(self, event: Event) -> None:
        """Put `custom_metadata` onto an event; what the event has itself counts."""
        if self.custom_metadata:
            event.custom_metadata = {**self.custom_metadata, **(event.custom_metadata or {})}
