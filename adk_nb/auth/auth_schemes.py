"""How a service wants to be called: the security schemes of OpenAPI 3, as plain data.

`google-adk` takes these from fastapi; objects made there are understood, too.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from adk_nb.auth.secrets import AuthModel
from adk_nb.errors import ConfigurationError


class AuthSchemeType(enum.Enum):
    """The kinds of schemes."""

    apiKey = "apiKey"
    http = "http"
    oauth2 = "oauth2"
    openIdConnect = "openIdConnect"


class APIKeyIn(enum.Enum):
    """Where an API key goes."""

    query = "query"
    header = "header"
    cookie = "cookie"


class SecurityBase(AuthModel):
    """Base of the schemes."""

    type_: AuthSchemeType = Field(validation_alias="type", serialization_alias="type")
    description: str | None = None


class APIKey(SecurityBase):
    """A key in a header, a query or a cookie.

    Example:
        >>> APIKey(in_="header", name="X-Key").name
        'X-Key'
    """

    type_: AuthSchemeType = Field(default=AuthSchemeType.apiKey, validation_alias="type", serialization_alias="type")
    in_: APIKeyIn = Field(validation_alias="in", serialization_alias="in")
    name: str


class HTTPBase(SecurityBase):
    """A scheme of the `Authorization` header, for instance `basic`."""

    type_: AuthSchemeType = Field(default=AuthSchemeType.http, validation_alias="type", serialization_alias="type")
    scheme: str


class HTTPBearer(HTTPBase):
    """A bearer token in the `Authorization` header."""

    scheme: Literal["bearer"] = "bearer"
    bearerFormat: str | None = None


class OAuthFlow(AuthModel):
    """What all flows have."""

    refreshUrl: str | None = None
    scopes: dict[str, str] = Field(default_factory=dict)


class OAuthFlowImplicit(OAuthFlow):
    """Sign in, and the token comes with the redirect."""

    authorizationUrl: str


class OAuthFlowPassword(OAuthFlow):
    """A token for a name and password."""

    tokenUrl: str


class OAuthFlowClientCredentials(OAuthFlow):
    """A token for the client itself."""

    tokenUrl: str


class OAuthFlowAuthorizationCode(OAuthFlow):
    """Sign in, and exchange the code that comes with the redirect for a token."""

    authorizationUrl: str
    tokenUrl: str


class OAuthFlows(AuthModel):
    """The flows that a service offers."""

    implicit: OAuthFlowImplicit | None = None
    password: OAuthFlowPassword | None = None
    clientCredentials: OAuthFlowClientCredentials | None = None
    authorizationCode: OAuthFlowAuthorizationCode | None = None


class OAuth2(SecurityBase):
    """OAuth2."""

    type_: AuthSchemeType = Field(default=AuthSchemeType.oauth2, validation_alias="type", serialization_alias="type")
    flows: OAuthFlows


class ExtendedOAuth2(OAuth2):
    """OAuth2 with the address of its issuer."""

    issuer_url: str | None = Field(default=None, alias="issuer_url")


class OpenIdConnect(SecurityBase):
    """OpenID Connect, described at an address."""

    type_: AuthSchemeType = Field(
        default=AuthSchemeType.openIdConnect, validation_alias="type", serialization_alias="type"
    )
    openIdConnectUrl: str


class OpenIdConnectWithConfig(SecurityBase):
    """OpenID Connect, described here."""

    type_: AuthSchemeType = Field(
        default=AuthSchemeType.openIdConnect, validation_alias="type", serialization_alias="type"
    )
    authorization_endpoint: str = Field(alias="authorization_endpoint")
    token_endpoint: str = Field(alias="token_endpoint")
    userinfo_endpoint: str | None = Field(default=None, alias="userinfo_endpoint")
    revocation_endpoint: str | None = Field(default=None, alias="revocation_endpoint")
    token_endpoint_auth_methods_supported: list[str] | None = Field(
        default=None, alias="token_endpoint_auth_methods_supported"
    )
    grant_types_supported: list[str] | None = Field(default=None, alias="grant_types_supported")
    scopes: list[str] | None = None


class CustomAuthScheme(AuthModel):
    """A scheme of another kind."""

    type_: str = Field(validation_alias="type", serialization_alias="type")


AuthScheme = APIKey | HTTPBase | OAuth2 | OpenIdConnect | HTTPBearer | OpenIdConnectWithConfig | CustomAuthScheme
"""Any of the schemes."""


def read_scheme(value: Any) -> AuthModel:
    """Return the scheme that an object, a dictionary or fastapi's own model describes.

    Raises:
        ConfigurationError: it is none.

    Example:
        >>> type(read_scheme({"type": "http", "scheme": "bearer"})).__name__
        'HTTPBearer'
    """
    if isinstance(value, AuthModel):
        return value
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f"auth_scheme is a {type(value).__name__}: give APIKey(...), HTTPBearer(), OAuth2(...), OpenIdConnect(...) "
            f"or the OpenAPI description of one as a dictionary."
        )
    kind = value.get("type", value.get("type_"))
    scheme_class = _class_for(getattr(kind, "value", kind), value)
    try:
        return scheme_class.model_validate(dict(value))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, line['loc']))}: {line['msg']}" for line in error.errors())
        raise ConfigurationError(f"auth_scheme doesn't describe {scheme_class.__name__} ({wrong}).") from None


def _class_for(kind: Any, value: Mapping[str, Any]) -> type[AuthModel]:
    if kind == "apiKey":
        return APIKey
    if kind == "http":
        return HTTPBearer if str(value.get("scheme", "")).lower() == "bearer" else HTTPBase
    if kind == "oauth2":
        return ExtendedOAuth2 if "issuer_url" in value else OAuth2
    if kind == "openIdConnect":
        return OpenIdConnectWithConfig if "authorization_endpoint" in value else OpenIdConnect
    return CustomAuthScheme
