"""ADK's place for `ReadonlyContext`."""

from adk_nb.workflow.context import ReadonlyContext

__all__ = ["ReadonlyContext"]
