"""Agents: a model, or anything else that speaks for itself, as a node of a workflow or as the root of a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.lazy import loaded_when_used

if TYPE_CHECKING:
    from adk_nb.agents.base_agent import BaseAgent
    from adk_nb.agents.context import Context
    from adk_nb.agents.invocation_context import InvocationContext
    from adk_nb.agents.llm_agent import Agent, LlmAgent
    from adk_nb.agents.loop_agent import LoopAgent
    from adk_nb.agents.parallel_agent import ParallelAgent
    from adk_nb.agents.reading.instructions import inject_session_state
    from adk_nb.agents.readonly_context import ReadonlyContext
    from adk_nb.agents.run_config import RunConfig
    from adk_nb.agents.sequential_agent import SequentialAgent

__all__ = [
    "Agent",
    "BaseAgent",
    "Context",
    "InvocationContext",
    "LlmAgent",
    "LoopAgent",
    "ParallelAgent",
    "ReadonlyContext",
    "RunConfig",
    "SequentialAgent",
    "inject_session_state",
]

# Loaded when first named: the workflow room needs some of these modules before an agent can be loaded.
_HOMES = {
    "Agent": "adk_nb.agents.llm_agent",
    "BaseAgent": "adk_nb.agents.base_agent",
    "Context": "adk_nb.agents.context",
    "InvocationContext": "adk_nb.agents.invocation_context",
    "LlmAgent": "adk_nb.agents.llm_agent",
    "LoopAgent": "adk_nb.agents.loop_agent",
    "ParallelAgent": "adk_nb.agents.parallel_agent",
    "ReadonlyContext": "adk_nb.agents.readonly_context",
    "RunConfig": "adk_nb.agents.run_config",
    "SequentialAgent": "adk_nb.agents.sequential_agent",
    "inject_session_state": "adk_nb.agents.reading.instructions",
}

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
