"""Shapes for Gemini: what the API can't take is written in another form or refused when it is declared."""

from __future__ import annotations

import asyncio
import enum
import json
from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

import jsonschema
import pytest
from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

import adk_nb as adk
from adk_nb.errors import ConfigurationError
from adk_nb.models import LlmRequest
from adk_nb.models.gemini_json_schema import gemini_json_schema
from adk_nb.models.gemini_schema import check_declaration, check_for_gemini
from adk_nb.testing import ScriptedModel
from adk_nb.tools import BaseTool
from tests.models.gemini_server import candidate, serving

pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

KNOWN = {
    *("$ref", "$defs", "type", "title", "description", "enum", "format", "items", "prefixItems", "minItems"),
    *("maxItems", "minimum", "maximum", "anyOf", "properties", "additionalProperties", "required"),
}
"""What the API knows."""


class A(BaseModel):
    """One kind."""

    kind: Literal["a"]
    n: int


class B(BaseModel):
    """Another kind."""

    kind: Literal["b"]
    m: dict[str, int]


class Tree(BaseModel):
    """A model that contains itself where it may be missing."""

    kids: list[Tree] = []


class Chain(BaseModel):
    """A model that contains itself where it is required."""

    value: int
    rest: Chain | None


class Colour(enum.Enum):
    """Some colours."""

    RED = "red"
    BLUE = "blue"


class Out(BaseModel):
    """Everything at once."""

    model_config = ConfigDict(extra="forbid")
    x: Annotated[A | B, Field(discriminator="kind")]
    tags: dict[str, str]
    t: Tree
    pair: tuple[int, str]
    by_number: dict[int, str]
    by_colour: dict[Colour, int]
    level: Literal["low", 3, None]
    sure: Literal[True]
    code: Annotated[str, Field(pattern="^[A-Z]{3}$", max_length=3)]
    share: Annotated[float, Field(gt=0, le=1)]
    day: date
    ident: UUID
    colour: Annotated[Colour, Field(description="Which one")]
    numbers: set[int]


VALUE: dict[str, Any] = {
    "x": {"kind": "b", "m": {"k": 1}},
    "tags": {"a": "b"},
    "t": {"kids": [{}]},
    "pair": [1, "x"],
    "by_number": {"1": "one"},
    "by_colour": {"red": 1},
    "level": None,
    "sure": True,
    "code": "ABC",
    "share": 0.5,
    "day": "2026-01-02",
    "ident": "12345678-1234-4234-8234-123456789012",
    "colour": "red",
    "numbers": [1],
}


def keywords(schema: Any) -> set[str]:
    """Return every keyword of a schema, but not the names of its properties."""
    if isinstance(schema, list):
        return {found for inner in schema for found in keywords(inner)}
    if not isinstance(schema, dict):
        return set()
    below = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    below += [schema.get(key) for key in ("items", "prefixItems", "anyOf", "additionalProperties")]
    return set(schema) | keywords(below)


def test_all_that_pydantic_writes_is_said_in_what_the_api_knows() -> None:
    """Every kind of field is written in known keywords only, and a good value still fits what is sent."""
    written = gemini_json_schema(TypeAdapter(Out).json_schema())
    assert keywords(written) <= KNOWN
    Out.model_validate_json(json.dumps(VALUE))
    jsonschema.Draft202012Validator.check_schema(written)
    jsonschema.validate(VALUE, written)


@pytest.mark.parametrize("shape", [A, Tree, Chain, list[A | B], dict[str, Tree], list[int], Literal["a", "b"]])
def test_known_shapes(shape: Any) -> None:
    """Models, unions, recursive models and plain types have a form that the API knows."""
    written = gemini_json_schema(TypeAdapter(shape).json_schema())
    assert keywords(written) <= KNOWN
    jsonschema.Draft202012Validator.check_schema(written)


def test_rules_without_a_keyword_are_told_in_words() -> None:
    """What the API has no keyword for stands in the description, beside what the author wrote."""
    written = gemini_json_schema(TypeAdapter(Out).json_schema())["properties"]
    assert "pattern: ^[A-Z]{3}$" in written["code"]["description"]
    assert "exclusiveMinimum: 0" in written["share"]["description"]
    assert written["share"]["maximum"] == 1
    assert "format: uuid" in written["ident"]["description"]
    assert written["colour"]["description"] == "Which one"
    assert written["colour"]["enum"] == ["red", "blue"]
    assert "red" in written["by_colour"]["description"]


def test_circles_stand_where_a_property_may_be_missing() -> None:
    """A required property that leads back to its own model is sent as one that may be missing."""
    written = gemini_json_schema(TypeAdapter(Chain).json_schema())
    assert written["$defs"]["Chain"]["required"] == ["value"]


def test_root_references_and_old_definitions() -> None:
    """A reference to the whole schema, and `definitions` of older drafts, become references to `$defs`."""
    written = gemini_json_schema({"type": "object", "properties": {"kid": {"$ref": "#"}}})
    assert written["properties"]["kid"] == {"$ref": "#/$defs/Whole"}
    jsonschema.validate({"kid": {"kid": {}}}, written)
    old = {"definitions": {"N": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/definitions/N"}}
    assert gemini_json_schema(old)["items"] == {"$ref": "#/$defs/N"}


def test_all_of_is_brought_together() -> None:
    """Objects under allOf become one object; rules that contradict each other are refused."""
    both = {
        "allOf": [
            {"$ref": "#/$defs/N"},
            {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
        ],
        "$defs": {"N": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}},
    }
    written = gemini_json_schema(both)
    assert sorted(written["properties"]) == ["a", "b"]
    assert sorted(written["required"]) == ["a", "b"]
    with pytest.raises(ConfigurationError, match="'allOf' with several rules for 'type'"):
        gemini_json_schema({"allOf": [{"type": "object"}, {"type": "string"}]})


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ({"not": {"type": "string"}}, "'not'"),
        ({"if": {}, "then": {}}, "'if'"),
        ({"$ref": "https://example.com/x"}, "a reference to 'https://example.com/x'"),
        ({"anyOf": [False]}, "allows nothing"),
    ],
)
def test_what_has_no_form_is_refused_with_its_field(inner: Any, words: str) -> None:
    """A rule that can't be said is refused by name and field, and what to do."""
    shape = {"type": "object", "properties": {"a": {"type": "array", "items": inner}}}
    with pytest.raises(ConfigurationError, match=r"output_schema of agent 'x' .*its field 'a\.\*'.*") as caught:
        check_for_gemini(shape, "output_schema of agent 'x'")
    assert words in str(caught.value)
    declared = types.FunctionDeclaration(name="look", parameters_json_schema=shape)
    with pytest.raises(ConfigurationError, match=r"Arguments of tool 'look'"):
        check_declaration(declared)


def test_answers_and_tools_go_the_same_way() -> None:
    """What is sent for an answer and for a tool's arguments is the same form, and the request itself isn't changed."""
    schema = TypeAdapter(Out).json_schema()
    declared = types.FunctionDeclaration(name="look", parameters_json_schema=schema)
    content = types.Content(role="user", parts=[types.Part(text="hi")])
    request = LlmRequest(contents=[content])
    request.config.tools = [types.Tool(function_declarations=[declared])]
    request.set_output_schema(Out)
    with serving(candidate("{}")) as server:

        async def ask() -> None:
            async for _ in server.gemini().generate_content_async(request):
                pass

        asyncio.run(ask())
    sent = server.requests[0]
    told = sent["tools"][0]["functionDeclarations"][0]
    arguments = told.get("parametersJsonSchema") or told["parameters_json_schema"]  # the client sends either form
    assert arguments == sent["generationConfig"]["responseJsonSchema"] == gemini_json_schema(schema)
    assert declared.parameters_json_schema == schema
    assert request.config.response_schema is Out


def test_an_agent_is_refused_when_it_is_built() -> None:
    """An agent on Gemini with a shape that can't be sent is refused at once; on another model it is fine."""
    shape = {"type": "object", "properties": {"a": {"not": {"type": "string"}}}}
    with pytest.raises(ConfigurationError, match=r"output_schema of agent 'x' .*field 'a' uses 'not'"):
        adk.Agent(name="x", model="gemini-2.5-flash", output_schema=shape)
    adk.Agent(name="x", model=ScriptedModel([]), output_schema=shape)
    with adk.use_model(ScriptedModel([])):
        adk.Agent(name="x", model="gemini-2.5-flash", output_schema=shape)

    class Odd(BaseTool):
        """A tool with a schema of its own."""

        def _get_declaration(self) -> types.FunctionDeclaration:
            return types.FunctionDeclaration(name="odd", parameters_json_schema=shape)

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            """Do nothing."""

    with pytest.raises(ConfigurationError, match=r"Arguments of tool 'odd' of agent 'x'"):
        adk.Agent(name="x", model="gemini-2.5-flash", tools=[Odd(name="odd", description="")])
