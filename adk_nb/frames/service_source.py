"""Sessions of a session service, ours, google-adk's or a person's own, asked for through its own methods."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

from adk_nb.errors import ConfigurationError
from adk_nb.events.record import NodeRun
from adk_nb.frames import postgres_source, sqlite_source
from adk_nb.frames.own_loop import OwnLoop
from adk_nb.frames.stored_session import StoredSession, Where, of_session, where


def sessions_in(service: Any, wanted: Where) -> Iterator[StoredSession]:
    """Give the sessions of a service, from code that can't await; a store in SQLite or PostgreSQL is read there."""
    path = _file_of(service)
    if path is not None:
        yield from sqlite_source.sessions_in(path, wanted)
        return
    make_engine = _engine_of(service)
    if make_engine is not None:
        yield from postgres_source.sessions_in(make_engine, wanted)
        return
    found = _each(service, wanted)
    with OwnLoop() as loop:
        while (session := loop.run(_next(found))) is not None:
            yield session


async def read_sessions(service: Any, **filters: Any) -> list[StoredSession]:
    """Return sessions of a service for any frame, read on the running loop.

    For stores whose connections belong to the loop on which they are used, as PostgreSQL's do. All that is found is
    held in memory.

    Args:
        service: A session service of adk_nb, of google-adk, or one's own.
        **filters: As in `events_frame`.

    Example:
        >>> import asyncio
        >>> from adk_nb.sessions import InMemorySessionService
        >>> asyncio.run(read_sessions(InMemorySessionService(), user="ada"))
        []
    """
    return [session async for session in _each(service, where(filters))]


async def _next(found: AsyncIterator[StoredSession]) -> StoredSession | None:
    return await anext(found, None)


async def _each(service: Any, wanted: Where) -> AsyncIterator[StoredSession]:
    for key, updated in sorted(await _found(service, wanted), key=lambda one: one[1]):
        if wanted.wants_session(*key, updated or None):
            session = await _settled(service.get_session(app_name=key[0], user_id=key[1], session_id=key[2]))
            if session is not None:
                runs = await _records(service, session)
                yield of_session(session, None if runs is None else partial(iter, runs))


async def _found(service: Any, wanted: Where) -> list[tuple[tuple[str, str, str], float]]:
    """Return which sessions there are, with the time of their last update."""
    app, user = (one if isinstance(one, str) else None for one in (wanted.app, wanted.user))
    if callable(getattr(service, "find_sessions", None)):  # ours
        return [
            ((one.app_name, one.user_id, one.id), one.last_update_time)
            for one in await service.find_sessions(app_name=app, user_id=user)
        ]
    found = []
    for name in await _apps(service, wanted):
        listed = await _settled(service.list_sessions(app_name=name, user_id=user))
        for one in getattr(listed, "sessions", listed):
            found.append(((one.app_name, one.user_id, one.id), one.last_update_time))
    return found


async def _records(service: Any, session: Any) -> list[NodeRun] | None:
    """Return the records that a service keeps of a session, `None` when it keeps none."""
    open_log = getattr(service, "open_log", None)
    if open_log is None:
        return None
    log = open_log(session)
    found: list[NodeRun] = []
    for invocation in dict.fromkeys(event.invocation_id for event in session.events):
        left = [""]
        while left:
            children = await log.child_runs(invocation, left.pop())
            found += children
            left += [child.path for child in children]
    return sorted(found, key=lambda run: run.created_at)


async def _apps(service: Any, wanted: Where) -> list[str]:
    if wanted.app is not None:
        return [wanted.app] if isinstance(wanted.app, str) else list(wanted.app)
    kept = getattr(service, "sessions", None)
    if isinstance(kept, dict):  # google-adk's in memory: sessions by app
        return list(kept)
    engine = getattr(service, "db_engine", None)
    if engine is not None:
        return await _apps_in_database(engine)
    raise ConfigurationError(
        f"{type(service).__name__} can't say which apps it has sessions of: name one with app='...'."
    )


async def _apps_in_database(engine: Any) -> list[str]:
    from sqlalchemy import text  # an extra, which is there when a service with an engine is

    async with engine.connect() as connection:
        rows = await connection.execute(text("SELECT DISTINCT app_name FROM sessions ORDER BY app_name"))
        return [row[0] for row in rows]


def _engine_of(service: Any) -> Callable[[], Any] | None:
    """Return what makes an engine to read the PostgreSQL database behind a service, `None` when there is none."""
    make = getattr(service, "engine_for_reading", None)
    if make is not None:
        engine = make()
        return None if engine is None else lambda: engine
    url = getattr(getattr(service, "db_engine", None), "url", None)
    if url is None or url.get_backend_name() != "postgresql":
        return None
    return partial(postgres_source.engine_of, url.render_as_string(hide_password=False))


def _file_of(service: Any) -> str | None:
    """Return the SQLite file behind a service, `None` when there is none."""
    for name in ("path", "_db_path"):
        path = getattr(service, name, None)
        if isinstance(path, str) and path != ":memory:":
            return path
    url = getattr(getattr(service, "db_engine", None), "url", None)
    if url is not None and url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
        return str(url.database)
    return None


async def _settled(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer
