"""What can stand between a node and its body: a person's approval, and a credential that only a person has.

Function nodes and tool nodes ask here before they call anything, and again after each answer. A gate gives what is to
be published in place of the body's result, or `None` to let the body run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.auth.answers import message_for
from adk_nb.auth.auth_tool import AuthConfig
from adk_nb.errors import WorkflowConfigurationError, WorkflowDataError, one_of
from adk_nb.events.credential_request import REQUEST_CREDENTIAL
from adk_nb.events.event import Event, content_text
from adk_nb.events.request_input import RequestInput
from adk_nb.events.tool_confirmation import CONFIRMATION_SCHEMA, ToolConfirmation
from adk_nb.events.values import Unchecked, snapshot
from adk_nb.workflow.signature import ABSENT, read_signature

if TYPE_CHECKING:
    from adk_nb.workflow.context import Context

Requirement = bool | Callable[..., Any]
"""Whether a call needs an approval: always, never, or as a function of its arguments says, which may be async."""

CONFIRMATION_ID = "wf_tool_confirmation:"
CREDENTIAL_ID = "wf_auth:"
_OWN_PAYLOAD = "confirmation_payload"
"""Key in the payload of a question that the body itself asked with `ctx.request_confirmation`."""


def refused() -> Unchecked:
    """Return what a call that a person refused hands on; the node's own output schema doesn't apply to it."""
    return Unchecked(error="This tool call is rejected.")


def check_gates(name: str, require_confirmation: Any, auth_config: Any, rerun_on_resume: bool) -> None:
    """Refuse gates that can't work.

    Raises:
        WorkflowConfigurationError: one is of the wrong type, or the node doesn't run again after an answer.
    """
    check_requirement(f"Node {name!r}", require_confirmation)
    if auth_config is not None and not isinstance(auth_config, AuthConfig):
        raise WorkflowConfigurationError(
            f"Node {name!r} has auth_config of type {type(auth_config).__name__}: give adk_nb.auth.AuthConfig(...)."
        )
    for option, is_set in (
        ("require_confirmation", require_confirmation is not False),
        ("auth_config", auth_config is not None),
    ):
        if is_set and not rerun_on_resume:
            raise WorkflowConfigurationError(
                f"Node {name!r} has {option}, and {option} requires rerun_on_resume=True: the node runs after the "
                f"answer, with rerun_on_resume=False the answer would be its output."
            )


def check_requirement(who: str, require_confirmation: Any) -> None:
    """Refuse what doesn't say whether a call needs an approval.

    Args:
        who: The node or tool, for the error.
        require_confirmation: What was given.
    Raises:
        WorkflowConfigurationError: it is neither a bool nor a function.
    """
    if not isinstance(require_confirmation, bool) and not callable(require_confirmation):
        raise WorkflowConfigurationError(
            f"{who} has require_confirmation={require_confirmation!r:.60}: give True, False, or a function of its "
            f"arguments that says whether this call needs an approval."
        )


def approval(ctx: Context) -> ToolConfirmation | None:
    """Return the answer to this run's confirmation, and show it to the body; `None` when there is none."""
    question = ctx.newest_question(CONFIRMATION_ID + ctx.node_path)
    if question is None or not question.is_answered:
        return None
    ctx.tool_confirmation = ToolConfirmation.from_response_dict(dict(question.answer))
    return ctx.tool_confirmation


def is_outdated(ctx: Context, arguments: Mapping[str, Any]) -> bool:
    """Say whether the call isn't the one that a person was shown; its answer is then taken from the body.

    Where a plugin changes what is shown, two questions in a row show the same: the second one's answer holds.

    Args:
        ctx: The context of the call.
        arguments: What the call is made with now.
    """
    interrupt_id = CONFIRMATION_ID + ctx.node_path
    asked = [one.payload for one in ctx.questions if one.interrupt_id == interrupt_id and one.is_answered]
    if not asked or not isinstance(asked[-1], dict) or not isinstance(asked[-1].get("args"), dict):
        return False
    if asked[-1]["args"] == snapshot(_all_shown(arguments)) or asked[-1] in asked[-2:-1]:
        return False
    ctx.tool_confirmation = None
    return True


def is_refused(ctx: Context) -> bool:
    """Say whether a person refused the call before it was made; a call that asked itself sees the answer itself."""
    question = ctx.newest_question(CONFIRMATION_ID + ctx.node_path)
    if question is None or not question.is_answered or _OWN_PAYLOAD in (question.payload or {}):
        return False
    return not question.answer["confirmed"]


async def is_required(
    requirement: Requirement, owner: str, arguments: Mapping[str, Any], ctx: Context, node_input: Any = ABSENT
) -> bool:
    """Say whether this call needs an approval; a function is given what it asks for by name.

    Args:
        requirement: `True`, `False` or a function.
        owner: The node or tool, for errors.
        arguments: The arguments of the call.
        ctx: The context, which is also where other names are looked up in the state.
        node_input: The node's input, for a parameter of that name.
    Raises:
        WorkflowDataError: a parameter of the function has no value.
    """
    if isinstance(requirement, bool):
        return requirement
    signature = read_signature(requirement)
    offered = {"tool_context": ctx, **arguments}
    if node_input is not ABSENT:
        offered.setdefault("node_input", node_input)
    values: dict[str, Any] = {}
    if signature.context_name is not None:
        values[signature.context_name] = ctx
    for parameter in (*([signature.whole] if signature.whole else []), *signature.named):
        if parameter.name in offered:
            values[parameter.name] = offered[parameter.name]
        elif parameter.name in ctx.state:
            values[parameter.name] = ctx.state[parameter.name]
        elif parameter.default is ABSENT:
            raise WorkflowDataError(
                f"The require_confirmation function of {owner!r} wants {parameter.name!r}, which isn't an argument of "
                f"the call ({one_of(parameter.name, arguments)}) nor in the state: take it out, or give it a default."
            )
    if signature.takes_extra:
        values.update({name: value for name, value in arguments.items() if name not in values})
    found = requirement(*[values.pop(name) for name in signature.by_position], **values)
    return bool(await found if inspect.isawaitable(found) else found)


def confirmation_request(
    ctx: Context, name: str, arguments: Mapping[str, Any], asked: ToolConfirmation | None = None
) -> RequestInput:
    """Return the question whether a call may run.

    Args:
        ctx: The context of the call.
        name: The tool, or the node.
        arguments: What the person is shown of the call.
        asked: What the call itself asks with, when it has begun and wants to know.
    """
    payload: dict[str, Any] = {"tool_name": name, "args": _all_shown(arguments)}
    if asked is not None:
        payload[_OWN_PAYLOAD] = asked.payload
    return RequestInput(
        interrupt_id=CONFIRMATION_ID + ctx.node_path,
        message=asked.hint if asked is not None and asked.hint else f"May {name}() run? Approve or reject it.",
        payload=payload,
        response_schema=CONFIRMATION_SCHEMA,
    )


async def credential_gate(ctx: Context, auth_config: AuthConfig) -> Event | None:
    """Let a node through that has its credential; else return the question for it."""
    given = ctx.get_auth_response(auth_config)
    service = ctx.get_invocation_context().credential_service
    if service is not None:
        if given is None:
            given = await ctx.load_credential(auth_config)
            if given is not None:
                ctx.get_invocation_context().keep_credential(auth_config, given)
        elif ctx.newest_question(CREDENTIAL_ID + ctx.node_path) is not None:
            await ctx.save_credential(auth_config.with_credential(given))
    return None if given is not None else credential_request(ctx, auth_config)


def credential_request(ctx: Context, auth_config: AuthConfig) -> Event:
    """Return the question for a credential; it shows nothing secret of the config."""
    interrupt_id = CREDENTIAL_ID + ctx.node_path
    args = {
        "functionCallId": interrupt_id,
        "authConfig": auth_config.public(),
        "message": message_for(auth_config),
    }
    call = types.FunctionCall(id=interrupt_id, name=REQUEST_CREDENTIAL, args=args)
    return Event(
        content=types.Content(role="model", parts=[types.Part(function_call=call)]),
        long_running_tool_ids={interrupt_id},
    )


def _all_shown(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _shown(value) for key, value in arguments.items()}


def _shown(value: Any) -> Any:
    """Return what a person is shown of an argument: messages as text, objects that can't be stored as their type."""
    if isinstance(value, types.Content):
        only_text = all(part.text is not None for part in value.parts or ())
        return content_text(value) if only_text else value.model_dump(mode="json", exclude_none=True)
    try:
        return snapshot(value)
    except WorkflowDataError:
        return f"<{type(value).__qualname__}>"
