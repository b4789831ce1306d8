"""Agent workflows in Jupyter: code decides what runs next, a model is called only where judgment is needed.

Names are loaded when they are first used, so that `import adk_nb` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.lazy import loaded_when_used

if TYPE_CHECKING:
    from adk_nb.agents import Agent
    from adk_nb.events import Event
    from adk_nb.models.tapes import record, replay
    from adk_nb.models.use import use_model
    from adk_nb.notebook.calculator.calculator_view import calculator
    from adk_nb.notebook.chat.chat import chat
    from adk_nb.notebook.display import show
    from adk_nb.notebook.racing.race import race
    from adk_nb.notebook.running.open_run import open_run
    from adk_nb.notebook.running.run import Run
    from adk_nb.notebook.running.runs import runs
    from adk_nb.notebook.running.starts import run, run_sync
    from adk_nb.notebook.running.stored_runs import compare
    from adk_nb.notebook.settings import configure
    from adk_nb.runners import Runner
    from adk_nb.version import __version__
    from adk_nb.workflow import Workflow
    from adk_nb.workflow.context import Context
    from adk_nb.workflow.limits import Limits

_HOMES = {
    "Agent": "adk_nb.agents",
    "Context": "adk_nb.workflow.context",
    "Event": "adk_nb.events",
    "Limits": "adk_nb.workflow.limits",
    "Run": "adk_nb.notebook.running.run",
    "Runner": "adk_nb.runners",
    "Workflow": "adk_nb.workflow",
    "__version__": "adk_nb.version",
    "calculator": "adk_nb.calculator",  # a room that can be called
    "chat": "adk_nb.notebook.chat.chat",
    "compare": "adk_nb.notebook.running.stored_runs",
    "configure": "adk_nb.notebook.settings",
    "load_ipython_extension": "adk_nb.notebook.magics",
    "open_run": "adk_nb.notebook.running.open_run",
    "race": "adk_nb.notebook.racing.race",
    "record": "adk_nb.models.tapes",
    "replay": "adk_nb.models.tapes",
    "run": "adk_nb.notebook.running.starts",
    "run_sync": "adk_nb.notebook.running.starts",
    "runs": "adk_nb.notebook.running.runs",
    "show": "adk_nb.notebook.display",
    "use_model": "adk_nb.models.use",
}

__all__ = [
    "Agent",
    "Context",
    "Event",
    "Limits",
    "Run",
    "Runner",
    "Workflow",
    "__version__",
    "calculator",
    "chat",
    "compare",
    "configure",
    "open_run",
    "race",
    "record",
    "replay",
    "run",
    "run_sync",
    "runs",
    "show",
    "use_model",
]

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
