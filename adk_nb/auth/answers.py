"""A person's answer to a request for a credential: read, checked and turned into what may be stored of it.

No message that is made here shows anything of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.genai import types
from pydantic import ValidationError

from adk_nb.auth.auth_credential import (
    AuthCredential,
    AuthCredentialTypes,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
)
from adk_nb.auth.auth_tool import AuthConfig
from adk_nb.auth.kept import RunKey, keep
from adk_nb.errors import AnswerError
from adk_nb.events.credential_request import MEANT_BY_TEXT, is_basic
from adk_nb.events.record import Question
from adk_nb.events.request_input import parse_json

REDACTED = "not stored: a credential stays in the process that it was given to"
"""What stands in the history in place of a credential."""


def message_for(config: AuthConfig) -> str:
    """Return the question in words."""
    what = MEANT_BY_TEXT.get(config.scheme_type, "Credential")
    if _is_basic(config):
        what = "User name and password"
    return f"{what} for {getattr(config.auth_scheme, 'name', config.key)}?"


def read_credential(interrupt_id: str, auth_config: Any, answer: Any) -> AuthCredential:
    """Return the credential that a person answered with.

    Args:
        interrupt_id: The question, for errors.
        auth_config: The config as the question shows it, without secrets.
        answer: A text, a credential or a config, the last two also as dictionary or JSON text.
    Raises:
        AnswerError: it is malformed; the message doesn't show it.
    """
    config = _read_config(auth_config)
    try:
        credential = _credential_in(config, _opened(answer))
    except ValidationError as error:
        wrong = "; ".join(sorted({".".join(map(str, line["loc"])) or "answer" for line in error.errors()}))
        raise _malformed(interrupt_id, f"{wrong} can't be read", config) from None
    fault = "a credential is missing" if credential is None else _fault(credential, config)
    if credential is None or fault:
        raise _malformed(interrupt_id, fault, config)
    return credential


def redacted(credential: AuthCredential) -> dict[str, Any]:
    """Return what is stored as the answer.

    Example:
        >>> redacted(AuthCredential(auth_type="apiKey", api_key="k-123"))["authType"]
        'apiKey'
    """
    return {"authType": str(credential.auth_type), "credential": REDACTED}


def stored_answer(question: Question, response: Any) -> dict[str, Any]:
    """Return what a record holds for the answer that stands in an event, also in one that another program wrote.

    Raises:
        AnswerError: it is malformed.
    """
    if isinstance(response, Mapping) and response.get("credential") == REDACTED:
        return dict(response)
    return redacted(read_credential(question.interrupt_id, question.payload, response))


class TakenCredentials:
    """The credentials in one message of answers, taken out of what is stored and kept in this process."""

    def __init__(self) -> None:
        """Begin with none."""
        self._taken: dict[str, tuple[str, AuthCredential]] = {}

    def take(self, question: Question, answer: Any) -> dict[str, Any]:
        """Return what is stored in place of the answer to a question for a credential.

        Raises:
            AnswerError: the answer is malformed.
        """
        known = self._taken.get(question.interrupt_id)
        if known is not None and answer == redacted(known[1]):  # a plugin gave the message back as it saw it
            return redacted(known[1])
        credential = read_credential(question.interrupt_id, question.payload, answer)
        config = _read_config(question.payload)
        self._taken[question.interrupt_id] = (config.key if config else question.interrupt_id, credential)
        return redacted(credential)

    def taken_out_of(self, message: types.Content) -> types.Content:
        """Return the message as it is stored; one without credentials is returned as it is."""
        if not self._taken:
            return message
        return message.model_copy(update={"parts": [self._without(part) for part in message.parts or ()]})

    def keep(self, run: RunKey) -> None:
        """Keep them for a run, once the answers are stored."""
        for credential_key, credential in self._taken.values():
            keep(run, credential_key, credential)

    def _without(self, part: types.Part) -> types.Part:
        response = part.function_response
        if response is None or response.id not in self._taken:
            return part
        stored = redacted(self._taken[response.id][1])
        return types.Part(function_response=types.FunctionResponse(id=response.id, name=response.name, response=stored))


def _read_config(auth_config: Any) -> AuthConfig | None:
    try:
        return AuthConfig.model_validate(auth_config)
    except ValueError:  # a custom node may ask with anything
        return None


def _opened(answer: Any) -> Any:
    """Return an answer out of the wrapper of ADK's web client, and a JSON object out of its text."""
    if isinstance(answer, Mapping) and set(answer) == {"response"}:
        answer = answer["response"]
    if isinstance(answer, str):
        parsed = parse_json(answer.strip())
        return parsed if isinstance(parsed, dict) else answer.strip()
    return answer


def _credential_in(config: AuthConfig | None, answer: Any) -> AuthCredential | None:
    if isinstance(answer, AuthCredential):
        return answer
    if isinstance(answer, AuthConfig):
        return answer.exchanged_auth_credential or answer.raw_auth_credential
    if isinstance(answer, str):
        return _from_text(config, answer) if answer else None
    if not isinstance(answer, Mapping):
        return None
    if "authType" in answer or "auth_type" in answer:
        return AuthCredential.model_validate(dict(answer))
    for name in ("exchangedAuthCredential", "exchanged_auth_credential", "rawAuthCredential", "raw_auth_credential"):
        if answer.get(name) is not None:
            return AuthCredential.model_validate(answer[name])
    if config is not None and _is_basic(config):
        http = HttpAuth(scheme="basic", credentials=HttpCredentials.model_validate(dict(answer)))
        return AuthCredential(auth_type=AuthCredentialTypes.HTTP, http=http)
    return None


def _from_text(config: AuthConfig | None, text: str) -> AuthCredential | None:
    kind = "apiKey" if config is None else config.scheme_type
    if kind == "apiKey":
        return AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key=text)
    if kind == "http" and config is not None and not _is_basic(config):
        http = HttpAuth(scheme=getattr(config.auth_scheme, "scheme", "bearer"), credentials=HttpCredentials(token=text))
        return AuthCredential(auth_type=AuthCredentialTypes.HTTP, http=http)
    if kind in ("oauth2", "openIdConnect"):
        return AuthCredential(auth_type=AuthCredentialTypes(kind), oauth2=OAuth2Auth(access_token=text))
    return None


def _is_basic(config: AuthConfig) -> bool:
    return is_basic(config.auth_scheme.public())


_FITS = {
    "apiKey": {"apiKey"},
    "http": {"http"},
    "oauth2": {"oauth2", "openIdConnect", "http", "serviceAccount"},
    "openIdConnect": {"oauth2", "openIdConnect", "http", "serviceAccount"},
}


def _fault(credential: AuthCredential, config: AuthConfig | None) -> str:
    """Say what is wrong with a credential, `""` for nothing."""
    kind = str(credential.auth_type)
    asked = config.scheme_type if config is not None else ""
    if kind not in _FITS.get(asked, {kind}):
        return f"its authType is {kind!r}, and the scheme is {asked!r}"
    if kind == "apiKey":
        return "" if credential.api_key else "apiKey is missing"
    if kind == "http":
        given = credential.http.credentials if credential.http else HttpCredentials()
        return "" if given.token or given.username else "http.credentials has no token and no username"
    if kind == "serviceAccount":
        return "" if credential.service_account else "serviceAccount is missing"
    oauth2 = credential.oauth2 or OAuth2Auth()
    given_any = oauth2.access_token or oauth2.auth_code or oauth2.auth_response_uri or oauth2.id_token
    return "" if given_any else "oauth2 has no accessToken, authCode, authResponseUri or idToken"


def _malformed(interrupt_id: str, fault: str, config: AuthConfig | None) -> AnswerError:
    kind = "apiKey" if config is None else config.scheme_type
    text = f"the {MEANT_BY_TEXT[kind]} as text, " if kind in MEANT_BY_TEXT else ""
    if config is not None and _is_basic(config):
        text = "username and password, "
    return AnswerError(
        f"The answer to {interrupt_id!r} is malformed: {fault}. Give {text}a credential "
        f"({{'authType': {kind!r}, ...}}), or the request's authConfig with exchangedAuthCredential filled in. Nothing "
        f"was stored, and the question stays open."
    )
