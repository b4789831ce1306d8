"""`ParallelAgent`: agents side by side, each in a conversation of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, ClassVar

from adk_nb.agents.agent_invocation import Membership
from adk_nb.agents.base_agent import BaseAgent
from adk_nb.errors import NodeInterruptedError
from adk_nb.workflow.context import Context
from adk_nb.workflow.description import Kind


class ParallelAgent(BaseAgent):
    """Run `sub_agents` at the same time; each sees the conversation before, and nothing of the others.

    Each has a branch of its own, `<parallel>.<sub-agent>`. The output is what each said, by name. The first failure
    stops the others, and so does one that escalates; one that waits for a person lets the others come to their end. A
    `Workflow` with edges to several nodes and a `JoinNode` does the same with nodes of any kind.

    Example:
        >>> from adk_nb.agents import LlmAgent
        >>> ParallelAgent(name="ask_both", sub_agents=[LlmAgent(name="one"), LlmAgent(name="two")]).name
        'ask_both'
    """

    keeps_checkpoints: ClassVar[bool] = True
    _runs_members: ClassVar[bool] = True

    rerun_on_resume: bool = True

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        members = _Members(self, ctx, node_input)
        output = await members.outputs()
        if output:
            ctx.keep_output(output)
        return
        yield  # makes this an async generator, as the node contract wants

    @property
    def detail(self) -> str:
        """How it runs its sub-agents, unless its description says more."""
        return self.description or "side by side"

    @property
    def _drawn_as(self) -> Kind:
        return "parallel"

    def _checkpoint(self, child: str, run_id: str) -> dict[str, Any] | None:
        return None if child else {}


class _Members:
    """The members of one run, and what came of each."""

    def __init__(self, parallel: ParallelAgent, ctx: Context, node_input: Any) -> None:
        self._agents = parallel.sub_agents
        self._ctx = ctx
        self._input = node_input
        self._branch = f"{ctx.branch}.{parallel.name}" if ctx.branch else parallel.name
        self._outputs: dict[str, Any] = {agent.name: None for agent in self._agents}
        self._asked: list[str] | None = None
        """Ids of the questions that members wait with, `None` while none does."""
        self._has_escalated = asyncio.Event()

    async def outputs(self) -> dict[str, Any]:
        """Return what each handed on, by name."""
        if not self._agents:
            return {}
        tasks = [self._ctx.in_task(self._run(agent)) for agent in self._agents]
        escalation = self._ctx.in_task(self._escalation())
        left: set[asyncio.Task[None]] = set(tasks)
        while left and not self._has_escalated.is_set():
            done, _ = await asyncio.wait({*left, escalation}, return_when=asyncio.FIRST_COMPLETED)
            left -= done
            errors = [task.exception() for task in done - {escalation}]
            for error in errors:
                if error is not None:
                    raise error  # which ends the run, and stops the others
        await self._ctx.stop_tasks([*left, escalation])
        if self._asked is not None and not self._has_escalated.is_set():
            raise NodeInterruptedError(self._asked)
        return {name: value for name, value in self._outputs.items() if value is not None}

    async def _escalation(self) -> None:
        await self._has_escalated.wait()

    async def _run(self, agent: BaseAgent) -> None:
        try:
            member = await self._ctx.run_member(Membership(agent), self._input, branch=f"{self._branch}.{agent.name}")
        except NodeInterruptedError as signal:
            self._asked = [*(self._asked or ()), *signal.interrupt_ids]
            return
        self._outputs[agent.name] = member.output
        if member.has_escalated:
            self._has_escalated.set()
