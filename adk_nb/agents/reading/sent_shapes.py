"""Whether the shapes that an agent declares can be sent to the model that it names, found when it is built."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.registry import LLMRegistry
from adk_nb.models.use import current_model
from adk_nb.tools.base_tool import BaseTool


def check_shapes(agent: str, model: str | BaseLlm, output_schema: Any, tools: Iterable[Any]) -> None:
    """Refuse an `output_schema`, or a tool's arguments, that the agent's model can't be told of.

    A model that `use_model` puts in charge counts in the place of the agent's own; one whose class nobody knows yet
    says it when it is asked.

    Raises:
        ConfigurationError: it can't; the message names the field and what to do.
    """
    own_tools = [tool for tool in tools if isinstance(tool, BaseTool)]
    if output_schema is None and not own_tools:
        return
    asked = LLMRegistry.known(current_model() or model)
    if asked is None:
        return
    if output_schema is not None:
        asked.check_shape(output_schema, f"output_schema of agent {agent!r}")
    for tool in own_tools:
        schema = _arguments(tool)
        if schema is not None:
            asked.check_shape(schema, f"Arguments of tool {tool.name!r} of agent {agent!r}")


def _arguments(tool: BaseTool) -> dict[str, Any] | None:
    try:
        declared = tool.declaration()
    except Exception:  # noqa: BLE001  # a person's own method: what it raises is said when the tool is used
        return None
    schema = None if declared is None else declared.parameters_json_schema
    return schema if isinstance(schema, dict) else None
