"""`ReflectAndRetryToolPlugin`: a tool's error is told to the model, which may try again a few times."""

from __future__ import annotations

from typing import Any

from adk_nb.errors import ConfigurationError
from adk_nb.plugins.base_plugin import BasePlugin
from adk_nb.workflow.context import Context

HANDLED = "ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN"
"""Marks a result that tells of an error, as google-adk marks it."""


class ReflectAndRetryToolPlugin(BasePlugin):
    """Tells a model what its call of a tool failed with, so that it can call again with better arguments.

    Each tool may fail so many times in a row in one call of the runner; a result in between starts the count again.
    Override `extract_error_from_result` to treat results of a kind as errors, too.

    Example:
        >>> ReflectAndRetryToolPlugin(max_retries=2).max_retries
        2
    """

    def __init__(
        self,
        name: str = "reflect_retry_tool_plugin",
        max_retries: int = 3,
        throw_exception_if_retry_exceeded: bool = True,
    ) -> None:
        """Say how often.

        Args:
            name: The plugin's name.
            max_retries: How many failures in a row a model is told of as something to try again.
            throw_exception_if_retry_exceeded: One more failure fails the run with the tool's own error; `False` tells
                the model to go on without the tool.
        Raises:
            ConfigurationError: `max_retries` is negative.
        """
        if max_retries < 0:
            raise ConfigurationError(f"max_retries={max_retries} of plugin {name!r} is negative: give 0 or more.")
        super().__init__(name)
        self.max_retries = max_retries
        self.throw_exception_if_retry_exceeded = throw_exception_if_retry_exceeded

    async def extract_error_from_result(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> Any:
        """Return what in a result is an error, `None` when it is a good one."""
        return None

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> dict[str, Any] | None:
        """Count again from 0 after a good result."""
        if isinstance(result, dict) and result.get("response_type") == HANDLED:
            return None
        error = await self.extract_error_from_result(
            tool=tool, tool_args=tool_args, tool_context=tool_context, result=result
        )
        if error is not None:
            return self._reflection(tool, tool_context, error if isinstance(error, Exception) else ValueError(error))
        tool_context.remembered.pop(self._key(tool), None)
        return None

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, error: Exception
    ) -> dict[str, Any] | None:
        """Tell the model of the error; `None` where there were too many, so that the error fails the run."""
        return self._reflection(tool, tool_context, error)

    def _reflection(self, tool: Any, tool_context: Context, error: Exception) -> dict[str, Any] | None:
        kept, key = tool_context.remembered, self._key(tool)
        failures = kept[key] = kept.get(key, 0) + 1
        is_last = failures > self.max_retries
        if is_last and self.throw_exception_if_retry_exceeded:
            return None
        guidance = (
            f"Tool {tool.name!r} failed {failures} times in a row. Don't call it again for this task: find another "
            f"way, or say what can't be done."
            if is_last
            else f"This was try {failures} of {self.max_retries}. Find out from the error what is wrong, correct the "
            f"arguments, and don't repeat the same call; if it can't work, find another way."
        )
        return {
            "response_type": HANDLED,
            "error_type": type(error).__name__,
            "error_details": str(error),
            "retry_count": min(failures, self.max_retries),
            "reflection_guidance": guidance,
        }

    def _key(self, tool: Any) -> tuple[str, str, str]:
        return (HANDLED, self.name, tool.name)
