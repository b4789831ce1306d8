"""Tools: functions, agents and nodes that a model may call, and that can also stand in a graph as nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.lazy import loaded_when_used

if TYPE_CHECKING:
    from adk_nb.tools.agent_tool import AgentTool
    from adk_nb.tools.base_tool import BaseTool
    from adk_nb.tools.base_toolset import BaseToolset
    from adk_nb.tools.exit_loop_tool import exit_loop
    from adk_nb.tools.function_tool import FunctionTool
    from adk_nb.tools.get_user_choice_tool import get_user_choice
    from adk_nb.tools.load_artifacts_tool import load_artifacts
    from adk_nb.tools.load_memory_tool import load_memory
    from adk_nb.tools.long_running_tool import LongRunningFunctionTool
    from adk_nb.tools.node_tool import NodeTool
    from adk_nb.tools.preload_memory_tool import preload_memory
    from adk_nb.tools.request_input_tool import request_input
    from adk_nb.tools.tool_confirmation import ToolConfirmation
    from adk_nb.tools.tool_context import ToolContext
    from adk_nb.tools.transfer_to_agent_tool import TransferToAgentTool, transfer_to_agent

__all__ = [
    "AgentTool",
    "BaseTool",
    "BaseToolset",
    "FunctionTool",
    "LongRunningFunctionTool",
    "NodeTool",
    "ToolConfirmation",
    "ToolContext",
    "TransferToAgentTool",
    "exit_loop",
    "get_user_choice",
    "load_artifacts",
    "load_memory",
    "preload_memory",
    "request_input",
    "transfer_to_agent",
]

_HOMES = {
    "AgentTool": "adk_nb.tools.agent_tool",
    "BaseTool": "adk_nb.tools.base_tool",
    "BaseToolset": "adk_nb.tools.base_toolset",
    "FunctionTool": "adk_nb.tools.function_tool",
    "LongRunningFunctionTool": "adk_nb.tools.long_running_tool",
    "NodeTool": "adk_nb.tools.node_tool",
    "ToolConfirmation": "adk_nb.tools.tool_confirmation",
    "ToolContext": "adk_nb.tools.tool_context",
    "TransferToAgentTool": "adk_nb.tools.transfer_to_agent_tool",
    "exit_loop": "adk_nb.tools.exit_loop_tool",
    "get_user_choice": "adk_nb.tools.get_user_choice_tool",
    "load_artifacts": "adk_nb.tools.load_artifacts_tool",
    "load_memory": "adk_nb.tools.load_memory_tool",
    "preload_memory": "adk_nb.tools.preload_memory_tool",
    "request_input": "adk_nb.tools.request_input_tool",
    "transfer_to_agent": "adk_nb.tools.transfer_to_agent_tool",
}

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
