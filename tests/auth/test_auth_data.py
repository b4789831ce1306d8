"""Credentials and schemes as data: google-adk's names, fields and JSON, with secrets that don't show."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from adk_nb import auth
from adk_nb.auth import APIKey, APIKeyIn, AuthConfig, AuthCredential, HTTPBearer, OAuth2, OAuth2Auth
from adk_nb.auth.auth_credential import HttpAuth, HttpCredentials, ServiceAccount, ServiceAccountCredential
from adk_nb.auth.auth_schemes import OAuthFlows
from adk_nb.auth.auth_tool import AuthToolArguments
from adk_nb.errors import ConfigurationError

SCHEMES: list[dict[str, Any]] = [
    {"type": "apiKey", "in": "header", "name": "X-Key"},
    {"type": "apiKey", "in": "query", "name": "key", "description": "the key"},
    {"type": "http", "scheme": "basic"},
    {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    {
        "type": "oauth2",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": "https://example.org/a",
                "tokenUrl": "https://example.org/t",
                "scopes": {"read": "Read"},
            }
        },
    },
    {"type": "openIdConnect", "openIdConnectUrl": "https://example.org"},
    {"type": "openIdConnect", "authorization_endpoint": "https://a", "token_endpoint": "https://t", "scopes": ["x"]},
    {"type": "own", "anything": 1},
]


def theirs() -> Any:
    """Return google-adk's `auth`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import google.adk.auth.auth_tool  # inner: it warns while it loads

        return google.adk.auth


@pytest.mark.parametrize("ours", [AuthCredential, HttpAuth, HttpCredentials, OAuth2Auth, ServiceAccount, AuthConfig])
def test_fields_are_those_of_google_adk(ours: Any) -> None:
    """Each model has ADK's fields under ADK's JSON names."""
    module = theirs().auth_tool if ours is AuthConfig else theirs().auth_credential
    their_fields = getattr(module, ours.__name__).model_fields
    assert {name: field.alias for name, field in ours.model_fields.items()} == {
        name: field.alias for name, field in their_fields.items()
    }


def test_service_accounts_are_read_from_key_files() -> None:
    """The key file's own names are ADK's."""
    their_fields = theirs().auth_credential.ServiceAccountCredential.model_fields
    ours = {name: field.alias for name, field in ServiceAccountCredential.model_fields.items()}
    assert ours == {name: field.alias for name, field in their_fields.items()}


@pytest.mark.parametrize("scheme", SCHEMES, ids=json.dumps)
def test_schemes_are_read_as_google_adk_reads_them(scheme: dict[str, Any]) -> None:
    """A scheme comes out of a config as it went in, and as google-adk's own config writes it."""
    written = AuthConfig(auth_scheme=scheme, credential_key="k").model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude_defaults=False
    )
    their_config = theirs().AuthConfig(auth_scheme=scheme, credential_key="k")
    assert written["authScheme"] == their_config.model_dump(mode="json", by_alias=True, exclude_none=True)["authScheme"]
    read = AuthConfig(auth_scheme=their_config.auth_scheme, credential_key="k")
    assert read.auth_scheme == AuthConfig(auth_scheme=scheme, credential_key="k").auth_scheme


@pytest.mark.parametrize("scheme", [5, None, {"type": "apiKey"}, {"type": "http"}, {}], ids=repr)
def test_what_is_no_scheme_is_refused(scheme: Any) -> None:
    """The error says what a scheme is."""
    with pytest.raises(ConfigurationError, match="auth_scheme"):
        AuthConfig(auth_scheme=scheme)


def test_a_key_of_its_own_follows_from_what_is_public() -> None:
    """Without `credential_key`, the same scheme and client mean the same credential, whatever the secrets are."""

    def key(client: str, secret: str) -> str | None:
        raw = AuthCredential(auth_type="oauth2", oauth2=OAuth2Auth(client_id=client, client_secret=secret))  # type: ignore[arg-type]
        return AuthConfig(auth_scheme=OAuth2(flows=OAuthFlows()), raw_auth_credential=raw).credential_key

    assert key("a", "1") == key("a", "2")
    assert key("a", "1") != key("b", "1")
    assert AuthConfig(auth_scheme=HTTPBearer()).key != AuthConfig(auth_scheme=APIKey(in_=APIKeyIn.query, name="k")).key


def test_json_round_trip() -> None:
    """A config goes through JSON in ADK's names and comes back equal, secrets included, where its owner writes it."""
    credential = AuthCredential.model_validate(
        {"authType": "http", "http": {"scheme": "x", "credentials": {"token": "t"}}}
    )
    config = AuthConfig(auth_scheme=HTTPBearer(), raw_auth_credential=credential)
    again = AuthConfig.model_validate_json(config.model_dump_json(by_alias=True))
    assert again == config
    arguments = AuthToolArguments(function_call_id="c", auth_config=config)
    assert AuthToolArguments.model_validate(arguments.model_dump(by_alias=True)).auth_config == config


def test_every_text_form_hides_secrets() -> None:
    """Neither `repr` nor `str` nor an error shows a secret, nor a field that isn't known."""
    secret = "k-very-secret"
    shown = AuthCredential.model_validate(
        {
            "authType": "oauth2",
            "apiKey": secret,
            "unknown": secret,
            "http": {
                "scheme": "b",
                "credentials": {"token": secret, "password": secret},
                "additionalHeaders": {"x": secret},
            },
            "oauth2": dict.fromkeys(("accessToken", "refreshToken", "idToken", "authCode", "clientSecret"), secret),
        }
    )
    assert secret not in repr(shown) + str(shown) + f"{shown}" + json.dumps(shown.public())
    with pytest.raises(ValueError, match="authType") as caught:
        AuthCredential.model_validate({"authType": secret})
    assert secret not in str(caught.value)


def test_the_names_of_google_adk_are_there() -> None:
    """What google-adk's `auth` offers as data is offered here, in the same places."""
    code = {"AuthHandler", "BaseAuthProvider"}  # they exchange tokens over the network
    assert set(theirs().__all__) - code <= set(auth.__all__)
    for name in auth.__all__:
        assert getattr(auth, name) is not None
