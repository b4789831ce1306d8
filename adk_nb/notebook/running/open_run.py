"""`open_run`: a stored run in hand again, after a restart of the kernel or in another process."""

from __future__ import annotations

import asyncio
from typing import Any

from adk_nb.apps.app import App
from adk_nb.errors import SessionNotFoundError
from adk_nb.events.record import Status
from adk_nb.models.use import as_model
from adk_nb.notebook.drawing.stored_graph import stored_graph
from adk_nb.notebook.front_end import front_end
from adk_nb.notebook.running.named_run import named_run
from adk_nb.notebook.running.presets import Presets
from adk_nb.notebook.running.private_loop import run_blocking
from adk_nb.notebook.running.run import Run
from adk_nb.notebook.running.run_history import RunHistory
from adk_nb.notebook.running.run_work import RunWork
from adk_nb.notebook.running.stored_sessions import StoredRun, load_newest_runs, load_run
from adk_nb.notebook.settings import as_sessions, default_sessions
from adk_nb.sessions.looking_back import FoundSession
from adk_nb.workflow.build import build_root
from adk_nb.workflow.limits import Limits
from adk_nb.workflow.misfits import misfits
from adk_nb.workflow.nodes import BaseNode

_CUT = "It was at work when it was stored last: its kernel is gone, or another process still runs it."


def open_run(
    session_id: str,
    root: Any = None,
    sessions: Any = None,
    invocation_id: str | None = None,
    *,
    app: str | None = None,
    user: str | None = None,
    model: Any = None,
    view: bool = True,
    limits: Limits | None = None,
) -> Run:
    """Return a stored run: the same history and view, with the forms of its open questions.

    With `root`, `respond`, `approve`, `send` and `resume` go on with it as if nothing had been in between; what the
    code has lost or gained since is told in `run.warnings`. Without, it can be looked at.

    Args:
        session_id: The session that it is kept in, or the run's own id; `adk_nb.runs()` lists both. The first four
            characters do where no other begins with them.
        root: The workflow, agent, node, function or `App` that ran, made again.
        sessions: Where it is kept, as in `run`.
        invocation_id: Which run of the session; `None` for the newest.
        app: Under which app's name the session is kept, where the store has to be told: that of the root, or of the
            `App`.
        user: Whose session it is, where several users have one of this id.
        model: The model that every agent asks from now on; `None` leaves each its own.
        view: Show it live under the cell, where there is somebody to look.
        limits: What each later turn may use up.

    Raises:
        SessionNotFoundError: there is no such session.
        InvocationNotFoundError: there is no such run in it.
        ConfigurationError: several sessions or runs could be meant, or the store can't find one without its app.

    Example:
        >>> import adk_nb as adk
        >>> def shout(node_input: str) -> str:
        ...     return node_input.upper()
        >>> run = adk.run_sync(shout, "hi", session="monday", sessions="memory")
        >>> open_run("monday", sessions="memory", app="shout").output
        'HI'
    """
    service, warning = default_sessions() if sessions is None else (as_sessions(sessions), "")
    node = None if root is None else build_root(root)
    if app is None and node is not None and not hasattr(service, "find_sessions"):
        app = root.name if isinstance(root, App) else node.name

    async def load() -> tuple[StoredRun, asyncio.AbstractEventLoop]:
        where, named = await named_run(service, session_id, app, user)
        return await load_run(service, where, node, invocation_id or named), asyncio.get_running_loop()

    stored, loop = run_blocking(load())
    settings = {"app_name": stored.session.app_name, "model": model, "limits": limits}
    made = _made(stored, root, node, **settings)
    if warning:
        made.history.warn(warning)
    made.start(_loop_here() or loop)
    if view and front_end() != "none":
        made.view()
    return made


def newest_runs(
    root: Any, session_id: str, sessions: Any = None, *, user: str, count: int, model: Any = None, **settings: Any
) -> list[Run]:
    """Return the newest runs of a session as `open_run` does, oldest first; none where there is no such session.

    Args:
        root: What ran, made again.
        session_id: The session.
        sessions: Where it is kept, as in `run`.
        user: Whose session it is.
        count: How many at most.
        model: As in `open_run`.
        settings: What later turns are run with, further arguments of `Run`.
    """
    service = default_sessions()[0] if sessions is None else as_sessions(sessions)
    node = build_root(root)
    where = FoundSession(root.name if isinstance(root, App) else node.name, user, session_id, 0.0)

    async def load() -> tuple[list[StoredRun], asyncio.AbstractEventLoop]:
        try:
            return await load_newest_runs(service, where, node, count), asyncio.get_running_loop()
        except SessionNotFoundError:
            return [], asyncio.get_running_loop()

    found, loop = run_blocking(load())
    return [_made(one, root, node, model=model, **settings).start(_loop_here() or loop) for one in found]


def _made(stored: StoredRun, root: Any, node: BaseNode | None, *, model: Any, **settings: Any) -> Run:
    history = _history(stored, node)
    user = stored.session.user_id
    made_with: dict[str, Any] = {"user": user, **settings}
    work = RunWork(
        root if isinstance(root, App) else node,
        history,
        None,
        sessions=stored.sessions,
        model=as_model(model),
        presets=Presets(None),
        **made_with,
    )
    return Run.of_stored(root, history, work, stored.sessions, model=model, **made_with)


def _loop_here() -> asyncio.AbstractEventLoop | None:
    """The loop that runs here; plain code has none, whose runs go on where they were loaded."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _history(stored: StoredRun, root: BaseNode | None) -> RunHistory:
    top = next(record for record in stored.records if not record.parent)
    is_fitting = root is not None and root.name == top.name
    graph = root.describe() if root is not None and is_fitting else stored_graph(top.name, stored.records)
    history = RunHistory(top.name, graph, stored.session.id)
    history.take_stored(stored.events, stored.records, stored.state)
    if top.status in (Status.RUNNING, Status.PENDING, Status.GATHERING):
        history.warn(f"{_CUT} run.resume() goes on with it.")
    if root is not None:
        for said in misfits(root, stored.records):
            history.warn(said)
    return history
