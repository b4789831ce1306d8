"""One call of an agent's model, with plugins and callbacks around it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from adk_nb.agents.callbacks import first_answer
from adk_nb.errors import LlmCallsLimitExceededError
from adk_nb.models.ask import ask_model
from adk_nb.models.call_log import Caller
from adk_nb.models.failures import NO_CONTENT
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import StreamingMode

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent

_INHERITED = ("partial", "turn_complete", "usage_metadata", "model_version")
"""What a response in place of another one tells of the call as that one does, unless it says something else."""


class ModelCall:
    """One call of an agent's model."""

    def __init__(self, agent: LlmAgent, ctx: Context, request: LlmRequest) -> None:
        """Prepare the call.

        Args:
            agent: Who asks.
            ctx: Its context.
            request: What is asked; plugins and callbacks may change it.
        """
        self._agent = agent
        self._ctx = ctx
        self._request = request
        self._streams = ctx.run_config.streaming_mode is StreamingMode.SSE
        self._plugins = ctx.get_invocation_context().plugins

    async def responses(self) -> AsyncGenerator[LlmResponse, None]:
        """Give what the model says, or a plugin or callback in its place: pieces, if they are wanted, then the whole.

        Raises:
            LlmCallsLimitExceededError: the run has asked its models as often as it may.
            Exception: what the model fails with.
        """
        given = await self._before()
        if given is not None:
            yield given.model_copy(update={"partial": None})
            return
        whole: LlmResponse | None = None
        async with contextlib.aclosing(self._asked()) as responses:
            while True:
                try:
                    response = await anext(responses, None)
                except LlmCallsLimitExceededError:
                    raise
                except Exception as error:  # whatever a model fails with, a plugin or callback may answer in its place
                    saved = await self._saved(error)
                    if saved is None:
                        raise
                    whole = await self._after(saved)
                    break
                if response is None:
                    break
                changed = await self._after(response)
                if changed.partial:
                    if self._streams:  # some models give pieces unasked
                        yield changed
                else:
                    whole = changed
        if whole is None:
            whole = LlmResponse(error_code=NO_CONTENT, error_message="The model gave no response")
        yield whole

    async def _asked(self) -> AsyncGenerator[LlmResponse, None]:
        agent, ctx = self._agent, self._ctx
        invocation, limit = ctx.get_invocation_context(), ctx.run_config.max_llm_calls
        invocation.llm_calls += 1
        if 0 < limit < invocation.llm_calls:
            raise LlmCallsLimitExceededError(
                f"Agent {agent.name!r} would make model call {invocation.llm_calls} of this run, and "
                f"RunConfig(max_llm_calls={limit}) allows {limit}: look for a loop, or raise the limit."
            )
        caller = Caller(agent.name, ctx.node_path, ctx.invocation_id, ctx.attempt_count)
        asked = ask_model(agent.canonical_model, self._request, caller=caller, stream=self._streams)
        async with contextlib.aclosing(asked) as responses:
            async for response in responses:
                yield response

    async def _before(self) -> LlmResponse | None:
        given: LlmResponse | None = None
        what = {"callback_context": self._ctx, "llm_request": self._request}
        if self._plugins is not None:
            given = await self._plugins.run_before_model_callback(**what)
        return await self._own("before_model_callback", what) if given is None else given

    async def _own(self, hook: str, what: dict[str, Any], *, takes_empty: bool = False) -> LlmResponse | None:
        """Ask the agent's own callbacks."""
        agent = self._agent
        answer: LlmResponse | None = await first_answer(
            getattr(agent, hook), LlmResponse, what, agent=agent.name, hook=hook, takes_empty=takes_empty
        )
        return answer

    async def _after(self, response: LlmResponse) -> LlmResponse:
        changed: LlmResponse | None = None
        what = {"callback_context": self._ctx, "llm_response": response}
        if self._plugins is not None:
            changed = await self._plugins.run_after_model_callback(**what)
        if changed is None:
            changed = await self._own("after_model_callback", what)
        if changed is None or changed is response:
            return response
        inherited = {name: getattr(response, name) for name in _INHERITED if getattr(changed, name) is None}
        return changed.model_copy(update=inherited)

    async def _saved(self, error: Exception) -> LlmResponse | None:
        saved: LlmResponse | None = None
        what = {"callback_context": self._ctx, "llm_request": self._request, "error": error}
        if self._plugins is not None:
            saved = await self._plugins.run_on_model_error_callback(**what)
        return await self._own("on_model_error_callback", what, takes_empty=True) if saved is None else saved
