"""`LongRunningFunctionTool`: a function whose result comes later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.genai import types

from adk_nb.tools.function_tool import FunctionTool

_NOTE = "NOTE: the result of this call comes later. While a call says that it is pending, don't make it again."


class LongRunningFunctionTool(FunctionTool):
    """A function that begins something and returns at once; the result is posted later as an answer to the call.

    Example:
        >>> def order(item: str) -> dict:
        ...     "Order an item."
        ...     return {"status": "pending"}
        >>> LongRunningFunctionTool(order).is_long_running
        True
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        """Wrap `func`."""
        super().__init__(func)
        self.is_long_running = True

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return the function as a model is told of it, with a note that its result comes later."""
        declared = super()._get_declaration()
        if declared is not None:
            declared.description = f"{declared.description}\n\n{_NOTE}" if declared.description else _NOTE
        return declared
