"""Models with secrets in them: what of them may be shown and stored, and what never is."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, ClassVar

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    alias_generators,
    model_serializer,
)

from adk_nb.events.storing import Storing


class Secret:
    """Marks a field whose value is never shown or stored: `Annotated[str | None, SECRET]`."""


SECRET = Secret()


class AuthModel(BaseModel):
    """Base of everything about credentials. Its text form, and the errors about it, don't show secrets.

    Fields that it doesn't know are kept, and count as secrets.
    """

    model_config = ConfigDict(
        alias_generator=alias_generators.to_camel,
        populate_by_name=True,
        extra="allow",
        hide_input_in_errors=True,
        defer_build=True,  # most programs need none of these models
    )

    holds_secrets: ClassVar[bool] = True
    """It is refused as a node's output, in the state, and wherever else it would be stored."""

    @model_serializer(mode="wrap")
    def _dump(self, dump: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        if isinstance(info.context, Storing):
            info.context.met.append(type(self).__name__)
            return self.public()
        fields: dict[str, Any] = dump(self)
        return fields

    def public(self) -> dict[str, Any]:
        """Return what may be shown and stored, as JSON values under ADK's camelCase names, without `None`.

        Example:
            >>> from adk_nb.auth import AuthCredential
            >>> AuthCredential(auth_type="apiKey", api_key="k-123").public()
            {'authType': 'apiKey'}
        """
        shown = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if value is not None and not any(isinstance(mark, Secret) for mark in field.metadata):
                shown[field.serialization_alias or name] = _plain(value)
        return shown

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        for name, field in type(self).model_fields.items():
            if not any(isinstance(mark, Secret) for mark in field.metadata):
                yield name, getattr(self, name)

    def __str__(self) -> str:
        return repr(self)


def _plain(value: Any) -> Any:
    if isinstance(value, AuthModel):
        return value.public()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value
