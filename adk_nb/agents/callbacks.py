"""The callbacks that an agent is written with: one function or several, asked in order until one answers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adk_nb.errors import ConfigurationError, DataError

Callback = Callable[..., Any]
"""A function of the arguments of its hook, or a coroutine function; `None` from it means that it has no opinion."""
Callbacks = Callback | list[Callback] | None
"""How callbacks are written: one, several in the order in which they are asked, or none."""


def as_list(callbacks: Callbacks) -> Sequence[Callback]:
    """Return callbacks as a list, however they were written.

    Example:
        >>> as_list(print) == [print], as_list(None)
        (True, ())
    """
    if callbacks is None:
        return ()
    return callbacks if isinstance(callbacks, list) else [callbacks]


def check_callbacks(callbacks: Any, hook: str) -> Any:
    """Refuse what can't be called.

    Raises:
        ConfigurationError: a callback is no function.
    """
    for one in callbacks if isinstance(callbacks, list) else [callbacks]:
        if one is not None and not callable(one):
            raise ConfigurationError(
                f"{hook} holds {one!r:.80}, which can't be called: give a function, a list of functions, or None."
            )
    return callbacks


async def first_answer(
    callbacks: Callbacks,
    kind: type,
    arguments: Mapping[str, Any],
    *,
    agent: str,
    hook: str,
    takes_empty: bool = False,
) -> Any:
    """Ask callbacks in order, and return the first answer; `None` when none has one.

    Args:
        callbacks: As written.
        kind: What an answer is.
        arguments: What each is called with, in the order of the hook's signature. They go by name where a callback has
            these names, else by place.
        agent: Name of the agent, for messages.
        hook: Name of the field that holds them, for messages.
        takes_empty: An empty answer counts as one; otherwise it means the same as `None`.
    Raises:
        DataError: a callback returned something else.
    """
    for callback in as_list(callbacks):
        answer = await _called(callback, arguments)
        if answer is None or (not takes_empty and not answer):
            continue
        if not isinstance(answer, kind):
            raise DataError(
                f"A {hook} of agent {agent!r} returned {answer!r:.80}: return an object of the class {kind.__name__}, "
                f"or None to let things go on as they are."
            )
        return answer
    return None


async def _called(callback: Callback, arguments: Mapping[str, Any]) -> Any:
    try:
        is_by_name = _takes_names(callback, tuple(arguments))
    except TypeError:  # an unhashable callable can't be remembered
        is_by_name = _takes_names.__wrapped__(callback, tuple(arguments))
    answer = callback(**arguments) if is_by_name else callback(*arguments.values())
    return await answer if inspect.isawaitable(answer) else answer


@functools.lru_cache(maxsize=512)
def _takes_names(callback: Callback, names: tuple[str, ...]) -> bool:
    try:
        inspect.signature(callback).bind(**dict.fromkeys(names))
    except TypeError:
        return False
    except ValueError:  # a builtin without a signature
        return False
    return True
