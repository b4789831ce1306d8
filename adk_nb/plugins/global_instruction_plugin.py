"""`GlobalInstructionPlugin`: one instruction for every agent of an app."""

from __future__ import annotations

from typing import Any

from adk_nb.agents.reading.instructions import Instruction, instruction_text
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.plugins.base_plugin import BasePlugin
from adk_nb.workflow.context import Context, ReadonlyContext


class GlobalInstructionPlugin(BasePlugin):
    """Puts an instruction in front of the system text of every agent, for instance a tone or an identity.

    Example:
        >>> GlobalInstructionPlugin("Answer in {language}.").name
        'global_instruction'
    """

    def __init__(self, global_instruction: Instruction = "", name: str = "global_instruction") -> None:
        """Take the instruction.

        Args:
            global_instruction: A template filled from the session state, or a function that gets a `ReadonlyContext`
                and returns the finished text, as an agent's `instruction`.
            name: The plugin's name.
        """
        super().__init__(name)
        self.global_instruction = global_instruction

    async def before_model_callback(self, *, callback_context: Context, llm_request: LlmRequest) -> LlmResponse | None:
        """Put the instruction in front of the request's system text."""
        look = ReadonlyContext(callback_context.get_invocation_context(), node=callback_context.node)
        text = await instruction_text(self.global_instruction, look)
        if text:
            llm_request.config.system_instruction = _before(text, llm_request.config.system_instruction)
        return None


def _before(text: str, system: Any) -> Any:
    if not system:
        return text
    if isinstance(system, str):
        return f"{text}\n\n{system}"
    return [text, *system] if isinstance(system, list) else [text, system]
