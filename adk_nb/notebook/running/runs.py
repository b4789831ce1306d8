"""`runs`: what a store holds, as a frame with one row a run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.errors import ConfigurationError, SessionNotFoundError
from adk_nb.events.record import NodeRun, Status, open_ids
from adk_nb.frames.reading import Usage, counted
from adk_nb.frames.spans import WORK, key_of, spans_of
from adk_nb.notebook.running.private_loop import run_blocking
from adk_nb.notebook.running.stored_sessions import find_sessions, root_runs
from adk_nb.notebook.settings import as_sessions, default_sessions
from adk_nb.sessions.looking_back import FoundSession, TellsRuns

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "session": "object",
    "user": "object",
    "app": "object",
    "invocation": "object",
    "root": "object",
    "status": "object",
    "start": "datetime64[ns, UTC]",
    "seconds": "float64",
    "events": "Int64",
    "tokens": "Int64",
    "open_questions": "Int64",
    "error": "object",
    "error_message": "object",
}
"""Columns in order, with their types; the same when there is no run. Text is `object`, `None` where there is none."""
_STATUSES = ("running", "waiting", "completed", "incomplete", "failed", "cancelled", "stopped")
_STARTING = (Status.RUNNING, Status.PENDING, Status.GATHERING)
_CLOCK_S = 1.0
"""By how much a session's last update may lie before what it is about to hold."""


def runs(
    sessions: Any = None,
    *,
    app: str | None = None,
    user: str | None = None,
    session: str | None = None,
    root: str | None = None,
    status: str | None = None,
    limit: int = 100,
    page: int = 1,
) -> pd.DataFrame:
    """Return stored runs as a DataFrame with one row each, the one that started last first.

    `seconds` is time at work, waits for a person left out; `tokens` are those of its model calls; `open_questions`
    are those that wait for an answer. Status `running` is also that of a run that was cut off with its kernel. A row
    names what `open_run` needs: `open_run(row.session, root, invocation_id=row.invocation)`.

    Args:
        sessions: Where runs are kept, as in `run`.
        app: Only those of this app; needed where a store lists the sessions of one app at a time, as google-adk's do.
        user: Only those of this user.
        session: Only those in this session.
        root: Only those of a root of this name.
        status: Only those with this status.
        limit: How many to a page.
        page: Which page, from 1.

    `adk_nb.frames.runs_frame` tells more of each run, and reads all of its events.

    Raises:
        ConfigurationError: the status isn't one, a number is below 1, or the store needs `app`.

    Example:
        >>> import adk_nb as adk
        >>> def shout(node_input: str) -> str:
        ...     return node_input.upper()
        >>> run = adk.run_sync(shout, "hi", session="tuesday", sessions="memory")
        >>> runs("memory", session="tuesday")[["session", "root", "status", "events"]].values.tolist()
        [['tuesday', 'shout', 'completed', 2]]
    """
    if status is not None and status not in _STATUSES:
        raise ConfigurationError(f"status={status!r} isn't one; allowed: {', '.join(map(repr, _STATUSES))}.")
    if limit < 1 or page < 1:
        raise ConfigurationError(f"limit={limit} and page={page} can't be: both are numbers from 1 on.")
    service = default_sessions()[0] if sessions is None else as_sessions(sessions)
    wanted = _Wanted(app, user, session, root, status)
    found = run_blocking(_newest(service, wanted, limit * page))
    return _frame(found[limit * (page - 1) :])


@dataclass(frozen=True)
class _Wanted:
    """Which runs are asked for."""

    app: str | None
    user: str | None
    session: str | None
    root: str | None
    status: str | None

    def takes(self, run: NodeRun) -> bool:
        """Say whether a run with this root record is one of them."""
        return self.root in (None, run.name) and self.status in (None, _status_of(run))


@dataclass(frozen=True)
class _Row:
    """One stored run."""

    where: FoundSession
    top: NodeRun
    events: int
    usage: Usage

    @property
    def started(self) -> float:
        """When it began."""
        return _began(self.top)


async def _newest(service: Any, wanted: _Wanted, count: int) -> list[_Row]:
    """Return so many of the newest runs; sessions that can't hold one of them aren't opened."""
    found: list[_Row] = []
    for where in await find_sessions(service, app_name=wanted.app, user_id=wanted.user, session_id=wanted.session):
        # Nothing in a session began after its last update, and the sessions come by that.
        if len(found) >= count and found[count - 1].started > where.last_update_time + _CLOCK_S:
            break
        try:
            found += await _runs_in(service, where, wanted)
        except SessionNotFoundError:  # deleted since it was listed
            continue
        found.sort(key=lambda row: row.started, reverse=True)
    return found[:count]


async def _runs_in(service: Any, where: FoundSession, wanted: _Wanted) -> list[_Row]:
    runs, log = await root_runs(service, where)
    tops = [run for run in runs if wanted.takes(run)]
    told: dict[str, tuple[int, Usage]] = {}
    for one in await log.said() if tops and isinstance(log, TellsRuns) else ():
        events, usage = told.get(one.invocation_id, (0, Usage()))
        if one.usage is not None:
            for _ in range(one.events or 1):
                usage.add(_usage(one.usage))
        told[one.invocation_id] = events + one.events, usage
    return [_Row(where, top, *told.get(top.invocation_id, (0, Usage()))) for top in tops]


def _usage(found: Any) -> Usage:
    if isinstance(found, Mapping):
        found = types.GenerateContentResponseUsageMetadata.model_validate(found)
    return counted(found)


def _status_of(run: NodeRun) -> str:
    return "running" if run.status in _STARTING else str(run.status)


def _began(run: NodeRun) -> float:
    return run.created_at or run.started_at or (run.ended_at or 0.0)


def _frame(rows: Iterable[_Row]) -> pd.DataFrame:
    import pandas as pd  # takes a while to load, and nothing else here needs it

    from adk_nb.frames.columns import column  # loads pandas, too

    values = [_values(row) for row in rows]
    columns = zip(*values, strict=True) if values else ((),) * len(COLUMNS)
    return pd.DataFrame({name: column(list(c), COLUMNS[name]) for name, c in zip(COLUMNS, columns, strict=True)})


def _values(row: _Row) -> tuple[Any, ...]:
    top, (app, user, session, updated) = row.top, row.where
    now = time.time() if _status_of(top) == "running" and time.time() - updated < 60 else updated
    return (
        session,
        user,
        app,
        top.invocation_id,
        top.name,
        _status_of(top),
        row.started or None,
        spans_of([top], now)[key_of(top)].seconds(WORK),
        row.events,
        row.usage.tokens,
        len(open_ids(top)),
        top.error_type,
        top.error_message if top.error_type else None,
    )
