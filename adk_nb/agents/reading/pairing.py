"""Function calls and their responses, put so that every call is followed at once by what came back for it."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from google.genai import types

OWN_ID_PREFIX = "adk-"
"""Begin of the ids that are given to calls whose model gave them none."""


def paired(contents: Iterable[types.Content], waiting: Set[str] = frozenset()) -> list[types.Content]:
    """Return a conversation in which the responses to a message's calls stand right behind it, as one message.

    A response that came later moves up to its call; of several to one call the last counts. Calls without a response
    and responses without a call are left out. When the newest message is a response, what was said between its call
    and itself is left out, so that the model goes on from there. Nothing given is changed.

    Args:
        contents: The conversation, oldest first.
        waiting: Ids of calls that stay although they have no response yet.

    Example:
        >>> def said(role, **part):
        ...     return types.Content(role=role, parts=[types.Part(**part)])
        >>> call = said("model", function_call=types.FunctionCall(id="1", name="add"))
        >>> late = said("user", function_response=types.FunctionResponse(id="1", name="add", response={"sum": 3}))
        >>> [content.role for content in paired([call, said("user", text="Well?"), late, said("model", text="3")])]
        ['model', 'user', 'user', 'model']
    """
    said = list(contents)
    pairs = _Pairs()
    rests = [pairs.take(index, content) for index, content in enumerate(said)]
    pairs.forget_between(len(said) - 1)
    ordered = []
    for index, content in enumerate(said):
        if index in pairs.forgotten:
            continue
        calls = pairs.calls.get(index)
        parts = rests[index]
        if calls is not None:
            unanswered = {id(part) for key, part in calls if not _stays(part, key in pairs.answers, waiting)}
            parts = [part for part in parts if id(part) not in unanswered]
        if len(parts) == len(content.parts or ()):
            ordered.append(content)
        elif any(is_said(part) for part in parts):
            ordered.append(types.Content(role=content.role, parts=parts))
        answers = [part for key, _ in calls or () for part in pairs.answers.get(key, ())]
        if answers:
            ordered.append(types.Content(role="user", parts=answers))
    return ordered


def is_said(part: types.Part) -> bool:
    """Say whether a part by itself is worth sending: it isn't empty and not only a thought."""
    if part.function_call or part.function_response or part.thought_signature:
        return True
    if part.thought:
        return False
    return bool(part.text or part.inline_data or part.file_data or part.executable_code or part.code_execution_result)


@dataclass(slots=True)
class _Pairs:
    """Which response belongs to which call, gathered message by message."""

    calls: dict[int, list[tuple[int, types.Part]]] = field(default_factory=dict)
    """The calls of a message, by its index, each with its number."""
    answers: dict[int, list[types.Part]] = field(default_factory=dict)
    """The newest response to a call and what belongs to it, by the call's number."""
    forgotten: set[int] = field(default_factory=set)
    _homes: list[int] = field(default_factory=list)
    _by_id: dict[str, int] = field(default_factory=dict)
    _unnamed: dict[str | None, list[int]] = field(default_factory=dict)
    _newest: dict[int, int] = field(default_factory=dict)
    """Of a message with responses, the newest message whose call one of them answers."""

    def take(self, index: int, content: types.Content) -> list[types.Part]:
        """Take note of a message's calls and responses; return the parts that stay where they are."""
        rest: list[types.Part] = []
        group: list[types.Part] | None = None
        for part in content.parts or ():
            if part.function_call:
                self._call(index, part, part.function_call)
                rest.append(part)
                group = None
            elif part.function_response:
                group = self._response(index, part.function_response)
                if group is not None:
                    group.append(part)
            elif group is not None:
                group.append(part)  # what a tool gave beside its response belongs to it
            else:
                rest.append(part)
        return rest

    def forget_between(self, last: int) -> None:
        """Forget what was said after the call that the last message answers."""
        home = self._newest.get(last)
        if home is not None:
            self.forgotten = set(range(home + 1, last))
            for index in self.forgotten & self.calls.keys():
                del self.calls[index]

    def _call(self, index: int, part: types.Part, call: types.FunctionCall) -> None:
        number = len(self._homes)
        self._homes.append(index)
        self.calls.setdefault(index, []).append((number, part))
        if call.id:
            self._by_id[call.id] = number
        else:
            self._unnamed.setdefault(call.name, []).append(number)

    def _response(self, index: int, response: types.FunctionResponse) -> list[types.Part] | None:
        number = self._by_id.get(response.id) if response.id else None
        if not response.id and self._unnamed.get(response.name):
            number = self._unnamed[response.name].pop(0)
        if number is None:
            return None
        self._newest[index] = max(self._homes[number], self._newest.get(index, -1))
        group = self.answers[number] = []
        return group


def _stays(part: types.Part, is_answered: bool, waiting: Set[str]) -> bool:
    return is_answered or (part.function_call is not None and part.function_call.id in waiting)
