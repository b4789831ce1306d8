"""ADK's place for `AlreadyExistsError`."""

from adk_nb.errors import AlreadyExistsError

__all__ = ["AlreadyExistsError"]
