"""Credentials as plain data: an API key, HTTP basic or bearer, OAuth2 and OpenID Connect, a service account."""

from __future__ import annotations

import enum
from typing import Annotated, Literal

from pydantic import Field

from adk_nb.auth.secrets import SECRET, AuthModel

SecretText = Annotated[str | None, SECRET]


class AuthCredentialTypes(enum.StrEnum):
    """What kind of credential it is."""

    API_KEY = "apiKey"
    HTTP = "http"
    OAUTH2 = "oauth2"
    OPEN_ID_CONNECT = "openIdConnect"
    SERVICE_ACCOUNT = "serviceAccount"


class HttpCredentials(AuthModel):
    """Name and password, or a token."""

    username: str | None = None
    password: SecretText = None
    token: SecretText = None


class HttpAuth(AuthModel):
    """What goes into an `Authorization` header."""

    scheme: str
    """`basic`, `bearer`, ..."""
    credentials: HttpCredentials
    additional_headers: Annotated[dict[str, str] | None, SECRET] = None


class OAuth2Auth(AuthModel):
    """An OAuth2 client, or what it was given: a code, or tokens."""

    client_id: str | None = None
    client_secret: SecretText = None
    auth_uri: str | None = None
    """Where the person signs in."""
    nonce: SecretText = None
    state: SecretText = None
    redirect_uri: str | None = None
    auth_response_uri: SecretText = None
    """Where the person was sent after signing in; the code is in it."""
    auth_code: SecretText = None
    access_token: SecretText = None
    refresh_token: SecretText = None
    id_token: SecretText = None
    expires_at: int | None = None
    expires_in: int | None = None
    audience: str | None = None
    prompt: str | None = None
    code_verifier: SecretText = None
    code_challenge_method: str | None = None
    token_endpoint_auth_method: (
        Literal["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"] | None
    ) = "client_secret_basic"


class ServiceAccountCredential(AuthModel):
    """The key file of a service account."""

    type_: str = Field(default="", alias="type")
    project_id: str
    private_key_id: Annotated[str, SECRET]
    private_key: Annotated[str, SECRET]
    client_email: str
    client_id: str
    auth_uri: str
    token_uri: str
    auth_provider_x509_cert_url: str
    client_x509_cert_url: str
    universe_domain: str


class ServiceAccount(AuthModel):
    """A service account, or the one of the machine."""

    service_account_credential: ServiceAccountCredential | None = None
    scopes: list[str] | None = None
    use_default_credential: bool | None = False
    use_id_token: bool | None = False
    audience: str | None = None


class AuthCredential(AuthModel):
    """A credential; `auth_type` says which of the fields holds it.

    It can't be handed on or written to the state, as both are stored: ask `ctx.get_auth_response` where you need it.

    Example:
        >>> AuthCredential(auth_type="apiKey", api_key="k-123")
        AuthCredential(auth_type=<AuthCredentialTypes.API_KEY: 'apiKey'>, resource_ref=None, http=None,
            service_account=None, oauth2=None)
    """

    auth_type: AuthCredentialTypes
    resource_ref: str | None = None
    api_key: SecretText = None
    http: HttpAuth | None = None
    service_account: ServiceAccount | None = None
    oauth2: OAuth2Auth | None = None
