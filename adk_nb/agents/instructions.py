"""Fill an instruction with session state: `{key}`, `{user:key}`, `{key?}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adk_nb.errors import ConfigurationError, MissingVariableError, one_of
from adk_nb.workflow.context import ReadonlyContext

_BRACES = re.compile(r"[$\\]?\{+([^{}]*)\}+")
_KEY = re.compile(r"(?:app:|user:|temp:)?[^\W\d]\w*")
_ARTIFACT = "artifact."


async def inject_session_state(template: str, readonly_context: ReadonlyContext) -> str:
    """Return a template with its `{key}` places filled, for instructions given as a function.

    Raises:
        MissingVariableError: a key without `?` isn't in the state.
    """
    return fill(template, readonly_context.state, readonly_context.agent_name)


def fill(template: str, state: Mapping[str, Any], agent: str) -> str:
    r"""Return a template with each `{key}` replaced by the state's value.

    `{key?}` is empty when the key isn't set, `None` is empty too, and braces of any depth count as one pair. Braces
    around anything that can't be a state key stay as they are, and so do `${key}` and `\{key}`. What a value holds is
    never filled again.

    Raises:
        MissingVariableError: a key without `?` isn't in the state.

    Example:
        >>> fill('Greet {user:name}, who likes {food?}; answer as {"text": "..."}.', {"user:name": "Ada"}, "greeter")
        'Greet Ada, who likes ; answer as {"text": "..."}.'
    """

    def value_of(match: re.Match[str]) -> str:
        inner = match[1].strip()
        key = inner.removesuffix("?")
        if match[0][0] != "{":
            return match[0]
        if key.startswith(_ARTIFACT) and len(key) > len(_ARTIFACT):
            raise ConfigurationError(
                f"The instruction of agent {agent!r} asks for {{{inner}}}, but the runner has no artifact service; "
                f"keep the text in the session state and write its key in braces."
            )
        if not _KEY.fullmatch(key):
            return match[0]
        if key in state:
            return "" if state[key] is None else str(state[key])
        if inner != key:
            return ""
        raise MissingVariableError(
            f"Context variable not found: the instruction of agent {agent!r} asks for {{{key}}}, and the session state "
            f"has {one_of(key, state)}. Set it with state= or in a node before, or write {{{key}?}} to allow it to be "
            f"missing.",
            key,
        )

    return _BRACES.sub(value_of, template)
