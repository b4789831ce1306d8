"""What is sent to a model, as plain JSON values: for the call log and for tapes. No client, header or key is in it."""

from __future__ import annotations

import base64
import enum
import inspect
import math
from collections.abc import Mapping
from typing import Any

from google.genai import types
from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError

from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.models.secrets import without_secrets

# Settings that say how to reach the server, not what is asked: addresses, headers, clients.
_WAY = frozenset({"http_options"})
_SHAPES = frozenset({"response_schema", "response_json_schema"})


def plain_request(request: LlmRequest) -> dict[str, Any]:
    """Return `{"model", "contents", "config"}` of a request; bytes are base64, shapes JSON schemas, functions names.

    How the server is reached isn't in it, and what looks like an API key is blotted out.

    Example:
        >>> request = LlmRequest(model="m", contents=[types.Content(role="user", parts=[types.Part(text="Hi")])])
        >>> request.append_instructions(["Be brief."])
        >>> plain_request(request)["config"]
        {'system_instruction': 'Be brief.'}
    """
    config = {
        name: _plain_shape(value) if name in _SHAPES else _plain(value)
        for name, value in _given(request.config)
        if name not in _WAY
    }
    contents = [_plain(content) for content in request.contents]
    whole: dict[str, Any] = without_secrets({"model": request.model, "contents": contents, "config": config})
    return whole


def plain_response(response: LlmResponse) -> dict[str, Any]:
    """Return a response as JSON values, without what isn't set.

    Example:
        >>> plain_response(LlmResponse(error_code="SAFETY"))
        {'error_code': 'SAFETY'}
    """
    whole: dict[str, Any] = without_secrets(_plain(response))
    return whole


def _given(model: BaseModel) -> list[tuple[str, Any]]:
    names = [*type(model).model_fields, *(model.model_extra or ())]
    return [(name, value) for name in names if (value := getattr(model, name, None)) is not None]


def _plain(value: Any) -> Any:
    if value is None or (isinstance(value, (str, bool, int)) and not isinstance(value, enum.Enum)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if isinstance(value, (bytes, bytearray)):
        return base64.urlsafe_b64encode(value).decode()
    if isinstance(value, BaseModel):
        return {name: _plain(inner) for name, inner in _given(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in value]
    if callable(value):
        return _named(value)
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if callable(isoformat) else f"<{type(value).__name__}>"


def _plain_shape(shape: Any) -> Any:
    """A declared shape as the JSON schema that it stands for."""
    if isinstance(shape, (dict, types.Schema)):
        return _plain(shape)
    try:
        return TypeAdapter(shape).json_schema()
    except PydanticUserError:  # a type that has no JSON schema
        return _named(shape)


def _named(value: Any) -> str:
    name = getattr(value, "__name__", type(value).__name__)
    try:
        return f"{name}{inspect.signature(value)}"
    except (TypeError, ValueError):  # some builtins don't tell
        return str(name)
