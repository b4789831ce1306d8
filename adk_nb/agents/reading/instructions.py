"""Fill an instruction with session state: `{key}`, `{user:key}`, `{key?}`, `{artifact.notes.txt}`, `{!key}`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from google.genai import types

from adk_nb.agents.reading.jinja_templates import rendered
from adk_nb.errors import ConfigurationError, MissingVariableError, one_of
from adk_nb.workflow.context import ReadonlyContext

Instruction = str | Callable[[ReadonlyContext], str | Awaitable[str]]
"""A template filled from the session state, or a function that returns the finished text."""

_BRACES = re.compile(r"[$\\]?\{+([^{}]*)\}+")
_KEY = re.compile(r"(?:app:|user:|temp:)?[^\W\d]\w*")
_ARTIFACT = "artifact."


async def inject_session_state(template: str, readonly_context: ReadonlyContext, use_jinja2: bool = False) -> str:
    """Return a template with its places filled, for instructions given as a function.

    Args:
        template: The text.
        readonly_context: What the function was given.
        use_jinja2: The template is one of Jinja's: `{{ key }}`, `{{ state["user:key"] }}`, `{% if ... %}`,
            `{{ artifact("notes.txt") }}`. It is rendered in a sandbox; what values hold is never rendered.
    Raises:
        MissingVariableError: a key or artifact without `?` isn't there.
        ConfigurationError: the template asks for an artifact, and the runner has no artifact service; or it is to be
            rendered by jinja2, and that isn't installed or can't.
    """
    if use_jinja2:
        return await rendered(template, readonly_context)
    return await _filled(template, readonly_context, None)


async def instruction_text(instruction: Instruction, look: ReadonlyContext, missing: list[str] | None = None) -> str:
    """Return an instruction as it is sent: a template filled, or what its function returns.

    Args:
        instruction: The template or function.
        look: What a function gets, and where state and artifacts come from.
        missing: Takes the keys that aren't there, whose places then stay as they are, in place of an error.
    Raises:
        MissingVariableError: a key or artifact without `?` isn't there.
        ConfigurationError: the function returned something else than a text.
    """
    if isinstance(instruction, str):
        return await _filled(instruction, look, missing) if "{" in instruction else instruction
    text = instruction(look)
    if inspect.isawaitable(text):
        text = await text
    if not isinstance(text, str):
        raise ConfigurationError(
            f"The instruction function of agent {look.agent_name!r} returned {text!r:.80}; it must return a text."
        )
    return text


async def _filled(template: str, look: ReadonlyContext, missing: list[str] | None) -> str:
    artifacts = {}
    for name in artifact_names(template):
        artifacts[name] = await look.read_artifact(name)
    return fill(template, look.state, look.agent_name, artifacts, missing)


def fill(
    template: str,
    state: Mapping[str, Any],
    agent: str,
    artifacts: Mapping[str, types.Part | None] | None = None,
    missing: list[str] | None = None,
) -> str:
    r"""Return a template with each `{key}` replaced by the state's value.

    `{key?}` is empty when the key isn't set, `None` is empty too, and braces of any depth count as one pair. Braces
    around anything that can't be a state key stay as they are, and so do `${key}` and `\{key}`; `{!key}` gives `{key}`.
    What a value holds is never filled again.

    Args:
        template: The text.
        state: The session's state.
        agent: The agent's name, for messages.
        artifacts: The artifacts that it asks for, by name.
        missing: Takes the keys that aren't there, whose places then stay as they are, in place of an error.
    Raises:
        MissingVariableError: a key or artifact without `?` isn't there.

    Example:
        >>> fill('Greet {user:name}, who likes {food?}; write {!name} as it is.', {"user:name": "Ada"}, "greeter")
        'Greet Ada, who likes ; write {name} as it is.'
    """

    def value_of(match: re.Match[str]) -> str:
        place = _place(match)
        if place is None:
            return match[0]
        key, is_optional = place
        if key.startswith("!"):
            return match[0].replace("!", "", 1)
        name = _artifact_name(key)
        is_there = key in state if name is None else (artifacts or {}).get(name) is not None
        if not is_there and not is_optional and missing is not None:
            missing.append(key)
            return match[0]
        if name is not None:
            return _artifact_text(name, (artifacts or {}).get(name), is_optional, agent)
        if key in state:
            return "" if state[key] is None else str(state[key])
        if is_optional:
            return ""
        raise MissingVariableError(_missing(key, state, agent), key)

    return _BRACES.sub(value_of, template)


def places(template: str) -> Iterator[tuple[str, bool]]:
    """Give each place of a template that is filled: its key, and whether it may be missing.

    Example:
        >>> list(places("{a} {user:b?} {!c} {artifact.d.txt} {not a key}"))
        [('a', False), ('user:b', True), ('artifact.d.txt', False)]
    """
    for match in _BRACES.finditer(template):
        place = _place(match)
        if place is not None and not place[0].startswith("!"):
            yield place


def artifact_names(template: str) -> list[str]:
    """Return the names of the artifacts that a template asks for, each once.

    Example:
        >>> artifact_names("{artifact.a.txt} {artifact.b.md?} {artifact.a.txt}")
        ['a.txt', 'b.md']
    """
    names = (_artifact_name(key) for key, _ in places(template))
    return list(dict.fromkeys(name for name in names if name is not None))


def _place(match: re.Match[str]) -> tuple[str, bool] | None:
    """Return the key of a pair of braces and whether it may be missing, `None` when it is no place to fill."""
    if match[0][0] != "{":
        return None
    inner = match[1].strip()
    key = inner.removesuffix("?")
    name = key.lstrip("!")
    if not _KEY.fullmatch(name) and _artifact_name(name) is None:
        return None
    return key, inner != key


def _artifact_name(key: str) -> str | None:
    return key[len(_ARTIFACT) :] if key.startswith(_ARTIFACT) and len(key) > len(_ARTIFACT) else None


def _artifact_text(name: str, part: types.Part | None, is_optional: bool, agent: str) -> str:
    if part is None:
        if is_optional:
            return ""
        raise MissingVariableError(
            f"Artifact {name!r} not found: the instruction of agent {agent!r} asks for {{artifact.{name}}}, and the "
            f"session has no such artifact. Save it before, or write {{artifact.{name}?}} to allow it to be missing.",
            f"{_ARTIFACT}{name}",
        )
    if part.text is not None:
        return part.text
    blob = part.inline_data
    if blob is not None and blob.data is not None:
        try:
            return blob.data.decode()
        except UnicodeDecodeError:
            pass
    kind = blob.mime_type if blob is not None else "no text"
    raise ConfigurationError(
        f"The instruction of agent {agent!r} asks for the text of artifact {name!r}, which is {kind}: only text can "
        f"stand in an instruction; give the model the artifact itself with the load_artifacts tool."
    )


def _missing(key: str, state: Mapping[str, Any], agent: str) -> str:
    return (
        f"Context variable not found: the instruction of agent {agent!r} asks for {{{key}}}, and the session state has "
        f"{one_of(key, state)}. Set it with state= or in a node before, write {{{key}?}} to allow it to be missing, or "
        f"{{!{key}}} to send it as it stands."
    )
