"""The tools of an agent: what it was given, turned into what its model can call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from adk_nb.agents.calls.finish_task import FinishTaskTool
from adk_nb.agents.calls.model_response import SetModelResponseTool
from adk_nb.agents.calls.sub_agent_tools import SubAgentTool
from adk_nb.agents.reading.request import Target
from adk_nb.agents.turn.transfer import converses
from adk_nb.errors import ConfigurationError
from adk_nb.events.credential_request import REQUEST_CREDENTIAL
from adk_nb.events.tool_confirmation import REQUEST_CONFIRMATION
from adk_nb.models.llm_request import LlmRequest
from adk_nb.tools.base_tool import BaseTool
from adk_nb.tools.base_toolset import BaseToolset
from adk_nb.tools.function_tool import FunctionTool
from adk_nb.tools.node_tool import NodeTool
from adk_nb.tools.transfer_to_agent_tool import TransferToAgentTool
from adk_nb.workflow.context import Context, ReadonlyContext
from adk_nb.workflow.nodes import BaseNode

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent

ToolLike = Any
"""A function, a tool, a toolset, or a node that isn't an agent."""


def check_tools(agent: str, tools: Iterable[ToolLike]) -> None:
    """Refuse what can't be a tool.

    Raises:
        ConfigurationError: one is an agent, or nothing that could be called.
    """
    for tool in tools:
        if isinstance(tool, BaseNode) and tool.kind == "agent":
            raise ConfigurationError(
                f"Agent {agent!r} has the agent {tool.name!r} in tools, and an agent cannot be used directly as a "
                f"tool: put it into sub_agents with mode='single_turn' or 'task', or wrap it, AgentTool({tool.name})."
            )
        if not (isinstance(tool, (BaseTool, BaseToolset, BaseNode)) or callable(tool)) or isinstance(tool, type):
            raise ConfigurationError(
                f"Agent {agent!r} has {tool!r:.80} in tools, which is a {type(tool).__name__}: allowed are functions, "
                f"tools, toolsets, and nodes that are no agents."
            )
        name = getattr(tool, "name", None) or getattr(tool, "__name__", None)
        if name in (REQUEST_CONFIRMATION, REQUEST_CREDENTIAL):
            raise ConfigurationError(
                f"Agent {agent!r} has a tool called {name!r}, by which a person is asked about calls: rename it."
            )


class OwnTools:
    """The tools of one run of an agent, found when they are first needed."""

    def __init__(self, agent: LlmAgent, ctx: Context | None, targets: Sequence[Target] = ()) -> None:
        """Look at an agent.

        Args:
            agent: The agent.
            ctx: Its context, which toolsets are asked with; `None` only to `show` them.
            targets: The agents that it may hand the conversation to.
        """
        self._agent = agent
        self._ctx = ctx
        called = [SubAgentTool(cast("LlmAgent", one)) for one in agent.sub_agents if not converses(one)]
        ends = [FinishTaskTool(agent)] if agent.mode == "task" else []
        self._tools: list[BaseTool | BaseToolset] = [*agent.canonical_tools, *ends, *called]
        front: list[BaseTool] = [TransferToAgentTool([one.name for one in targets])] if targets else []
        self.answers_by_tool = bool(
            agent.output_schema is not None
            and agent.mode != "task"
            and (self._tools or front)
            and not agent.canonical_model.capabilities.output_schema_and_tools
        )
        """The model gives its answer by calling a tool, as it can't be asked for JSON beside others."""
        if self.answers_by_tool:
            front.insert(0, SetModelResponseTool(agent))
        self._tools = [*front, *self._tools]
        self._known: dict[str, BaseTool] | None = None

    @property
    def known(self) -> dict[str, BaseTool]:
        """What was found so far."""
        return self._known or {}

    async def by_name(self) -> dict[str, BaseTool]:
        """Return what can be called; of two tools with one name, the later one."""
        if self._known is None:
            found = [tool for one in self._tools for tool in await self._found(one)]
            self._known = {tool.name: tool for tool in found}
        return self._known

    async def show(self, look: ReadonlyContext, request: LlmRequest) -> None:
        """Declare the tools in a request that isn't sent; what tools add besides, as from a memory, is left out."""
        for one in self._tools:
            request.append_tools([one] if isinstance(one, BaseTool) else await one.get_tools_with_prefix(look))

    async def tell(self, request: LlmRequest) -> None:
        """Tell the model of the tools."""
        assert self._ctx is not None  # only tools that are merely shown have none
        for one in self._tools:
            if isinstance(one, BaseToolset):
                await one.process_llm_request(tool_context=self._ctx, llm_request=request)
            for tool in await self._found(one):
                await tool.process_llm_request(tool_context=self._ctx, llm_request=request)
        self._known = {**await self.by_name(), **request.tools_dict}

    async def _found(self, one: BaseTool | BaseToolset) -> list[BaseTool]:
        if isinstance(one, BaseTool):
            return [one]
        try:
            return await one.get_tools_with_prefix(self._ctx)
        except Exception as error:  # noqa: BLE001  # a server is down, for instance: the agent goes on without it
            warnings.warn(
                f"Agent {self._agent.name!r} goes on without the tools of {type(one).__name__}, whose get_tools "
                f"failed: {type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
            return []


def as_tool(given: ToolLike) -> BaseTool:
    """Return the tool that a function or a node stands for."""
    return NodeTool(given) if isinstance(given, BaseNode) else FunctionTool(given)
