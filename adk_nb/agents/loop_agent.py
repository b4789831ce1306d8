"""`LoopAgent`: agents one after the other, again and again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, ClassVar

from adk_nb.agents.agent_invocation import Membership
from adk_nb.agents.base_agent import BaseAgent
from adk_nb.workflow.context import Context
from adk_nb.workflow.description import Kind
from adk_nb.workflow.place import Member


class LoopAgent(BaseAgent):
    """Run `sub_agents` in turn until one of them, or something below one, escalates.

    A call of the tool `exit_loop` escalates, and so does an event with `actions.escalate`. It ends this loop at once,
    and not those around it. What was said last is the output. A `Workflow` with an edge that leads back does the same
    with nodes of any kind.

    Example:
        >>> from adk_nb.agents import LlmAgent
        >>> LoopAgent(name="refine", max_iterations=3, sub_agents=[LlmAgent(name="write")]).max_iterations
        3
    """

    ends_on_escalation: ClassVar[bool] = True
    keeps_checkpoints: ClassVar[bool] = True
    _runs_members: ClassVar[bool] = True
    _runs_in_order: ClassVar[bool] = True

    rerun_on_resume: bool = True
    max_iterations: int | None = None
    """How often the sub-agents run, at most; `None` means no limit, and 0 or less that they don't run."""

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        last = await self._rounds(ctx, node_input)
        if last is not None and last.output is not None:
            ctx.keep_output(last.output)
        return
        yield  # makes this an async generator, as the node contract wants

    async def _rounds(self, ctx: Context, node_input: Any) -> Member | None:
        """Run the members until one escalates or it is enough; return the last one."""
        member: Member | None = None
        done = 0
        while self.sub_agents and (self.max_iterations is None or done < self.max_iterations):
            for agent in self.sub_agents:
                member = await ctx.run_member(Membership(agent), node_input, after=member)
                node_input = None
                if member.has_escalated:
                    return member
            done += 1
        return member

    @property
    def detail(self) -> str:
        """How it runs its sub-agents, unless its description says more."""
        if self.description:
            return self.description
        return "again and again" if self.max_iterations is None else f"at most {self.max_iterations} times"

    @property
    def _drawn_as(self) -> Kind:
        return "workflow"

    def _checkpoint(self, child: str, run_id: str) -> dict[str, Any] | None:
        return {"current_sub_agent": child, "times_looped": int(run_id) - 1} if child else None
