"""Stand-ins and assertions for tests and for teaching without a network."""

from typing import TYPE_CHECKING

from adk_nb.lazy import loaded_when_used
from adk_nb.testing.models import FunctionModel, ScriptedModel, call
from adk_nb.testing.outline import outline

if TYPE_CHECKING:
    from adk_nb.testing.path_check import check_path

__all__ = ["FunctionModel", "ScriptedModel", "call", "check_path", "outline"]

# It reads runs as frames do, which loads pandas.
__getattr__, __dir__ = loaded_when_used(__name__, {"check_path": "adk_nb.testing.path_check"})
