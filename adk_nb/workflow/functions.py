"""Any callable as a node: which argument gets what, which type it is turned into, and how the callable is run."""

from __future__ import annotations

import collections.abc
import contextlib
import functools
import inspect
import types as pytypes
import typing
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from google.genai import types
from pydantic import BaseModel, Field, PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError

from adk_nb.errors import WorkflowConfigurationError, WorkflowDataError, one_of
from adk_nb.events.event import Event, content_text
from adk_nb.events.request_input import RequestInput
from adk_nb.workflow.context import ReadonlyContext
from adk_nb.workflow.description import Kind, NodeDescription
from adk_nb.workflow.nodes import BaseNode, adapter_for, content_value, titled
from adk_nb.workflow.retry import RetryConfig

if TYPE_CHECKING:
    from adk_nb.workflow.context import Context

_EMPTY = inspect.Parameter.empty
_NOT_SCHEMAS = (Event, RequestInput, types.Content)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a function node."""

    name: str
    hint: Any
    adapter: TypeAdapter[Any] | None
    default: Any


@dataclass(frozen=True, slots=True)
class Signature:
    """What a callable wants and returns, worked out once."""

    context_name: str | None
    parameters: tuple[Parameter, ...]
    takes_extra: bool
    returns: Any
    style: Literal["plain", "coroutine", "generator", "async generator"]


class FunctionNode(BaseNode):
    """A Python callable as a node: function, coroutine, generator, method, partial or callable object.

    The argument annotated `Context` (or named `ctx`) gets the context, `node_input` what the predecessor handed on.
    Every other argument is looked up in the session state, then takes its default. One argument that is found in
    neither gets the node's input whatever its name; several get the values of their names from an input dictionary.
    Arguments with a type hint are turned into that type.

    Example:
        >>> def lookup(city: str) -> str:
        ...     return f"10:10 in {city}"
        >>> FunctionNode(func=lookup).name
        'lookup'
    """

    kind: ClassVar[Kind] = "function"

    func: Callable[..., Any] = Field(repr=False)
    parameter_binding: Literal["state", "node_input"] = "state"
    """Where arguments other than `node_input` come from: the session state, or the keys of the input."""

    def __init__(
        self,
        *,
        func: Callable[..., Any],
        name: str | None = None,
        rerun_on_resume: bool = False,
        retry_config: RetryConfig | None = None,
        timeout: float | None = None,
        parameter_binding: Literal["state", "node_input"] = "state",
        state_schema: type[BaseModel] | None = None,
    ) -> None:
        """Wrap `func`; the name is `name`, else the callable's own."""
        super().__init__(  # type: ignore[call-arg]  # the fields below are this class's own
            func=func,
            name=name or name_of(func),
            description=_first_line(func),
            rerun_on_resume=rerun_on_resume,
            retry_config=retry_config,
            timeout=timeout,
            parameter_binding=parameter_binding,
            state_schema=state_schema,
        )

    def model_post_init(self, context: Any, /) -> None:
        """Work out the schemas that follow from the type hints."""
        signature = self.signature
        if self.output_schema is None and _is_model(signature.returns):
            self.output_schema = signature.returns
        hint = next((p.hint for p in signature.parameters if p.name == "node_input"), None)
        if self.input_schema is None and _is_model(hint):
            self.input_schema = hint

    @functools.cached_property
    def signature(self) -> Signature:
        """What the callable wants and returns."""
        return read_signature(self.func)

    @functools.cached_property
    def returns_once(self) -> bool:  # type: ignore[override]  # a class variable elsewhere, here it depends on func
        """Generators yield, everything else returns once."""
        return self.signature.style in ("plain", "coroutine")

    async def call(self, *, ctx: Context, node_input: Any) -> Any:
        """Call the function once and return what it returns, awaited if need be."""
        result = self.func(**self.arguments(ctx, node_input))
        if self.signature.style == "coroutine" or inspect.isawaitable(result):
            return await result
        return result

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        result = self.func(**self.arguments(ctx, node_input))
        if self.signature.style == "async generator":
            async with contextlib.aclosing(result) as items:
                async for item in items:
                    yield item
        else:
            with contextlib.closing(result) as items:
                for item in items:
                    yield item

    def checked_input(self, value: Any) -> Any:
        """Return the input; a schema that comes from the argument's own type is left to the call."""
        hint = next((p.hint for p in self.signature.parameters if p.name == "node_input"), None)
        return value if self.input_schema is None or self.input_schema is hint else super().checked_input(value)

    def arguments(self, ctx: Context, node_input: Any) -> dict[str, Any]:
        """Return the arguments of one call.

        Raises:
            WorkflowDataError: an argument has no value; the message names it and the places searched.
            ValidationError: a value can't be turned into the argument's type.
        """
        signature = self.signature
        values: dict[str, Any] = {}
        if signature.context_name is not None:
            values[signature.context_name] = ctx
        if self.parameter_binding == "node_input":
            self._bind_from_input(values, node_input)
            return values
        missing: list[Parameter] = []
        for parameter in signature.parameters:
            if parameter.name == "node_input":
                values["node_input"] = self._coerce(parameter, node_input)
            elif parameter.name in ctx.state:
                values[parameter.name] = self._coerce(parameter, ctx.state[parameter.name])
            elif parameter.default is not _EMPTY:
                values[parameter.name] = parameter.default
            else:
                missing.append(parameter)
        if missing:
            self._bind_missing(values, missing, ctx, node_input)
        return values

    def _bind_missing(self, values: dict[str, Any], missing: list[Parameter], ctx: Context, node_input: Any) -> None:
        if len(missing) == 1 and "node_input" not in values:
            values[missing[0].name] = self._coerce(missing[0], node_input)
            return
        given = _as_mapping(node_input)
        for parameter in missing:
            if given is None or parameter.name not in given or "node_input" in values:
                raise self._missing(parameter, ctx, given)
            values[parameter.name] = self._coerce(parameter, given[parameter.name])

    def _bind_from_input(self, values: dict[str, Any], node_input: Any) -> None:
        given = _as_mapping(node_input) or {}
        for parameter in self.signature.parameters:
            if parameter.name in given:
                values[parameter.name] = self._coerce(parameter, given[parameter.name])
            elif parameter.default is not _EMPTY:
                values[parameter.name] = parameter.default
            else:
                raise WorkflowDataError(
                    f"Missing value for parameter {parameter.name!r} of function {self.name!r}: not "
                    "found in node_input, "
                    f"which has {one_of(parameter.name, given)}; hand it on from the node before, or "
                    "give the parameter "
                    f"a default."
                )
        if self.signature.takes_extra:
            known = {parameter.name for parameter in self.signature.parameters}
            values.update({key: value for key, value in given.items() if key not in known})

    def _missing(self, parameter: Parameter, ctx: Context, given: Any) -> WorkflowDataError:
        keys = "no keys" if given is None else f"the keys {one_of(parameter.name, given)}"
        return WorkflowDataError(
            f"Missing value for parameter {parameter.name!r} of function {self.name!r}: not found in state (which has "
            f"{one_of(parameter.name, ctx.state)}), it has no default, and the input has {keys}. Name it node_input to "
            f"take the whole input, write state[{parameter.name!r}] before, or give it a default."
        )

    def _coerce(self, parameter: Parameter, value: Any) -> Any:
        if parameter.adapter is None or type(value) is parameter.hint:
            return value
        if isinstance(value, types.Content):
            kept = _content_for(parameter.hint, value)
            if kept is value:
                return value
            value = kept
        try:
            return parameter.adapter.validate_python(value)
        except ValidationError as error:
            raise titled(error, f"parameter {parameter.name!r} of node {self.name!r}") from None

    @property
    def detail(self) -> str:
        """First line of the function's docstring."""
        return self.description

    def describe_node(self) -> NodeDescription:
        """Return this node for a drawing; a function that asks a person is drawn as human input."""
        kind: Kind = "human" if _asks(self.func) else self.kind
        return NodeDescription(name=self.name, kind=kind, detail=self.detail)


def name_of(func: Any) -> str:
    """Return the name that a callable gives its node."""
    while isinstance(func, functools.partial):
        func = func.func
    name = getattr(func, "__name__", None) or ("__call__" if callable(func) else None)
    if not isinstance(name, str):
        raise WorkflowConfigurationError(f"The callable {func!r:.80} must have a name: give name= to node().")
    if name == "<lambda>":
        raise WorkflowConfigurationError(
            "A lambda has no name, and a node needs one: write node(lambda ..., name='lookup'), or use def."
        )
    return name


def read_signature(func: Callable[..., Any]) -> Signature:
    """Return what a callable wants, with its type hints resolved where that is possible."""
    inner = func
    while isinstance(inner, functools.partial):
        inner = inner.func
    target = inner if inspect.isroutine(inner) or inspect.isclass(inner) else type(inner).__call__
    hints = _type_hints(target)
    context_name: str | None = None
    takes_extra = False
    found: list[Parameter] = []
    for parameter in inspect.signature(func).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_extra = True
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        hint = hints.get(parameter.name, parameter.annotation)
        if context_name is None and (_is_context(hint) or (parameter.name == "ctx" and hint is _EMPTY)):
            context_name = parameter.name
            continue
        found.append(Parameter(parameter.name, hint, _adapter(hint), parameter.default))
    if context_name is None and any(p.name == "ctx" for p in found):
        context_name = "ctx"
        found = [p for p in found if p.name != "ctx"]
    return Signature(context_name, tuple(found), takes_extra, _return_hint(hints), _style(inner, target))


def _style(func: Any, target: Any) -> Literal["plain", "coroutine", "generator", "async generator"]:
    for candidate in (func, target):
        if inspect.isasyncgenfunction(candidate):
            return "async generator"
        if inspect.isgeneratorfunction(candidate):
            return "generator"
        if inspect.iscoroutinefunction(candidate):
            return "coroutine"
    return "plain"


def _type_hints(target: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(target.__init__ if inspect.isclass(target) else target, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError):  # a hint names something that isn't there (yet)
        annotations = getattr(target, "__annotations__", {})
        return {name: hint for name, hint in annotations.items() if not isinstance(hint, str)}


def _return_hint(hints: dict[str, Any]) -> Any:
    hint = hints.get("return")
    origin = typing.get_origin(hint)
    if origin in _GENERATORS:
        return typing.get_args(hint)[0] if typing.get_args(hint) else None
    return hint


_GENERATORS = (
    collections.abc.Generator,
    collections.abc.AsyncGenerator,
    collections.abc.Iterator,
    collections.abc.AsyncIterator,
    collections.abc.Iterable,
    collections.abc.AsyncIterable,
)


def _is_model(hint: Any) -> bool:
    return inspect.isclass(hint) and issubclass(hint, BaseModel) and not issubclass(hint, _NOT_SCHEMAS)


def _is_context(hint: Any) -> bool:
    if isinstance(hint, str):
        return hint.strip("'\"").rpartition(".")[2].split(" ")[0] in ("Context", "ToolContext", "CallbackContext")
    options = typing.get_args(hint) if _is_union(hint) else (hint,)
    return any(inspect.isclass(option) and issubclass(option, ReadonlyContext) for option in options)


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, pytypes.UnionType)


def _adapter(hint: Any) -> TypeAdapter[Any] | None:
    if hint is _EMPTY or hint is Any or isinstance(hint, str):
        return None
    try:
        return adapter_for(hint)
    except (PydanticSchemaGenerationError, PydanticUserError):  # a hint that pydantic can't check isn't checked
        return None
    except TypeError:  # an unhashable hint can't be cached
        return TypeAdapter(hint)


def _content_for(hint: Any, content: types.Content) -> Any:
    options = set(typing.get_args(hint)) if _is_union(hint) else {hint}
    if types.Content in options:
        return content
    if options <= {str, type(None)}:
        return content_text(content)
    return content_value(content)


def _as_mapping(value: Any) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return value
    if isinstance(value, types.Content):
        return _as_mapping(content_value(value))
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    return None


def _asks(func: Any) -> bool:
    while isinstance(func, functools.partial):
        func = func.func
    code = getattr(getattr(func, "__func__", func), "__code__", None)
    if code is None:
        return False
    names = getattr(func, "__globals__", {})
    return any(names.get(name) is RequestInput or name == "RequestInput" for name in code.co_names)


def _first_line(func: Any) -> str:
    while isinstance(func, functools.partial):
        func = func.func
    doc = getattr(func, "__doc__", None) if inspect.isroutine(func) or inspect.isclass(func) else None
    return doc.strip().partition("\n")[0].strip() if doc else ""
