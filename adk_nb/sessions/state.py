"""ADK's place for `State`."""

from adk_nb.events.state import State

__all__ = ["State"]
