"""How a credential is asked for in an event, and what a form asks a person for."""

from __future__ import annotations

from typing import Any

REQUEST_CREDENTIAL = "adk_request_credential"
"""Name of the function call that asks for a credential. Its answer is a secret, and never stored."""
MEANT_BY_TEXT = {"apiKey": "API key", "http": "Token", "oauth2": "Access token", "openIdConnect": "Access token"}
"""What a text that answers is, by the type of the scheme."""
_SECRET_TEXT = {"type": "string", "format": "password", "minLength": 1}


def credential_schema(auth_config: Any) -> dict[str, Any] | None:
    """Return what a form asks for, as JSON schema; `None` when a text can't say it.

    Args:
        auth_config: The config as the event carries it.

    Example:
        >>> credential_schema({"authScheme": {"type": "apiKey", "in": "header", "name": "X-Key"}})["title"]
        'API key'
    """
    scheme = auth_config.get("authScheme") if isinstance(auth_config, dict) else None
    if not isinstance(scheme, dict):
        return None
    if is_basic(scheme):
        return {
            "type": "object",
            "properties": {
                "username": {"type": "string", "title": "User name"},
                "password": {**_SECRET_TEXT, "title": "Password"},
            },
            "required": ["username", "password"],
        }
    title = MEANT_BY_TEXT.get(str(scheme.get("type")))
    return None if title is None else {**_SECRET_TEXT, "title": title}


def is_basic(scheme: dict[str, Any]) -> bool:
    """Say whether a scheme wants a user name and a password."""
    return scheme.get("type") == "http" and str(scheme.get("scheme", "")).lower() == "basic"
