"""`DebugLoggingPlugin`: writes everything that happens in a run into a file, for looking at it later."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pydantic_core
from google.genai import types

from adk_nb.events.event import Event
from adk_nb.events.response import LlmResponse
from adk_nb.plugins.base_plugin import BasePlugin
from adk_nb.workflow.context import Context
from adk_nb.workflow.invocation import InvocationContext

_ENTRIES = "adk_nb_debug_entries"


class DebugLoggingPlugin(BasePlugin):
    """Appends one document a call of the runner to a file: messages, requests to models, replies, tool calls, events.

    The documents are JSON, each after a line with `---`, so that YAML readers take the file, too.

    Example:
        >>> DebugLoggingPlugin(output_path="debug.yaml").name
        'debug_logging_plugin'
    """

    def __init__(
        self,
        *,
        name: str = "debug_logging_plugin",
        output_path: str = "adk_debug.yaml",
        include_session_state: bool = True,
        include_system_instruction: bool = True,
    ) -> None:
        """Say where to and what.

        Args:
            name: The plugin's name.
            output_path: The file.
            include_session_state: Write the session's state at the end of each run.
            include_system_instruction: Write the system text of each request.
        """
        super().__init__(name)
        self.output_path = Path(output_path)
        self.include_session_state = include_session_state
        self.include_system_instruction = include_system_instruction

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> None:
        """Note the user's message."""
        self._note(invocation_context, "user_message", content=user_message)

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> None:
        """Note an event."""
        self._note(invocation_context, "event", event=event)

    async def before_model_callback(self, *, callback_context: Context, llm_request: Any) -> None:
        """Note what a model is asked."""
        more = {"system": llm_request.system} if self.include_system_instruction else {}
        self._note(
            callback_context.get_invocation_context(),
            "model_request",
            agent=callback_context.agent_name,
            model=llm_request.model,
            contents=llm_request.contents,
            tools=list(llm_request.tools_dict),
            **more,
        )

    async def after_model_callback(self, *, callback_context: Context, llm_response: LlmResponse) -> None:
        """Note what a model says."""
        context = callback_context.get_invocation_context()
        self._note(context, "model_response", agent=callback_context.agent_name, response=llm_response)

    async def on_model_error_callback(self, *, callback_context: Context, llm_request: Any, error: Exception) -> None:
        """Note what a model failed with."""
        self._note(callback_context.get_invocation_context(), "model_error", **_told(error))

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context) -> None:
        """Note a call of a tool."""
        self._note(tool_context.get_invocation_context(), "tool_call", tool=tool.name, args=tool_args)

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> None:
        """Note what a tool gave."""
        self._note(tool_context.get_invocation_context(), "tool_result", tool=tool.name, result=result)

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, error: Exception
    ) -> None:
        """Note what a tool failed with."""
        self._note(tool_context.get_invocation_context(), "tool_error", tool=tool.name, **_told(error))

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Write down the run."""
        self._write(invocation_context)

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """Write down the run that failed."""
        self._note(invocation_context, "run_error", **_told(error))
        self._write(invocation_context)

    def _note(self, invocation: InvocationContext, kind: str, **what: Any) -> None:
        entries: list[dict[str, Any]] = invocation.remembered.setdefault((_ENTRIES, self.name), [])
        plain = pydantic_core.to_jsonable_python(what, exclude_none=True, bytes_mode="base64", fallback=repr)
        entries.append({"time": time.time(), "kind": kind, **plain})

    def _write(self, invocation: InvocationContext) -> None:
        document: dict[str, Any] = {
            "app_name": invocation.app_name,
            "user_id": invocation.user_id,
            "session_id": invocation.session.id,
            "invocation_id": invocation.invocation_id,
            "entries": invocation.remembered.pop((_ENTRIES, self.name), []),
        }
        if self.include_session_state:
            document["state"] = pydantic_core.to_jsonable_python(dict(invocation.session.state), fallback=repr)
        with self.output_path.open("a", encoding="utf-8") as file:
            file.write(f"---\n{json.dumps(document, ensure_ascii=False, indent=2)}\n")


def _told(error: Exception) -> dict[str, str]:
    return {"error_type": type(error).__name__, "error_message": str(error)}
