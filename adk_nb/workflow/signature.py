"""What a callable wants and returns, read once from its signature and its type hints."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import re
import sys
import types as pytypes
import typing
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from google.genai import types
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PydanticSchemaGenerationError,
    PydanticUserError,
    TypeAdapter,
    create_model,
)
from pydantic.json_schema import GenerateJsonSchema

from adk_nb.errors import WorkflowConfigurationError
from adk_nb.events.event import Event
from adk_nb.events.request_input import RequestInput
from adk_nb.workflow.context import ReadonlyContext
from adk_nb.workflow.nodes import adapter_for

ABSENT = inspect.Parameter.empty
"""The default of a parameter that has none."""

Style = Literal["plain", "coroutine", "generator", "async generator"]

_NOT_SCHEMAS = (Event, RequestInput, types.Content)
_CONTEXT_NAME = re.compile(r"\b(Tool|Callback|Readonly)?Context\b")
_GENERATORS = (
    collections.abc.Generator,
    collections.abc.AsyncGenerator,
    collections.abc.Iterator,
    collections.abc.AsyncIterator,
    collections.abc.Iterable,
    collections.abc.AsyncIterable,
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a function node."""

    name: str
    hint: Any
    adapter: TypeAdapter[Any] | None
    """Turns a value into the hinted type; `None` leaves it as it is."""
    default: Any


@dataclass(frozen=True, slots=True)
class Signature:
    """What a callable wants and returns."""

    context_name: str | None
    """The argument that gets the context."""
    all: tuple[Parameter, ...]
    """All other arguments, in order."""
    whole: Parameter | None
    """The argument `node_input`, which gets the whole input."""
    named: tuple[Parameter, ...]
    """All others, which get the value of their name."""
    by_position: tuple[str, ...]
    """The arguments that can't be given by name."""
    takes_extra: bool
    """It has `**kwargs`."""
    returns: Any
    """Type that is returned or yielded; `None` where it isn't said."""
    style: Style
    hints: Mapping[str, Any]
    """Type by argument name; a text is a type that doesn't exist yet."""
    has_open_hints: bool
    """Some type doesn't exist yet."""

    @property
    def free(self) -> tuple[Parameter, ...]:
        """The named arguments without a default."""
        return tuple(parameter for parameter in self.named if parameter.default is ABSENT)


def signature_of(func: Callable[..., Any]) -> Signature:
    """Return what a callable wants; a function is read once, as a parent may run it as a child very often."""
    if not isinstance(func, pytypes.FunctionType):
        return read_signature(func)
    found = _read.get(func)
    if found is None:
        found = read_signature(func)
        if not found.has_open_hints:
            _read[func] = found
    return found


_read: weakref.WeakKeyDictionary[Callable[..., Any], Signature] = weakref.WeakKeyDictionary()


def read_signature(
    func: Callable[..., Any], known: Mapping[str, Any] | None = None, context_name: str = "ctx"
) -> Signature:
    """Return what a callable wants, with its type hints resolved where that is possible.

    Args:
        func: The callable.
        known: Hints from an earlier look at the same callable; those that are resolved stay.
        context_name: Name of the argument that gets the context where none is annotated so.
    Raises:
        WorkflowConfigurationError: Python doesn't know what it wants.
    """
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except (ValueError, TypeError):
        raise WorkflowConfigurationError(
            f"{func!r:.80} is built in and doesn't say what arguments it wants: wrap it, for instance "
            f"def convert(node_input): return {getattr(func, '__name__', 'it')}(node_input)."
        ) from None
    inner = innermost(func)
    target = inner if inspect.isroutine(inner) or inspect.isclass(inner) else type(inner).__call__
    hints = {**_type_hints(target), **{name: hint for name, hint in (known or {}).items() if not isinstance(hint, str)}}
    takes_extra = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    parameters = [one for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    taken = _context_among(parameters, hints, context_name)
    found = tuple(_parameter(one, hints) for one in parameters if one.name != taken)
    return Signature(
        context_name=taken,
        all=found,
        whole=next((one for one in found if one.name == "node_input"), None),
        named=tuple(one for one in found if one.name != "node_input"),
        by_position=tuple(one.name for one in parameters if one.kind is one.POSITIONAL_ONLY),
        takes_extra=takes_extra,
        returns=_return_hint(hints),
        style=_style(inner, target),
        hints=hints,
        has_open_hints=any(isinstance(hint, str) for hint in hints.values()),
    )


def input_described(signature: Signature, name: str) -> dict[str, Any] | None:
    """Return the JSON schema of an object whose keys are the arguments; `None` where a type has none, or without any.

    Example:
        >>> def book(seats: int, row: str = "A"): ...
        >>> input_described(signature_of(book), "book")["required"]
        ['seats']
    """
    found = signature.named if signature.whole is None else (signature.whole, *signature.named)
    if not found:
        return None
    try:
        return arguments_schema(name, found)
    except PydanticUserError:  # a type that JSON doesn't have
        return None


def arguments_schema(name: str, parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return the JSON schema of an object whose keys are the arguments; without a type to check, one may be anything.

    Raises:
        PydanticInvalidForJsonSchema: JSON has no schema for a type.
    """
    fields: dict[str, Any] = {}
    for index, one in enumerate(parameters):
        hint = Any if one.adapter is None else one.hint
        default = ... if one.default is ABSENT else one.default
        if one.name.startswith("_") or hasattr(BaseModel, one.name):  # names that a model's field can't have
            title = one.name.replace("_", " ").strip().title()
            fields[f"argument_{index}"] = (Annotated[hint, Field(alias=one.name, title=title)], default)
        else:
            fields[one.name] = (hint, default)
    model: type[BaseModel] = create_model(
        f"{name}Params", __config__=ConfigDict(arbitrary_types_allowed=True, protected_namespaces=()), **fields
    )
    return model.model_json_schema(schema_generator=_Quiet)


class _Quiet(GenerateJsonSchema):
    """Leaves out a default that JSON can't hold, without a warning: the function still has it."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  # pydantic's own attribute


def type_described(hint: Any) -> Any:
    """Return a model as it is and the JSON schema of any other type; `None` where it has none."""
    if hint is None or isinstance(hint, str) or is_model(hint):
        return None if isinstance(hint, str) else hint
    adapter = _adapter(hint)
    try:
        return None if adapter is None else adapter.json_schema()
    except PydanticUserError:  # an arbitrary class
        return None


def innermost(func: Any) -> Any:
    """Return the callable inside partials."""
    while isinstance(func, functools.partial):
        func = func.func
    return func


def options_of(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the one type that the hint is, without annotations.

    Example:
        >>> options_of(Annotated[int | None, "a note"])
        (<class 'int'>, <class 'NoneType'>)
    """
    if typing.get_origin(hint) is Annotated:
        return options_of(typing.get_args(hint)[0])
    if typing.get_origin(hint) in (typing.Union, pytypes.UnionType):
        return tuple(one for option in typing.get_args(hint) for one in options_of(option))
    return (hint,)


def is_model(hint: Any) -> bool:
    """Say whether a hint is a pydantic model that describes data."""
    return inspect.isclass(hint) and issubclass(hint, BaseModel) and not issubclass(hint, _NOT_SCHEMAS)


def _context_among(parameters: list[inspect.Parameter], hints: Mapping[str, Any], usual: str) -> str | None:
    """Return the first argument annotated as a context, else the one with the usual name."""
    names = [one.name for one in parameters]
    return next((name for name in names if _is_context(hints.get(name))), usual if usual in names else None)


def _is_context(hint: Any) -> bool:
    if isinstance(hint, str):  # imported for type checkers only, or not resolved for another reason
        return _CONTEXT_NAME.search(hint) is not None
    return any(inspect.isclass(one) and issubclass(one, ReadonlyContext) for one in options_of(hint))


def _parameter(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    hint = hints.get(parameter.name, ABSENT)
    return Parameter(parameter.name, hint, _adapter(hint), parameter.default)


def _adapter(hint: Any) -> TypeAdapter[Any] | None:
    if hint is ABSENT or hint is Any or isinstance(hint, str):
        return None
    try:
        try:
            return adapter_for(hint)
        except TypeError:  # an unhashable hint can't be cached
            return TypeAdapter(hint)
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError):  # a hint that pydantic can't check
        return None


def _style(func: Any, target: Any) -> Style:
    for candidate in (func, target):
        if inspect.isasyncgenfunction(candidate):
            return "async generator"
        if inspect.isgeneratorfunction(candidate):
            return "generator"
        if inspect.iscoroutinefunction(candidate):
            return "coroutine"
    return "plain"


def _return_hint(hints: Mapping[str, Any]) -> Any:
    hint = hints.get("return")
    if typing.get_origin(hint) in _GENERATORS:
        return typing.get_args(hint)[0] if typing.get_args(hint) else None
    return hint


def _type_hints(target: Any) -> dict[str, Any]:
    owner = target.__init__ if inspect.isclass(target) else target
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except Exception:  # noqa: BLE001  # a hint written as text is code, and may fail in any way
        pass
    names = _names_around(owner)
    globals_ = getattr(inspect.unwrap(owner), "__globals__", {})
    found: dict[str, Any] = {}
    for name, hint in getattr(owner, "__annotations__", {}).items():
        holder = pytypes.SimpleNamespace(__annotations__={name: hint})
        try:
            found |= typing.get_type_hints(holder, globals_, names, include_extras=True)
        except Exception:  # noqa: BLE001  # as above: this one stays a text, the others are known
            found[name] = hint
    return found


def _names_around(func: Any) -> dict[str, Any]:
    """Return the local names that a function defined in another function can see in its hints.

    Those that its body uses are in its closure. Those that only its hints name are found where it was defined, as long
    as that function still runs: its code holds the code of `func` as a constant.
    """
    func = getattr(inspect.unwrap(func), "__func__", inspect.unwrap(func))
    code = getattr(func, "__code__", None)
    if code is None:
        return {}
    names: dict[str, Any] = {}
    outer: pytypes.FrameType | None = sys._getframe()
    while outer is not None and code not in outer.f_code.co_consts:
        outer = outer.f_back
    if outer is not None:
        names.update(outer.f_locals)
    for name, cell in zip(code.co_freevars, func.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return names
