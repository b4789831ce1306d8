"""ADK's place for `NotFoundError`."""

from adk_nb.errors import NotFoundError

__all__ = ["NotFoundError"]
