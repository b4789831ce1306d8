"""ADK's place for `Context`."""

from adk_nb.workflow.context import Context

__all__ = ["Context"]
