"""`App`: what a runner runs, under which name, with which plugins."""

from __future__ import annotations

import re
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

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


class EventsCompactionConfig(BaseModel):
    """When to replace old events by a summary; no app takes one yet."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    summarizer: Any = None
    compaction_interval: int | None = None
    overlap_size: int | None = None
    token_threshold: int | None = None
    event_retention_size: int | None = None


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
    """Not there yet, so one is refused."""
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
        for option in ("events_compaction_config", "context_cache_config"):
            if getattr(self, option) is not None:
                raise ConfigurationError(
                    f"App {self.name!r} can't have {option}= yet, it would do nothing: leave it out."
                )
        return self

    @property
    def is_resumable(self) -> bool:
        """Workflows of this app write down where they stand."""
        return self.resumability_config is not None and self.resumability_config.is_resumable

    def as_root(self) -> BaseNode:
        """Return the node that a run of this app begins with."""
        return build_root(self.root_agent)
