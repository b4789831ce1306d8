"""ADK's place for `ToolConfirmation`."""

from adk_nb.events.tool_confirmation import ToolConfirmation

__all__ = ["ToolConfirmation"]
