"""A run in a session of its own, for a tool that asks an agent: its events stay there, what it wrote comes back."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from google.genai import types

from adk_nb.events.apart import call_apart, with_calls_apart
from adk_nb.events.event import Event
from adk_nb.events.record import Status
from adk_nb.events.state import State
from adk_nb.workflow.context import Context
from adk_nb.workflow.limits import Allowance
from adk_nb.workflow.ports import ApartRun

_OWN_PREFIX = "_adk"
"""Begins the keys of the state that a run keeps for itself."""


class CallersArtifacts:
    """An artifact service that reads and writes the artifacts of another session: the caller's."""

    def __init__(self, service: Any, session_id: str) -> None:
        """Stand before a service.

        Args:
            service: The service.
            session_id: The session whose artifacts they are.
        """
        self._service = service
        self._session_id = session_id

    def __getattr__(self, name: str) -> Any:
        """Return a method of the service that is called for the caller's session."""
        return functools.partial(self._ask, getattr(self._service, name))

    async def _ask(self, method: Callable[..., Any], **where: Any) -> Any:
        return await method(**{**where, "session_id": self._session_id})


async def run_apart(
    make_runner: Callable[[Any, list[Any], Any, Allowance], Any],
    root: Any,
    message: types.Content,
    *,
    caller: Context,
    with_plugins: bool = True,
) -> ApartRun:
    """Do what `RunsApart` says.

    Args:
        make_runner: Makes a runner with sessions of its own for a root, plugins, an artifact service, and what is left
            of the caller's limits.
        root: What runs.
        message: What it is told.
        caller: Who asks.
        with_plugins: The caller's plugins see the run.
    """
    invocation = caller.get_invocation_context()
    plugins = invocation.plugin_manager.plugins if with_plugins and invocation.plugin_manager is not None else []
    artifacts = invocation.artifact_service
    if artifacts is not None and not isinstance(artifacts, CallersArtifacts):
        artifacts = CallersArtifacts(artifacts, invocation.session.id)
    runner = make_runner(root, plugins, artifacts, invocation.allowance)
    state = {key: value for key, value in caller.state.to_dict().items() if not key.startswith(_OWN_PREFIX)}
    session = await runner.session_service.create_session(
        app_name=invocation.app_name, user_id=invocation.user_id, state=state
    )
    where = {"user_id": session.user_id, "session_id": session.id}
    stream = runner.run_async(
        **where,
        new_message=message,
        state_delta={key: value for key, value in state.items() if key.startswith(State.TEMP_PREFIX)},
        run_config=invocation.run_config.model_copy(update={"get_session_config": None}),
    )
    done = ApartRun()
    async with contextlib.aclosing(stream) as events:
        async for event in events:
            _take(event, done, caller)
            _count(event, caller)
    record = await runner.root_run(**where)
    done.output = record.output
    done.questions = [question for _, question in await runner.open_questions(**where)]
    if not done.questions and record.status is not Status.COMPLETED:
        done.shortfall = record.error_message or "; ".join(record.notes) or f"it is {record.status}"
    return done


def _take(event: Event, done: ApartRun, caller: Context) -> None:
    """Note what an event says, and hand on to the caller what it did to state and artifacts."""
    if event.partial:
        return
    for key, value in event.actions.state_delta.items():
        if not key.startswith((State.TEMP_PREFIX, _OWN_PREFIX)):
            caller.state[key] = value
    if event.actions.artifact_delta:
        caller.actions.artifact_delta.update(event.actions.artifact_delta)
    if event.content is not None and event.content.parts:
        done.content, done.grounding_metadata = event.content, event.grounding_metadata


def _count(event: Event, caller: Context) -> None:
    """Keep for the caller's event what models used."""
    path = caller.node_path
    calls = [call for one in with_calls_apart([event]) if (call := call_apart(one, path)) is not None]
    if calls:
        caller.get_invocation_context().calls_apart.setdefault(path, []).extend(calls)
