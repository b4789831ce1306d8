"""`BuiltInPlanner`: the thinking that a model does by itself."""

from __future__ import annotations

from google.genai import types

from adk_nb.models.llm_request import LlmRequest
from adk_nb.planners.base_planner import BasePlanner
from adk_nb.workflow.context import Context, ReadonlyContext


class BuiltInPlanner(BasePlanner):
    """Asks the model to think by itself, with this budget or level.

    Example:
        >>> planner = BuiltInPlanner(thinking_config=types.ThinkingConfig(thinking_budget=1024))
        >>> planner.thinking_config.thinking_budget
        1024
    """

    def __init__(self, *, thinking_config: types.ThinkingConfig) -> None:
        """Say how much to think; it counts before what is in the agent's `generate_content_config`."""
        self.thinking_config = thinking_config

    def apply_thinking_config(self, llm_request: LlmRequest) -> None:
        """Put the setting into a request."""
        llm_request.config.thinking_config = self.thinking_config.model_copy()

    def build_planning_instruction(self, readonly_context: ReadonlyContext, llm_request: LlmRequest) -> str | None:
        """Return nothing: the setting says all."""
        return None

    def process_planning_response(
        self, callback_context: Context, response_parts: list[types.Part]
    ) -> list[types.Part] | None:
        """Leave the response as it is."""
        return None
