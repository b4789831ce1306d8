"""What a model is told about a function: name, description and the JSON schema of its arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.genai import types
from pydantic.errors import PydanticInvalidForJsonSchema

from adk_nb.errors import ConfigurationError
from adk_nb.workflow.signature import Parameter, arguments_schema


def declaration_of(name: str, description: str, parameters: Iterable[Parameter]) -> types.FunctionDeclaration:
    """Return the declaration of a function; one without arguments has no schema.

    Raises:
        ConfigurationError: the type of an argument has no JSON schema, so that no model could give it.

    Example:
        >>> from adk_nb.workflow.signature import read_signature
        >>> def add(a: int, b: int = 2): ...
        >>> declaration_of("add", "", read_signature(add).all).parameters_json_schema["required"]
        ['a']
    """
    wanted = tuple(parameters)
    schema = _schema(name, wanted) if wanted else None
    return types.FunctionDeclaration(name=name, description=description or None, parameters_json_schema=schema)


def _schema(name: str, parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    try:
        return arguments_schema(name, parameters)
    except PydanticInvalidForJsonSchema as error:
        raise ConfigurationError(
            f"Tool {name!r} can't be told to a model, as the type of {_culprit(name, parameters)} has no JSON schema "
            f"({error.message}): use a simple type, a pydantic model or a Literal."
        ) from None


def _culprit(name: str, parameters: tuple[Parameter, ...]) -> str:
    for one in parameters:
        try:
            arguments_schema(name, (one,))
        except PydanticInvalidForJsonSchema:
            return f"its parameter {one.name!r}"
    return "one of its parameters"
