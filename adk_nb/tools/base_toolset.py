"""`BaseToolset`: tools that are found while an agent runs, for instance on a server."""

from __future__ import annotations

import abc
import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from adk_nb.errors import ConfigurationError
from adk_nb.tools.base_tool import BaseTool
from adk_nb.tools.function_tool import FunctionTool

if TYPE_CHECKING:
    from adk_nb.tools.tool_context import ToolContext
    from adk_nb.workflow.context import ReadonlyContext

ToolPredicate = Callable[..., bool]
"""Called with a tool and the context: whether an agent gets the tool."""


class BaseToolset(abc.ABC):
    """Tools that an agent asks for when it runs; override `get_tools`, and `close` when something is to be given back.

    An agent asks once in each call of the runner, whichever number of models it asks. One toolset may serve any number
    of agents and runs.

    Example:
        >>> import asyncio
        >>> from adk_nb.tools import BaseTool, FunctionTool
        >>> def add(a: int, b: int) -> int: return a + b
        >>> def drop(table: str) -> None: ...
        >>> class Desk(BaseToolset):
        ...     async def get_tools(self, readonly_context=None):
        ...         return [FunctionTool(add), FunctionTool(drop)]
        >>> desk = Desk(tool_filter=["add"], tool_name_prefix="desk")
        >>> asyncio.run(desk.get_tools_with_prefix())
        [FunctionTool(name='desk_add')]
    """

    tool_filter: ToolPredicate | Sequence[str] | None = None
    tool_name_prefix: str | None = None

    def __init__(
        self, *, tool_filter: ToolPredicate | Sequence[str] | None = None, tool_name_prefix: str | None = None
    ) -> None:
        """Say which of the tools an agent gets, and under which names.

        Args:
            tool_filter: The names of the tools to take, without the prefix, or a function of a tool and the context;
                `None` takes all.
            tool_name_prefix: `web` turns the name `search` into `web_search`.
        Raises:
            ConfigurationError: the filter is neither names nor a function.
        """
        if isinstance(tool_filter, str) or not (
            tool_filter is None or callable(tool_filter) or _are_names(tool_filter)
        ):
            raise ConfigurationError(
                f"tool_filter= of {type(self).__name__} is {tool_filter!r:.80}: give a list of names of tools, or a "
                f"function of a tool and the context."
            )
        self.tool_filter = tool_filter
        self.tool_name_prefix = tool_name_prefix

    @abc.abstractmethod
    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools that there are.

        Args:
            readonly_context: The run that asks; `None` outside of one.
        """

    async def get_tools_with_prefix(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools that an agent gets: those that the filter lets through, under their full names.

        They are found once in each call of the runner.
        """
        if readonly_context is None:
            return await self._offered(None)
        kept = readonly_context.remembered
        key = (BaseToolset, id(self))
        if key not in kept:
            # The toolset stands beside its tools so that nobody else gets its id meanwhile.
            kept[key] = (self, await self._offered(readonly_context))
        return list(kept[key][1])

    async def close(self) -> None:
        """Give back what the toolset holds open; a runner does it when it is closed."""
        return

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: Any) -> None:
        """Change what a model is asked, before the tools are told to it.

        Args:
            tool_context: The run that asks.
            llm_request: The `LlmRequest`.
        """
        return

    async def _offered(self, readonly_context: ReadonlyContext | None) -> list[BaseTool]:
        found = [self._tool(one) for one in await self.get_tools(readonly_context)]
        chosen = [tool for tool in found if self._is_tool_selected(tool, readonly_context)]
        return (
            [_named(tool, f"{self.tool_name_prefix}_{tool.name}") for tool in chosen]
            if self.tool_name_prefix
            else chosen
        )

    def _tool(self, given: Any) -> BaseTool:
        """Return a tool; a function is wrapped, as in an agent's `tools`."""
        if isinstance(given, BaseTool):
            return given
        if callable(given):
            return FunctionTool(given)
        raise ConfigurationError(
            f"get_tools of {type(self).__name__} returned {given!r:.80}: return a list of tools or functions."
        )

    def _is_tool_selected(self, tool: BaseTool, readonly_context: ReadonlyContext | None) -> bool:
        """Say whether the filter lets a tool through."""
        if self.tool_filter is None:
            return True
        if callable(self.tool_filter):
            return bool(self.tool_filter(tool, readonly_context))
        return tool.name in self.tool_filter


def _named(tool: BaseTool, name: str) -> BaseTool:
    other = copy.copy(tool)
    other.name = name
    return other


def _are_names(given: Any) -> bool:
    return isinstance(given, Sequence | set | frozenset) and all(isinstance(name, str) for name in given)
