"""`ToolContext`: what a tool is handed; it is the same class as `Context`."""

from adk_nb.workflow.context import Context

ToolContext = Context

__all__ = ["ToolContext"]
