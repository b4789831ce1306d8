"""What a model is told about a function: name, description and the JSON schema of its arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema

from adk_nb.errors import ConfigurationError
from adk_nb.workflow.signature import ABSENT, Parameter


class _Quiet(GenerateJsonSchema):
    """Leaves out a default that JSON can't hold, without a warning: the function still has it."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  # pydantic's own attribute


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
        return _model(name, parameters).model_json_schema(schema_generator=_Quiet)
    except PydanticInvalidForJsonSchema as error:
        raise ConfigurationError(
            f"Tool {name!r} can't be told to a model, as the type of {_culprit(name, parameters)} has no JSON schema "
            f"({error.message}): use a simple type, a pydantic model or a Literal."
        ) from None


def _model(name: str, parameters: tuple[Parameter, ...]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for index, one in enumerate(parameters):
        hint = one.hint if one.adapter is not None else Any
        default = ... if one.default is ABSENT else one.default
        if one.name.startswith("_") or hasattr(BaseModel, one.name):  # names that a model's field can't have
            title = one.name.replace("_", " ").strip().title()
            fields[f"argument_{index}"] = (Annotated[hint, Field(alias=one.name, title=title)], default)
        else:
            fields[one.name] = (hint, default)
    made: type[BaseModel] = create_model(
        f"{name}Params", __config__=ConfigDict(arbitrary_types_allowed=True, protected_namespaces=()), **fields
    )
    return made


def _culprit(name: str, parameters: tuple[Parameter, ...]) -> str:
    for one in parameters:
        try:
            _model(name, (one,)).model_json_schema(schema_generator=_Quiet)
        except PydanticInvalidForJsonSchema:
            return f"its parameter {one.name!r}"
    return "one of its parameters"
