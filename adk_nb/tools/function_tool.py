"""`FunctionTool`: a Python function as a tool."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from google.genai import types
from pydantic import ValidationError

from adk_nb.errors import ConfigurationError, ToolArgumentsError
from adk_nb.tools.base_tool import BaseTool, missing_arguments
from adk_nb.tools.declaration import declaration_of
from adk_nb.tools.tool_node import node_name
from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.gates import Requirement, check_requirement, is_required
from adk_nb.workflow.signature import ABSENT, Parameter, Signature, innermost, read_signature
from adk_nb.workflow.sync_calls import call_in_thread

if TYPE_CHECKING:
    from adk_nb.tools.tool_context import ToolContext


class FunctionTool(BaseTool):
    """A function that a model may call: its name, docstring and type hints say what it does and takes.

    The argument annotated `ToolContext` or `Context`, else the one named `tool_context`, gets the context and is hidden
    from models. Every other argument is turned into its type; one that doesn't fit is told to the model, and fails a
    node. The function may be async. A generator's messages go out as they come, and its one other value is the result.
    A `RequestInput` that it returns to an agent is put to a person, and the answer is the result.

    Example:
        >>> def weather(city: str, days: int = 1) -> str:
        ...     "Forecast for a city."
        ...     return f"{days} sunny days in {city}"
        >>> FunctionTool(weather).parameters()
        {'city': True, 'days': False}
    """

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        require_confirmation: Requirement = False,
        on_tool_error: Literal["raise", "tell_model"] | None = None,
    ) -> None:
        """Wrap `func`.

        Args:
            func: What is called.
            require_confirmation: Ask a person before each call, or when a function of the same arguments says so.
            on_tool_error: What an exception in a model's call does: `"raise"` ends the run, `"tell_model"` lets the
                model read it and go on; `None` leaves it to the agent.
        """
        super().__init__(name=_name_of(func), description=_description_of(func))
        check_requirement(f"Tool {self.name!r}", require_confirmation)
        self.func = func
        self.require_confirmation = require_confirmation
        self.on_tool_error = on_tool_error

    @functools.cached_property
    def signature(self) -> Signature:
        """What the function wants and returns."""
        return read_signature(self.func, context_name="tool_context")

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return the function as a model is told of it."""
        return declaration_of(self.name, self.description, self._wanted())

    def parameters(self) -> dict[str, bool]:
        """Return the names of the arguments, each with whether it must be given."""
        return {one.name: one.default is ABSENT for one in self._wanted()}

    def check_arguments(self, args: Mapping[str, Any]) -> None:
        """Refuse arguments that are missing or don't fit their types.

        Raises:
            ToolArgumentsError: the message names the argument and what was found.
        """
        self._fitted(args)

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: ToolContext) -> bool:
        """Say whether a person has to approve this call."""
        if isinstance(self.require_confirmation, bool):
            return self.require_confirmation
        return await is_required(self.require_confirmation, self.name, self._fitted(args), tool_context)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Call the function; arguments that don't fit come back as `{"error": ...}` for the model to put right."""
        try:
            values = self._fitted(args)
        except ToolArgumentsError as error:
            return {"error": str(error)}
        if "generator" in self.signature.style:
            spoken = FunctionNode(self._spoken(values, tool_context), name=node_name(self.name))
            has_lane = (tool_context.branch or "").endswith(f"@{tool_context.function_call_id}")
            return await tool_context.run_node(spoken, use_sub_branch=not has_lane)
        is_off_loop = getattr(tool_context, "is_off_loop", False)  # people also call a tool with a context of their own
        if self.signature.style == "plain" and is_off_loop:
            result = await call_in_thread(tool_context, functools.partial(self._call, values))
        else:
            result = self._call(values, tool_context)
        return await result if inspect.isawaitable(result) else result

    def _spoken(self, values: dict[str, Any], tool_context: ToolContext) -> Callable[[], Any]:
        """Return a generator function that needs nothing more."""
        if self.signature.style == "async generator":

            async def produce() -> AsyncGenerator[Any, None]:
                async with contextlib.aclosing(self._call(values, tool_context)) as items:
                    async for item in items:
                        yield item

            return produce

        def produce_in_turn() -> Generator[Any, None, None]:
            yield from self._call(values, tool_context)

        return produce_in_turn

    def _call(self, values: dict[str, Any], tool_context: ToolContext) -> Any:
        signature = self.signature
        if signature.context_name is not None:
            values = {**values, signature.context_name: tool_context}
        first = [values[name] for name in signature.by_position]
        return self.func(*first, **{name: one for name, one in values.items() if name not in signature.by_position})

    def _wanted(self) -> tuple[Parameter, ...]:
        """Return the arguments that a caller gives, in order."""
        if self.signature.has_open_hints:
            again = read_signature(self.func, known=self.signature.hints, context_name="tool_context")
            self.__dict__["signature"] = again
        return self.signature.all

    def _fitted(self, args: Mapping[str, Any]) -> dict[str, Any]:
        wanted = self._wanted()
        missing = [one.name for one in wanted if one.default is ABSENT and one.name not in args]
        if missing:
            raise missing_arguments(self.name, missing, args)
        values = {one.name: self._as_wanted(one, args[one.name]) for one in wanted if one.name in args}
        if self.signature.takes_extra:
            values.update({name: value for name, value in args.items() if name not in values})
        return values

    def _as_wanted(self, parameter: Parameter, value: Any) -> Any:
        if parameter.adapter is None:
            return value
        try:
            return parameter.adapter.validate_python(value)
        except ValidationError as error:
            wrong = "; ".join(_fault(line) for line in error.errors(include_url=False)[:3])
            raise ToolArgumentsError(
                f"The call of tool {self.name!r} gives parameter {parameter.name!r} a value that doesn't fit: {wrong}."
            ) from None


def _fault(line: Any) -> str:
    where = ".".join(map(str, line["loc"]))
    return f"{where}{': ' if where else ''}{line['msg']}, found {line['input']!r:.60}"


def _name_of(func: Any) -> str:
    if not callable(func):
        raise ConfigurationError(f"A FunctionTool wraps a function, and {func!r:.80} is a {type(func).__name__}.")
    inner = innermost(func)
    name = str(getattr(inner, "__name__", None) or type(inner).__name__)
    if name == "<lambda>":
        raise ConfigurationError("A lambda has no name for a model to call it by: write the tool with def.")
    return name


def _description_of(func: Any) -> str:
    inner = innermost(func)
    doc = inner.__doc__ if inspect.isroutine(inner) or inspect.isclass(inner) else type(inner).__doc__
    return inspect.cleandoc(doc or "")
