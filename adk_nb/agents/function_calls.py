"""The calls of one step of an agent: carried out side by side, told to the model in one event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.agents.asking import question_events
from adk_nb.agents.call_node import CallNode
from adk_nb.agents.call_result import CallResult, merged
from adk_nb.agents.standing import MadeCall
from adk_nb.agents.tool_calls import saved
from adk_nb.errors import DynamicNodeFailError, NodeInterruptedError, ToolArgumentsError, one_of
from adk_nb.events.event import Event, new_id
from adk_nb.events.tool_confirmation import ToolConfirmation
from adk_nb.tools.base_tool import BaseTool
from adk_nb.workflow.context import Context

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent


class FunctionCalls:
    """The calls that an agent's model made in one step, or that were answered since."""

    def __init__(self, agent: LlmAgent, ctx: Context, calls: Sequence[MadeCall], tools: Mapping[str, BaseTool]) -> None:
        """Prepare to carry them out.

        Args:
            agent: The agent.
            ctx: Its context.
            calls: The calls, in order.
            tools: What can be called, by name.
        """
        self._agent = agent
        self._ctx = ctx
        self._calls = calls
        self._tools = tools
        self._results: dict[int, CallResult] = {}
        self._waiting: list[str] | None = None
        """Ids of the questions that calls wait with, `None` while none does."""

    async def events(self) -> AsyncGenerator[Event, None]:
        """Carry the calls out and give the events that tell of them.

        Raises:
            NodeInterruptedError: one waits for a person.
            Exception: what the first failing one raised; the results of those that had ended are told before it.
        """
        error = await self._carry_out()
        if error is None and self._waiting is not None:
            raise NodeInterruptedError(self._waiting)
        answered = [(one, self._results[at]) for at, one in enumerate(self._calls) if at in self._results]
        if error is not None:
            # What asks or steers has no say when the step fails: it is done again when the run goes on.
            answered = [(one, result) for one, result in answered if not result.asks and not result.actions]
        response = self._response_event(answered)
        unasked = [] if error is not None else [one for one in answered if not one[0].is_asked(self._ctx.resume_inputs)]
        questions = question_events(self._agent.name, unasked)
        asks_first = all(result.asks for _, result in answered)
        if response is not None and any(result.asks for _, result in answered):
            # The model isn't asked again before a person has answered.
            response.actions.skip_summarization = asks_first or None
        for event in [*questions, response] if asks_first else [response, *questions]:
            if event is not None:
                yield event
        if error is not None:
            raise error

    async def _carry_out(self) -> Exception | None:
        """Make all calls; return what the first failing one raised."""
        if len(self._calls) == 1:
            try:
                await self._make(0)
            except Exception as error:  # noqa: BLE001  # whatever a tool raises is raised again, after the event
                return _own(error)
            return None
        tasks = [self._ctx.in_task(self._make(index)) for index in range(len(self._calls))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        errors = [task.exception() for task in tasks if task.done() and not task.cancelled()]
        failed = next((error for error in errors if error is not None), None)
        if failed is not None and not isinstance(failed, Exception):
            raise failed
        return None if failed is None else _own(failed)

    async def _make(self, index: int) -> None:
        try:
            self._results[index] = await self._result(self._calls[index])
        except NodeInterruptedError as signal:
            self._waiting = [*(self._waiting or ()), *signal.interrupt_ids]

    async def _result(self, made: MadeCall) -> CallResult:
        call, agent, ctx = made.call, self._agent, self._ctx
        args = dict(call.args or {})
        tool = self._tools.get(str(call.name))
        if tool is None:
            return await self._unknown(str(call.name), args)
        answers = made.answers(ctx.resume_inputs)
        node = CallNode.of(agent, tool, str(call.id), self._confirmation(answers))
        kept = await ctx.run_node(node, args, run_id=call_run_id(str(call.id), len(answers)))
        return CallResult.from_record(kept, is_live=node.has_run)

    async def _unknown(self, name: str, args: dict[str, Any]) -> CallResult:
        error = ToolArgumentsError(
            f"Tool {name!r} not found: the agent {self._agent.name!r} has the tools {one_of(name, self._tools)}. Call "
            f"one of these, or answer in words."
        )
        given = await saved(self._agent, UnknownTool(name=name, description=""), args, self._ctx, error)
        return CallResult(response=given if isinstance(given, dict) else {"error": str(error)})

    def _confirmation(self, answers: list[str]) -> ToolConfirmation | None:
        for question_id in reversed(answers):
            answer = self._ctx.resume_inputs[question_id]
            if isinstance(answer, dict) and "confirmed" in answer:
                return ToolConfirmation.from_response_dict(dict(answer))
        return None

    def _response_event(self, answered: Sequence[tuple[MadeCall, CallResult]]) -> Event | None:
        parts: list[types.Part] = []
        answered = [(made, one) for made, one in answered if one.is_live or one.response is not None]
        for made, result in answered:
            if result.response is not None:
                parts.append(_response_part(made.call, result))
                parts.extend([types.Part(text=result.text)] if result.text else [])
        actions = merged(((str(made.call.id), one) for made, one in answered), self._ctx.session.state)
        if not parts and actions.is_empty:
            return None
        content = types.Content(role="user", parts=parts) if parts else None
        return Event(id=new_id(), author=self._agent.name, content=content, actions=actions)


class UnknownTool(BaseTool):
    """Stands in callbacks for a tool that there isn't."""

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        """Do nothing."""
        return None


def call_run_id(call_id: str, answers: int = 0) -> str:
    """Return the name of the run of a call, which is the same whenever the call is looked at again.

    Args:
        call_id: The id of the call; a model may have chosen any.
        answers: How many questions about it were answered: after each answer it is made anew.

    Example:
        >>> call_run_id("adk-1"), call_run_id("17/x", 2)
        ('adk-1', 'call-17-x-2')
    """
    name = "".join("-" if letter in "/@" else letter for letter in call_id)
    if not name or name.isdigit() or name != call_id:
        name = f"call-{name}"
    return f"{name}-{answers}" if answers else name


def _response_part(call: types.FunctionCall, result: CallResult) -> types.Part:
    media = [types.FunctionResponsePart.model_validate(one) for one in result.media] or None
    return types.Part(
        function_response=types.FunctionResponse(id=call.id, name=call.name, response=result.response, parts=media)
    )


def _own(error: BaseException) -> Exception:
    """Return what a tool raised: its call is the agent's own doing, not that of a node of its own."""
    if isinstance(error, DynamicNodeFailError) and isinstance(error.error, Exception):
        return error.error
    assert isinstance(error, Exception)  # others were raised before
    return error
