"""`FunctionTool`: what a model is told of a function, and which arguments a call is made with."""

from __future__ import annotations

import asyncio
import datetime as dt
import decimal
import enum
import functools
import inspect
import uuid
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from google.genai import types
from pydantic import BaseModel, Field
from typing_extensions import TypedDict  # pydantic wants this one below Python 3.12

from adk_nb import Context
from adk_nb.errors import ConfigurationError, ToolArgumentsError
from adk_nb.tools import BaseTool, FunctionTool, LongRunningFunctionTool, ToolContext

NO_CONTEXT: Any = None


class Model(BaseModel):
    """A model."""

    x: int
    y: str = "q"


class Colour(enum.Enum):
    """An enum."""

    RED = "r"
    GREEN = "g"


@dataclass
class Point:
    """A dataclass."""

    a: int
    b: str = "x"


class Keyed(TypedDict):
    """A typed dictionary."""

    k: int


def simple(a: int, b: str = "x", c: int | None = None) -> dict[str, Any]:
    """Do it.

    More about it.

    Args:
        a: the a
    """
    return {"a": a, "b": b, "c": c}


def rich(d: Literal["p", "q"], e: Colour = Colour.RED, f=3, *args: Any, g: list[Model], **kw: Any) -> None:  # type: ignore[no-untyped-def]
    """Take many types."""


def noted(a: Annotated[int, Field(description="the a", ge=1)], m: Model, tool_context=None) -> None:  # type: ignore[no-untyped-def]
    """Say what an argument is."""


def structured(d: Point, t: Keyed, u: int | str, w: dt.datetime, p: dict[str, int] | None = None) -> None:
    """Take structures."""


def exotic(p: decimal.Decimal, i: uuid.UUID, t: tuple[int, str], s: set[int], b: bytes) -> None:
    """Take what JSON has no word for."""


def hidden(c: ToolContext, q: bool) -> None:
    """Want a context under any name."""


def nothing(tool_context: Any) -> None:
    """Want nothing."""


class Callable_:
    """Can be called."""

    def __call__(self, q: int) -> int:
        """Not this one."""
        return q

    def method(self, z: int) -> int:
        """Be a method."""
        return z


SAMPLES: list[Any] = [
    simple,
    rich,
    noted,
    structured,
    exotic,
    hidden,
    nothing,
    Callable_(),
    Callable_().method,
    functools.partial(simple, b="q"),
]


def called(tool: BaseTool, args: dict[str, Any]) -> Any:
    """Call a tool as a model does."""
    return asyncio.run(tool.run_async(args=args, tool_context=NO_CONTEXT))


def schema_of(tool: BaseTool) -> dict[str, Any]:
    """Return the schema of the arguments as a model is told of it."""
    declared = tool._get_declaration()
    assert declared is not None
    schema: dict[str, Any] = declared.parameters_json_schema  # type: ignore[assignment]
    return schema


@pytest.mark.parametrize("func", SAMPLES, ids=lambda func: getattr(func, "__name__", type(func).__name__))
def test_declarations_are_those_of_google_adk(func: Any) -> None:
    """Name, description and schema of a tool are the same in google-adk, so that a model is told the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from google.adk.tools.function_tool import FunctionTool as Theirs  # inner: it warns while it loads
        from google.adk.tools.tool_context import ToolContext as TheirContext

        given = func
        if func is hidden:

            def given(c: TheirContext, q: bool) -> None:
                """Want a context under any name."""

            given.__name__, given.__annotations__["c"] = "hidden", TheirContext
        theirs = Theirs(given)._get_declaration()
    ours = FunctionTool(func)._get_declaration()
    assert theirs is not None
    assert ours is not None
    assert ours.model_dump(exclude_none=True) == {
        name: value for name, value in theirs.model_dump(exclude_none=True).items() if value
    }


def test_names_that_a_model_field_cannot_have() -> None:
    """Arguments named like attributes of a pydantic model, or with an underscore, are declared like any other."""

    def odd(schema: str, model_config: int, _hidden: int = 1) -> None: ...

    assert schema_of(FunctionTool(odd)) == {
        "title": "oddParams",
        "type": "object",
        "properties": {
            "schema": {"title": "Schema", "type": "string"},
            "model_config": {"title": "Model Config", "type": "integer"},
            "_hidden": {"title": "Hidden", "type": "integer", "default": 1},
        },
        "required": ["schema", "model_config"],
    }


def test_defaults_that_json_cannot_hold_are_left_out() -> None:
    """An object as a default is the function's own business: no warning, and the argument is optional."""
    default = Callable_()

    def opaque(a: int, thing: Any = default) -> Any:
        return thing

    tool = FunctionTool(opaque)
    assert schema_of(tool)["properties"]["thing"] == {"title": "Thing"}
    assert called(tool, {"a": 1}) is default


def test_types_that_no_model_can_give_are_refused_by_name() -> None:
    """The error names tool and parameter."""

    def call(a: int, back: Callable[[int], int]) -> None: ...

    with pytest.raises(ConfigurationError, match=r"'call' .* 'back'"):
        FunctionTool(call)._get_declaration()


def test_hints_of_later_cells_are_known_when_they_exist() -> None:
    """A function whose type is defined after it is declared and called with that type."""
    names: dict[str, Any] = {"__name__": "cells", "Any": Any}
    exec("from __future__ import annotations\ndef take(m: Later) -> str:\n    return type(m).__name__", names)
    tool = FunctionTool(names["take"])
    names["Later"] = Model
    assert called(tool, {"m": {"x": 1}}) == "Model"
    assert "Model" in schema_of(tool)["$defs"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"a": 1}, {"a": 1, "b": "x", "c": None}),
        ({"a": "5", "c": 3.0}, {"a": 5, "b": "x", "c": 3}),
        ({"a": 1, "zz": 9}, {"a": 1, "b": "x", "c": None}),
    ],
)
def test_arguments_are_turned_into_their_types(args: dict[str, Any], expected: dict[str, Any]) -> None:
    """Values are read as the hints say; what the function doesn't know is dropped."""
    assert called(FunctionTool(simple), args) == expected


def test_structures_arrive_as_objects() -> None:
    """Models, enums and lists of models are built."""

    def take(m: Model | None, many: list[Model], colour: Colour) -> list[Any]:
        return [m, many, colour]

    args = {"m": {"x": "1"}, "many": [{"x": 2, "y": "z"}], "colour": "g"}
    assert called(FunctionTool(take), args) == [Model(x=1), [Model(x=2, y="z")], Colour.GREEN]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"b": "x"}, ["'simple'", "mandatory", "'a'", "'b'"]),
        ({}, ["'simple'", "'a'", "none"]),
        ({"a": "abc"}, ["'simple'", "'a'", "valid integer", "'abc'"]),
    ],
)
def test_what_does_not_fit_is_told_to_the_model(args: dict[str, Any], said: list[str]) -> None:
    """A model gets an error that names tool, parameter and value, and nothing is called; code gets it raised."""
    tool = FunctionTool(simple)
    answer = called(tool, args)
    assert set(answer) == {"error"}
    assert all(one in answer["error"] for one in said), answer
    with pytest.raises(ToolArgumentsError) as caught:
        tool.check_arguments(args)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("style", ["annotated", "named", "optional"])
def test_the_context_is_given_and_hidden(style: str) -> None:
    """The argument annotated as a context, else the one named `tool_context`, gets it and isn't declared."""

    def annotated(q: int, anything: Context) -> Any:
        return anything

    def named(q: int, tool_context) -> Any:  # type: ignore[no-untyped-def]
        return tool_context

    def optional(q: int, tool_context: ToolContext | None = None) -> Any:
        return tool_context

    tool = FunctionTool({"annotated": annotated, "named": named, "optional": optional}[style])
    marker: Any = object()
    assert tool.parameters() == {"q": True}
    assert asyncio.run(tool.run_async(args={"q": 1}, tool_context=marker)) is marker


def test_functions_of_all_kinds_are_called() -> None:
    """Async functions are awaited, positional-only arguments are given by position, `**kwargs` gets the rest."""

    async def slow(a: int) -> int:
        await asyncio.sleep(0)
        return a

    def positional(a: int, /, b: int = 2, **rest: int) -> Any:
        return a, b, rest

    assert called(FunctionTool(slow), {"a": 1}) == 1
    assert called(FunctionTool(positional), {"a": "1", "z": 3}) == (1, 2, {"z": 3})
    assert called(FunctionTool(Callable_()), {"q": 4}) == 4


def test_long_running_functions_say_so() -> None:
    """The declaration tells the model that the result comes later."""
    tool = LongRunningFunctionTool(simple)
    declared = tool._get_declaration()
    assert declared is not None
    assert tool.is_long_running
    assert "later" in (declared.description or "")
    assert (declared.description or "").startswith("Do it.")


def test_what_cannot_be_a_tool_is_refused() -> None:
    """Lambdas have no name for a model; what can't be called is no function; a requirement is a bool or a function."""
    with pytest.raises(ConfigurationError, match="lambda"):
        FunctionTool(lambda: 1)
    with pytest.raises(ConfigurationError, match="int"):
        FunctionTool(5)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="require_confirmation"):
        FunctionTool(simple, require_confirmation="yes")  # type: ignore[arg-type]


def test_base_tools_take_their_parameters_from_the_declaration() -> None:
    """A tool of one's own says which arguments it needs by its declaration, as JSON schema or as google-genai's."""

    class Own(BaseTool):
        async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
            return args

        def _get_declaration(self) -> types.FunctionDeclaration | None:
            schema = types.Schema(type=types.Type.OBJECT, properties={"q": types.Schema(), "r": types.Schema()})
            return types.FunctionDeclaration(name="own", parameters=schema.model_copy(update={"required": ["q"]}))

    tool = Own(name="own", description="d")
    assert tool.parameters() == {"q": True, "r": False}
    with pytest.raises(ToolArgumentsError, match="'q'"):
        tool.check_arguments({"r": 1})
    assert inspect.isabstract(BaseTool)
    assert repr(tool) == "Own(name='own')"
