"""The questions that an event asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from adk_nb.events.credential_request import REQUEST_CREDENTIAL, credential_schema
from adk_nb.events.event import Event
from adk_nb.events.request_input import REQUEST_INPUT
from adk_nb.events.tool_confirmation import CONFIRMATION_SCHEMA, REQUEST_CONFIRMATION

USER_CHOICE = "get_user_choice"
"""Name of the tool by which a model lets a person choose."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as its event carries it."""

    interrupt_id: str
    message: str | None
    payload: Any
    response_schema: dict[str, Any] | None
    is_secret: bool = False
    """The answer is a credential, which is never stored."""


def questions_in(event: Event) -> Iterator[Asked]:
    """Give the questions that an event asks, in order.

    Any long-running function call is a question; one without our name shows its name and arguments.
    """
    if not event.long_running_tool_ids or event.author == "user":
        return
    for call in event.get_function_calls():
        if call.id not in event.long_running_tool_ids:
            continue
        args = call.args or {}
        if call.name == REQUEST_INPUT:
            schema = args.get("response_schema")
            yield Asked(str(call.id), args.get("message"), args.get("payload"), schema or None)
        elif call.name == REQUEST_CREDENTIAL:
            config = args.get("authConfig")
            yield Asked(str(call.id), args.get("message"), config, credential_schema(config), is_secret=True)
        elif call.name == REQUEST_CONFIRMATION:
            yield _confirmation(str(call.id), args)
        elif call.name == USER_CHOICE and _are_options(args.get("options")):
            yield Asked(str(call.id), "Choose one", None, {"enum": args["options"]})
        else:
            yield Asked(str(call.id), f"{call.name} waits for an answer", args or None, None)


def _are_options(given: Any) -> bool:
    return isinstance(given, list) and bool(given) and all(isinstance(one, str) for one in given)


def _confirmation(interrupt_id: str, args: dict[str, Any]) -> Asked:
    call, shown = args.get("originalFunctionCall") or {}, args.get("toolConfirmation") or {}
    payload = {"tool_name": call.get("name"), "args": call.get("args") or {}}
    if shown.get("payload") is not None:
        payload["confirmation_payload"] = shown["payload"]
    return Asked(interrupt_id, shown.get("hint") or None, payload, CONFIRMATION_SCHEMA)
