"""Agents: a model, or anything else that speaks for itself, as a node of a workflow or as the root of a chat."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adk_nb.agents.base_agent import BaseAgent
    from adk_nb.agents.context import Context
    from adk_nb.agents.invocation_context import InvocationContext
    from adk_nb.agents.llm_agent import Agent, LlmAgent
    from adk_nb.agents.readonly_context import ReadonlyContext
    from adk_nb.agents.run_config import RunConfig

__all__ = ["Agent", "BaseAgent", "Context", "InvocationContext", "LlmAgent", "ReadonlyContext", "RunConfig"]

# Loaded when first named: the workflow room needs some of these modules before an agent can be loaded.
_HOMES = {
    "Agent": "llm_agent",
    "BaseAgent": "base_agent",
    "Context": "context",
    "InvocationContext": "invocation_context",
    "LlmAgent": "llm_agent",
    "ReadonlyContext": "readonly_context",
    "RunConfig": "run_config",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
