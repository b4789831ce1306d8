"""`PluginManager`: the plugins of a runner in their order, asked one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from google.genai import types

from adk_nb.errors import ConfigurationError, PluginError, one_of
from adk_nb.events.event import Event
from adk_nb.events.response import LlmResponse
from adk_nb.plugins.base_plugin import BasePlugin
from adk_nb.workflow.context import Context
from adk_nb.workflow.invocation import InvocationContext

T = TypeVar("T")


class PluginManager:
    """Asks plugins in the order in which they were given; the first answer that isn't `None` is taken.

    Example:
        >>> PluginManager([BasePlugin("log")]).get_plugin("log").name
        'log'
    """

    def __init__(self, plugins: Iterable[BasePlugin] | None = None, close_timeout: float = 5.0) -> None:
        """Take plugins.

        Args:
            plugins: In the order in which they are to be asked.
            close_timeout: Seconds that each may take to close.
        Raises:
            ConfigurationError: one isn't a plugin, or two have the same name.
        """
        self.plugins: list[BasePlugin] = []
        self.close_timeout = close_timeout
        for plugin in plugins or ():
            self.register_plugin(plugin)

    def register_plugin(self, plugin: BasePlugin) -> None:
        """Add a plugin behind those that are there."""
        if not isinstance(plugin, BasePlugin):
            raise ConfigurationError(
                f"plugins= holds {plugin!r:.80}, which is no plugin: give objects of classes derived from BasePlugin."
            )
        if self.get_plugin(plugin.name) is not None:
            raise ConfigurationError(
                f"Plugin with name {plugin.name!r} already registered: give each plugin a name of its own, the names "
                f"so far are {one_of(plugin.name, [one.name for one in self.plugins])}."
            )
        self.plugins.append(plugin)

    def get_plugin(self, plugin_name: str) -> BasePlugin | None:
        """Return the plugin with this name."""
        return next((plugin for plugin in self.plugins if plugin.name == plugin_name), None)

    async def run_on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Ask for a message in place of the user's."""
        return await self._ask(
            types.Content, "on_user_message_callback", invocation_context=invocation_context, user_message=user_message
        )

    async def run_before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """Ask for a message in place of the run."""
        return await self._ask(types.Content, "before_run_callback", invocation_context=invocation_context)

    async def run_on_event_callback(
        self,
        *,
        invocation_context: InvocationContext,
        event: Event,
        accept: Callable[[Event | None], None] | None = None,
    ) -> Event | None:
        """Ask for an event in place of this one; `accept` checks what each plugin answered or changed."""
        what = {"invocation_context": invocation_context, "event": event}
        return await self._ask(Event, "on_event_callback", accept, **what)

    async def run_after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Tell of the end of a run."""
        await self._ask(object, "after_run_callback", invocation_context=invocation_context)

    async def run_on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """Tell of the error that a run ends with."""
        await self._tell("on_run_error_callback", error, invocation_context=invocation_context)

    async def run_before_agent_callback(self, *, agent: Any, callback_context: Context) -> types.Content | None:
        """Ask for a message in place of an agent's run."""
        return await self._ask(types.Content, "before_agent_callback", agent=agent, callback_context=callback_context)

    async def run_after_agent_callback(self, *, agent: Any, callback_context: Context) -> types.Content | None:
        """Ask for a message to add to what an agent said."""
        return await self._ask(types.Content, "after_agent_callback", agent=agent, callback_context=callback_context)

    async def run_on_agent_error_callback(self, *, agent: Any, callback_context: Context, error: Exception) -> None:
        """Tell of the error that an agent failed with."""
        await self._tell("on_agent_error_callback", error, agent=agent, callback_context=callback_context)

    async def run_before_model_callback(self, *, callback_context: Context, llm_request: Any) -> LlmResponse | None:
        """Ask for a response in place of the model's."""
        return await self._ask(
            LlmResponse, "before_model_callback", callback_context=callback_context, llm_request=llm_request
        )

    async def run_after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Ask for a response in place of the one that the model gave."""
        return await self._ask(
            LlmResponse, "after_model_callback", callback_context=callback_context, llm_response=llm_response
        )

    async def run_on_model_error_callback(
        self, *, callback_context: Context, llm_request: Any, error: Exception
    ) -> LlmResponse | None:
        """Ask for a response to go on with where the model failed."""
        return await self._ask(
            LlmResponse,
            "on_model_error_callback",
            callback_context=callback_context,
            llm_request=llm_request,
            error=error,
        )

    async def run_before_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context
    ) -> dict[str, Any] | None:
        """Ask for a result in place of the tool's."""
        return await self._ask(dict, "before_tool_callback", tool=tool, tool_args=tool_args, tool_context=tool_context)

    async def run_after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> dict[str, Any] | None:
        """Ask for a result in place of the one that the tool gave."""
        return await self._ask(
            dict, "after_tool_callback", tool=tool, tool_args=tool_args, tool_context=tool_context, result=result
        )

    async def run_on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Context, error: Exception
    ) -> dict[str, Any] | None:
        """Ask for a result to go on with where the tool failed."""
        return await self._ask(
            dict, "on_tool_error_callback", tool=tool, tool_args=tool_args, tool_context=tool_context, error=error
        )

    async def close(self) -> None:
        """Close all plugins, each within `close_timeout` seconds.

        Raises:
            PluginError: some failed or took too long; the others are closed.
        """
        failed: dict[str, BaseException] = {}
        for plugin in self.plugins:
            try:
                async with asyncio.timeout(self.close_timeout):
                    await plugin.close()
            except _FAILURES as error:  # told below, and the rest still closes
                _let_stop(error)
                failed[plugin.name] = error
        if failed:
            told = ", ".join(f"{name!r}: {_told(error, self.close_timeout)}" for name, error in failed.items())
            name, cause = next(iter(failed.items()))
            raise PluginError(f"Failed to close plugins: {told}. The others are closed.", name, "close") from cause

    async def _ask(
        self, kind: type[T], hook: str, accept: Callable[[T | None], None] | None = None, /, **arguments: Any
    ) -> T | None:
        for plugin in self.plugins:
            try:
                answer = await getattr(plugin, hook)(**arguments)
            except _FAILURES as error:
                _let_stop(error)
                raise _failure(plugin, hook, error) from error
            if answer is not None and not isinstance(answer, kind):
                raise PluginError(
                    f"Plugin {plugin.name!r} returned {answer!r:.80} from {hook!r}: return an object of the class "
                    f"{kind.__name__}, or None to let things go on as they are.",
                    plugin.name,
                    hook,
                )
            if accept is not None:
                try:
                    accept(answer)
                except Exception as error:  # of a value that the plugin set, whatever is wrong with it
                    raise _failure(plugin, hook, error) from error
            if answer is not None:
                return answer
        return None

    async def _tell(self, hook: str, cause: Exception, **arguments: Any) -> None:
        for plugin in self.plugins:
            try:
                await getattr(plugin, hook)(error=cause, **arguments)
            except _FAILURES as error:  # the first error is the one to report; this one goes with it
                _let_stop(error)
                cause.add_note(str(_failure(plugin, hook, error)))


_FAILURES = (Exception, SystemExit, asyncio.CancelledError)
"""What ends a hook and is the plugin's own failure, whatever it is; unless its task was told to stop."""


def _let_stop(error: BaseException) -> None:
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
        raise error


def _failure(plugin: BasePlugin, hook: str, error: BaseException) -> PluginError:
    text = f"Error in plugin {plugin.name!r} during {hook!r} callback: {type(error).__name__}: {error}"
    return PluginError(text, plugin.name, hook)


def _told(error: BaseException, timeout: float) -> str:
    if isinstance(error, TimeoutError):
        return f"TimeoutError (it took longer than {timeout:g} s)"
    return f"{type(error).__name__}: {error}"
