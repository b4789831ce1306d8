"""Credentials that a node or tool needs and a person gives: plain data, and services that keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.lazy import loaded_when_used

if TYPE_CHECKING:
    from adk_nb.auth.auth_credential import (
        AuthCredential,
        AuthCredentialTypes,
        HttpAuth,
        HttpCredentials,
        OAuth2Auth,
        ServiceAccount,
        ServiceAccountCredential,
    )
    from adk_nb.auth.auth_schemes import (
        APIKey,
        APIKeyIn,
        AuthScheme,
        AuthSchemeType,
        HTTPBase,
        HTTPBearer,
        OAuth2,
        OpenIdConnect,
        OpenIdConnectWithConfig,
    )
    from adk_nb.auth.auth_tool import AuthConfig
    from adk_nb.auth.credential_service.base_credential_service import BaseCredentialService
    from adk_nb.auth.credential_service.in_memory_credential_service import InMemoryCredentialService

__all__ = [
    "APIKey",
    "APIKeyIn",
    "AuthConfig",
    "AuthCredential",
    "AuthCredentialTypes",
    "AuthScheme",
    "AuthSchemeType",
    "BaseCredentialService",
    "HTTPBase",
    "HTTPBearer",
    "HttpAuth",
    "HttpCredentials",
    "InMemoryCredentialService",
    "OAuth2",
    "OAuth2Auth",
    "OpenIdConnect",
    "OpenIdConnectWithConfig",
    "ServiceAccount",
    "ServiceAccountCredential",
]

_SCHEMES = ("APIKey", "APIKeyIn", "AuthScheme", "AuthSchemeType", "HTTPBase", "HTTPBearer", "OAuth2", "OpenIdConnect")
_HOMES = {
    **dict.fromkeys(__all__, "adk_nb.auth.auth_credential"),
    **dict.fromkeys((*_SCHEMES, "OpenIdConnectWithConfig"), "adk_nb.auth.auth_schemes"),
    "AuthConfig": "adk_nb.auth.auth_tool",
    "BaseCredentialService": "adk_nb.auth.credential_service.base_credential_service",
    "InMemoryCredentialService": "adk_nb.auth.credential_service.in_memory_credential_service",
}

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
