"""The run that a person names: by its session, by its own id, or by the beginning of either."""

from __future__ import annotations

from typing import Any

from adk_nb.errors import ConfigurationError, SessionNotFoundError, one_of
from adk_nb.notebook.running.stored_sessions import find_sessions, root_runs
from adk_nb.sessions.looking_back import FoundSession

LEAST = 4
"""Characters that the beginning of an id has at least: the view of a run shows six."""
SESSIONS_LOOKED_AT = 2_000
"""In how many of the newest sessions a run is looked for by its own id."""


async def named_run(
    service: Any, name: str, app_name: str | None = None, user_id: str | None = None
) -> tuple[FoundSession, str | None]:
    """Return the session that is meant and, where a run of it was named, that run's id.

    The whole id of a session is found at once; anything else is looked for in the sessions that are stored.

    Raises:
        SessionNotFoundError: nothing has this id, or begins with it.
        ConfigurationError: several sessions or runs could be meant.
    """
    found = await find_sessions(service, app_name=app_name, user_id=user_id, session_id=name)
    if found:
        return _only(name, found, "have the id"), None
    stored = await find_sessions(service, app_name=app_name, user_id=user_id)
    if len(name) >= LEAST:
        alike = [one for one in stored if one.id.startswith(name)]
        if alike:
            return _only(name, alike, "begin with"), None
        runs = [
            (where, run.invocation_id)
            for where in stored[:SESSIONS_LOOKED_AT]
            for run in (await root_runs(service, where))[0]
            if run.invocation_id.removeprefix("e-").startswith(name.removeprefix("e-"))
        ]
        if len(runs) > 1:
            ids = ", ".join(repr(run) for _, run in runs[:5])
            raise ConfigurationError(f"{len(runs)} runs begin with {name!r}: {ids}; say more of the one that is meant.")
        if runs:
            return runs[0]
    raise SessionNotFoundError(_not_found(service, name, app_name, stored))


def _only(name: str, found: list[FoundSession], what: str) -> FoundSession:
    if len(found) == 1:
        return found[0]
    if len({one.id for one in found}) == 1:
        each = " or ".join(f"app={one.app_name!r}, user={one.user_id!r}" for one in found[:5])
    else:
        each = ", ".join(repr(one.id) for one in found[:5])
    raise ConfigurationError(f"{len(found)} sessions {what} {name!r}; say which one: {each}.")


def _not_found(service: Any, name: str, app_name: str | None, stored: list[FoundSession]) -> str:
    where = "" if app_name is None else f" of app {app_name!r}"
    if not stored:
        held = "which holds none"
    else:
        newest = [one.id for one in stored[:200]]
        near = one_of(name, newest).split(", ")[:3]
        held = f"which holds {', '.join(near)}{' and others' if len(stored) > 3 else ''}"
    return (
        f"There is no session or run {name!r}{where} in {_name_of(service)}, {held}: adk_nb.runs() lists them; give "
        f"sessions= for another store, app= for another app."
    )


def _name_of(service: Any) -> str:
    said = repr(service)
    return type(service).__name__ if " object at 0x" in said else said
