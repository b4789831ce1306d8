"""ADK's place for `CallbackContext`, another name of `Context`."""

from adk_nb.workflow.context import Context

CallbackContext = Context

__all__ = ["CallbackContext"]
