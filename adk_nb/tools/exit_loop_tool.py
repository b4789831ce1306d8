"""`exit_loop`: a tool by which a model ends the loop that it stands in."""

from __future__ import annotations

from adk_nb.tools.tool_context import ToolContext


def exit_loop(tool_context: ToolContext) -> None:
    """End the loop that you are a part of. Call this only when you are told that the loop is to end."""
    tool_context.actions.escalate = True
    tool_context.actions.skip_summarization = True
