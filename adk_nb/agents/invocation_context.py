"""ADK's place for `InvocationContext`."""

from adk_nb.workflow.context import InvocationContext

__all__ = ["InvocationContext"]
