"""Asking a model again that meant to call a tool and wrote what is no call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.agents.turn.answer import facts
from adk_nb.events.event import Event
from adk_nb.models.failures import is_malformed
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent
    from adk_nb.tools.base_tool import BaseTool

_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "null": "None",
}


class Repairs:
    """The tries that a model has in one step to put a broken call right; what it is told then is in no history."""

    def __init__(self, agent: LlmAgent) -> None:
        """Begin a step of an agent."""
        self._agent = agent.name
        self._left = agent.max_model_repairs
        self._told: list[types.Content] = []

    def add_to(self, request: LlmRequest) -> None:
        """Tell the model, behind the conversation, what was wrong with what it wrote in this step."""
        request.contents.extend(self._told)

    def event_of(self, response: LlmResponse, tools: Iterable[BaseTool]) -> Event | None:
        """Return the event of a broken call that is to be put right; `None` when there is none, or no try is left.

        Args:
            response: What the model said.
            tools: What it can call.
        """
        known = list(tools)
        if not (known and self._left and is_malformed(response)):
            return None
        self._left -= 1
        said = f" ({response.error_message})" if response.error_message else ""
        listed = "\n".join(f"- {call_form(tool)}" for tool in known)
        text = (
            f"What you wrote last is not a valid call of a tool{said}. Call a tool again with one JSON value for each "
            f"argument, or answer in words. The tools are:\n{listed}"
        )
        self._told = [types.Content(role="user", parts=[types.Part(text=text)])]
        return Event(
            author=self._agent,
            error_code=response.error_code,
            error_message=response.error_message,
            **facts(response),
        )


def call_form(tool: BaseTool) -> str:
    """Return how a tool is called, as a model reads it best.

    Example:
        >>> from adk_nb.tools import FunctionTool
        >>> def add(a: int, b: int = 1) -> int:
        ...     return a + b
        >>> call_form(FunctionTool(add))
        'add(a: int, b: int = 1)'
    """
    declaration = tool.declaration()
    schema: Any = declaration.parameters_json_schema if declaration is not None else None
    if schema is None and declaration is not None and declaration.parameters is not None:
        schema = declaration.parameters.model_dump(mode="json", exclude_none=True)
    properties = (schema or {}).get("properties") or {}
    required = (schema or {}).get("required") or ()
    arguments = [_argument(name, one, name in required) for name, one in properties.items()]
    return f"{tool.name}({', '.join(arguments)})"


def _argument(name: str, schema: Any, is_required: bool) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    hint = f": {_TYPES[str(kind).lower()]}" if str(kind).lower() in _TYPES else ""
    if is_required:
        return f"{name}{hint}"
    default = schema.get("default") if isinstance(schema, dict) else None
    return f"{name}{hint} = {default!r}" if hint else f"{name}={default!r}"
