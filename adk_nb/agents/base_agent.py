"""`BaseAgent`: a node that speaks in its own name."""

from __future__ import annotations

from typing import ClassVar

from pydantic import field_validator

from adk_nb.errors import ConfigurationError
from adk_nb.workflow.description import Kind
from adk_nb.workflow.nodes import BaseNode


class BaseAgent(BaseNode):
    """Base of all agents: its events carry its own name as author.

    Example:
        >>> class Greeter(BaseAgent):
        ...     async def _run_impl(self, *, ctx, node_input):
        ...         yield "hello"
        >>> Greeter(name="greeter").kind
        'agent'
    """

    kind: ClassVar[Kind] = "agent"
    speaks_as_itself: ClassVar[bool] = True

    @field_validator("name")
    @classmethod
    def _refuse_reserved_name(cls, name: str) -> str:
        if name == "user":
            raise ConfigurationError(
                "The agent name 'user' is reserved for the person who talks to the agent: choose another one."
            )
        return name
