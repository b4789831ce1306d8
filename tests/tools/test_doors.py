"""Tools, services and plugins stand where google-adk has them."""

from __future__ import annotations

import importlib

import pytest

DOORS = {
    "adk_nb.tools": "AgentTool BaseTool FunctionTool LongRunningFunctionTool ToolContext TransferToAgentTool "
    "exit_loop get_user_choice load_artifacts load_memory preload_memory request_input transfer_to_agent",
    "adk_nb.tools.agent_tool": "AgentTool",
    "adk_nb.tools.base_tool": "BaseTool",
    "adk_nb.tools.base_toolset": "BaseToolset",
    "adk_nb.tools.exit_loop_tool": "exit_loop",
    "adk_nb.tools.load_artifacts_tool": "LoadArtifactsTool load_artifacts_tool",
    "adk_nb.tools.load_memory_tool": "LoadMemoryTool load_memory_tool",
    "adk_nb.tools.preload_memory_tool": "PreloadMemoryTool preload_memory_tool",
    "adk_nb.tools.tool_confirmation": "ToolConfirmation",
    "adk_nb.tools.transfer_to_agent_tool": "TransferToAgentTool transfer_to_agent",
    "adk_nb.artifacts": "BaseArtifactService FileArtifactService InMemoryArtifactService",
    "adk_nb.artifacts.base_artifact_service": "ArtifactVersion BaseArtifactService",
    "adk_nb.memory": "BaseMemoryService InMemoryMemoryService",
    "adk_nb.memory.base_memory_service": "BaseMemoryService SearchMemoryResponse",
    "adk_nb.memory.memory_entry": "MemoryEntry",
    "adk_nb.plugins": "BasePlugin DebugLoggingPlugin LoggingPlugin PluginManager ReflectAndRetryToolPlugin",
    "adk_nb.errors": "StaleSessionError InvocationNotFoundError",
    "adk_nb.errors.already_exists_error": "AlreadyExistsError",
    "adk_nb.errors.input_validation_error": "InputValidationError",
    "adk_nb.errors.not_found_error": "NotFoundError",
    "adk_nb.errors.session_not_found_error": "SessionNotFoundError",
}


@pytest.mark.parametrize("door", DOORS)
def test_names(door: str) -> None:
    """Each name is found where code for google-adk looks for it."""
    ours = importlib.import_module(door)
    for name in DOORS[door].split():
        assert hasattr(ours, name), name
