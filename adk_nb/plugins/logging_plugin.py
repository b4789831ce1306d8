"""`LoggingPlugin`: prints what every run does, step by step."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adk_nb.events.event import Event, content_text
from adk_nb.events.response import LlmResponse
from adk_nb.plugins.base_plugin import BasePlugin
from adk_nb.workflow.context import Context
from adk_nb.workflow.invocation import InvocationContext

_LONGEST = 200
"""How many signs of a text are shown."""


class LoggingPlugin(BasePlugin):
    """Prints a line for each message, run, agent, model call, tool call, event and error.

    Example:
        >>> LoggingPlugin().name
        'logging_plugin'
    """

    def __init__(self, name: str = "logging_plugin") -> None:
        """Take a name.

        Args:
            name: Begins each line.
        """
        super().__init__(name)

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> None:
        """Print what the user says."""
        self._print("user says", content_text(user_message))

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Print that a run begins."""
        self._print("run begins", invocation_context.invocation_id)

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> None:
        """Print an event."""
        said = content_text(event.content) or (None if event.output is None else event.output)
        calls = ", ".join(f"{call.name}({call.args or {}})" for call in event.get_function_calls())
        done = {name: value for name, value in event.actions.model_dump(exclude_defaults=True).items() if value}
        facts = [f"says {said!r}" if said is not None else "", f"calls {calls}" if calls else ""]
        facts += [f"does {done}" if done else "", f"error {event.error_code}" if event.error_code else ""]
        self._print(f"event of {event.author}", "; ".join(fact for fact in facts if fact))

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Print that a run ended."""
        self._print("run ended", invocation_context.invocation_id)

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """Print what a run failed with."""
        self._print("run failed", f"{type(error).__name__}: {error}")

    async def before_agent_callback(self, *, agent: Any, callback_context: Context) -> None:
        """Print that an agent begins."""
        self._print("agent begins", agent.name)

    async def after_agent_callback(self, *, agent: Any, callback_context: Context) -> None:
        """Print that an agent ended."""
        self._print("agent ended", agent.name)

    async def before_model_callback(self, *, callback_context: Context, llm_request: Any) -> None:
        """Print what a model is asked."""
        tools = ", ".join(llm_request.tools_dict) or "none"
        self._print(f"model {llm_request.model} is asked", f"{llm_request.last_user_text!r}, tools: {tools}")

    async def after_model_callback(self, *, callback_context: Context, llm_response: LlmResponse) -> None:
        """Print what a model says."""
        usage = llm_response.usage_metadata
        tokens = f" ({usage.prompt_token_count} tokens in, {usage.candidates_token_count} out)" if usage else ""
        said = llm_response.error_code or content_text(llm_response.content)
        self._print("model says", f"{said!r}{tokens}")

    async def on_model_error_callback(self, *, callback_context: Context, llm_request: Any, error: Exception) -> None:
        """Print what a model failed with."""
        self._print("model failed", f"{type(error).__name__}: {error}")

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context) -> None:
        """Print a call of a tool."""
        self._print("tool is called", f"{tool.name}({tool_args})")

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> None:
        """Print what a tool gave."""
        self._print("tool gave", f"{tool.name}: {result}")

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, error: Exception
    ) -> None:
        """Print what a tool failed with."""
        self._print("tool failed", f"{tool.name}: {type(error).__name__}: {error}")

    def _print(self, what: str, text: str) -> None:
        line = " ".join(f"{what}: {text}".split())
        cut = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
        print(f"[{self.name}] {cut}")  # noqa: T201  # to print is what this plugin is for
