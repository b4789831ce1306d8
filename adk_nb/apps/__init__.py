"""Apps: a root with what belongs to all its runs: its name, plugins, summaries and how its runs are resumed."""

from adk_nb.apps.app import App, ResumabilityConfig
from adk_nb.apps.compaction import EventsCompactionConfig
from adk_nb.apps.llm_event_summarizer import LlmEventSummarizer

__all__ = ["App", "EventsCompactionConfig", "LlmEventSummarizer", "ResumabilityConfig"]
