"""`load_memory`: a tool by which a model looks for what was said in the user's earlier sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from adk_nb.tools.tool_context import ToolContext

_RULE = (
    "You have a memory of earlier conversations with this user. When an answer may lie there, call load_memory with "
    "words to look for."
)
_SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


class LoadMemoryTool(BaseTool):
    """Looks in the memory service for what fits a query."""

    def __init__(self) -> None:
        """Take the name that models know."""
        super().__init__(
            name="load_memory", description="Find what was said in earlier conversations with this user, by words."
        )

    def _get_declaration(self) -> types.FunctionDeclaration:
        """Return what a model is told."""
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=dict(_SCHEMA)
        )

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: Any) -> None:
        """Tell the model of the tool, and when to use it."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        llm_request.append_instructions([_RULE])

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Return what the memory service finds.

        Raises:
            ConfigurationError: the runner has no memory service.
        """
        query = args.get("query")
        if not isinstance(query, str) or not query.strip():
            return {"error": "load_memory needs a query: give the words to look for."}
        found = await tool_context.search_memory(query)
        return {"memories": [one.model_dump(mode="json", exclude_none=True) for one in found.memories]}


load_memory = LoadMemoryTool()
load_memory_tool = load_memory
