"""Talk to a language model: the contract, the registry of names, Gemini, tapes, and one switch for all agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.lazy import loaded_when_used
from adk_nb.models.base_llm import BaseLlm, LlmCapabilities
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.models.registry import LLMRegistry
from adk_nb.models.tapes import record, replay
from adk_nb.models.use import current_model, use_model

if TYPE_CHECKING:
    from adk_nb.models.google_llm import Gemini
    from adk_nb.models.lite_llm import LiteLlm

__all__ = [
    "BaseLlm",
    "Gemini",
    "LLMRegistry",
    "LiteLlm",
    "LlmCapabilities",
    "LlmRequest",
    "LlmResponse",
    "current_model",
    "record",
    "replay",
    "use_model",
]

# The client is loaded when Gemini is first named, so that offline work doesn't pay for it.
__getattr__, __dir__ = loaded_when_used(
    __name__, {"Gemini": "adk_nb.models.google_llm", "LiteLlm": "adk_nb.models.lite_llm"}
)
