"""`LlmResponse`, under the name where models and their authors look for it."""

from adk_nb.events.response import LlmResponse

__all__ = ["LlmResponse"]
