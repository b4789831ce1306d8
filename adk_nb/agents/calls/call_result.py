"""What came of one call of a tool: the response for the model and what is to be done besides, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pydantic_core
from google.genai import types

from adk_nb.auth.auth_tool import AuthConfig
from adk_nb.events.event_actions import EventActions
from adk_nb.events.state import State
from adk_nb.events.tool_confirmation import ToolConfirmation
from adk_nb.events.values import snapshot
from adk_nb.workflow.context import Context

_PLAIN = ("skip_summarization", "transfer_to_agent", "transfer_reason", "escalate", "route", "set_model_response")
_MAPS = ("artifact_delta", "agent_state")


@dataclass(slots=True)
class CallResult:
    """What came of one call; `to_record` and `from_record` keep it in the record of the call's run."""

    response: dict[str, Any] | None = None
    """What the model is told; `None` when the result comes later."""
    media: list[dict[str, Any]] = field(default_factory=list)
    """Pictures and files of the result, as JSON values."""
    state: dict[str, Any] = field(default_factory=dict)
    """Keys of the state that it wrote."""
    is_live: bool = True
    """What it wrote stands in the live state already."""
    actions: dict[str, Any] = field(default_factory=dict)
    """What else is to be done, by the names of `EventActions`."""
    confirmation: ToolConfirmation | None = None
    """What a person is asked before the call may be made."""
    credential: dict[str, Any] | None = None
    """Config of the credential that a person is asked for, without secrets."""
    text: str | None = None
    """What the response event says beside the response."""

    calls_apart: list[dict[str, Any]] = field(default_factory=list)
    """What model calls in sessions of their own used."""
    finished: list[Any] = field(default_factory=list)
    """The result of the agent's task, when the call ended it."""

    @property
    def asks(self) -> bool:
        """A person has to answer first."""
        return self.confirmation is not None or self.credential is not None

    def to_record(self) -> dict[str, Any]:
        """Return it as the output of a run."""
        kept = {
            name: getattr(self, name)
            for name in ("response", "media", "state", "actions", "credential", "text", "calls_apart")
        }
        if self.confirmation is not None:
            kept["confirmation"] = self.confirmation.model_dump()
        return {name: value for name, value in kept.items() if value or name == "response"}

    @classmethod
    def from_record(cls, kept: dict[str, Any], *, is_live: bool) -> CallResult:
        """Return what `to_record` kept."""
        fields = dict(kept)
        if "confirmation" in fields:
            fields["confirmation"] = ToolConfirmation.model_validate(fields["confirmation"])
        return cls(**fields, is_live=is_live)


def read_result(value: Any, where: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a tool's result as the model is told it, and the media in it.

    Raises:
        WorkflowDataError: JSON can't hold it; the message says where.

    Example:
        >>> read_result([1, 2], "result")
        ({'result': [1, 2]}, [])
    """
    media: list[dict[str, Any]] = []
    if isinstance(value, dict):
        value = {key: _as_set(one) for key, one in value.items() if not _take_media(one, media)}
    elif isinstance(value, (list, tuple)):
        value = [_as_set(one) for one in value if not _take_media(one, media)]
    elif _take_media(value, media):
        value = {}
    plain = pydantic_core.to_jsonable_python(snapshot(_as_set(value), where), bytes_mode="base64")
    return (plain if isinstance(plain, dict) else {"result": plain}), media


def _as_set(value: Any) -> Any:
    """Return a message or a part of one as what was set in it, any other value as it is."""
    is_message = isinstance(value, (types.Part, types.Content))
    return value.model_dump(mode="json", exclude_none=True) if is_message else value


def _take_media(value: Any, media: list[dict[str, Any]]) -> bool:
    if not isinstance(value, types.Part) or not (value.inline_data or value.file_data):
        return False
    fields = value.model_dump(mode="json", exclude_none=True, include={"inline_data", "file_data"})
    media.append(fields)
    return True


def result_of(ctx: Context, value: Any, *, tool: str, is_pending: bool, takes_state: bool = True) -> CallResult:
    """Return what came of a call: its value and what it left in its context.

    Args:
        ctx: The context of the call, from which everything is taken.
        value: What the tool returned.
        tool: Its name, for errors.
        is_pending: Nothing is told to the model yet.
        takes_state: Take what was written to the state; otherwise it goes with the node's next event.
    """
    result = CallResult()
    if not is_pending:
        result.response, result.media = read_result(value, f"result of tool {tool!r}")
    result.text = ctx.response_text
    result.calls_apart = ctx.get_invocation_context().calls_apart.pop(ctx.node_path, [])
    state = ctx.state.take_delta() if takes_state else {}
    result.state = {key: one for key, one in state.items() if not key.startswith(State.TEMP_PREFIX)}
    actions = ctx.take_actions() if ctx.has_actions else None
    if actions is None:
        return result
    result.state |= snapshot(actions.state_delta, "state_delta")
    result.actions = {
        name: snapshot(one) for name in (*_PLAIN, *_MAPS) if (one := getattr(actions, name)) not in (None, {})
    }
    call_id = ctx.function_call_id or ""
    asked = actions.requested_tool_confirmations.get(call_id)
    if asked is not None:
        result.confirmation = asked if isinstance(asked, ToolConfirmation) else ToolConfirmation.model_validate(asked)
    wanted = actions.requested_auth_configs.get(call_id)
    if wanted is not None:
        result.credential = wanted.public() if isinstance(wanted, AuthConfig) else wanted
    return result


def merged(results: Iterable[tuple[str, CallResult]], live: dict[str, Any]) -> EventActions:
    """Return the actions of the one event that tells of several calls.

    Args:
        results: The calls' ids and results, in the order of the calls.
        live: The live state: where several calls wrote one key, it holds the newest value.
    """
    actions = EventActions()
    for call_id, result in results:
        for key, value in result.state.items():
            actions.state_delta[key] = live.get(key, value) if result.is_live else value
        for name, value in result.actions.items():
            own = getattr(actions, name)
            setattr(actions, name, {**own, **value} if isinstance(own, dict) else value)
        if result.confirmation is not None:
            actions.requested_tool_confirmations[call_id] = result.confirmation
        if result.credential is not None:
            actions.requested_auth_configs[call_id] = result.credential
    return actions
