"""`transfer_to_agent`: hands the conversation over to another agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.genai import types

from adk_nb.tools.base_tool import BaseTool
from adk_nb.tools.tool_context import ToolContext

TRANSFER_TO_AGENT = "transfer_to_agent"


def transfer_to_agent(agent_name: str, tool_context: ToolContext, *, transfer_reason: str = "") -> None:
    """Hand the conversation over to the agent with this name, which is better suited to answer."""
    tool_context.actions.transfer_to_agent = agent_name
    if transfer_reason:
        tool_context.actions.transfer_reason = transfer_reason


class TransferToAgentTool(BaseTool):
    """Hands the conversation over to one of some agents; an agent with others around it has it by itself.

    Example:
        >>> TransferToAgentTool(["billing"]).name
        'transfer_to_agent'
    """

    def __init__(self, agent_names: Sequence[str], include_transfer_reason: bool = False) -> None:
        """Offer agents.

        Args:
            agent_names: Whom the conversation can be handed to.
            include_transfer_reason: A model may say why, too.
        """
        super().__init__(
            name=TRANSFER_TO_AGENT,
            description="Hand the conversation over to an agent that is better suited to answer.",
        )
        self.agent_names = list(agent_names)
        self.include_transfer_reason = include_transfer_reason

    def _get_declaration(self) -> types.FunctionDeclaration:
        """Return what a model is told."""
        named: dict[str, Any] = {
            "agent_name": {"type": "string", "description": "Name of the agent.", "enum": self.agent_names}
        }
        if self.include_transfer_reason:
            named["transfer_reason"] = {"type": "string", "description": "Why, in a sentence."}
        schema = {"type": "object", "properties": named, "required": ["agent_name"]}
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=schema)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Note whom to hand over to; whether that can be is checked by the agent."""
        name = args.get("agent_name")
        if not isinstance(name, str):
            return {"error": f"transfer_to_agent needs agent_name: one of {', '.join(self.agent_names)}."}
        transfer_to_agent(name, tool_context, transfer_reason=str(args.get("transfer_reason") or ""))
        return None
