"""Apps: a root with what belongs to all its runs: its name, plugins and how its runs are resumed."""

from adk_nb.apps.app import App, ResumabilityConfig

__all__ = ["App", "ResumabilityConfig"]
