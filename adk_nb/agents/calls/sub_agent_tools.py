"""The tools by which an agent's model calls the agents below it: to answer at once, or to take over a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import ValidationError

from adk_nb.agents.output_schema import as_data
from adk_nb.errors import ToolArgumentsError
from adk_nb.tools.base_tool import BaseTool
from adk_nb.workflow.nodes import adapter_for

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent
    from adk_nb.tools.tool_context import ToolContext

_REQUEST = {
    "type": "object",
    "properties": {
        "request": {
            "type": "string",
            "description": "All that the agent has to know: what it should do, and the facts that it needs.",
        }
    },
    "required": ["request"],
}
_ALONE = "It hands this task to a specialist, who may ask the user. Don't call another tool together with it."


class SubAgentTool(BaseTool):
    """Calls an agent below that answers at once, without talking to anybody."""

    def __init__(self, agent: LlmAgent) -> None:
        """Stand for an agent; its name and description are the tool's."""
        super().__init__(name=agent.name, description=agent.description)
        self.agent = agent

    @property
    def is_task(self) -> bool:
        """The agent takes over until it has finished, and may talk with the person."""
        return self.agent.mode == "task"

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return the agent as a model is told of it."""
        schema = self.agent.input_schema
        if schema is None:
            parameters: dict[str, Any] = _REQUEST
        else:
            parameters = schema if isinstance(schema, dict) else adapter_for(schema).json_schema()
        words = [self.description, _ALONE] if self.is_task else [self.description]
        return types.FunctionDeclaration(
            name=self.name, description=" ".join(filter(None, words)) or None, parameters_json_schema=parameters
        )

    def input_of(self, args: dict[str, Any]) -> Any:
        """Return what the agent is given for the arguments of a call.

        Raises:
            ToolArgumentsError: they don't fit.
        """
        schema = self.agent.input_schema
        if schema is None:
            if not isinstance(args.get("request"), str):
                raise ToolArgumentsError(
                    f"The call of agent {self.name!r} has no text 'request': say in it what the agent should do."
                )
            return args if self.is_task else args["request"]
        if isinstance(schema, dict):
            return args
        adapter = adapter_for(schema)
        try:
            return as_data(adapter, adapter.validate_python(args))
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, line['loc']))}: {line['msg']}" for line in error.errors(include_url=False)[:5]
            )
            raise ToolArgumentsError(
                f"The call of agent {self.name!r} has arguments that don't fit: {wrong}. Call it again with all fields "
                f"as declared."
            ) from None

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the agent below the node that calls, for callers that aren't agents themselves."""
        return await tool_context.run_node(self.agent, self.input_of(args))
