"""One call of a tool with everything around it: plugins, callbacks, a person's approval, errors told to the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from adk_nb.agents.callbacks import first_answer
from adk_nb.errors import ToolArgumentsError
from adk_nb.events.request_input import RequestInput
from adk_nb.tools.base_tool import BaseTool
from adk_nb.tools.tool_node import node_name
from adk_nb.workflow.context import Context
from adk_nb.workflow.functions import FunctionNode

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent

REJECTED = {"error": "This tool call is rejected."}
_UNCONFIRMED = {"error": "This tool call requires confirmation: please approve or reject it."}


async def call_tool(
    agent: LlmAgent, tool: BaseTool, args: dict[str, Any], ctx: Context, *, is_approved: bool | None = None
) -> Any:
    """Return what a call gives: the tool's own result, or that of a plugin or callback in its place.

    Args:
        agent: Whose model calls.
        tool: What is called.
        args: The arguments; plugins and callbacks may change them.
        ctx: The context of the call.
        is_approved: What a person answered when asked whether the call may be made; `None` when nobody was asked.
    """
    return await surrounded(agent, tool, args, ctx, lambda: _gated(tool, args, ctx, is_approved))


def approval_hint(tool: str) -> str:
    """Return what a person is told who is to approve a call, before the tool itself has any say.

    Example:
        >>> approval_hint("pay")
        'Please approve or reject the tool call pay().'
    """
    return f"Please approve or reject the tool call {tool}()."


async def surrounded(
    agent: LlmAgent, tool: BaseTool, args: dict[str, Any], ctx: Context, make: Callable[[], Awaitable[Any]]
) -> Any:
    """Make a call with plugins and callbacks around it.

    Args:
        agent: Whose callbacks they are.
        tool: What is called.
        args: The arguments.
        ctx: The context of the call.
        make: Makes the call.
    """
    plugins = ctx.get_invocation_context().plugins
    result = None
    if plugins is not None:
        result = await plugins.run_before_tool_callback(tool=tool, tool_args=args, tool_context=ctx)
    what = {"tool": tool, "args": args, "tool_context": ctx}
    if result is None:
        result = await _own(agent, "before_tool_callback", what)
    if result is None:
        try:
            result = await make()
        except Exception as error:  # whatever a tool raises, a plugin or callback may have a result in its place
            result = await saved(agent, tool, args, ctx, error)
            if result is None:
                raise
    changed = None
    if plugins is not None:
        changed = await plugins.run_after_tool_callback(tool=tool, tool_args=args, tool_context=ctx, result=result)
    if changed is None:
        changed = await _own(agent, "after_tool_callback", {**what, "tool_response": result})
    return result if changed is None else changed


async def saved(agent: LlmAgent, tool: BaseTool, args: dict[str, Any], ctx: Context, error: Exception) -> Any:
    """Return the result to go on with where a call failed, `None` when the error stands."""
    plugins, result = ctx.get_invocation_context().plugins, None
    if plugins is not None:
        result = await plugins.run_on_tool_error_callback(tool=tool, tool_args=args, tool_context=ctx, error=error)
    if result is None:
        what = {"tool": tool, "args": args, "tool_context": ctx, "error": error}
        result = await _own(agent, "on_tool_error_callback", what)
    choice = getattr(tool, "on_tool_error", None) or agent.on_tool_error
    if result is None and choice == "tell_model":
        return {"error": f"{type(error).__name__}: {error}"}
    return result


async def _own(agent: LlmAgent, hook: str, what: dict[str, Any]) -> Any:
    """Ask the agent's own callbacks; an empty answer counts, too."""
    return await first_answer(getattr(agent, hook), object, what, agent=agent.name, hook=hook, takes_empty=True)


async def _gated(tool: BaseTool, args: dict[str, Any], ctx: Context, is_approved: bool | None) -> Any:
    """Call a tool, or ask a person first; what was refused stays refused, whatever the tool requires by now."""
    if is_approved is False:
        return REJECTED
    given = ctx.tool_confirmation
    try:
        if not is_approved and await tool.check_require_confirmation(args, ctx) is True:
            tool.check_arguments(args)
            if given is None:
                ctx.request_confirmation(hint=approval_hint(tool.name))
                ctx.actions.skip_summarization = True
                return _UNCONFIRMED
            if not given.confirmed:
                return REJECTED
    except ToolArgumentsError as error:
        return {"error": str(error)}
    result = await tool.run_async(args=args, tool_context=ctx)
    return await _asked(tool, result, ctx) if isinstance(result, RequestInput) else result


async def _asked(tool: BaseTool, question: RequestInput, ctx: Context) -> Any:
    """Return what a person answers to the question that a tool returned; it is the tool's result."""

    def ask() -> RequestInput:
        return question

    return await ctx.run_node(FunctionNode(ask, name=node_name(tool.name)), use_sub_branch=True)
