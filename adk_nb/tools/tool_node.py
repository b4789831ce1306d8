"""A tool as a node: its input is the arguments of one call, its output is the result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from google.genai import types
from pydantic import BaseModel, Field

from adk_nb.errors import ToolArgumentsError, WorkflowConfigurationError, one_of
from adk_nb.events.event import Event, content_text, event_of, new_id
from adk_nb.events.request_input import RequestInput, parse_json
from adk_nb.workflow.description import Kind
from adk_nb.workflow.gates import approval, confirmation_request, credential_request, is_outdated, is_refused, refused
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.retry import RetryConfig

if TYPE_CHECKING:
    from adk_nb.tools.base_tool import BaseTool
    from adk_nb.workflow.context import Context


class ToolNode(BaseNode):
    """Calls a tool; a tool offers one with `as_node`.

    The input is a dictionary of arguments, a model with them, a JSON object as text, or one value for a tool with only
    one parameter, or only one that must be given. Parameters that are missing in it are looked up in the state.
    """

    kind: ClassVar[Kind] = "tool"
    returns_once: ClassVar[bool] = True
    tells_silence: ClassVar[bool] = True

    rerun_on_resume: bool = True
    tool: Any = Field(repr=False)

    def __init__(
        self,
        *,
        tool: BaseTool,
        name: str | None = None,
        retry_config: RetryConfig | None = None,
        timeout: float | None = None,
    ) -> None:
        """Call `tool`; the name is `name`, else the tool's own with `_` for what no node's name may hold."""
        super().__init__(  # type: ignore[call-arg]  # the fields above are this class's own
            tool=tool,
            name=node_name(tool.name) if name is None else name,
            description=tool.description.partition("\n")[0],
            retry_config=retry_config,
            timeout=timeout,
        )

    def check_options(self) -> None:
        """Refuse to take an answer for the tool's result.

        Raises:
            WorkflowConfigurationError: `rerun_on_resume` is `False`.
        """
        if not self.rerun_on_resume:
            raise WorkflowConfigurationError(
                f"Tool node {self.name!r} has rerun_on_resume=False: it is called after an answer, which isn't its "
                f"result. Leave the option out."
            )

    async def call(self, *, ctx: Context, node_input: Any) -> Any:
        """Call the tool, or ask what has to be asked before it."""
        args = self.arguments(ctx, node_input)
        ctx.function_call_id = new_id()
        given = approval(ctx)
        plugins = ctx.get_invocation_context().plugins
        if plugins is None:
            result = await self._carried_out(ctx, args, is_approved=given is not None)
        else:
            result = await self._overseen(ctx, args, plugins, is_approved=given is not None)
        if result is None or isinstance(result, types.Content):
            return event_of(output=self.checked_output(result))
        return result

    async def _overseen(self, ctx: Context, args: dict[str, Any], plugins: Any, *, is_approved: bool) -> Any:
        """Call the tool with plugins around it; a question isn't a result, so that no plugin sees it."""
        what: dict[str, Any] = {"tool": self.tool, "tool_args": args, "tool_context": ctx}
        result = await plugins.run_before_tool_callback(**what)
        if result is None:
            try:
                result = await self._carried_out(ctx, args, is_approved=is_approved)
            except Exception as error:  # whatever the tool raises, a plugin may have a result in its place
                result = await plugins.run_on_tool_error_callback(**what, error=error)
                if result is None:
                    raise
            if isinstance(result, (RequestInput, Event)):
                return result
        changed = await plugins.run_after_tool_callback(**what, result=result)
        return result if changed is None else changed

    async def _carried_out(self, ctx: Context, args: dict[str, Any], *, is_approved: bool) -> Any:
        if is_refused(ctx):
            return refused()
        shown = dict(args)
        if (not is_approved or is_outdated(ctx, args)) and await self.tool.check_require_confirmation(args, ctx):
            return confirmation_request(ctx, self.tool.name, args)
        result = await self.tool.run_async(args=args, tool_context=ctx)
        question = self._asked(ctx, shown)
        return result if question is None else question

    def _asked(self, ctx: Context, args: dict[str, Any]) -> Any:
        """Return the question that the tool asked while it was called, taken out of what goes with the next event."""
        if not ctx.has_actions or ctx.function_call_id is None:
            return None
        wanted = ctx.actions.requested_auth_configs.pop(ctx.function_call_id, None)
        asked = ctx.actions.requested_tool_confirmations.pop(ctx.function_call_id, None)
        if wanted is not None:
            return credential_request(ctx, wanted)
        return None if asked is None else confirmation_request(ctx, self.tool.name, args, asked)

    def arguments(self, ctx: Context, node_input: Any) -> dict[str, Any]:
        """Return the arguments of one call.

        Raises:
            ToolArgumentsError: the input isn't a dictionary of arguments, one is missing in it and in the state, or
                doesn't fit.
        """
        parameters = self.tool.parameters()
        args = self._given(parameters, node_input)
        for name, is_required in parameters.items():
            if is_required and name not in args and name in ctx.state:
                args[name] = ctx.state[name]
        try:
            self.tool.check_arguments(args)
        except ToolArgumentsError as error:
            raise ToolArgumentsError(
                f"Node {self.name!r}: {error} The input was {_kind_of(node_input)}; the state has "
                f"{one_of('', ctx.state)}."
            ) from None
        return args

    def _given(self, parameters: dict[str, bool], node_input: Any) -> dict[str, Any]:
        value = content_text(node_input) if isinstance(node_input, types.Content) else node_input
        if isinstance(value, BaseModel):
            value = value.model_dump()
        if isinstance(value, str):
            value = value.strip()
            parsed = parse_json(value) if value else {}
            value = parsed if isinstance(parsed, dict) else value
        if value is None:
            return {}
        if isinstance(value, dict):
            return dict(value)
        mandatory = [name for name, is_required in parameters.items() if is_required]
        only = list(parameters) if len(parameters) == 1 else mandatory
        if len(only) == 1:
            return {only[0]: value}
        known = f"it has the parameters {', '.join(map(repr, parameters))}" if parameters else "it names no parameters"
        raise ToolArgumentsError(
            f"The input of node {self.name!r} must be a dictionary of tool arguments for tool {self.tool.name!r}, and "
            f"is {_kind_of(node_input)}; {known}. Hand on a dictionary with the parameters' names from the node before."
        )


def node_name(tool: str) -> str:
    """Return the name of a tool's node: the tool's own, with `_` for what no node's name may hold.

    Example:
        >>> node_name("web-search")
        'web_search'
    """
    return re.sub(r"\W", "_", tool)


def _kind_of(value: Any) -> str:
    if isinstance(value, dict):
        return f"a dictionary with {one_of('', value)}"
    return "None" if value is None else f"{value!r:.60} ({type(value).__name__})"
