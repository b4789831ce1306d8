"""What an agent's model gets to read: the conversation as this agent may see it, with its input in its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pydantic_core
from google.genai import types

from adk_nb.agents.reading.broken_turns import broken_turns
from adk_nb.agents.reading.pairing import OWN_ID_PREFIX, is_said, paired
from adk_nb.agents.reading.quoting import PREAMBLE, quoted
from adk_nb.events.compactions import with_summaries
from adk_nb.events.credential_request import REQUEST_CREDENTIAL
from adk_nb.events.event import Event, content_text
from adk_nb.events.request_input import REQUEST_INPUT
from adk_nb.events.rewinds import visible_events
from adk_nb.events.tool_confirmation import REQUEST_CONFIRMATION
from adk_nb.events.values import snapshot

_QUESTIONS = frozenset({REQUEST_INPUT, REQUEST_CREDENTIAL, REQUEST_CONFIRMATION})
"""Calls that ask a person: neither they nor their answers are for a model."""
_TRANSFER = "transfer_to_agent"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads the history, and from where: what is said on other lanes, or in other scopes, isn't for it."""

    agent: str
    """Its name; what others said is quoted for it."""
    branch: str | None = None
    scope: str | None = None
    """Its isolation scope: it reads events of exactly this one."""
    path: str = ""
    invocation_id: str = ""
    began: float | None = None
    """When its run was first wanted; what runs above it say later isn't for it."""
    is_beside: Callable[[str], bool] | None = None
    """Says of the path of a run in the same invocation whether that run wasn't over when this one began."""
    is_task: bool = False
    """It reads only what belongs to this invocation."""
    hears_thoughts: bool = False
    """It also gets what other agents only thought."""
    keeps_ids: bool = False
    """Its model pairs calls and responses by id, so that made up ids are sent, too."""


@dataclass(slots=True)
class _Line:
    """One message of the conversation, with the event it comes from; none for the reader's input and for remarks."""

    event: Event | None
    role: str
    parts: Sequence[types.Part]
    is_quoted: bool = False
    is_remark: bool = False

    def content(self) -> types.Content:
        """The message, which may be the event's own."""
        content = self.event.content if self.event is not None else None
        if content is not None and content.role == self.role and not self.is_quoted:
            own = content.parts or ()
            if len(own) == len(self.parts) and all(one is other for one, other in zip(own, self.parts, strict=True)):
                return content
        return types.Content(role=self.role, parts=list(self.parts))

    @property
    def begins_turn(self) -> bool:
        """Someone else said something that is neither a hand-over nor a posted tool result."""
        if self.event is None:
            return not self.is_remark
        if self.event.author == "user" and not self.is_quoted:
            return not any(part.function_response for part in self.parts)
        if not self.is_quoted:
            return False
        names = [one.name for one in self.event.get_function_calls()]
        names += [one.name for one in self.event.get_function_responses()]
        return not names or any(name != _TRANSFER for name in names)


def input_content(node_input: Any) -> types.Content | None:
    """Return a node's input as a user message, `None` for no input.

    Text stays as it is, a message keeps its parts, anything else is said as JSON.

    Example:
        >>> input_content({"city": "Zürich"}).parts[0].text
        '{"city": "Zürich"}'
    """
    if node_input is None:
        return None
    if isinstance(node_input, types.Content):
        return types.Content(role="user", parts=list(node_input.parts or ()))
    if isinstance(node_input, str):
        text = node_input
    else:
        plain = pydantic_core.to_jsonable_python(node_input, bytes_mode="base64", exclude_none=True)
        text = json.dumps(plain, ensure_ascii=False)
    return types.Content(role="user", parts=[types.Part(text=text)])


def contents_for(
    reader: Reader,
    events: Iterable[Event],
    newest: types.Content | None = None,
    include_contents: Literal["default", "none"] = "default",
) -> list[types.Content]:
    """Return the conversation as an agent reads it; nothing given is changed, and what is returned may be.

    First comes what was said before its run, then its input, then what its run has said and got so far. Left out are
    turns that were taken back, other lanes and scopes, the progress of agents that work as tools, questions to people
    and their answers, and what is only thought. What other agents did is quoted in user messages. A summary stands in
    place of the events that it was written for.

    Args:
        reader: Who reads.
        events: The session's events, oldest first.
        newest: The reader's input; a message of a person that says the same isn't repeated.
        include_contents: `none` shows only what was said from the reader's input or, without one, the last word of
            somebody else on.
    """
    seen = visible_events(events)
    callers = {call.id: event.author for event in seen for call in event.get_function_calls() if call.id}
    names = {call.id: str(call.name) for event in seen for call in event.get_function_calls() if call.id}
    before, own = _heard(reader, with_summaries(seen, reader.agent), callers, names)
    before = _with_remarks(before, broken_turns(seen, reader.invocation_id))
    lines = _with_input(reader, before, own, newest)
    if include_contents == "none":
        lines = lines[max((at for at, line in enumerate(lines) if line.begins_turn), default=0) :]
    waiting = {one for line in lines if line.event is not None for one in line.event.long_running_tool_ids or ()}
    said = [(line, line.content()) for line in lines]
    quotes = {id(content) for line, content in said if line.is_quoted}
    ordered = paired((content for _, content in said), waiting)
    sent = [_sent(content, reader.keeps_ids) for content in ordered]
    first = next((at for at, content in enumerate(ordered) if id(content) in quotes), None)
    if first is not None:
        sent[first].parts = [types.Part(text=PREAMBLE), *(sent[first].parts or ())]
    return sent


def _heard(
    reader: Reader, events: list[Event], callers: dict[str, str], names: dict[str, str]
) -> tuple[list[_Line], list[_Line]]:
    """Return what the reader may hear, as it hears it: from before its run, and from its run's first event on."""
    beside: dict[str, bool] = {}
    before: list[_Line] = []
    own: list[_Line] = []
    lines = before
    for event in events:
        if lines is before and _is_own(reader, event):
            lines = own
        if event.partial or event.content is None or not event.content.role:
            continue
        if lines is own and event.error_code:
            continue  # an answer that was stopped half-way: the run asks for it anew
        if not _is_visible(reader, event, callers) or _is_out_of_time(reader, event, beside):
            continue
        line = _line(reader, event, callers, names)
        if line is not None:
            lines.append(line)
    return before, own


def _line(reader: Reader, event: Event, callers: dict[str, str], names: dict[str, str]) -> _Line | None:
    content = event.content
    if content is None:
        return None
    named = [_named_as_called(part, names) for part in content.parts or ()]
    parts = [part for part in named if not _is_question(reader, part, callers)]
    if not any(is_said(part) for part in parts):
        return None
    speaker = _speaker(event, callers)
    if speaker in (reader.agent, "user"):
        return _Line(event, "user" if event.author == "user" else content.role or "model", parts)
    parts = quoted(speaker, _called_with(reader, event, parts), with_thoughts=reader.hears_thoughts)
    return _Line(event, "user", parts, True) if parts else None


def _is_own(reader: Reader, event: Event) -> bool:
    """Say whether an event was written by the reader's run or by one below it."""
    path = event.node_info.path
    if event.invocation_id != reader.invocation_id or not path:
        return False
    return path == reader.path or path.startswith(f"{reader.path}/")


def _is_visible(reader: Reader, event: Event, callers: dict[str, str]) -> bool:
    if event.isolation_scope != reader.scope:
        return False
    if reader.is_task and event.invocation_id != reader.invocation_id:
        return False
    path = event.node_info.path
    if event.author == "user" and path and path != reader.path and not event.get_function_responses():
        return False  # an input that was given to another node
    if event.branch is None or event.branch == reader.branch:
        return True
    if reader.branch is not None:
        return reader.branch.startswith(f"{event.branch}.")
    return not any(_is_call(segment.partition("@")[2], callers) for segment in event.branch.split("."))


def _is_call(run_id: str, callers: dict[str, str]) -> bool:
    return run_id in callers or run_id.startswith(OWN_ID_PREFIX)


def _is_out_of_time(reader: Reader, event: Event, beside: dict[str, bool]) -> bool:
    """Say whether an event of the same invocation was written while the reader ran, by none of its own runs."""
    path = event.node_info.path
    if not path or event.invocation_id != reader.invocation_id or _is_own(reader, event):
        return False
    if reader.path.startswith(f"{path}/"):
        return reader.began is not None and event.timestamp > reader.began
    if reader.is_beside is None:
        return False
    if path not in beside:
        beside[path] = reader.is_beside(path)
    return beside[path]


def _named_as_called(part: types.Part, names: dict[str, str]) -> types.Part:
    """Return a response under the name of its call: an answer that a form sends has the name of a question."""
    response = part.function_response
    name = names.get(str(response.id)) if response is not None else None
    if response is None or name is None or name == response.name:
        return part
    return part.model_copy(update={"function_response": response.model_copy(update={"name": name})})


def _is_question(reader: Reader, part: types.Part, callers: dict[str, str]) -> bool:
    """Say whether a part is a question to a person or an answer to one that the reader's model didn't ask itself."""
    passed = part.function_call or part.function_response
    if passed is None or passed.name not in _QUESTIONS:
        return False
    return passed.name != REQUEST_INPUT or callers.get(str(passed.id)) != reader.agent


def _speaker(event: Event, callers: dict[str, str]) -> str:
    """Return who did what an event says: responses belong to whoever made the call."""
    called = (callers.get(one.id) for one in event.get_function_responses() if one.id)
    return next((caller for caller in called if caller is not None), event.author)


def _called_with(reader: Reader, event: Event, parts: list[types.Part]) -> list[types.Part]:
    """Leave out of the message that called the reader what it called beside."""
    if reader.branch is None or not reader.path.startswith(f"{event.node_info.path}/"):
        return parts
    ids = {segment.partition("@")[2] for segment in reader.branch.split(".")}
    if not any(part.function_call and part.function_call.id in ids for part in parts):
        return parts
    return [part for part in parts if not part.function_call or part.function_call.id in ids]


def _with_remarks(lines: list[_Line], broken: dict[str, str]) -> list[_Line]:
    """Say behind each turn that wasn't finished that it is closed."""
    if not broken:
        return lines
    last = {line.event.invocation_id: at for at, line in enumerate(lines) if line.event is not None}
    remarks = {last[turn]: said for turn, said in broken.items() if turn in last}
    remarked = []
    for at, line in enumerate(lines):
        remarked.append(line)
        if at in remarks:
            remarked.append(_Line(None, "user", [types.Part(text=remarks[at])], is_remark=True))
    return remarked


def _with_input(reader: Reader, before: list[_Line], own: list[_Line], newest: types.Content | None) -> list[_Line]:
    """Put the reader's input between what was said before its run and what its run has said."""
    if newest is None:
        return before + own
    if "/" not in reader.path and any(_is_asked(reader, line.event, newest) for line in before + own):
        return before + own
    if before and _says_the_same(before[-1].event, newest):
        before = before[:-1]
    return [*before, _Line(None, newest.role or "user", newest.parts or []), *own]


def _is_asked(reader: Reader, event: Event | None, newest: types.Content) -> bool:
    """Say whether an event is the message of a person that a root got as its input."""
    return event is not None and event.invocation_id == reader.invocation_id and _says_the_same(event, newest)


def _says_the_same(event: Event | None, message: types.Content) -> bool:
    if event is None or event.content is None:
        return False
    if event.author == "user":
        return event.content.parts == message.parts
    said = content_text(event.content)
    return bool(said) and said == content_text(message)


def _sent(content: types.Content, keeps_ids: bool) -> types.Content:
    """Return a message as it is sent: a copy, without ids that were only made up to pair calls and responses."""
    own: types.Content = snapshot(content)
    if not keeps_ids:
        for part in own.parts or ():
            passed = part.function_call or part.function_response
            if passed is not None and passed.id and passed.id.startswith(OWN_ID_PREFIX):
                passed.id = None
    return own
