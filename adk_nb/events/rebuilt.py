"""Events made again from the JSON values that they were stored as, several times as fast as by checking each field.

What `Event.model_validate` does with such values is known: which fields of which types it takes over as they are
stands in the tables here. A model inside with a value of another kind is validated, and where that can't be done on its
own the whole event is. So what comes out is the same in every case, only later.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from google.genai import types
from pydantic import BaseModel

from adk_nb.events.event import Event, NodeInfo, no_actions
from adk_nb.events.event_actions import EventActions
from adk_nb.events.made import made
from adk_nb.events.read_only import OpenFields

M = TypeVar("M", bound=BaseModel)
Read = Callable[[Any], Any]


class _Unfit(Exception):  # no error: the model's own validation has the word
    """A value that the tables don't know."""


def rebuilt_event(data: dict[str, Any]) -> Event:
    """Return the event that `Event.model_validate(data)` is.

    Args:
        data: What `model_dump` gives; its values become the event's own.

    Example:
        >>> rebuilt_event({"author": "wf", "output": [1], "id": "x", "timestamp": 1.0}).output
        [1]
    """
    try:
        return _event(data)
    except (_Unfit, AttributeError, TypeError):  # the last two where something inside isn't a dictionary
        return Event.model_validate(data)


def _event(data: dict[str, Any]) -> Event:
    plan = _plan(Event, tuple(data), tuple(map(type, data.values())))
    if plan is None or "id" not in data or "timestamp" not in data:
        raise _Unfit
    fields: dict[str, Any] = OpenFields(_defaults(Event))
    fields.update(data)
    for name, read in plan:
        fields[name] = read(data[name])
    if "actions" not in data:
        fields["actions"] = no_actions()
    if "node_info" not in data:
        fields["node_info"] = NodeInfo()
    return made(Event, fields, set(data))


@functools.lru_cache(4_096)
def _plan(
    kind: type[BaseModel], names: tuple[str, ...], kinds: tuple[type, ...]
) -> tuple[tuple[str, Read], ...] | None:
    """Return which fields are read how, all others being taken as they are; `None` when validation is needed."""
    found = []
    for name, of in zip(names, kinds, strict=True):
        if name not in _TAKEN[kind]:
            return None
        allowed = _TAKEN[kind][name]
        if allowed is _ANY or of in allowed:
            continue
        read = _READ.get((kind, name, of))
        if read is None:
            return None
        found.append((name, read))
    return tuple(found)


@functools.cache
def _defaults(kind: type[BaseModel], *, is_private: bool = False) -> dict[str, Any]:
    """Return the fields of a model to which nothing was given; they are copied, never written."""
    model = kind()
    return dict((model.__pydantic_private__ or {}) if is_private else model.__dict__)


def _model(kind: type[M], data: dict[str, Any], fields: dict[str, Any], private: Any = None) -> M:
    """Return a model inside an event, its fields put into `fields`, which holds what is left out."""
    taken = _TAKEN[kind]
    for name, value in data.items():
        # Looked up field by field: models inside are small, and a plan for them costs more.
        if type(value) in taken.get(name, _NEVER):
            fields[name] = value
        else:
            read = _READ.get((kind, name, type(value)))
            if read is None:
                return kind.model_validate(data)
            fields[name] = read(value)
    return made(kind, fields, set(data), None, private)


def _actions(data: dict[str, Any]) -> EventActions:
    fields = OpenFields(_defaults(EventActions))
    for name in _ALWAYS_THERE:
        if name not in data:
            fields[name] = {}
    return _model(EventActions, data, fields)


def _node_info(data: dict[str, Any]) -> NodeInfo:
    fields = OpenFields(_defaults(NodeInfo))
    if len(data) == 1 and type(data.get("path")) is str:
        fields["path"] = data["path"]
        return made(NodeInfo, fields, {"path"})
    return _model(NodeInfo, data, fields)


def _content(data: dict[str, Any]) -> types.Content:
    fields = _defaults(types.Content).copy()
    if len(data) == 2 and type(data.get("parts")) is list and type(data.get("role")) is str:
        fields["parts"], fields["role"] = _parts(data["parts"]), data["role"]
        return made(types.Content, fields, {"parts", "role"})
    return _model(types.Content, data, fields)


def _parts(data: list[Any]) -> list[types.Part]:
    return [_part(one) for one in data]


def _part(data: dict[str, Any]) -> types.Part:
    fields = _defaults(types.Part).copy()
    if len(data) == 1 and type(data.get("text")) is str:
        fields["text"] = data["text"]
        return made(types.Part, fields, {"text"})
    return _model(types.Part, data, fields)


def _usage(data: dict[str, Any]) -> types.GenerateContentResponseUsageMetadata:
    kind = types.GenerateContentResponseUsageMetadata
    return _model(kind, data, _defaults(kind).copy(), _defaults(kind, is_private=True).copy())


def _plainly(kind: type[BaseModel]) -> Read:
    return lambda data: _model(kind, data, _defaults(kind).copy())


def _texts(data: list[Any]) -> list[Any]:
    return _all_of(data, (str,))


def _labels(data: list[Any]) -> list[Any]:
    return _all_of(data, (str, int, bool))


def _counts(data: dict[str, Any]) -> dict[str, Any]:
    _all_of(list(data.values()), (int,))
    return data


def _all_of(data: list[Any], kinds: tuple[type, ...]) -> list[Any]:
    if not all(type(one) in kinds for one in data):
        raise _Unfit
    return data


def _finish(data: str) -> Any:
    found = types.FinishReason._value2member_map_.get(data)
    if found is None:
        raise _Unfit
    return found


_NONE = type(None)
_TEXT, _YES_NO, _DICT = (str, _NONE), (bool, _NONE), (dict, _NONE)
_ANY, _NEVER = (object,), tuple[type, ...]()
_ALWAYS_THERE = ("state_delta", "artifact_delta", "requested_auth_configs", "requested_tool_confirmations")
_TOKENS = ("cached_content", "candidates", "prompt", "thoughts", "tool_use_prompt", "total")
_TAKEN: Mapping[type[BaseModel], Mapping[str, tuple[type, ...]]] = {
    Event: {
        **dict.fromkeys(("invocation_id", "author", "id"), (str,)),
        **dict.fromkeys(("model_version", "error_code", "error_message", "branch", "isolation_scope"), _TEXT),
        **dict.fromkeys(("live_session_id", "interaction_id", "environment_id"), _TEXT),
        **dict.fromkeys(("partial", "turn_complete", "interrupted"), _YES_NO),
        **dict.fromkeys(("content", "finish_reason", "usage_metadata", "long_running_tool_ids"), (_NONE,)),
        "timestamp": (float,),
        "avg_logprobs": (float, _NONE),
        "custom_metadata": _DICT,
        "output": _ANY,
        "actions": _NEVER,
        "node_info": _NEVER,
    },
    EventActions: {
        **dict.fromkeys(("state_delta", "requested_auth_configs", "requested_tool_confirmations"), (dict,)),
        **dict.fromkeys(("transfer_to_agent", "transfer_reason", "rewind_before_invocation_id"), _TEXT),
        **dict.fromkeys(("skip_summarization", "escalate", "end_of_agent"), _YES_NO),
        "artifact_delta": _NEVER,
        "agent_state": _DICT,
        "route": (str, int, bool, _NONE),
    },
    NodeInfo: {"path": (str,), "message_as_output": _YES_NO, "output_for": (_NONE,)},
    types.Content: {"role": _TEXT, "parts": (_NONE,)},
    types.Part: {
        "text": _TEXT,
        "thought": _YES_NO,
        "part_metadata": _DICT,
        "function_call": (_NONE,),
        "function_response": (_NONE,),
    },
    types.FunctionCall: {"id": _TEXT, "name": _TEXT, "args": _DICT},
    types.FunctionResponse: {"id": _TEXT, "name": _TEXT, "response": _DICT},
    types.GenerateContentResponseUsageMetadata: {f"{name}_token_count": (int, _NONE) for name in _TOKENS},
}
"""Fields that are known, with the types of values that are taken as they are."""
_READ: Mapping[tuple[type[BaseModel], str, type], Read] = {
    (Event, "content", dict): _content,
    (Event, "actions", dict): _actions,
    (Event, "node_info", dict): _node_info,
    (Event, "long_running_tool_ids", list): lambda data: set(_texts(data)),
    (Event, "finish_reason", str): _finish,
    (Event, "usage_metadata", dict): _usage,
    (EventActions, "artifact_delta", dict): _counts,
    (EventActions, "route", list): _labels,
    (NodeInfo, "output_for", list): _texts,
    (types.Content, "parts", list): _parts,
    (types.Part, "function_call", dict): _plainly(types.FunctionCall),
    (types.Part, "function_response", dict): _plainly(types.FunctionResponse),
}
"""How values of other types are read, by field; what stands in neither table is left to validation."""
