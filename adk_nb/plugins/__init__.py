"""Plugins: code that looks at, changes or stops every run of a runner, for logs, checks, redaction and caches."""

from adk_nb.plugins.base_plugin import BasePlugin
from adk_nb.plugins.debug_logging_plugin import DebugLoggingPlugin
from adk_nb.plugins.global_instruction_plugin import GlobalInstructionPlugin
from adk_nb.plugins.logging_plugin import LoggingPlugin
from adk_nb.plugins.plugin_manager import PluginManager
from adk_nb.plugins.reflect_retry_tool_plugin import ReflectAndRetryToolPlugin

__all__ = [
    "BasePlugin",
    "DebugLoggingPlugin",
    "GlobalInstructionPlugin",
    "LoggingPlugin",
    "PluginManager",
    "ReflectAndRetryToolPlugin",
]
