"""`AuthConfig`: which credential a node or tool needs."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import SerializeAsAny, model_validator

from adk_nb.auth.auth_credential import AuthCredential
from adk_nb.auth.auth_schemes import read_scheme
from adk_nb.auth.secrets import AuthModel


class AuthConfig(AuthModel):
    """Which credential is needed, and what is known of it.

    Two configs with the same `credential_key` want the same credential, so a person is asked for it once a run.

    Example:
        >>> from adk_nb.auth import APIKey
        >>> AuthConfig(auth_scheme=APIKey(in_="header", name="X-Key"), credential_key="weather").credential_key
        'weather'
    """

    auth_scheme: SerializeAsAny[AuthModel]
    """How the service wants to be called."""
    raw_auth_credential: AuthCredential | None = None
    """What is known before anybody is asked, for instance an OAuth2 client."""
    exchanged_auth_credential: AuthCredential | None = None
    """The credential itself; where it is there, nobody is asked."""
    credential_key: str | None = None
    """Name of the credential; left out, it follows from the scheme and the public part of the raw credential."""

    def __init__(self, **data: Any) -> None:
        """Take the fields by their names or ADK's JSON names; the scheme may be a dictionary or fastapi's own model."""
        for name in ("auth_scheme", "authScheme"):
            if name in data:
                data[name] = read_scheme(data[name])
        super().__init__(**data)

    @model_validator(mode="after")
    def _name_credential(self) -> AuthConfig:
        if self.credential_key is None:
            known = [self.auth_scheme.public(), self.raw_auth_credential and self.raw_auth_credential.public()]
            digest = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]
            self.__dict__["credential_key"] = f"adk_{self.scheme_type}_{digest}"
        return self

    @property
    def scheme_type(self) -> str:
        """The kind of scheme: `apiKey`, `http`, `oauth2`, `openIdConnect`, or a custom one."""
        kind: Any = getattr(self.auth_scheme, "type_", "custom")
        return str(getattr(kind, "value", kind))

    @property
    def key(self) -> str:
        """Name of the credential; there always is one."""
        return self.credential_key or ""

    def with_credential(self, credential: AuthCredential) -> AuthConfig:
        """Return a copy that holds the credential, as a credential service takes it."""
        return self.model_copy(update={"exchanged_auth_credential": credential})


class AuthToolArguments(AuthModel):
    """The arguments of the function call that asks for a credential."""

    function_call_id: str
    auth_config: AuthConfig
