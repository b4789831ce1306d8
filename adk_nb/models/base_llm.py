"""`BaseLlm`: the contract between agents and models. Subclass it to use any provider or a stand-in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse


@dataclass(frozen=True, slots=True)
class LlmCapabilities:
    """What a model can do beyond answering in text."""

    output_schema_and_tools: bool = False
    """It keeps to a declared shape of answer also while it has tools to call."""


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

    @classmethod
    def check_shape(cls, shape: Any, what: str) -> None:
        """Refuse the shape of an answer, or of a tool's arguments, that models of this class can't be told of.

        Args:
            shape: A type that pydantic can check, or a JSON schema.
            what: What it is for, as the beginning of a message.
        Raises:
            ConfigurationError: it can't be told; by default every shape can.
        """

    @property
    def capabilities(self) -> LlmCapabilities:
        """What this model can do; a class of your own says here what its provider offers."""
        return LlmCapabilities()

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
