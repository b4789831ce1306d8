"""`NodeTool`: a workflow or another node as a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import TypeAdapter, ValidationError

from adk_nb.errors import ConfigurationError, ToolArgumentsError
from adk_nb.tools.base_tool import BaseTool
from adk_nb.tools.declaration import declaration_of
from adk_nb.workflow.build import build_node, node
from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.nodes import adapter_for
from adk_nb.workflow.signature import Parameter, is_model

if TYPE_CHECKING:
    from adk_nb.tools.tool_context import ToolContext

_REQUEST = "request"
_WHOLE = "node_input"


class NodeTool(BaseTool):
    """A node as a tool: the arguments of a call are its input, its output is the result; it may ask a person.

    A node with a model as `input_schema` takes the model's fields, a function node its function's arguments, and any
    other node one argument, `request`. An agent does this with workflows and function nodes in its `tools` by itself.

    Example:
        >>> from adk_nb.workflow import Workflow
        >>> def shout(node_input: str) -> str:
        ...     return node_input.upper()
        >>> NodeTool(Workflow(name="shouting", edges=[("START", shout)])).parameters()
        {'request': True}
    """

    def __init__(self, node_like: Any, *, name: str | None = None, description: str | None = None) -> None:
        """Wrap a node.

        Args:
            node_like: A workflow, a function node or a node of your own.
            name: What a model calls it by; the node's name by default.
            description: What a model is told about it; the node's by default.
        Raises:
            ConfigurationError: it is an agent, which needs an `AgentTool`, or no node.
        """
        self.node = build_node(node_like)
        if self.node.kind == "agent":
            raise ConfigurationError(
                f"A NodeTool can't hold the agent {self.node.name!r}: write AgentTool({self.node.name})."
            )
        told = self.node.description if description is None else description
        super().__init__(name=name or self.node.name, description=told or f"Runs {self.node.name}.")
        self._arguments = _arguments_of(self.node)
        if self._arguments is not None and _is_whole(self._arguments):
            self._wraps: str | None = _WHOLE
        elif self._arguments is not None:
            self._wraps = None
            self.node = node(self.node, parameter_binding="node_input")
        else:
            self._wraps = None if _takes_fields(self.node.input_schema) else _REQUEST

    def _get_declaration(self) -> types.FunctionDeclaration:
        """Return the node as a model is told of it."""
        if self._arguments is not None:
            return declaration_of(self.name, self.description, self._arguments)
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._schema()
        )

    def check_arguments(self, args: Mapping[str, Any]) -> None:
        """Refuse arguments that the node can't be given.

        Raises:
            ToolArgumentsError: the message names what is missing or doesn't fit.
        """
        super().check_arguments(args)
        self._fitted(args)

    def input_of(self, args: Mapping[str, Any]) -> Any:
        """Return what the node is given for the arguments of a call.

        Raises:
            ToolArgumentsError: they don't fit.
        """
        super().check_arguments(args)
        return self._fitted(args)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the node below the call; arguments that don't fit come back as `{"error": ...}` for the model."""
        try:
            node_input = self.input_of(args)
        except ToolArgumentsError as error:
            return {"error": str(error)}
        lane = f"{self.name}@{tool_context.function_call_id or tool_context.run_id}"
        branch = f"{tool_context.branch}.{lane}" if tool_context.branch else lane
        return await tool_context.run_node(self.node, node_input, override_branch=branch)

    def _schema(self) -> dict[str, Any]:
        schema = self.node.input_schema
        if self._wraps is None:
            return dict(schema) if isinstance(schema, dict) else adapter_for(schema).json_schema()
        one = {"type": "string"}
        if schema is not None:
            one = dict(schema) if isinstance(schema, dict) else adapter_for(schema).json_schema()
        return {"type": "object", "properties": {_REQUEST: one}, "required": [_REQUEST]}

    def _fitted(self, args: Mapping[str, Any]) -> Any:
        value: Any = dict(args) if self._wraps is None else args.get(self._wraps)
        adapter: TypeAdapter[Any] | None = None
        if self._arguments is not None:
            adapter = self._arguments[0].adapter if self._wraps else None
        elif self.node.input_schema is not None and not isinstance(self.node.input_schema, dict):
            adapter = adapter_for(self.node.input_schema)
        if adapter is None:
            return value
        try:
            return adapter.dump_python(adapter.validate_python(value))
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, line['loc'])) or 'it'}: {line['msg']}, found {line['input']!r:.60}"
                for line in error.errors(include_url=False)[:3]
            )
            raise ToolArgumentsError(
                f"The call of tool {self.name!r} gives arguments that don't fit: {wrong}."
            ) from None


def _arguments_of(one: Any) -> tuple[Parameter, ...] | None:
    """Return the arguments of a function node, `None` for one that takes the fields of a model, and for other nodes."""
    if not isinstance(one, FunctionNode):
        return None
    arguments = one.signature.all
    return None if _is_whole(arguments) and is_model(arguments[0].hint) else arguments


def _is_whole(arguments: tuple[Parameter, ...]) -> bool:
    return len(arguments) == 1 and arguments[0].name == _WHOLE


def _takes_fields(schema: Any) -> bool:
    return is_model(schema) or (isinstance(schema, dict) and schema.get("type") == "object")
