"""`run` and `run_sync`: start a workflow, agent or node, in a cell or in plain code."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping
from typing import Any

from adk_nb.errors import ConfigurationError
from adk_nb.notebook.front_end import front_end
from adk_nb.notebook.running.private_loop import run_blocking
from adk_nb.notebook.running.run import Run
from adk_nb.workflow.limits import Limits


def run(
    root: Any,
    message: Any = None,
    *,
    session: str | None = None,
    user: str = "user",
    state: Mapping[str, Any] | None = None,
    sessions: Any = None,
    model: Any = None,
    view: bool = True,
    answers: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
) -> Run:
    """Start a run and return it at once; `await` it to wait until it ends or asks a person.

    Args:
        root: A workflow, an agent, any node or function, or an `App` with plugins.
        message: What the user says: a text, a part, a list of them or a Content; other values go as JSON text.
        session: The session to run in, made when it isn't there; `None` makes a new one.
        user: Whose session it is.
        state: State written before the run starts.
        sessions: Where to keep it: a session service, a path of an SQLite file or `"memory"`; `None` is the default of
            `configure`: in a notebook `.adk_nb/sessions.db` beside it, in a script memory.
        model: The model that every agent in this run asks; `None` leaves each its own.
        view: Show it live under the cell, where there is somebody to look.
        answers: Answers to questions, by interrupt id or node name, for when nobody is there: a value, which answers
            a node run's question once, or a function of the question.
        limits: What each turn may use up, for instance `Limits(max_node_runs=20, max_seconds=60)`; a run that comes to
            one ends as `stopped`, and `resume` goes on with it.

    Returns:
        Run: running. `await` returns the same object, also when it failed or waits.

    Raises:
        ConfigurationError: no event loop runs here: use `run_sync`.

    Example:
        >>> import adk_nb as adk
        >>> def shout(node_input: str) -> str:
        ...     return node_input.upper()
        >>> async def main() -> str:
        ...     flow = adk.Workflow(name="flow", edges=[("START", shout)])
        ...     return (await run(flow, "hi", sessions="memory")).output
        >>> asyncio.run(main())
        'HI'
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigurationError(
            "run needs a running event loop, as in a notebook cell or an async function: use run_sync(...) here."
        ) from None
    made = Run(
        root,
        message,
        session=session,
        user=user,
        state=state,
        sessions=sessions,
        model=model,
        answers=answers,
        limits=limits,
    )
    if view and front_end() != "none":
        made.view()
    return made.start(loop)


def run_sync(
    root: Any,
    message: Any = None,
    *,
    session: str | None = None,
    user: str = "user",
    state: Mapping[str, Any] | None = None,
    sessions: Any = None,
    model: Any = None,
    view: bool = True,
    answers: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
) -> Run:
    """Run from code that can't await: blocks until the run ends or asks a person, and returns it.

    It works in a script and inside a running event loop, and never waits for a person: a run that asks comes back with
    status `waiting`. `run_sync(run.respond(answer))` goes on with it in the same way.

    Args:
        root: As in `run`; or a `Run`, or what one of its methods returned, to wait for.
        message: As in `run`.
        session: As in `run`.
        user: As in `run`.
        state: As in `run`.
        sessions: As in `run`.
        model: As in `run`.
        view: As in `run`.
        answers: As in `run`.
        limits: As in `run`.

    Example:
        >>> def shout(node_input: str) -> str:
        ...     return node_input.upper()
        >>> run_sync(shout, "hi", sessions="memory").output
        'HI'
    """
    if isinstance(root, Run) or inspect.isawaitable(root):
        return run_blocking(_waited(root))
    made = Run(
        root,
        message,
        session=session,
        user=user,
        state=state,
        sessions=sessions,
        model=model,
        answers=answers,
        limits=limits,
    )

    async def whole() -> Run:
        made.start(asyncio.get_running_loop())
        return await made

    if view and front_end() != "none":
        made.view()
    return run_blocking(whole())


async def _waited(work: Awaitable[Run]) -> Run:
    return await work
