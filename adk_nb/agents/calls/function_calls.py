"""The calls of one step of an agent: carried out side by side, told to the model in one event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.agents.calls.call_node import CallNode
from adk_nb.agents.calls.call_result import CallResult, merged, result_of
from adk_nb.agents.calls.finish_task import DONE, MAX_TRIES, FinishTaskTool
from adk_nb.agents.calls.sub_agent_tools import SubAgentTool
from adk_nb.agents.calls.tool_calls import approval_hint, saved, surrounded
from adk_nb.agents.reading.request import Target
from adk_nb.agents.turn.asking import question_events
from adk_nb.agents.turn.standing import MadeCall
from adk_nb.agents.turn.transfer import refusal
from adk_nb.errors import DynamicNodeFailError, NodeInterruptedError, ToolArgumentsError, one_of
from adk_nb.events.apart import CALLS_APART
from adk_nb.events.event import Event, new_id
from adk_nb.events.tool_confirmation import ToolConfirmation
from adk_nb.events.values import snapshot
from adk_nb.tools.base_tool import BaseTool
from adk_nb.tools.node_tool import NodeTool
from adk_nb.workflow.context import Context

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent


class FunctionCalls:
    """The calls that an agent's model made in one step, or that were answered since."""

    def __init__(
        self,
        agent: LlmAgent,
        ctx: Context,
        calls: Sequence[MadeCall],
        tools: Mapping[str, BaseTool],
        *,
        targets: Sequence[Target] = (),
        tries: int = 0,
    ) -> None:
        """Prepare to carry them out.

        Args:
            agent: The agent.
            ctx: Its context.
            calls: The calls, in order.
            tools: What can be called, by name.
            targets: The agents that the conversation may be handed to.
            tries: How often the model tried in vain to finish its task.
        """
        self._agent = agent
        self._ctx = ctx
        self._tools = tools
        self._targets = targets
        self._tries = tries
        tasks = [one for one in calls if getattr(tools.get(str(one.call.name)), "is_task", False)]
        self._tasks = tasks
        """Calls that hand a task over: they are carried out last, one after the other."""
        self._calls = [one for one in calls if one not in tasks]
        self._results: dict[int, CallResult] = {}
        self._error: Exception | None = None
        self._waiting: list[str] | None = None
        """Ids of the questions that calls wait with, `None` while none does."""

    async def events(self) -> AsyncGenerator[Event, None]:
        """Carry the calls out and give the events that tell of them.

        Raises:
            NodeInterruptedError: one waits for a person.
            Exception: what the first failing one raised; the results of those that had ended are told before it.
        """
        if self._calls:
            for event in await self._side_by_side():
                yield event
            if self._error is not None:
                raise self._error
        for made in self._tasks:
            result = await self._result(made)
            told = response_event(self._agent.name, [(made, result)], self._ctx.session.state)
            if told is not None:
                self._ctx.event_author = "user"  # the agent's own model reads it as what came from outside
                yield told
                self._ctx.event_author = None

    async def _side_by_side(self) -> list[Event]:
        """Make all calls that are no tasks; return the events that tell of them."""
        if not self._ctx.is_first_try:
            await self._restore()
        error = self._error = await self._carry_out()
        if error is None and self._waiting is not None:
            raise NodeInterruptedError(self._waiting)
        answered = [(one, self._results[at]) for at, one in enumerate(self._calls) if at in self._results]
        name, live = self._agent.name, self._ctx.session.state
        if error is not None:
            # What asks or steers has no say when the step fails: it is done again when the run goes on.
            told = response_event(
                name, [(one, result) for one, result in answered if not (result.asks or result.actions)], live
            )
            return [] if told is None else [told]
        response = response_event(name, answered, live)
        self._finish(response, answered)
        unasked = [(made, one) for made, one in answered if not made.is_asked(self._ctx.resume_inputs)]
        questions = question_events(name, [(made.call, one.confirmation, one.credential) for made, one in unasked])
        asks_first = bool(answered) and all(result.asks for _, result in answered)
        if response is not None and any(result.asks for _, result in answered):
            # The model isn't asked again before a person has answered.
            response.actions.skip_summarization = asks_first or None
        events = [*questions, response] if asks_first else [response, *questions]
        return [event for event in events if event is not None]

    async def _restore(self) -> None:
        """Let the calls that are made now see what those that were made before a cut have written to the state."""
        live = self._ctx.session.state
        for made in self._calls:
            run_id = call_run_id(str(made.call.id), len(made.answers(self._ctx.resume_inputs)))
            kept = await self._ctx.recorded_output(CallNode.name_of(str(made.call.name)), run_id)
            if isinstance(kept, dict) and kept.get("response") is not None and kept.get("state"):
                live.update(snapshot(kept["state"]))

    async def _carry_out(self) -> Exception | None:
        """Make all calls that are no tasks; return what the first failing one raised."""
        if len(self._calls) == 1:
            try:
                await self._make(0)
            except Exception as error:  # noqa: BLE001  # whatever a tool raises is raised again, after the event
                return error
            return None
        tasks = [self._ctx.in_task(self._make(index)) for index in range(len(self._calls))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        errors = [task.exception() for task in tasks if task.done() and not task.cancelled()]
        failed = next((error for error in errors if error is not None), None)
        if failed is not None and not isinstance(failed, Exception):
            raise failed
        return failed

    async def _make(self, index: int) -> None:
        try:
            self._results[index] = await self._result(self._calls[index])
        except NodeInterruptedError as signal:
            self._waiting = [*(self._waiting or ()), *signal.interrupt_ids]

    async def _result(self, made: MadeCall) -> CallResult:
        args = dict(made.call.args or {})
        tool = self._tools.get(str(made.call.name))
        if tool is None:
            return await self._unknown(str(made.call.name), args)
        if isinstance(tool, FinishTaskTool):
            return await self._finished(made, tool, args)
        if isinstance(tool, (SubAgentTool, NodeTool)):
            return await self._run(made, tool, args)
        result = await self._called(made, tool, args)
        target = result.actions.get("transfer_to_agent")
        refused = None if target is None else self._refusal(target)
        if refused is not None:
            result.response = {"error": refused}
            result.actions = {key: one for key, one in result.actions.items() if not key.startswith("transfer_")}
        return result

    def _refusal(self, target: str) -> str | None:
        """Return what to tell a model that hands the conversation over and can't, or not now."""
        if self._tasks:
            names = ", ".join(sorted({str(one.call.name) for one in self._tasks}))
            return (
                f"The conversation wasn't handed over: the same message gives a task to {names}, which comes first. "
                f"Call transfer_to_agent alone, once that is done."
            )
        return refusal(target, self._agent, self._targets)

    async def _called(self, made: MadeCall, tool: BaseTool, args: dict[str, Any]) -> CallResult:
        """Call a tool in a run of its own."""
        ctx, answers = self._ctx, made.answers(self._ctx.resume_inputs)
        given = [one for key in answers if isinstance(one := ctx.resume_inputs[key], dict) and "confirmed" in one]
        confirmations = [ToolConfirmation.from_response_dict(dict(one)) for one in given]
        node = CallNode.of(
            self._agent,
            tool,
            str(made.call.id),
            confirmations[-1] if confirmations else None,
            is_approved=confirmations[0].confirmed if confirmations and _was_to_approve(made) else None,
        )
        run_id = call_run_id(str(made.call.id), len(answers))
        try:
            kept = await ctx.run_called(node, args, run_id=run_id, branch=self._lane(made))
        except DynamicNodeFailError as failure:
            if failure.error_node_path == f"{ctx.node_path}/{node.name}@{run_id}" and failure.error is not None:
                raise failure.error from None  # the call is the agent's own doing, and the agent tells of it
            raise
        return CallResult.from_record(kept, is_live=node.has_run or kept["response"] is not None)

    async def _run(self, made: MadeCall, tool: SubAgentTool | NodeTool, args: dict[str, Any]) -> CallResult:
        """Run an agent or node below the agent, on a lane of its own."""
        ctx, call_id = self._ctx, str(made.call.id)
        is_agent, is_task = isinstance(tool, SubAgentTool), isinstance(tool, SubAgentTool) and tool.is_task

        async def run() -> Any:
            try:
                node_input = tool.input_of(args)
            except ToolArgumentsError as error:
                is_answer = is_agent and not is_task
                return {"result": f"Error validating input: {error}"} if is_answer else {"error": str(error)}
            try:
                output = await ctx.run_called(
                    tool.agent.as_node() if isinstance(tool, SubAgentTool) else tool.node,
                    node_input,
                    run_id=call_run_id(call_id),
                    branch=self._lane(made),
                    isolation_scope=call_id if is_task else None,
                    is_failure_final=is_agent and not is_task,
                )
            except DynamicNodeFailError as failure:
                if is_task or not is_agent:
                    raise
                return {"result": f"Error running sub-agent: {failure.error_type}: {failure.error_message}"}
            return output if isinstance(output, dict) else {"output" if is_task else "result": output}

        return await self._surrounded(made, tool, args, run)

    def _lane(self, made: MadeCall) -> str:
        """Return the lane of what runs for a call: what is said on it isn't for the model that calls."""
        lane, branch = f"{made.call.name}@{made.call.id}", self._ctx.branch
        return lane if branch is None else f"{branch}.{lane}"

    async def _finished(self, made: MadeCall, tool: FinishTaskTool, args: dict[str, Any]) -> CallResult:
        """Take the result of the agent's task, or tell the model what is wrong with it."""
        given: list[Any] = []

        async def take() -> Any:
            try:
                given.append(tool.result_of(args))
            except ToolArgumentsError as error:
                if self._tries + 1 >= MAX_TRIES:
                    raise tool.given_up(error) from None
                return {"error": str(error)}
            return DONE

        result = await self._surrounded(made, tool, args, take)
        result.finished = given
        return result

    async def _surrounded(
        self, made: MadeCall, tool: BaseTool, args: dict[str, Any], make: Callable[[], Awaitable[Any]]
    ) -> CallResult:
        """Make a call with plugins and callbacks around it, without a run of its own."""
        ctx = self._ctx.twin()
        ctx.function_call_id = str(made.call.id)
        value = await surrounded(self._agent, tool, args, ctx, make)
        return result_of(ctx, value, tool=tool.name, is_pending=False, takes_state=False)

    async def _unknown(self, name: str, args: dict[str, Any]) -> CallResult:
        error = ToolArgumentsError(
            f"Tool {name!r} not found: the agent {self._agent.name!r} has the tools {one_of(name, self._tools)}. Call "
            f"one of these, or answer in words."
        )
        given = await saved(self._agent, UnknownTool(name=name, description=""), args, self._ctx, error)
        return CallResult(response=given if isinstance(given, dict) else {"error": str(error)})

    def _finish(self, response: Event | None, answered: Sequence[tuple[MadeCall, CallResult]]) -> None:
        """Let the event that tells of the end of the agent's task hand on what came of it."""
        given = [value for _, result in answered for value in result.finished]
        if response is None or not given:
            return
        response.output = given[-1]
        if self._agent.output_key:
            response.actions.state_delta[self._agent.output_key] = given[-1]


def response_event(agent: str, answered: Sequence[tuple[MadeCall, CallResult]], live: dict[str, Any]) -> Event | None:
    """Return the one event that tells what came of calls, `None` when there is nothing to tell.

    Args:
        agent: Whose calls they are.
        answered: The calls with what came of them, in order.
        live: The live state.
    """
    parts: list[types.Part] = []
    told = [(made, one) for made, one in answered if one.is_live or one.response is not None]
    for made, result in told:
        if result.response is not None:
            parts.append(_response_part(made.call, result))
            parts.extend([types.Part(text=result.text)] if result.text else [])
    actions = merged(((str(made.call.id), one) for made, one in told), live)
    if not parts and actions.is_empty:
        return None
    content = types.Content(role="user", parts=parts) if parts else None
    apart = [call for _, one in told for call in one.calls_apart]
    metadata = {CALLS_APART: apart} if apart else None
    return Event(id=new_id(), author=agent, content=content, actions=actions, custom_metadata=metadata)


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


def _was_to_approve(made: MadeCall) -> bool:
    """Say whether the first question about a call was whether it may be made, as against one of the tool's own."""
    asked = next((confirmation for confirmation, _ in made.wanted if confirmation is not None), None)
    hint = asked.get("hint") if isinstance(asked, dict) else getattr(asked, "hint", None)
    return hint == approval_hint(str(made.call.name))


def _response_part(call: types.FunctionCall, result: CallResult) -> types.Part:
    media = [types.FunctionResponsePart.model_validate(one) for one in result.media] or None
    return types.Part(
        function_response=types.FunctionResponse(id=call.id, name=call.name, response=result.response, parts=media)
    )
