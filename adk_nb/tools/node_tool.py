"""`NodeTool`: a workflow or another node as a tool of an agent."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import ValidationError

from adk_nb.errors import ToolArgumentsError
from adk_nb.tools.base_tool import BaseTool
from adk_nb.tools.declaration import declaration_of
from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.nodes import BaseNode, adapter_for
from adk_nb.workflow.signature import Signature, read_signature

if TYPE_CHECKING:
    from adk_nb.tools.tool_context import ToolContext

_TEXT = {"type": "string"}
_REBOUND = {"name", "func", "parameter_binding", "input_schema"}


class NodeTool(BaseTool):
    """Runs a node for a model: it is recorded below the agent, and what it says is seen.

    The arguments are the fields of the node's `input_schema`, those of a function node its parameters; an input of
    another kind is the one argument `request`.

    Example:
        >>> from adk_nb.workflow import Workflow
        >>> flow = Workflow(name="flow", edges=[("START", lambda node_input: node_input)])
        >>> NodeTool(flow).parameters()
        {'request': True}
    """

    def __init__(self, node: BaseNode) -> None:
        """Stand for a node; its name and description are the tool's."""
        super().__init__(name=node.name, description=node.description)
        self.node = node
        self._signature: Signature | None = None
        if isinstance(node, FunctionNode):
            self.description = node.description or inspect.cleandoc(node.func.__doc__ or "")
            signature = read_signature(node.func)
            if not signature.whole:  # its parameters are the arguments of a call
                self._signature = signature
                self.node = FunctionNode(node.func, name=node.name, parameter_binding="node_input").model_copy(
                    update={name: getattr(node, name) for name in node.model_fields_set - _REBOUND}
                )

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return the node as a model is told of it."""
        if self._signature is not None:
            return declaration_of(self.name, self.description, self._signature.named)
        schema = self._schema()
        if schema.get("type") != "object":
            schema = {"type": "object", "properties": {"request": schema}, "required": ["request"]}
        return types.FunctionDeclaration(
            name=self.name, description=self.description or None, parameters_json_schema=schema
        )

    def input_of(self, args: dict[str, Any]) -> Any:
        """Return what the node is given for the arguments of a call.

        Raises:
            ToolArgumentsError: they don't fit.
        """
        self.check_arguments(args)
        if self._signature is not None:
            return args
        value = args if self._schema().get("type") == "object" else args["request"]
        schema = self.node.input_schema
        if schema is None or isinstance(schema, dict):
            return value
        try:
            adapter_for(schema).validate_python(value)
        except ValidationError as error:
            lines = error.errors(include_url=False)[:5]
            wrong = "; ".join(f"{'.'.join(map(str, line['loc']))}: {line['msg']}" for line in lines)
            raise ToolArgumentsError(f"The call of {self.name!r} has arguments that don't fit: {wrong}.") from None
        return value

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the node below the one that calls."""
        return await tool_context.run_node(self.node, self.input_of(args))

    def _schema(self) -> dict[str, Any]:
        schema = self.node.input_schema
        if schema is None:
            return _TEXT
        return schema if isinstance(schema, dict) else adapter_for(schema).json_schema()
