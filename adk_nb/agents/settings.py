"""Which arguments and settings an agent takes, and where those belong that it doesn't."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from google.genai import types

from adk_nb.errors import ConfigurationError, one_of
from adk_nb.planners.base_planner import BasePlanner
from adk_nb.planners.built_in_planner import BuiltInPlanner

# Settings of a request that an agent has fields of its own for.
_OWN_FIELDS = {"system_instruction": "instruction", "response_schema": "output_schema"}


def check_settings(config: types.GenerateContentConfig | None) -> None:
    """Refuse settings of a request that an agent has fields of its own for.

    Raises:
        ConfigurationError: the message names the field.
    """
    if config is None:
        return
    for name, field in _OWN_FIELDS.items():
        if getattr(config, name) is not None:
            raise ConfigurationError(f"{name} can't be in generate_content_config: give {field}= to the agent.")
    if config.tools is not None:
        raise ConfigurationError("tools can't be in generate_content_config: give tools= to the agent.")
    if config.http_options is not None and config.http_options.base_url is not None:
        raise ConfigurationError(
            "http_options.base_url can't be in generate_content_config: give model=Gemini(model=..., base_url=...)."
        )


def check_planner(agent: str, planner: Any, config: types.GenerateContentConfig | None) -> None:
    """Refuse what isn't a planner, and warn of a setting that the planner overrules.

    Raises:
        ConfigurationError: it has not the methods of a planner.
    """
    if planner is None:
        return
    if not isinstance(planner, BasePlanner):
        raise ConfigurationError(
            f"Agent {agent!r} has planner={planner!r:.80}; allowed is a BasePlanner, for instance PlanReActPlanner()."
        )
    if isinstance(planner, BuiltInPlanner) and config is not None and config.thinking_config is not None:
        warnings.warn(
            f"Agent {agent!r} has a thinking_config both in generate_content_config and in its planner: the planner's "
            f"counts; leave one of them out.",
            UserWarning,
            stacklevel=4,
        )


def check_arguments(agent_class: str, given: dict[str, Any], allowed: Iterable[str]) -> None:
    """Refuse arguments that an agent doesn't have, and executors of code.

    Raises:
        ConfigurationError: the message says what to write instead.
    """
    known = list(allowed)
    for name in given:
        if name not in known:
            raise ConfigurationError(_unknown_argument(agent_class, name, known))
    if given.get("code_executor") is not None:
        raise ConfigurationError(
            f"{agent_class} got the code_executor {given['code_executor']!r:.80}, and code that a model writes isn't "
            f"executed here: leave it out, and give the agent a function in tools= that does the work."
        )


def _unknown_argument(agent_class: str, name: str, allowed: Iterable[str]) -> str:
    """Return what to say of an argument that an agent doesn't have."""
    if name in _OWN_FIELDS:
        return f"{agent_class} has no argument {name!r}: give {_OWN_FIELDS[name]}= instead."
    if name in types.GenerateContentConfig.model_fields and name != "tools":
        return (
            f"{agent_class} has no argument {name!r}, a setting of generate_content_config: give "
            f"generate_content_config=types.GenerateContentConfig({name}=...)."
        )
    return f"Extra inputs are not permitted: {agent_class} has no argument {name!r}; it has {one_of(name, allowed)}."
