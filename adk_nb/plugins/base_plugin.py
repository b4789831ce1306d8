"""`BasePlugin`: the hooks that a plugin may override."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adk_nb.events.event import Event
from adk_nb.events.response import LlmResponse
from adk_nb.workflow.context import Context
from adk_nb.workflow.invocation import InvocationContext


class BasePlugin:
    """Sees everything that the runs of a runner do; override the hooks you need.

    A hook that returns `None` lets things go on as they are. The first plugin whose hook returns something decides: the
    plugins after it aren't asked. A hook that fails ends the run with `PluginError`, except for `on_run_error_callback`
    and `on_agent_error_callback`, which are told of an error and can't replace it.

    Example:
        >>> class Quiet(BasePlugin):
        ...     async def on_event_callback(self, *, invocation_context, event):
        ...         return Event(output="***") if event.output == "secret" else None
        >>> Quiet(name="quiet").name
        'quiet'
    """

    def __init__(self, name: str) -> None:
        """Give the plugin its name.

        Args:
            name: Unique among the plugins of one app.
        """
        self.name = name

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Return a message to take in place of the user's, which isn't stored yet."""
        return None

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """Return a message to answer with in place of the run; the user's message is stored already."""
        return None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Return an event whose fields take the place of this one's, before anything is made of it.

        What comes out is stored and yielded, and the run goes on with its output, route, state and question. Only the
        fields that were set count; id, time, path and invocation stay. The event may also be changed in place.
        """
        return None

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Look back at a run that ended, waits for a person, was aborted, or whose caller doesn't listen any more."""
        return

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """Take note of the error that a run ends with."""
        return

    async def before_agent_callback(self, *, agent: Any, callback_context: Context) -> types.Content | None:
        """Return a message to take in place of the agent's run."""
        return None

    async def after_agent_callback(self, *, agent: Any, callback_context: Context) -> types.Content | None:
        """Return a message to add to what the agent said."""
        return None

    async def on_agent_error_callback(self, *, agent: Any, callback_context: Context, error: Exception) -> None:
        """Take note of the error that an agent failed with."""
        return

    async def before_model_callback(self, *, callback_context: Context, llm_request: Any) -> LlmResponse | None:
        """Return a response to take in place of asking the model."""
        return None

    async def after_model_callback(self, *, callback_context: Context, llm_response: LlmResponse) -> LlmResponse | None:
        """Return a response to take in place of the model's."""
        return None

    async def on_model_error_callback(
        self, *, callback_context: Context, llm_request: Any, error: Exception
    ) -> LlmResponse | None:
        """Return a response to go on with where the model failed."""
        return None

    async def before_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context
    ) -> dict[str, Any] | None:
        """Return a result to take in place of calling the tool."""
        return None

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return a result to take in place of the tool's."""
        return None

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, error: Exception
    ) -> dict[str, Any] | None:
        """Return a result to go on with where the tool failed."""
        return None

    async def close(self) -> None:
        """Give back what the plugin holds open."""
        return
