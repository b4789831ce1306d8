"""`SequentialAgent`: agents one after the other in one conversation."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, ClassVar

from adk_nb.agents.agent_invocation import Membership
from adk_nb.agents.base_agent import BaseAgent
from adk_nb.workflow.context import Context
from adk_nb.workflow.description import Kind
from adk_nb.workflow.place import Member


class SequentialAgent(BaseAgent):
    """Run `sub_agents` one after the other; each sees what those before it said.

    What the last one said is its output. It ends early when one of them escalates, as a call of `exit_loop` does, and
    goes on after a pause or a crash with the one that had not finished. A `Workflow` with a chain of edges does the
    same with nodes of any kind.

    Example:
        >>> from adk_nb.agents import LlmAgent
        >>> SequentialAgent(name="pipeline", sub_agents=[LlmAgent(name="write"), LlmAgent(name="check")]).name
        'pipeline'
    """

    keeps_checkpoints: ClassVar[bool] = True
    _runs_members: ClassVar[bool] = True
    _runs_in_order: ClassVar[bool] = True

    rerun_on_resume: bool = True

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        member: Member | None = None
        for agent in self.sub_agents:
            member = await ctx.run_member(Membership(agent), node_input, after=member)
            node_input = None
            if member.has_escalated:
                break
        if member is not None and member.output is not None:
            ctx.keep_output(member.output)
        return
        yield  # makes this an async generator, as the node contract wants

    @property
    def detail(self) -> str:
        """How it runs its sub-agents, unless its description says more."""
        return self.description or "one after the other"

    @property
    def _drawn_as(self) -> Kind:
        return "workflow"

    def _checkpoint(self, child: str, run_id: str) -> dict[str, Any] | None:
        return {"current_sub_agent": child} if child else None
