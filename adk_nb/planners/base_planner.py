"""`BasePlanner`: what a planner adds to a request and makes of the response. Subclass it to plan in your own way."""

from __future__ import annotations

from abc import ABC, abstractmethod

from google.genai import types

from adk_nb.models.llm_request import LlmRequest
from adk_nb.workflow.context import Context, ReadonlyContext


class BasePlanner(ABC):
    """Lets an agent's model plan; give it to an agent as `planner=`.

    Example:
        >>> class InTwoSentences(BasePlanner):
        ...     def build_planning_instruction(self, readonly_context, llm_request):
        ...         return "Plan in two sentences before you act."
        ...     def process_planning_response(self, callback_context, response_parts):
        ...         return None
        >>> InTwoSentences().build_planning_instruction(None, None)
        'Plan in two sentences before you act.'
    """

    @abstractmethod
    def build_planning_instruction(self, readonly_context: ReadonlyContext, llm_request: LlmRequest) -> str | None:
        """Return what is added to the system text, `None` for nothing.

        Args:
            readonly_context: A look at the run.
            llm_request: What is going to be asked; it may be changed.
        """

    @abstractmethod
    def process_planning_response(
        self, callback_context: Context, response_parts: list[types.Part]
    ) -> list[types.Part] | None:
        """Return the parts that take the place of what the model said, `None` to leave it as it is.

        Args:
            callback_context: The agent's context.
            response_parts: Copies of what the model said, calls included.
        """
