"""What a call of a runner may be given, by kind: checked before a session is made or anything is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from google.genai import types

from adk_nb.errors import ConfigurationError, DataError
from adk_nb.workflow.run_config import RunConfig


def check_kinds(*, new_message: Any, answers: Any, state_delta: Any, run_config: Any, abort_signal: Any) -> None:
    """Refuse what a runner couldn't take; `None` stands for nothing.

    Args:
        new_message: A `types.Content`.
        answers: A mapping of interrupt ids.
        state_delta: A mapping of keys of the state.
        run_config: A `RunConfig`.
        abort_signal: An `asyncio.Event`.
    Raises:
        DataError: the message, the answers or the state is something else.
        ConfigurationError: the settings or the signal are.

    Example:
        >>> check_kinds(new_message="hi", answers=None, state_delta=None, run_config=None, abort_signal=None)
        Traceback (most recent call last):
        adk_nb.errors.DataError: new_message is a str: give a types.Content, for instance types.UserContent("hi").
    """
    if new_message is not None and not isinstance(new_message, types.Content):
        raise DataError(
            f"new_message is a {type(new_message).__name__}: give a types.Content, for instance "
            f'types.UserContent("hi").'
        )
    if answers is not None and not (isinstance(answers, Mapping) and answers):
        found = "empty" if isinstance(answers, Mapping) else f"a {type(answers).__name__}"
        raise DataError(
            f"answers is {found}: give the answer of at least one open question by its interrupt id, as in "
            f"{{'approve': True}}, or invocation_id= to go on without one."
        )
    if state_delta is not None and not isinstance(state_delta, Mapping):
        raise DataError(f"state_delta is a {type(state_delta).__name__}: give a dict of keys of the state.")
    if run_config is not None and not isinstance(run_config, RunConfig):
        raise ConfigurationError(
            f"run_config is a {type(run_config).__name__}: give a RunConfig, for instance "
            f"RunConfig(limits=Limits(max_seconds=60))."
        )
    if abort_signal is not None and not isinstance(abort_signal, asyncio.Event):
        raise ConfigurationError(
            f"abort_signal is a {type(abort_signal).__name__}: give an asyncio.Event, which can be waited for "
            f"without holding up the event loop; from a thread, set it with loop.call_soon_threadsafe(signal.set)."
        )
