"""ADK's place for `SessionNotFoundError`."""

from adk_nb.errors import SessionNotFoundError

__all__ = ["SessionNotFoundError"]
