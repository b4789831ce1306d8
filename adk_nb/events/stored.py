"""Events and records as JSON texts, as stores keep them; google-adk reads the events too.

Values that JSON has no form for (tuples, dates, Decimal, ...) are packed, so that they come back as they were.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from google.genai import types
from pydantic_core import PydanticSerializationError, SchemaSerializer, core_schema, from_json, to_json

from adk_nb.errors import WorkflowDataError
from adk_nb.events.event import Event, own_copy
from adk_nb.events.packing import TAG, needs_packing, pack, unpack
from adk_nb.events.rebuilt import rebuilt_event
from adk_nb.events.record import NodeRun, run_from_dict, run_to_dict
from adk_nb.events.storing import Storing
from adk_nb.events.values import PLAIN, cleaned_text


def event_to_json(event: Event) -> str:
    """Return an event as JSON text with ADK's field names, fields that are `None` left out.

    Example:
        >>> event_from_json(event_to_json(Event(output=(1, 2)))).output
        (1, 2)
    """
    changes = _packed_fields(event)
    if changes:
        event = event.model_copy(update=changes)
    try:
        # What `model_dump_json` does, at half the cost.
        dump = type(event).__pydantic_serializer__.to_json
        exclude = _ACTIONS if event.does_nothing else None
        return dump(event, exclude_none=True, exclude=exclude, context=Storing()).decode()
    except PydanticSerializationError as error:
        raise WorkflowDataError(
            f"An event of {event.node_info.path or event.author!r} can't be stored: {error}. "
            f"Keep the object out of the event and put its name or path there."
        ) from error


def event_from_json(text: str) -> Event:
    """Return the event in a JSON text, whether adk_nb or google-adk wrote it."""
    data = from_json(text)
    if TAG not in text:
        return rebuilt_event(data)
    for name in ("output", "custom_metadata"):
        if name in data:
            data[name] = unpack(data[name])
    actions = data.get("actions", {})
    for name in ("state_delta", "agent_state"):
        if actions.get(name):
            actions[name] = unpack_each(actions[name])
    for part in (data.get("content") or {}).get("parts") or ():
        for call, values in (("function_call", "args"), ("function_response", "response")):
            if part.get(call) and part[call].get(values):
                part[call][values] = unpack_each(part[call][values])
    return rebuilt_event(data)


def unpacked_event(event: Event) -> Event:
    """Return a copy of an event that a store kept as an object, with its values as they were before they were packed.

    Example:
        >>> unpacked_event(Event(output={"$adk_nb": "tuple", "v": [1, 2]})).output
        (1, 2)
    """
    copied = own_copy(event)
    for fields, names in ((copied.__dict__, ("output", "custom_metadata")), (copied.actions.__dict__, _IN_ACTIONS)):
        for name in names:
            if fields[name]:
                fields[name] = _unpacked(fields[name])
    content = copied.content
    if content is not None and any(part.function_call or part.function_response for part in content.parts or ()):
        copied.content = content.model_copy(update={"parts": [_unpacked_part(part) for part in content.parts or ()]})
    return copied


def run_to_json(run: NodeRun) -> str:
    """Return a record as JSON text; in the texts of errors and notes, half characters become `?`."""
    is_plain = not run.questions
    for value in (run.input, run.output, run.route):
        if type(value) not in _AS_THEY_ARE and needs_packing(value):
            is_plain = False
    if is_plain:
        try:
            return _run_serializer().to_json(run, exclude_defaults=True, warnings=False).decode()
        except PydanticSerializationError:
            return text_of(run_to_dict(run))
    return text_of(run_to_dict(run))


@functools.cache
def _run_serializer() -> SchemaSerializer:
    """Return what writes the same text as `run_to_dict`, twice as fast.

    pydantic could make it from the class, but needs 7 ms for that, which each process would wait for once.
    """
    text, number = core_schema.str_schema(), core_schema.float_schema()
    maybe_text, maybe_number = core_schema.nullable_schema(text), core_schema.nullable_schema(number)
    attempt = core_schema.tuple_schema([number, maybe_number, maybe_text, maybe_text, maybe_number])
    printed = core_schema.tuple_schema([number, text, core_schema.bool_schema()])
    kinds: dict[Any, core_schema.CoreSchema] = {
        "str": text,
        "str | None": maybe_text,
        "float": number,
        "float | None": maybe_number,
        "tuple[str, ...]": core_schema.tuple_schema([text], variadic_item_index=0),
        "tuple[Attempt, ...]": core_schema.tuple_schema([attempt], variadic_item_index=0),
        "tuple[Printed, ...]": core_schema.tuple_schema([printed], variadic_item_index=0),
    }
    described = []
    for field in dataclasses.fields(NodeRun):
        kind = kinds.get(field.type, core_schema.any_schema())
        if field.default is not dataclasses.MISSING:
            kind = core_schema.with_default_schema(kind, default=field.default)
        described.append(core_schema.dataclass_field(field.name, kind))
    names = [field.name for field in dataclasses.fields(NodeRun)]
    arguments = core_schema.dataclass_args_schema(NodeRun.__name__, described)
    return SchemaSerializer(core_schema.dataclass_schema(NodeRun, arguments, names, slots=True))


def run_from_json(text: str) -> NodeRun:
    """Return the record in a JSON text that `run_to_json` wrote."""
    return run_from_dict(from_json(text))


def text_of(packed: Any) -> str:
    """Return packed values as one JSON text; half characters in texts become `?`."""
    try:
        text: bytes = to_json(packed)
    except PydanticSerializationError:
        text = to_json(_cleaned(packed))
    return text.decode()


def state_to_json(packed: dict[str, Any]) -> str:
    """Return a state, its values packed, as JSON text."""
    return to_json(packed).decode()


def pack_each(values: dict[str, Any]) -> dict[str, Any]:
    """Return a dictionary with text keys with its values packed."""
    return {key: pack(value) for key, value in values.items()}


def unpack_each(values: dict[str, Any]) -> dict[str, Any]:
    """Return the dictionary that `pack_each` was given."""
    return {key: unpack(value) for key, value in values.items()}


_ACTIONS = {"actions"}
_AS_THEY_ARE = PLAIN - {float}


def _cleaned(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _cleaned(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_cleaned(value) for value in data]
    return cleaned_text(data) if isinstance(data, str) else data


_IN_ACTIONS = ("state_delta", "agent_state")


def _unpacked(value: Any) -> Any:
    """Return a value with what is packed in it unpacked; all else, JSON or not, stays as it is."""
    if isinstance(value, dict):
        return unpack(value) if len(value) == 2 and TAG in value else {k: _unpacked(v) for k, v in value.items()}
    return [_unpacked(inner) for inner in value] if isinstance(value, list) else value


def _unpacked_part(part: types.Part) -> types.Part:
    for name, values in (("function_call", "args"), ("function_response", "response")):
        call = getattr(part, name)
        if call is not None and getattr(call, values):
            part = part.model_copy(update={name: call.model_copy(update={values: _unpacked(getattr(call, values))})})
    return part


def _packed_fields(event: Event) -> dict[str, Any]:
    """Return those fields of an event that JSON can't hold as they are, packed."""
    changes: dict[str, Any] = {}
    output = event.output
    if (type(output) not in PLAIN or type(output) is float) and needs_packing(output):
        changes["output"] = pack(output)
    if event.custom_metadata and needs_packing(event.custom_metadata):
        changes["custom_metadata"] = pack(event.custom_metadata)
    actions = event.actions
    packed = {
        name: pack_each(value)
        for name, value in (("state_delta", actions.state_delta), ("agent_state", actions.agent_state))
        if value and any(needs_packing(inner) for inner in value.values())
    }
    if packed:
        changes["actions"] = actions.model_copy(update=packed)
    if event.content is not None and event.content.parts:
        parts = [_packed_part(part) for part in event.content.parts]
        if any(new is not old for new, old in zip(parts, event.content.parts, strict=True)):
            changes["content"] = event.content.model_copy(update={"parts": parts})
    return changes


def _packed_part(part: types.Part) -> types.Part:
    for name, values in (("function_call", "args"), ("function_response", "response")):
        call = getattr(part, name)
        inner = getattr(call, values) if call is not None else None
        if inner and any(needs_packing(value) for value in inner.values()):
            part = part.model_copy(update={name: call.model_copy(update={values: pack_each(inner)})})
    return part
