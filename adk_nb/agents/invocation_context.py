"""ADK's place for `InvocationContext`."""

from adk_nb.workflow.invocation import InvocationContext

__all__ = ["InvocationContext"]
