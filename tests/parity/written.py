"""Values, events and errors written as lines that can be compared: what differs from run to run is left out.

The rules, which the page of the results states as well:

- ids and uuids are numbered in the order in which they appear; times are left out;
- keys of dictionaries are sorted, since one of the two packages orders some of them at random;
- a text by which the toolkit itself explains an error is left out (scenarios name the words that it must hold), and the
  text of an error that the scenario raises is compared;
- the words in which the engine asks for a confirmation or a credential are left out;
- an error agrees when ours is of their class, or derives from it; pydantic's `ValidationError` counts as the
  `ValueError` that it is.
"""

from __future__ import annotations

import builtins
import itertools
import re
from collections.abc import Iterable
from typing import Any

from google.genai import types
from pydantic import BaseModel

from adk_nb import errors as our_errors

_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


def written(value: Any) -> str:
    """Return a value in a form that doesn't depend on the process, the order of keys or the class of a content.

    Example:
        >>> written({"b": (1,), "a": types.UserContent("hi")})
        "{'a': Content(user, 'hi'), 'b': (1,)}"
    """
    match value:
        case types.Content():
            return f"Content({', '.join([str(value.role), *map(_part, value.parts or ())])})"
        case BaseModel():
            fields = ((name, getattr(value, name)) for name in sorted(type(value).model_fields))
            return f"{type(value).__name__}({', '.join(f'{name}={written(held)}' for name, held in fields)})"
        case dict():
            items = sorted(value.items(), key=lambda item: str(item[0]))
            return "{" + ", ".join(f"{key!r}: {written(held)}" for key, held in items) + "}"
        case list():
            return f"[{', '.join(map(written, value))}]"
        case tuple():
            return f"({', '.join(map(written, value))}{',' if len(value) == 1 else ''})"
        case set() | frozenset():
            return "{" + ", ".join(sorted(map(written, value))) + "}"
        case str():
            return repr(str(value))
    return repr(value)


def _part(part: types.Part) -> str:
    if part.function_call:
        call = part.function_call
        return f"calls {call.name}({written(_own_words_left_out(call.id or '', call.args or {}))})"
    if part.function_response:
        return f"answers {part.function_response.name}: {written(part.function_response.response)}"
    return repr(part.text) if part.text is not None else "a part"


def _own_words_left_out(call_id: str, args: dict[str, Any]) -> dict[str, Any]:
    """Return a question's arguments, without the words in which the engine itself asks for a node."""
    if not call_id.startswith("wf_"):
        return args
    schema = (args.get("response_schema") or {}).get("properties")
    own = {"message": "...", "response_schema": sorted(schema) if schema else None}
    return {name: own.get(name, value) for name, value in args.items()}


def error_names(error: type[BaseException] | str) -> list[str]:
    """Return the names of an error's class and of what it derives from, nearest first; a code may be no class's name.

    Example:
        >>> error_names("AnswerError")
        ['AnswerError', 'WorkflowDataError', 'DataError', 'AdkNbError', 'ValueError']
        >>> error_names("QUOTA"), error_names("ValidationError")
        (['QUOTA'], ['ValueError'])
    """
    kind = error
    if isinstance(error, str):
        kind = getattr(our_errors, error, None) or getattr(builtins, error, None) or error
    names = [kind] if isinstance(kind, str) else [one.__name__ for one in kind.__mro__]
    left_out = {"ValidationError", "Exception", "BaseException", "object"}
    return [name for name in names if name not in left_out] or [
        "ValueError" if "ValidationError" in names else names[0]
    ]


def head_of(message: types.Content) -> str:
    """Return what a user sends, in few words.

    Example:
        >>> response = types.FunctionResponse(id="q", name="adk_request_input", response={"result": 5})
        >>> head_of(types.Content(parts=[types.Part(function_response=response)]))
        "answers q {'result': 5}"
    """
    responses = [part.function_response for part in message.parts or ()]
    if not responses or not all(responses):
        return written(message)
    return "answers " + ", ".join(f"{one.id} {written(one.response)}" for one in responses if one)


_ERROR = re.compile(r"<(\w+(?:\|\w+)*)>")


def nearest_names(lines: Iterable[str]) -> list[str]:
    """Return lines with the nearest name of each error.

    Example:
        >>> nearest_names(["raised <KeyError|LookupError> 'k'"])
        ["raised KeyError 'k'"]
    """
    return [_ERROR.sub(lambda found: found[1].split("|")[0], line) for line in lines]


def names_as_in(lines: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return lines with the nearest name of each error, or a further one where that makes one of the other lines.

    Example:
        >>> names_as_in(["raised <KeyError|LookupError> 'k'"], ["raised LookupError 'k'"])
        ["raised LookupError 'k'"]
    """
    known = set(others)

    def choose(line: str) -> str:
        choices = [found.split("|") for found in _ERROR.findall(line)]
        texts = (_with_names(line, names) for names in itertools.product(*choices))
        return next((text for text in texts if text in known), nearest_names([line])[0])

    return [choose(line) for line in lines]


def _with_names(line: str, names: Iterable[str]) -> str:
    left = iter(names)
    return _ERROR.sub(lambda _: next(left), line)


def is_toolkits(code: str) -> bool:
    """Say whether an error code is the class of an error that the toolkit explains in its own words."""
    return code in ("ValidationError", "INVOCATION_ABORTED") or hasattr(our_errors, code) or hasattr(builtins, code)


class Numbers:
    """Numbers for what has random names, in the order of appearance."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def of(self, name: str) -> int:
        """Return the number of a name, a new one for a new name."""
        return self._seen.setdefault(name, len(self._seen) + 1)

    def put_into(self, text: str) -> str:
        """Return a text with its uuids replaced by their numbers.

        Example:
            >>> Numbers().put_into("id 8f0d9f0a-2f5c-4f6e-9a3b-6a1f6b1f7c11")
            'id <1>'
        """
        return _UUID.sub(lambda found: f"<{self.of(found[0])}>", text)


def event_line(event: Any, error: str) -> str:
    """Return what an event says, in one line; `error` is how its error reads."""
    info, actions = event.node_info, event.actions
    words = [info.path or "-", f"by {event.author}"]
    if event.branch is not None:
        words.append(f"on {event.branch!r}")
    if event.partial:
        words.append("partial")
    if event.isolation_scope:
        words.append(f"in scope {event.isolation_scope}")
    if event.output is not None:
        words.append(f"output {written(event.output)}")
    words += _claims(info)
    if actions.route is not None:
        words.append(f"route {written(actions.route)}")
    if event.content is not None:
        words.append(f"{event.content.role} says {', '.join(map(_part, event.content.parts or ())) or 'nothing'}")
    if event.long_running_tool_ids:
        words.append(f"asks {written(set(event.long_running_tool_ids))}")
    words += _actions(actions)
    if event.custom_metadata:
        words.append(f"metadata {written(event.custom_metadata)}")
    if event.error_code:
        words.append(error)
    return " ".join(words)


def _claims(info: Any) -> Iterable[str]:
    others = [path for path in info.output_for or () if path != info.path]
    if others:
        yield f"for {', '.join(others)}"
    if info.output_for and info.path not in info.output_for:
        yield "not for itself"
    if info.message_as_output:
        yield "message is output"


def _actions(actions: Any) -> Iterable[str]:
    if actions.state_delta:
        yield f"state {written(dict(actions.state_delta))}"
    if actions.artifact_delta:
        yield f"artifacts {written(dict(actions.artifact_delta))}"
    if actions.agent_state:
        yield f"checkpoint {written(dict(actions.agent_state))}"
    if actions.end_of_agent:
        yield "end of agent"
    if actions.transfer_to_agent:
        yield f"transfer to {actions.transfer_to_agent}"
    if actions.rewind_before_invocation_id:
        yield "rewind"
