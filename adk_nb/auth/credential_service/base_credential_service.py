"""The contract of a credential service."""

from __future__ import annotations

import abc
from typing import Any, Protocol

from adk_nb.auth.auth_credential import AuthCredential
from adk_nb.auth.auth_tool import AuthConfig


class Caller(Protocol):
    """The part of a context that says whose credential it is."""

    @property
    def session(self) -> Any:
        """The session, with `app_name`."""

    @property
    def user_id(self) -> str:
        """The user."""


class BaseCredentialService(abc.ABC):
    """Keeps credentials by app, user and `credential_key`; give one to the runner as `credential_service=`.

    A node with `auth_config` looks here before it asks, and a credential that a person gave is saved here.
    """

    @abc.abstractmethod
    async def load_credential(self, auth_config: AuthConfig, callback_context: Caller) -> AuthCredential | None:
        """Return the credential for a config, `None` when there is none."""

    @abc.abstractmethod
    async def save_credential(self, auth_config: AuthConfig, callback_context: Caller) -> None:
        """Keep the config's `exchanged_auth_credential`."""
