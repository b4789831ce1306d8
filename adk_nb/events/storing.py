"""What keeps credentials out of history: whatever is dumped for it is dumped in a context that they know.

A model that can hold a secret meets this context in its own serializer, however it got into the dump: as a field, in a
container, from a computed field or another model's serializer. It then gives what may be shown, and leaves its name.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from adk_nb.errors import WorkflowDataError


class Storing:
    """The context of a dump that is stored."""

    __slots__ = ("met",)

    def __init__(self) -> None:
        self.met: list[str] = []
        """Names of the classes that held back a secret."""


def without_secrets(value: Any, where: str) -> Any:
    """Return a value as it is if no model that can hold a secret is in it; else as JSON values without the secrets.

    Args:
        value: Anything, such as what stands in a field of an event.
        where: How to name the value in an error.

    Raises:
        WorkflowDataError: it can't be dumped, for instance because it holds itself.

    Example:
        >>> from adk_nb.auth import AuthCredential
        >>> without_secrets({"for": [AuthCredential(auth_type="apiKey", api_key="k-123")]}, "widget")
        {'for': [{'authType': 'apiKey'}]}
    """
    storing = Storing()
    try:
        shown = to_jsonable_python(
            value, context=storing, exclude_none=True, bytes_mode="base64", inf_nan_mode="constants", fallback=_opened
        )
    except Exception as error:  # serializers are people's own code
        raise WorkflowDataError(
            f"{where} can't be stored: {type(error).__name__}: give JSON values or a pydantic model without loops."
        ) from error
    return shown if storing.met else value


def dumped(model: BaseModel, where: str) -> dict[str, Any]:
    """Return a model's fields as a dictionary that may be stored.

    Raises:
        WorkflowDataError: a model that can hold a secret is in it.
    """
    storing = Storing()
    fields = model.model_dump(context=storing)
    if storing.met:
        raise refusal(where, storing.met[0], f" in its {type(model).__name__}")
    return fields


def refusal(where: str, kind: str, in_what: str = "") -> WorkflowDataError:
    """Return the error about a value that may hold a secret."""
    return WorkflowDataError(
        f"{where} is an {kind}{in_what}, which may hold a secret and so is neither stored nor handed on: "
        f"call ctx.get_auth_response(auth_config) in the node that needs it."
    )


def _opened(value: Any) -> Any:
    """Return the attributes of an object of a class that JSON knows nothing of."""
    return getattr(value, "__dict__", None) or repr(type(value))
