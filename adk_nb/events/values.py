"""What a node hands on: a snapshot that nobody can change afterwards.

`snapshot` makes the copy that successors, history and stores hold. It keeps JSON's own types, `tuple`, `set`,
`frozenset`, `bytes`, dates and times, `Decimal`, `UUID`, dictionaries with keys of any of these simple types, and
google-genai's `Content`. Models and data classes become dictionaries and enums their values, as a receiver with a type
hint gets the object back from those. Anything else is refused with the key path. `events/packing.py` carries a
snapshot through JSON.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import decimal
import enum
import os
import uuid
from typing import Any, overload

from google.genai import types
from pydantic import BaseModel

from adk_nb.errors import WorkflowDataError, one_of
from adk_nb.events.made import made
from adk_nb.events.read_only import ReadOnlyDict, ReadOnlyFields, ReadOnlyList, ReadOnlySet
from adk_nb.events.storing import dumped, refusal


class Answer(dict[str, Any]):
    """A person's answer with several fields: a dictionary whose keys can also be read as attributes.

    Example:
        >>> Answer(approved=True).approved
        True
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"The answer has no field {name!r}: it has {one_of(name, self)}.") from None


class Unchecked(dict[str, Any]):
    """A value that a node hands on in place of its output, so that the node's output schema doesn't apply to it."""


PLAIN = frozenset({str, int, float, bool, type(None)})
MAX_DEPTH = 40
"""How deep values may be nested. Packed for JSON a level can take four, and a reader of JSON gives up at 200."""
_NESTING = frozenset({dict, list, tuple, set, frozenset, Answer, ReadOnlyDict, ReadOnlyList, ReadOnlySet})
_IMMUTABLE = frozenset({dt.datetime, dt.date, dt.time, dt.timedelta, decimal.Decimal, uuid.UUID, bytes, complex})


def snapshot(value: Any, where: str = "value") -> Any:
    """Return a copy of `value` in which nothing is shared that could change later.

    Args:
        value: What a node returned, or a value written to state.
        where: How to name the value in an error, for instance `node 'bill': output`.

    Raises:
        WorkflowDataError: something in `value` can't be stored; the message names its key path and type.

    Example:
        >>> snapshot({"pair": (1, 2)})
        {'pair': (1, 2)}
    """
    kind = type(value)
    if kind in PLAIN:
        return value if kind is not str or value.isascii() else _checked_text(value, where, "")
    return _copy(value, where, "", False, 0)


def freeze_each(values: dict[str, Any], where: str) -> Any:
    """Return a dictionary of values as `freeze` returns each of them; it is no level of their nesting itself."""
    return _copy(values, where, "", True, -1)


def freeze(value: Any, where: str = "value") -> Any:
    """Return a snapshot whose dictionaries, lists and sets can't be changed, for history that is shared.

    A value that is frozen already is returned as it is.

    Raises:
        WorkflowDataError: something in `value` can't be stored; the message names its key path and type.

    Example:
        >>> freeze({"a": [1]})["a"].append(2)
        Traceback (most recent call last):
        adk_nb.errors.DataError: This value is history, which never changes: ...
    """
    kind = type(value)
    if kind in PLAIN:
        return value if kind is not str or value.isascii() else _checked_text(value, where, "")
    return _copy(value, where, "", True, 0)


def freeze_content(content: types.Content, where: str = "content") -> types.Content:
    """Return a copy of a content that can't be changed, parts and call arguments included.

    A content that is frozen already is returned as it is.
    """
    if type(content.__dict__) is ReadOnlyFields:
        return content
    frozen: types.Content = _frozen_model(content, where)
    return frozen


def _frozen_model(model: BaseModel, where: str) -> Any:
    fields = dict(model.__dict__)
    for name, value in fields.items():
        if value is not None:
            fields[name] = _frozen_field(value, f"{where}.{name}")
    return _like(model, ReadOnlyFields(fields))


def _like(model: BaseModel, fields: dict[str, Any]) -> Any:
    """Return a model as `model` is, with fields of its own."""
    return made(
        type(model), fields, set(model.__pydantic_fields_set__), model.__pydantic_extra__, model.__pydantic_private__
    )


def _copied(value: Any) -> Any:
    """Return a deep copy of a content or of something in it, much cheaper than pydantic's own."""
    kind = type(value)
    if kind is list or kind is ReadOnlyList:
        return [inner if type(inner) in PLAIN else _copied(inner) for inner in value]
    if hasattr(kind, "__pydantic_fields_set__"):
        fields = dict(value.__dict__)
        for name, inner in fields.items():
            if inner is not None and type(inner) not in PLAIN:
                fields[name] = _copied(inner)
        return _like(value, fields)
    return copy.deepcopy(value)


def _frozen_field(value: Any, where: str) -> Any:
    if type(value) is list:
        return ReadOnlyList([_frozen_field(inner, f"{where}[{i}]") for i, inner in enumerate(value)])
    if hasattr(type(value), "__pydantic_fields_set__"):
        return _frozen_model(value, where)
    if type(value) is dict:
        return freeze_each(value, where)
    return value if isinstance(value, (enum.Enum, os.PathLike)) else freeze(value, where)


def _checked_text(text: str, where: str, at: str) -> str:
    """Return a text, or raise when half of a surrogate pair in it keeps it from being stored or sent anywhere."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise WorkflowDataError(
            f"{where}{at} is a text with a lone surrogate, {text[error.start]!r} at position {error.start}, which "
            f'can\'t be stored: clean it first, for instance with text.encode("utf-8", "replace").decode().'
        ) from None
    return text


@overload
def cleaned_text(text: str) -> str: ...


@overload
def cleaned_text(text: None) -> None: ...


@overload
def cleaned_text(text: str | None) -> str | None: ...


def cleaned_text(text: str | None) -> str | None:
    """Return a text with `?` in place of lone surrogates, for texts that must be kept whatever is in them.

    Example:
        >>> cleaned_text("a" + chr(0xD800) + "b")
        'a?b'
    """
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


def _copy(value: Any, where: str, at: str, is_frozen: bool, depth: int) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value if kind is not str or value.isascii() else _checked_text(value, where, at)
    if kind is dict or kind is ReadOnlyDict:
        if is_frozen and kind is ReadOnlyDict:
            return _still_fits(value, where, at, depth)
        return _copied_dict(value, where, at, is_frozen, depth)
    if kind is list or kind is ReadOnlyList:
        if is_frozen and kind is ReadOnlyList:
            return _still_fits(value, where, at, depth)
        items = _copied_items(value, where, at, is_frozen, depth)
        return ReadOnlyList(items) if is_frozen else items
    if kind is tuple:
        return tuple(_copied_items(value, where, at, is_frozen, depth))
    if kind in _IMMUTABLE:
        return value
    if isinstance(value, types.Content):
        if not is_frozen:
            return _copied(value)
        return freeze_content(value)
    if isinstance(value, BaseModel):
        _refuse_secrets(value, where, at, depth)
        return _copy(dumped(value, f"{where}{at}"), where, at, is_frozen, depth)
    return _copy_rare(value, where, at, is_frozen, depth)


def _check_depth(where: str, at: str, depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise WorkflowDataError(
            f"{where}{at[:60]}… is nested more than {MAX_DEPTH} levels deep, or holds itself, and so can't be stored: "
            f"hand on a flatter value, for instance a list of parts with references."
        )


def _still_fits(value: Any, where: str, at: str, depth: int) -> Any:
    """Return something frozen; inside another value it may be too deep now."""
    if depth > 0:
        if depth >= MAX_DEPTH:
            _check_depth(where, at, depth)
        for inner in value.values() if isinstance(value, dict) else value:
            if type(inner) in _NESTING:
                _still_fits(inner, where, at, depth + 1)
    return value


def _refuse_secrets(value: Any, where: str, at: str, depth: int) -> None:
    """Raise when a model, or something in its fields, may hold a secret: its dump would show it in clear text."""
    kind = type(value)
    parts: list[tuple[Any, Any]]
    if isinstance(value, BaseModel):
        if getattr(kind, "holds_secrets", False):
            raise refusal(f"{where}{at}", kind.__name__)
        parts = [*value.__dict__.items(), *(value.__pydantic_extra__ or {}).items()]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    elif isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = list(enumerate(value))
    else:
        return
    _check_depth(where, at, depth)
    for name, inner in parts:
        if type(inner) not in PLAIN:
            _refuse_secrets(inner, where, f"{at}.{name}", depth + 1)


def _copied_dict(value: dict[Any, Any], where: str, at: str, is_frozen: bool, depth: int) -> dict[Any, Any]:
    _check_depth(where, at, depth)
    copied = {}
    for key, inner in value.items():
        name = key if type(key) is str and key.isascii() else _key(key, where, at, depth)
        kind = type(inner)
        if kind in PLAIN and (kind is not str or inner.isascii()):
            copied[name] = inner
        else:
            copied[name] = _copy(inner, where, f"{at}[{key!r}]", is_frozen, depth + 1)
    return ReadOnlyDict(copied) if is_frozen else copied


def _copied_items(values: list[Any] | tuple[Any, ...], where: str, at: str, is_frozen: bool, depth: int) -> list[Any]:
    _check_depth(where, at, depth)
    copied = []
    for index, inner in enumerate(values):
        kind = type(inner)
        if kind in PLAIN and (kind is not str or inner.isascii()):
            copied.append(inner)
        else:
            copied.append(_copy(inner, where, f"{at}[{index}]", is_frozen, depth + 1))
    return copied


def _copy_rare(value: Any, where: str, at: str, is_frozen: bool, depth: int) -> Any:
    if isinstance(value, Answer):
        return Answer(_copied_dict(value, where, at, False, depth))
    if isinstance(value, (set, frozenset)):
        if is_frozen and type(value) is ReadOnlySet:
            return _still_fits(value, where, at, depth)
        _check_depth(where, at, depth)
        items = [_copy(v, where, f"{at}{{…}}", False, depth + 1) for v in value]
        if not isinstance(value, set):
            return frozenset(items)
        return ReadOnlySet(items) if is_frozen else set(items)
    if isinstance(value, enum.Enum):
        return _copy(value.value, where, at, is_frozen, depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return _copied_dict(fields, where, at, is_frozen, depth)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    for plain in (bool, int, float, str):
        if isinstance(value, plain):
            return _copy(plain(value), where, at, is_frozen, depth)
    for container in (dict, list, tuple):
        if isinstance(value, container):
            return _copy(container(value), where, at, is_frozen, depth)
    raise WorkflowDataError(
        f"{where}{at} is a {type(value).__module__}.{type(value).__qualname__}, which can't be stored or handed on: "
        f"return JSON values, dates, Decimal, UUID, bytes, a pydantic model or a dataclass, or keep the object out of "
        f"the graph and hand on its name or path."
    )


def _key(key: Any, where: str, at: str, depth: int) -> Any:
    if type(key) is str:
        return key if key.isascii() else _checked_text(key, where, at)
    if type(key) in PLAIN or type(key) in _IMMUTABLE:
        return key
    if isinstance(key, enum.Enum):
        return _key(key.value, where, at, depth)
    if isinstance(key, str):
        return _key(str(key), where, at, depth)
    if isinstance(key, tuple):
        _check_depth(where, at, depth + 1)
        return tuple(_key(part, where, at, depth + 1) for part in key)
    raise WorkflowDataError(
        f"{where}{at} has the dictionary key {key!r} of type {type(key).__qualname__}, which can't be stored: "
        f"use a str, number, date, UUID or tuple as key."
    )
