"""ADK's place for `InputValidationError`."""

from adk_nb.errors import InputValidationError

__all__ = ["InputValidationError"]
