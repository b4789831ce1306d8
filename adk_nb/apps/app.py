"""`App`: what a runner runs, under which name, with which plugins and summaries."""

from __future__ import annotations

import re
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from adk_nb.apps.base_events_summarizer import BaseEventsSummarizer
from adk_nb.apps.compaction import EventsCompactionConfig
from adk_nb.apps.llm_event_summarizer import LlmEventSummarizer
from adk_nb.errors import ConfigurationError
from adk_nb.plugins.base_plugin import BasePlugin
from adk_nb.plugins.plugin_manager import PluginManager
from adk_nb.workflow.build import build_root
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.written import Written

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*")


def validate_app_name(name: str) -> None:
    """Refuse a name that an app can't have.

    Raises:
        ConfigurationError: it doesn't begin with a letter, holds other signs than letters, digits, `_` and `-`, or is
            `user`.

    Example:
        >>> validate_app_name("support-desk")
    """
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"Invalid app name {name!r:.60}: begin with a letter, and use letters, digits, '_' and '-' only."
        )
    if name == "user":
        raise ConfigurationError("The app name 'user' is reserved for what a person says: choose another one.")


class ResumabilityConfig(BaseModel):
    """Whether an app's runs tell google-adk's readers where they stand.

    Every run can be resumed, whatever this says: that needs nothing but its records.
    """

    model_config = ConfigDict(extra="forbid")

    is_resumable: bool = False
    """Workflows write events that say which of their nodes run, wait or are done (`actions.agent_state`), and that they
    have ended (`actions.end_of_agent`)."""


class App(Written):
    """A root agent, workflow or node, with its app's name and plugins; give it to a runner or to `adk_nb.run`.

    Example:
        >>> from adk_nb.workflow import Workflow
        >>> App(name="desk", root_agent=Workflow(name="flow", edges=[("START", str.upper)])).name
        'desk'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    name: str
    """Under which sessions are kept: letters, digits, `_` and `-`, a letter first."""
    root_agent: Any = None
    """The agent, workflow or node that each run begins with."""
    plugins: list[BasePlugin] = Field(default_factory=list)
    """In the order in which they are asked."""
    events_compaction_config: EventsCompactionConfig | None = None
    """When models read a summary in place of older events; `None` means never."""
    context_cache_config: Any = None
    """Not there yet, so one is refused."""
    resumability_config: ResumabilityConfig | None = None
    """`None` is the same as `ResumabilityConfig()`."""

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        validate_app_name(name)
        return name

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.root_agent is None:
            raise ConfigurationError(
                "root_agent must be provided: give App(root_agent=...) an agent, workflow or node."
            )
        if isinstance(self.root_agent, App):
            raise ConfigurationError(
                f"root_agent of App {self.name!r} is the App {self.root_agent.name!r}, and an app can't run inside "
                f"another one, as its plugins would be lost: give the root_agent of it."
            )
        build_root(self.root_agent)
        PluginManager(self.plugins)
        if self.context_cache_config is not None:
            raise ConfigurationError(
                f"App {self.name!r} can't have context_cache_config= yet, it would do nothing: leave it out."
            )
        config = self.events_compaction_config
        if config is not None and config.summarizer is None and not hasattr(type(self.root_agent), "canonical_model"):
            raise ConfigurationError(
                f"App {self.name!r} has events_compaction_config= without a summarizer, and its root has no model that "
                f"could write summaries: give EventsCompactionConfig(summarizer=LlmEventSummarizer(llm=...), ...)."
            )
        return self

    def summarizer(self) -> BaseEventsSummarizer | None:
        """Return who writes the summaries of this app, `None` where there are none."""
        config = self.events_compaction_config
        if config is None or config.summarizer is not None:
            return None if config is None else config.summarizer
        return LlmEventSummarizer(llm=self.root_agent.canonical_model)

    @property
    def is_resumable(self) -> bool:
        """Workflows of this app write down where they stand."""
        return self.resumability_config is not None and self.resumability_config.is_resumable

    def as_root(self) -> BaseNode:
        """Return the node that a run of this app begins with."""
        return build_root(self.root_agent)
