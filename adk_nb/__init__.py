"""Agent workflows in Jupyter: code decides what runs next, a model is called only where judgment is needed.

Names are loaded when they are first used, so that `import adk_nb` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adk_nb.agents import Agent, Context
    from adk_nb.events import Event
    from adk_nb.runners import Runner
    from adk_nb.workflow import Workflow

_HOMES = {
    "Agent": "adk_nb.agents",
    "Context": "adk_nb.workflow.context",
    "Event": "adk_nb.events",
    "Runner": "adk_nb.runners",
    "Workflow": "adk_nb.workflow",
}

__all__ = ["Agent", "Context", "Event", "Runner", "Workflow"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'adk_nb' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
