"""Stand-ins and assertions for tests and for teaching without a network."""

from adk_nb.testing.models import FunctionModel, ScriptedModel, call
from adk_nb.testing.outline import outline

__all__ = ["FunctionModel", "ScriptedModel", "call", "outline"]
