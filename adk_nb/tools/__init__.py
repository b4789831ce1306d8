"""Tools: functions that a model may call, and that can also stand in a graph as nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.lazy import loaded_when_used

if TYPE_CHECKING:
    from adk_nb.tools.agent_tool import AgentTool
    from adk_nb.tools.base_tool import BaseTool
    from adk_nb.tools.base_toolset import BaseToolset
    from adk_nb.tools.function_tool import FunctionTool
    from adk_nb.tools.long_running_tool import LongRunningFunctionTool
    from adk_nb.tools.tool_confirmation import ToolConfirmation
    from adk_nb.tools.tool_context import ToolContext

__all__ = [
    "AgentTool",
    "BaseTool",
    "BaseToolset",
    "FunctionTool",
    "LongRunningFunctionTool",
    "ToolConfirmation",
    "ToolContext",
]

_HOMES = {
    "AgentTool": "adk_nb.tools.agent_tool",
    "BaseTool": "adk_nb.tools.base_tool",
    "BaseToolset": "adk_nb.tools.base_toolset",
    "FunctionTool": "adk_nb.tools.function_tool",
    "LongRunningFunctionTool": "adk_nb.tools.long_running_tool",
    "ToolConfirmation": "adk_nb.tools.tool_confirmation",
    "ToolContext": "adk_nb.tools.tool_context",
}

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
