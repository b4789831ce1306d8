"""One call of a tool as a run of its own below the agent's: its record keeps the result, so that it is made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from adk_nb.agents.calls.call_result import result_of
from adk_nb.agents.calls.tool_calls import call_tool, saved
from adk_nb.errors import WorkflowDataError
from adk_nb.events.event import Event
from adk_nb.events.tool_confirmation import ToolConfirmation
from adk_nb.events.values import freeze
from adk_nb.tools.base_tool import BaseTool
from adk_nb.tools.tool_node import node_name
from adk_nb.workflow.context import Context
from adk_nb.workflow.description import Kind
from adk_nb.workflow.nodes import BaseNode

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent


class CallNode(BaseNode):
    """Calls a tool for an agent; the output is the `CallResult` as a record keeps it, and no event is published."""

    kind: ClassVar[Kind] = "tool"
    returns_once: ClassVar[bool] = True
    is_silent: ClassVar[bool] = True

    rerun_on_resume: bool = True
    agent: Any = Field(repr=False)
    tool: Any = Field(repr=False)
    call_id: str
    confirmation: ToolConfirmation | None = None
    is_approved: bool | None = None
    """What a person said who was asked whether the call may be made; `None` when nobody was."""
    has_run: bool = False
    """The call was made in this process."""

    @classmethod
    def of(
        cls,
        agent: LlmAgent,
        tool: BaseTool,
        call_id: str,
        confirmation: ToolConfirmation | None,
        *,
        is_approved: bool | None = None,
    ) -> CallNode:
        """Return the node of one call."""
        return cls(
            name=cls.name_of(tool.name),
            agent=agent,
            tool=tool,
            call_id=call_id,
            confirmation=confirmation,
            is_approved=is_approved,
        )

    @staticmethod
    def name_of(tool: str) -> str:
        """Return the name of the node of a tool's calls."""
        name = node_name(tool)
        return name if name.isidentifier() else f"_{name}"

    async def call(self, *, ctx: Context, node_input: Any) -> Any:
        """Make the call."""
        self.has_run = True
        ctx.stand_for(self.agent)
        ctx.function_call_id = self.call_id
        ctx.tool_confirmation = self.confirmation
        args = dict(node_input or {})
        value = await call_tool(self.agent, self.tool, args, ctx, is_approved=self.is_approved)
        is_pending = self.tool.is_long_running and _is_nothing(value)
        try:
            result = result_of(ctx, value, tool=self.tool.name, is_pending=is_pending)
        except WorkflowDataError as error:  # what it returned can't be told or stored: that is an error of the tool
            value = await saved(self.agent, self.tool, args, ctx, error)
            if value is None:
                raise
            result = result_of(ctx, value, tool=self.tool.name, is_pending=False)
        ctx.output = freeze(result.to_record(), f"result of tool {self.tool.name!r}")
        ctx.outcome.is_published = True
        return None

    def as_event(self, item: Any) -> Event | None:
        """Return nothing: the agent tells what came of the call."""
        return None


def _is_nothing(value: Any) -> bool:
    """Say whether a tool whose result comes later has returned none yet; a table has no truth to ask for."""
    return value is None or (isinstance(value, (str, int, float, dict, list, tuple, set)) and not value)
