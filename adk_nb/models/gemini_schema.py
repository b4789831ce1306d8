"""The declared shape of an answer or of a tool's arguments, in the form that the Gemini API takes whole."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from adk_nb.models.gemini_json_schema import gemini_json_schema

# What the client's own form of a schema can hold; anything else goes as JSON schema.
_PLAIN = frozenset(
    {"type", "title", "description", "enum", "items", "properties", "required", "anyOf", "default", "$ref", "$defs"}
    | {"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern", "format", "nullable"}
)


def check_for_gemini(shape: Any, what: str) -> None:
    """Refuse a shape that the Gemini API can't take, also not in another form.

    Args:
        shape: A type that pydantic can check, or a JSON schema; google-genai's own `Schema` always fits.
        what: What the shape is for, as the beginning of the message: `output_schema of agent 'a'`.
    Raises:
        ConfigurationError: it can't; the message names the field and what to do.

    Example:
        >>> check_for_gemini({"not": {"type": "string"}}, "output_schema of agent 'a'")
        Traceback (most recent call last):
        adk_nb.errors.ConfigurationError: output_schema of agent 'a' can't be sent to Gemini: it uses 'not', which has
        no equal form there. Describe the rule in words, or check it in a function node after the agent.
    """
    if isinstance(shape, types.Schema) or shape is None:
        return
    if not isinstance(shape, dict):
        try:
            shape = TypeAdapter(shape).json_schema()
        except PydanticUserError:  # said by whoever checks the type
            return
    gemini_json_schema(shape, what)


def check_declaration(declaration: types.FunctionDeclaration) -> None:
    """Refuse a tool whose arguments the Gemini API can't be told of, as `check_for_gemini` does.

    Raises:
        ConfigurationError: a parameter can't be said.
    """
    if isinstance(declaration.parameters_json_schema, dict):
        gemini_json_schema(declaration.parameters_json_schema, f"Arguments of tool {declaration.name!r}")


def fit_for_gemini(config: types.GenerateContentConfig) -> None:
    """Send every shape in a form that the API takes whole; change the config in place.

    The client's own conversion refuses dictionaries with free keys and closed models, and empties recursive models.

    Raises:
        ConfigurationError: there is no such form.
    """
    _fit_answer(config)
    if config.tools:
        config.tools = [_fit_tool(tool) for tool in config.tools]


def _fit_answer(config: types.GenerateContentConfig) -> None:
    if isinstance(config.response_json_schema, dict):
        config.response_json_schema = gemini_json_schema(config.response_json_schema, "The declared answer")
    declared = config.response_schema
    if declared is None or isinstance(declared, (dict, types.Schema)):
        return
    adapter: TypeAdapter[Any] = TypeAdapter(declared)  # type: ignore[arg-type]  # any type, plain or generic
    schema = adapter.json_schema()
    if _needs_json_schema(schema, schema.get("$defs", {}), ()):
        config.response_schema = None
        config.response_json_schema = gemini_json_schema(schema, "The declared answer")


def _fit_tool(tool: Any) -> Any:
    if not isinstance(tool, types.Tool) or not tool.function_declarations:
        return tool
    fitted = [
        declared.model_copy(
            update={
                "parameters_json_schema": gemini_json_schema(
                    declared.parameters_json_schema, f"Arguments of tool {declared.name!r}"
                )
            }
        )
        if isinstance(declared.parameters_json_schema, dict)
        else declared
        for declared in tool.function_declarations
    ]
    return tool.model_copy(update={"function_declarations": fitted})


def _needs_json_schema(schema: Any, definitions: dict[str, Any], inside: tuple[str, ...]) -> bool:
    if isinstance(schema, list):
        return any(_needs_json_schema(item, definitions, inside) for item in schema)
    if not isinstance(schema, dict):
        return False
    if not _PLAIN.issuperset(schema):
        return True
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in inside:
        return True
    if name and _needs_json_schema(definitions.get(name), definitions, (*inside, name)):
        return True
    named = schema.get("properties", {}).values()
    below = [*named, schema.get("items"), *schema.get("anyOf", ())]
    return any(_needs_json_schema(inner, definitions, inside) for inner in below)
