"""`BaseLlm`: the contract between agents and models. Subclass it to use any provider or a stand-in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator

from pydantic import BaseModel, ConfigDict

from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse


class BaseLlm(BaseModel):
    """A language model that an agent can ask.

    Example:
        >>> class Shout(BaseLlm):
        ...     async def generate_content_async(self, llm_request, stream=False):
        ...         from google.genai import types
        ...         said = llm_request.last_user_text.upper()
        ...         yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=said)]))
        >>> Shout(model="shout").model
        'shout'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())

    model: str
    """The model's name, as its provider spells it."""

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return regular expressions of the names that belong to this class; empty when it is only used directly."""
        return []

    @abstractmethod
    def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask the model, as an async generator.

        Args:
            llm_request: What is asked; the model may change it.
            stream: `False` gives exactly one response. `True` gives pieces with `partial=True`, then one response
                with `partial=False` that holds everything.
        """
        raise NotImplementedError(f"{type(self).__name__} must define generate_content_async().")
