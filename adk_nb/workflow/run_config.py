"""`RunConfig`: settings of one call of the runner."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from adk_nb.workflow.limits import Limits


class RunConfig(BaseModel):
    """Settings of one call of the runner."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    custom_metadata: dict[str, Any] | None = None
    """Merged into `custom_metadata` of every event of the call."""
    labels: dict[str, str] | None = None
    """Added to the labels of every model request."""
    limits: Limits | None = None
    """What the call may use up; `None` means those of `Limits()`."""
    max_llm_calls: int = 500
    """Model calls allowed in one call of the runner; 0 or less means no limit."""
