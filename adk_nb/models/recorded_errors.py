"""What a model call failed with, written to a tape and raised again from it."""

from __future__ import annotations

import builtins
from typing import Any

from google.genai import errors

from adk_nb.errors import ModelConnectionError, TapeError
from adk_nb.models.secrets import without_secrets
from adk_nb.models.transport import RateLimitError


def to_tape(error: Exception) -> dict[str, Any]:
    """Return an error as JSON values.

    Example:
        >>> to_tape(TimeoutError("too slow"))
        {'type': 'TimeoutError', 'message': 'too slow'}
    """
    status = getattr(error, "status", None)
    noted: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, errors.APIError):
        noted |= {"code": error.code, "message": error.message}
    if isinstance(status, str) and status:
        noted["status"] = status
    found: dict[str, Any] = without_secrets(noted)
    return found


def from_tape(noted: dict[str, Any]) -> Exception:
    """Return the error that a tape tells of: of its own class where that is Google's, ours or a builtin.

    Example:
        >>> from_tape({"type": "TimeoutError", "message": "too slow"})
        TimeoutError('too slow')
    """
    kind, message, code = str(noted.get("type")), str(noted.get("message") or ""), noted.get("code")
    if isinstance(code, int):
        body = {"error": {"code": code, "message": message, "status": noted.get("status") or ""}}
        google = {"RateLimitError": RateLimitError, "ServerError": errors.ServerError, "APIError": errors.APIError}
        return google.get(kind, errors.ClientError if code < 500 else errors.ServerError)(code, body)
    if kind == "ModelConnectionError":
        return ModelConnectionError(message)
    builtin = getattr(builtins, kind, None)
    if isinstance(builtin, type) and issubclass(builtin, Exception):
        try:
            return builtin(message)
        except TypeError:  # it wants more than a message
            pass
    error = TapeError(f"The recorded call failed with {kind}: {message}")
    if noted.get("status"):
        vars(error)["status"] = noted["status"]
    return error
