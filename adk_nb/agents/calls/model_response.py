"""The tool by which a model gives its answer in a declared shape, where it can't be asked for JSON beside tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args, get_origin

from google.genai import types
from pydantic import BaseModel

from adk_nb.agents.output_schema import parse_answer
from adk_nb.errors import InvalidAnswerError
from adk_nb.tools.base_tool import BaseTool
from adk_nb.workflow.nodes import adapter_for

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent
    from adk_nb.tools.tool_context import ToolContext

SET_MODEL_RESPONSE = "set_model_response"


class SetModelResponseTool(BaseTool):
    """Gives the final answer of an agent; the arguments are the fields of its `output_schema`."""

    def __init__(self, agent: LlmAgent) -> None:
        """Stand for an agent's answer."""
        super().__init__(name=SET_MODEL_RESPONSE, description="Give the final answer in the declared shape.")
        self._schema = agent.output_schema
        self._agent = agent.name

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return what a model is told."""
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._parameters()
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Check the answer and note it; one that doesn't fit comes back as an error."""
        wrapper = self._wrapper
        value = args.get(wrapper, args) if wrapper else args
        try:
            given = parse_answer(json.dumps(value, ensure_ascii=False), self._schema, self._agent)
        except InvalidAnswerError as error:
            return {"error": str(error)}
        tool_context.actions.set_model_response = given
        return {"result": "The answer was taken."}

    @property
    def _wrapper(self) -> str | None:
        """Name of the one argument that holds an answer which is no object."""
        schema = self._schema
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            return None
        if isinstance(schema, dict) and schema.get("type") == "object":
            return None
        if isinstance(schema, types.Schema) and schema.type is types.Type.OBJECT:
            return None
        inner = get_args(schema)
        is_models = get_origin(schema) is list and inner and isinstance(inner[0], type)
        return "items" if is_models and issubclass(inner[0], BaseModel) else "response"

    def _parameters(self) -> dict[str, Any]:
        schema: dict[str, Any]
        if isinstance(self._schema, types.Schema):
            schema = self._schema.model_dump(mode="json", exclude_none=True)
        else:
            schema = dict(self._schema) if isinstance(self._schema, dict) else adapter_for(self._schema).json_schema()
        wrapper = self._wrapper
        if wrapper is None:
            return schema
        definitions = schema.pop("$defs", None)
        wrapped = {"type": "object", "properties": {wrapper: schema}, "required": [wrapper]}
        return {**wrapped, "$defs": definitions} if definitions else wrapped
