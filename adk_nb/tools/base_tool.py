"""`BaseTool`: what a tool is to a model, to a person who approves its calls, and to a graph."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.errors import ToolArgumentsError, one_of
from adk_nb.tools.tool_node import ToolNode

if TYPE_CHECKING:
    from adk_nb.tools.tool_context import ToolContext


class BaseTool(abc.ABC):
    """Something that a model may call by name; override `run_async` and `_get_declaration` to write your own.

    A tool can stand in an edge, in `node(...)` and in `ctx.run_node(...)`: it is a node then, whose input is the
    arguments of one call and whose output is the result.

    Example:
        >>> class Dice(BaseTool):
        ...     async def run_async(self, *, args, tool_context):
        ...         return 4
        >>> Dice(name="dice", description="Roll a die.").as_node().name
        'dice'
    """

    def __init__(
        self,
        *,
        name: str,
        description: str,
        is_long_running: bool = False,
        custom_metadata: dict[str, Any] | None = None,
    ) -> None:
        """Give the tool its name.

        Args:
            name: What a model calls it by.
            description: What a model is told about it.
            is_long_running: A call returns at once, and its result comes later from outside.
            custom_metadata: Data of your own.
        """
        self.name = name
        self.description = description
        self.is_long_running = is_long_running
        self.custom_metadata = custom_metadata

    @abc.abstractmethod
    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Carry out one call and return its result.

        Args:
            args: The arguments by name, as the model or the graph gave them.
            tool_context: The way to state, confirmation and credentials.
        """

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return what a model is told about the tool and its arguments; `None` keeps it from models."""
        return None

    def declaration(self) -> types.FunctionDeclaration | None:
        """Return what a model is told, under the name by which calls find the tool; `None` keeps it from models."""
        declared = self._get_declaration()
        if declared is None or declared.name == self.name:
            return declared
        return declared.model_copy(update={"name": self.name})

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: Any) -> None:
        """Tell a model of the tool, or change what it is asked in another way.

        Args:
            tool_context: The run that asks.
            llm_request: The `LlmRequest`.
        """
        llm_request.append_tools([self])

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: ToolContext) -> bool:
        """Say whether a person has to approve this call."""
        return False

    def parameters(self) -> dict[str, bool]:
        """Return the names of the arguments, each with whether it must be given; `{}` when the tool doesn't say."""
        declared = self.declaration()
        schema: Any = None if declared is None else declared.parameters_json_schema or declared.parameters
        if isinstance(schema, types.Schema):
            names, required = schema.properties, schema.required
        elif isinstance(schema, Mapping):
            names, required = schema.get("properties"), schema.get("required")
        else:
            return {}
        return {str(name): name in (required or ()) for name in names or ()}

    def check_arguments(self, args: Mapping[str, Any]) -> None:
        """Refuse arguments that a call can't be made with.

        Raises:
            ToolArgumentsError: one is missing or doesn't fit; the message names it and what was found.
        """
        missing = [name for name, is_required in self.parameters().items() if is_required and name not in args]
        if missing:
            raise missing_arguments(self.name, missing, args)

    def as_node(self) -> ToolNode:
        """Return the node that calls this tool in a graph."""
        return ToolNode(tool=self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r})"


def missing_arguments(tool: str, missing: list[str], args: Mapping[str, Any]) -> ToolArgumentsError:
    """Return the error for mandatory arguments that a call doesn't have."""
    names = ", ".join(map(repr, missing))
    return ToolArgumentsError(
        f"The call of tool {tool!r} lacks the mandatory parameter{'s' if len(missing) > 1 else ''} {names}: it has "
        f"{one_of(missing[0], args)}. Give every mandatory parameter."
    )
