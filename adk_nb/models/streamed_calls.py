"""Function calls in a stream: one id from the first piece to the whole, arguments put together from their pieces."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adk_nb.events.event import new_id

_STEP = re.compile(r"""\.?([^.\[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]""")
_LONGEST_LIST = 10_000


@dataclass(slots=True)
class _OpenCall:
    """A call of which more is to come."""

    index: int
    """Its place among the parts of the answer."""
    given_id: str | None
    """The id that the provider gave it."""
    args: dict[str, Any] = field(default_factory=dict)
    open_path: str | None = None
    """The argument whose text isn't whole yet."""


class CallPieces:
    """Puts calls into the parts of an answer.

    Args:
        parts: The parts of the answer so far; calls are added to it, and completed in their places.
    """

    def __init__(self, parts: list[types.Part]) -> None:
        self._parts = parts
        self._open: list[_OpenCall] = []
        self._given: set[str] = set()

    @property
    def unfinished(self) -> str | None:
        """Name of a call that ended in the middle of an argument's text."""
        for call in self._open:
            if call.open_path is not None:
                return self._call_at(call.index).name or "a function"
        return None

    def take(self, part: types.Part) -> types.Part | None:
        """Take in a piece; return it as it is shown, `None` when it is a repetition or says nothing."""
        piece = part.function_call
        if piece is None:
            return None
        known = self._continued(piece)
        if known is not None:
            return self._go_on(known, part, piece)
        if not piece.name or (piece.id and piece.id in self._given):
            return None
        if piece.id:
            self._given.add(piece.id)
        whole = types.FunctionCall(id=piece.id or f"adk-{new_id()}", name=piece.name, args=dict(piece.args or {}))
        self._parts.append(part.model_copy(update={"function_call": whole}))
        begun = _OpenCall(len(self._parts) - 1, piece.id, dict(piece.args or {}))
        self._add(begun, piece)
        if piece.will_continue:
            self._open.append(begun)
        return self._shown(part, piece, self._call_at(-1))

    def _continued(self, piece: types.FunctionCall) -> _OpenCall | None:
        """The open call that a piece belongs to, `None` when it begins another one."""
        for call in reversed(self._open):
            name = self._call_at(call.index).name
            if piece.id and call.given_id:
                if piece.id == call.given_id:
                    return call
            elif not piece.name or piece.name == name:
                return call
        return None

    def _go_on(self, call: _OpenCall, part: types.Part, piece: types.FunctionCall) -> types.Part:
        if piece.args:
            call.args, call.open_path = dict(piece.args), None  # the whole, after its pieces
        self._add(call, piece)
        if not piece.will_continue:
            self._open.remove(call)
        at = self._parts[call.index]
        if part.thought_signature is not None:
            self._parts[call.index] = at.model_copy(update={"thought_signature": part.thought_signature})
        return self._shown(part, piece, self._call_at(call.index))

    def _add(self, call: _OpenCall, piece: types.FunctionCall) -> None:
        for given in piece.partial_args or ():
            path = given.json_path or "$"
            _put(call.args, path, given, is_more=call.open_path == path)
            call.open_path = path if given.will_continue else None
        whole = self._call_at(call.index).model_copy(update={"args": call.args})
        self._parts[call.index] = self._parts[call.index].model_copy(update={"function_call": whole})

    def _call_at(self, index: int) -> types.FunctionCall:
        call = self._parts[index].function_call
        return call if call is not None else types.FunctionCall()

    @staticmethod
    def _shown(part: types.Part, piece: types.FunctionCall, whole: types.FunctionCall) -> types.Part:
        named = piece.model_copy(update={"id": whole.id, "name": whole.name})
        return part.model_copy(update={"function_call": named})


def _put(args: dict[str, Any], path: str, given: types.PartialArg, *, is_more: bool) -> None:
    """Set what a JSON path such as `$.places[0].name` names; a text that goes on is added to what is there."""
    steps = _steps(path)
    if not steps:
        return
    at: Any = args
    for step, after in itertools.pairwise(steps):
        inner = _get(at, step)
        if not isinstance(inner, (dict, list)):
            inner = [] if isinstance(after, int) else {}
            _set(at, step, inner)
        at = inner
    value: Any = None
    if given.string_value is not None:
        before = _get(at, steps[-1]) if is_more else None
        value = f"{before if isinstance(before, str) else ''}{given.string_value}"
    elif given.number_value is not None:
        value = int(given.number_value) if given.number_value.is_integer() else given.number_value
    elif given.bool_value is not None:
        value = given.bool_value
    _set(at, steps[-1], value)


def _steps(path: str) -> list[str | int]:
    found: list[str | int] = []
    for match in _STEP.finditer(path.removeprefix("$")):
        name, index, single, double = match.groups()
        quoted = single if single is not None else double
        if index is not None:
            found.append(int(index))
        else:
            found.append(name if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
    return found


def _get(at: Any, step: str | int) -> Any:
    if isinstance(at, list):
        return at[step] if isinstance(step, int) and step < len(at) else None
    return at.get(str(step))


def _set(at: Any, step: str | int, value: Any) -> None:
    if isinstance(at, dict):
        at[str(step)] = value
    elif isinstance(step, int) and step < _LONGEST_LIST:
        at.extend([None] * (step + 1 - len(at)))
        at[step] = value
