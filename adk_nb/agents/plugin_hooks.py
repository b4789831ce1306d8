"""Plugins around an agent and around its model calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from adk_nb.errors import LlmCallsLimitExceededError
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.workflow.context import Context

_INHERITED = ("usage_metadata", "model_version")
"""What a response in place of another one tells of the call as that one does, unless it says something else."""


async def ask_with_plugins(
    plugins: Any, ctx: Context, request: LlmRequest, ask: Callable[[], Awaitable[LlmResponse]]
) -> LlmResponse:
    """Return a plugin's response, or what the model says and plugins make of it.

    Args:
        plugins: The plugin manager.
        ctx: The agent's context.
        request: What the model would be asked; plugins may change it.
        ask: Asks the model.
    """
    given: LlmResponse | None = await plugins.run_before_model_callback(callback_context=ctx, llm_request=request)
    if given is not None:
        return given
    try:
        response = await ask()
    except LlmCallsLimitExceededError:
        raise
    except Exception as error:  # whatever the model fails with, a plugin may have a response in its place
        saved: LlmResponse | None = await plugins.run_on_model_error_callback(
            callback_context=ctx, llm_request=request, error=error
        )
        if saved is None:
            raise
        response = saved
    changed: LlmResponse | None = await plugins.run_after_model_callback(callback_context=ctx, llm_response=response)
    if changed is None or changed is response:
        return response
    inherited = {name: getattr(response, name) for name in _INHERITED if getattr(changed, name) is None}
    return changed.model_copy(update=inherited)
