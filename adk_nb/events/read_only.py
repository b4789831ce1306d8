"""Dictionaries, lists and sets that refuse every change: what history holds, so that sessions can share it.

They are `dict`, `list` and `set` to every reader. Their copies (`copy.copy`, `copy.deepcopy`, `.copy()`, `|`, pickling)
are plain ones again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NoReturn

from adk_nb.errors import DataError


def _refusing(text: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise DataError(text)

    return refuse


_VALUE = "This value is history, which never changes: change a copy of it, made with copy.deepcopy(value)."
_FIELDS = "This event is history, which never changes: take a copy with event.model_copy(update={...})."


class ReadOnlyDict(dict[Any, Any]):
    """A dictionary that can't change.

    Example:
        >>> ReadOnlyDict(a=1)["a"]
        1
    """

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refusing(_VALUE)
    clear = pop = popitem = setdefault = update = _refusing(_VALUE)

    def __copy__(self) -> dict[Any, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[Any, Any]:
        return copy.deepcopy(dict(self), memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class OpenFields(dict[Any, Any]):
    """The `__dict__` of an event that the engine made: it becomes read-only where it lies, without being copied."""

    __slots__ = ()


class ReadOnlyFields(ReadOnlyDict):
    """The `__dict__` of a sealed event or of one of its parts."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refusing(_FIELDS)
    clear = pop = popitem = setdefault = update = _refusing(_FIELDS)


class ReadOnlyList(list[Any]):
    """A list that can't change."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refusing(_VALUE)
    append = clear = extend = insert = pop = remove = reverse = sort = _refusing(_VALUE)

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return copy.deepcopy(list(self), memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class ReadOnlySet(set[Any]):
    """A set that can't change."""

    __slots__ = ()
    __iand__ = __ior__ = __isub__ = __ixor__ = _refusing(_VALUE)
    add = clear = discard = pop = remove = update = _refusing(_VALUE)
    difference_update = intersection_update = symmetric_difference_update = _refusing(_VALUE)

    def __copy__(self) -> set[Any]:
        return set(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> set[Any]:
        return copy.deepcopy(set(self), memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return set, (set(self),)


def thawed(value: Any) -> Any:
    """Return a value of history as plain containers that the caller may change.

    Example:
        >>> type(thawed(ReadOnlyDict(a=ReadOnlyList([1])))["a"])
        <class 'list'>
    """
    if isinstance(value, dict):
        plain = {key: thawed(inner) for key, inner in value.items()}
        return plain if type(value) in (dict, ReadOnlyDict) else type(value)(plain)
    if isinstance(value, list):
        return [thawed(inner) for inner in value]
    if type(value) is tuple:
        return tuple(thawed(inner) for inner in value)
    return set(value) if type(value) is ReadOnlySet else value
