"""`RunConfig`: settings of one call of the runner."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, field_validator

from adk_nb.errors import ConfigurationError
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


MAX_LLM_CALLS = 500
"""Model calls in one call of the runner, where neither a `RunConfig` nor the environment says something else."""
_LIMIT_VARIABLE = "ADK_MAX_LLM_CALLS"


def _usual_limit() -> int:
    said = os.environ.get(_LIMIT_VARIABLE)
    if not said:
        return MAX_LLM_CALLS
    try:
        return int(said)
    except ValueError:
        raise ConfigurationError(
            f"The environment variable {_LIMIT_VARIABLE} is {said!r:.40}, and must be a whole number: how many model "
            f"calls a run may make; 0 means no limit."
        ) from None


class RunConfig(BaseModel):
    """Settings of one call of the runner."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    custom_metadata: dict[str, Any] | None = None
    """Merged into `custom_metadata` of every event of the call."""
    get_session_config: GetSessionConfig | None = None
    """Which events the session that nodes and models see is loaded with; what a run goes on with is never limited."""
    http_options: types.HttpOptions | None = None
    """Headers, timeout and the like of every model request; an agent's own `http_options` come before them."""
    include_thoughts_from_other_agents: bool = False
    """Agents also read what other agents only thought."""
    labels: dict[str, str] | None = None
    """Added to the labels of every model request."""
    limits: Limits | None = None
    """What the call may use up; `None` means those of `Limits()`."""
    prices: Mapping[str, Price] | None = None
    """Prices of models by name, for `max_cost`; they count before all that is known of a model."""
    max_llm_calls: int = Field(default_factory=_usual_limit)
    """Model calls allowed in one call of the runner; 0 or less means no limit. The default is 500, or what the
    environment variable `ADK_MAX_LLM_CALLS` says."""
    model_input_context: list[types.Content] | None = None
    """Messages that models read before what is to be answered now; they are not stored."""
    save_input_blobs_as_artifacts: bool = False
    """Files in a person's message are also saved as artifacts, under the file's name or `artifact_<run>_<place>`."""
    streaming_mode: StreamingMode = StreamingMode.NONE
    """`SSE` gives what a model says piece by piece, as events with `partial=True`, before the whole."""
    tool_thread_pool_config: ToolThreadPoolConfig | None = None
    """All sync functions work in so many threads; `None` uses threads only where others run beside a function."""

    support_cfc: bool = False
    """Taken for ADK's sake: live calls aren't there, so it can only be `False`."""

    @field_validator("support_cfc")
    @classmethod
    def _check_cfc(cls, value: bool) -> bool:
        if value:
            raise ConfigurationError(
                "RunConfig(support_cfc=True) needs live model calls, which aren't there: leave it out."
            )
        return value

    def mark(self, event: Event) -> None:
        """Put `custom_metadata` onto an event; what the event has itself counts."""
        if self.custom_metadata:
            event.custom_metadata = {**self.custom_metadata, **(event.custom_metadata or {})}
