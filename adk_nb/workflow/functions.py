"""Any callable as a node: which argument gets what, which type it is turned into, and how the callable is run."""

from __future__ import annotations

import contextlib
import functools
import inspect
import warnings
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from google.genai import types
from pydantic import BaseModel, Field, ValidationError

from adk_nb.errors import WorkflowConfigurationError, WorkflowDataError, one_of
from adk_nb.events.event import content_text
from adk_nb.events.request_input import RequestInput
from adk_nb.workflow.description import Kind, NodeDescription
from adk_nb.workflow.gates import (
    Requirement,
    approval,
    check_gates,
    confirmation_request,
    credential_gate,
    is_outdated,
    is_refused,
    is_required,
    refused,
)
from adk_nb.workflow.nodes import BaseNode, content_value, titled
from adk_nb.workflow.retry import RetryConfig
from adk_nb.workflow.signature import (
    ABSENT,
    Parameter,
    Signature,
    innermost,
    input_described,
    is_model,
    options_of,
    read_signature,
    signature_of,
    type_described,
)
from adk_nb.workflow.sync_calls import call_in_thread, iterate_in_thread

if TYPE_CHECKING:
    from adk_nb.auth.auth_tool import AuthConfig
    from adk_nb.workflow.context import Context


Binding = Literal["state", "node_input"]
"""Where a function's arguments come from: the session state, or the keys of its input."""


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
    parameter_binding: Binding = "state"
    """Where arguments other than `node_input` come from: the session state, or the keys of the input."""
    require_confirmation: bool | Callable[..., Any] = Field(default=False, repr=False)
    """Ask a person before the function is called: always, or when a function of the same arguments says so. A refused
    call hands on `{"error": ...}` in place of the function's result."""
    auth_config: Any = Field(default=None, repr=False)
    """Ask a person for this credential before the function is called, unless it is there; an `AuthConfig`."""

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        name: str | None = None,
        rerun_on_resume: bool = False,
        retry_config: RetryConfig | None = None,
        timeout: float | None = None,
        parameter_binding: Binding = "state",
        state_schema: type[BaseModel] | None = None,
        require_confirmation: Requirement = False,
        auth_config: AuthConfig | None = None,
    ) -> None:
        """Wrap `func`; the name is `name`, else the callable's own."""
        own_name = name_of(func) if name is None else name
        check_gates(own_name, require_confirmation, auth_config, rerun_on_resume)
        super().__init__(  # type: ignore[call-arg]  # the fields below are this class's own
            func=func,
            name=own_name,
            description=_first_line(func),
            rerun_on_resume=rerun_on_resume,
            retry_config=retry_config,
            timeout=timeout,
            parameter_binding=parameter_binding,
            state_schema=state_schema,
            require_confirmation=require_confirmation,
            auth_config=auth_config,
        )

    def check_options(self) -> None:
        """Refuse options that don't go together.

        Raises:
            WorkflowConfigurationError: a confirmation or credential is asked for, and the node doesn't run after it.
        """
        check_gates(self.name, self.require_confirmation, self.auth_config, self.rerun_on_resume)

    def model_post_init(self, context: Any, /) -> None:
        """Work out the schemas that follow from the type hints."""
        self._take_schemas(self.signature)

    def _take_schemas(self, signature: Signature) -> None:
        if self.parameter_binding == "node_input":
            self.input_schema = self.input_schema or input_described(signature, self.name)
            self.output_schema = self.output_schema or type_described(signature.returns)
            return
        if self.output_schema is None and is_model(signature.returns):
            self.output_schema = signature.returns
        whole = signature.whole
        if self.input_schema is None and whole and is_model(whole.hint):
            self.input_schema = whole.hint

    @functools.cached_property
    def signature(self) -> Signature:
        """What the callable wants and returns."""
        return signature_of(self.func)

    @functools.cached_property
    def returns_once(self) -> bool:  # type: ignore[override]  # a class variable elsewhere, here it depends on func
        """Generators yield, everything else returns once."""
        return self.signature.style in ("plain", "coroutine")

    async def call(self, *, ctx: Context, node_input: Any) -> Any:
        """Call the function once and return what it returns, awaited if need be."""
        if self.require_confirmation is not False or self.auth_config is not None:
            instead = await self._at_the_gates(ctx, node_input)
            if instead is not None:
                return instead
        if ctx.is_off_loop and self.signature.style == "plain":
            result = await call_in_thread(ctx, self._starting(ctx, node_input))
        else:
            result = self._started(ctx, node_input)
        return await result if hasattr(result, "__await__") else result

    async def _at_the_gates(self, ctx: Context, node_input: Any) -> Any:
        """Return what takes the place of the call: a question, or what a refused call hands on; `None` to call."""
        if self.require_confirmation is not False:
            if is_refused(ctx):
                return refused()
            given = approval(ctx)
            values = self.arguments(ctx, node_input)
            values.pop(self.signature.context_name or "", None)
            is_due = given is None or is_outdated(ctx, values)
            if is_due and await is_required(self.require_confirmation, self.name, values, ctx, node_input):
                return confirmation_request(ctx, self.name, values)
        return None if self.auth_config is None else await credential_gate(ctx, self.auth_config)

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        if self.require_confirmation is not False or self.auth_config is not None:
            instead = await self._at_the_gates(ctx, node_input)
            if instead is not None:
                yield instead
                return
        is_async = self.signature.style == "async generator"
        if is_async or ctx.is_off_loop:
            started = (
                self._started(ctx, node_input) if is_async else iterate_in_thread(ctx, self._starting(ctx, node_input))
            )
            async with contextlib.aclosing(started) as items:
                async for item in items:
                    yield item
        else:
            with contextlib.closing(self._started(ctx, node_input)) as items:
                for item in items:
                    yield item

    def _started(self, ctx: Context, node_input: Any) -> Any:
        return self._start(self.arguments(ctx, node_input))

    def _starting(self, ctx: Context, node_input: Any) -> Callable[[Context], Any]:
        """Return what calls the function with another context, its arguments found and checked now."""
        values, context_name = self.arguments(ctx, node_input), self.signature.context_name
        if context_name is None:
            return lambda own: self._start(values)
        return lambda own: self._start({**values, context_name: own})

    def _start(self, values: dict[str, Any]) -> Any:
        by_position = self.signature.by_position
        if by_position:
            return self.func(*[values.pop(name) for name in by_position], **values)
        return self.func(**values)

    def checked_input(self, value: Any) -> Any:
        """Return the input; a schema that comes from the argument's own type is left to the call."""
        if self.input_schema is None:
            return value
        whole = self.signature.whole
        return value if whole is not None and self.input_schema is whole.hint else super().checked_input(value)

    def arguments(self, ctx: Context, node_input: Any) -> dict[str, Any]:
        """Return the arguments of one call.

        Raises:
            WorkflowDataError: an argument has no value; the message names it and the places searched.
            ValidationError: a value can't be turned into the argument's type.
        """
        signature = self.signature
        if signature.has_open_hints:
            signature = self._read_again()
        values: dict[str, Any] = {}
        if signature.context_name is not None:
            values[signature.context_name] = ctx
        if self.parameter_binding == "node_input":
            self._bind_from_input(values, node_input)
            return values
        if signature.whole is not None:
            values["node_input"] = self._fitted(signature.whole, node_input)
        if signature.named:
            self._bind_named(values, signature, ctx, node_input)
        return values

    def _read_again(self) -> Signature:
        """Resolve hints that named a class which didn't exist yet, as a later cell may have defined it."""
        signature = read_signature(self.func, known=self.signature.hints)
        self.__dict__["signature"] = signature
        self._take_schemas(signature)
        return signature

    def _bind_named(self, values: dict[str, Any], signature: Signature, ctx: Context, node_input: Any) -> None:
        state = ctx.state
        missing: list[Parameter] = []
        for parameter in signature.named:
            name = parameter.name
            if name in state:
                values[name] = self._fitted(parameter, state[name])
            elif parameter.default is not ABSENT:
                values[name] = parameter.default
            else:
                missing.append(parameter)
        if not missing:
            return
        if len(missing) == 1 and signature.whole is None:
            values[missing[0].name] = self._fitted(missing[0], node_input)
            return
        given = _as_mapping(node_input) if signature.whole is None else None
        for parameter in missing:
            if given is None or parameter.name not in given:
                raise self._missing(parameter, ctx, node_input)
            values[parameter.name] = self._fitted(parameter, given[parameter.name])

    def _bind_from_input(self, values: dict[str, Any], node_input: Any) -> None:
        signature = self.signature
        given = _as_mapping(node_input) or {}
        parameters = signature.named if signature.whole is None else (signature.whole, *signature.named)
        for parameter in parameters:
            name = parameter.name
            if name in given:
                values[name] = self._fitted(parameter, given[name])
            elif parameter.default is not ABSENT:
                values[name] = parameter.default
            else:
                raise WorkflowDataError(
                    f"Missing value for parameter {name!r} of function {self.name!r}: not found in node_input, "
                    f"{_said_of(name, node_input)}, and it has no default. Hand it on from the node before, or give "
                    f"the parameter a default."
                )
        if signature.takes_extra:
            known = {parameter.name for parameter in parameters}
            values.update({key: value for key, value in given.items() if key not in known and key not in values})

    def _missing(self, parameter: Parameter, ctx: Context, node_input: Any) -> WorkflowDataError:
        name = parameter.name
        if self.signature.whole is None:
            searched = f"not found in the input, {_said_of(name, node_input)}"
            cure = f"Hand on a dictionary with the key {name!r}, name the parameter node_input to take the whole input"
        else:
            searched = "the input goes to node_input"
            cure = f"Take it out of node_input (node_input[{name!r}])"
        return WorkflowDataError(
            f"Missing value for parameter {name!r} of function {self.name!r}: not found in state, which has "
            f"{_names(name, ctx.state)}; {searched}; and it has no default. {cure}, write state[{name!r}] before, or "
            f"give it a default."
        )

    def _fitted(self, parameter: Parameter, value: Any) -> Any:
        adapter = parameter.adapter
        if adapter is None or type(value) is parameter.hint:
            return value
        if isinstance(value, types.Content):
            kept = _content_for(parameter.hint, value)
            if kept is value:
                return value
            self._say_what_is_lost(parameter, value)
            value = kept
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            raise titled(error, f"parameter {parameter.name!r} of node {self.name!r}") from None

    def _say_what_is_lost(self, parameter: Parameter, content: types.Content) -> None:
        others = [part for part in content.parts or () if part.text is None]
        if others:
            kinds = dict.fromkeys(next(iter(part.model_dump(exclude_none=True)), "empty") for part in others)
            warnings.warn(
                f"Node {self.name!r} takes the text of a message as {parameter.name!r} and not its other "
                f"{len(others)} parts ({', '.join(kinds)}): annotate it as types.Content to get them.",
                RuntimeWarning,
                stacklevel=2,
            )

    def describe_node(self) -> NodeDescription:
        """Return this node for a drawing; a function that asks a person is drawn as human input."""
        is_gated = self.require_confirmation is not False or self.auth_config is not None
        kind: Kind = "human" if is_gated or _asks(self.func) else self.kind
        return NodeDescription(name=self.name, kind=kind, detail=self.detail)


def name_of(func: Any) -> str:
    """Return the name that a callable gives its node.

    Raises:
        WorkflowConfigurationError: it isn't callable, or has no name.
    """
    if not callable(func):
        raise WorkflowConfigurationError(
            f"A FunctionNode wraps a function, and {func!r:.80} is a {type(func).__name__}, which can't be called."
        )
    name = getattr(innermost(func), "__name__", "__call__")
    if name == "<lambda>":
        raise WorkflowConfigurationError(
            "A lambda has no name, and a node must have a name that must be a valid Python identifier: write "
            "node(lambda ..., name='lookup'), or use def."
        )
    return str(name)


def _content_for(hint: Any, content: types.Content) -> Any:
    options = set(options_of(hint))
    if str in options:
        return content_text(content)
    if types.Content in options or Any in options:
        return content
    return content_value(content)


def _as_mapping(value: Any) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return value
    if isinstance(value, types.Content):
        return _as_mapping(content_value(value))
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    return None


def _said_of(name: str, node_input: Any) -> str:
    given = _as_mapping(node_input)
    if given is None:
        return f"which is a {type(node_input).__name__} without keys"
    return f"which has {_names(name, given)}"


def _names(name: str, given: Any) -> str:
    names = list(given)
    shown = one_of(name, names[:_NAMES_SHOWN])
    return shown if len(names) <= _NAMES_SHOWN else f"{shown} and {len(names) - _NAMES_SHOWN} more"


_NAMES_SHOWN = 20


def _asks(func: Any) -> bool:
    func = innermost(func)
    code = getattr(getattr(func, "__func__", func), "__code__", None)
    if code is None:
        return False
    names = getattr(func, "__globals__", {})
    return any(names.get(name) is RequestInput or name == "RequestInput" for name in code.co_names)


def _first_line(func: Any) -> str:
    func = innermost(func)
    doc = getattr(func, "__doc__", None) if inspect.isroutine(func) or inspect.isclass(func) else None
    return doc.strip().partition("\n")[0].strip() if doc else ""
