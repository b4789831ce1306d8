"""The questions that calls of tools ask of a person, as events: may it be made, and with which credential."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.genai import types

from adk_nb.auth.answers import message_for
from adk_nb.auth.auth_tool import AuthConfig
from adk_nb.events.credential_request import REQUEST_CREDENTIAL
from adk_nb.events.event import Event, new_id
from adk_nb.events.tool_confirmation import REQUEST_CONFIRMATION, ToolConfirmation


def new_call_id() -> str:
    """Return an id for a call that the model gave none."""
    return f"adk-{new_id()}"


def question_events(agent: str, wanted: Sequence[tuple[types.FunctionCall, Any, Any]]) -> list[Event]:
    """Return the events that ask what calls want to know, one for confirmations and one for credentials.

    Args:
        agent: Whose calls they are.
        wanted: Each call with the confirmation and the credential that it wants, `None` where it wants none.
    """
    confirmations = [_confirmation(call, one) for call, one, _ in wanted if one is not None]
    credentials = [_credential(call, one) for call, _, one in wanted if one is not None]
    return [_question_event(agent, calls) for calls in (credentials, confirmations) if calls]


def _question_event(agent: str, calls: list[types.FunctionCall]) -> Event:
    return Event(
        id=new_id(),
        author=agent,
        content=types.Content(role="model", parts=[types.Part(function_call=call) for call in calls]),
        long_running_tool_ids={str(call.id) for call in calls},
    )


def _confirmation(call: types.FunctionCall, wanted: Any) -> types.FunctionCall:
    asked = wanted if isinstance(wanted, ToolConfirmation) else ToolConfirmation.model_validate(wanted)
    return types.FunctionCall(
        id=new_call_id(),
        name=REQUEST_CONFIRMATION,
        args={
            "originalFunctionCall": call.model_dump(mode="json", exclude_none=True, include={"id", "name", "args"}),
            "toolConfirmation": asked.model_dump(mode="json", by_alias=True, exclude_none=True),
        },
    )


def _credential(call: types.FunctionCall, wanted: Any) -> types.FunctionCall:
    config = wanted if isinstance(wanted, AuthConfig) else AuthConfig.model_validate(wanted)
    args = {"functionCallId": call.id, "authConfig": config.public(), "message": message_for(config)}
    return types.FunctionCall(id=new_call_id(), name=REQUEST_CREDENTIAL, args=args)
