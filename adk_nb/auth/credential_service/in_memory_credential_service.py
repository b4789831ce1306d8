"""A credential service that forgets when the process ends."""

from __future__ import annotations

from adk_nb.auth.auth_credential import AuthCredential
from adk_nb.auth.auth_tool import AuthConfig
from adk_nb.auth.credential_service.base_credential_service import BaseCredentialService, Caller


class InMemoryCredentialService(BaseCredentialService):
    """Keeps credentials in memory, over all runs of a user in an app.

    Example:
        >>> import asyncio, types
        >>> from adk_nb.auth import APIKey, AuthCredential
        >>> ada = types.SimpleNamespace(session=types.SimpleNamespace(app_name="weather"), user_id="ada")
        >>> config = AuthConfig(auth_scheme=APIKey(in_="header", name="X-Key"))
        >>> config = config.with_credential(AuthCredential(auth_type="apiKey", api_key="k-123"))
        >>> service = InMemoryCredentialService()
        >>> asyncio.run(service.save_credential(config, ada))
        >>> asyncio.run(service.load_credential(config, ada)).api_key
        'k-123'
    """

    def __init__(self) -> None:
        """Start without credentials."""
        self._credentials: dict[tuple[str, str, str], AuthCredential] = {}

    async def load_credential(self, auth_config: AuthConfig, callback_context: Caller) -> AuthCredential | None:
        """Return the user's credential for a config, a copy of the caller's own."""
        found = self._credentials.get(_key(auth_config, callback_context))
        return None if found is None else found.model_copy(deep=True)

    async def save_credential(self, auth_config: AuthConfig, callback_context: Caller) -> None:
        """Keep the config's credential; a config without one changes nothing."""
        if auth_config.exchanged_auth_credential is not None:
            credential = auth_config.exchanged_auth_credential.model_copy(deep=True)
            self._credentials[_key(auth_config, callback_context)] = credential


def _key(config: AuthConfig, caller: Caller) -> tuple[str, str, str]:
    return caller.session.app_name, caller.user_id, config.key
