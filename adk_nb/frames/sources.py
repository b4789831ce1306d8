"""What frames are made from: runs, events, records, sessions, stores and files, all told as sessions with filters."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from adk_nb.errors import ConfigurationError
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun
from adk_nb.frames import jsonl, postgres_source, service_source, sqlite_source
from adk_nb.frames.stored_session import StoredSession, Where, of_session, shown


def sessions_of(source: Any, wanted: Where) -> Iterator[StoredSession]:
    """Give a source as sessions, one after the other, so that a whole store needs no more memory than one of them.

    Args:
        source: A run, events, records, a session, several of any of these, a session service, the path of an SQLite
            or JSONL file, or the address of a PostgreSQL database; of adk_nb or of google-adk.
        wanted: Which sessions; what within a session is wanted, is for the reader to ask it.

    Raises:
        ConfigurationError: the source is none of these.
    """
    for session in _sessions(source, wanted):
        if wanted.wants_session(session.app, session.user, session.id, session.updated_at):
            yield session


def _sessions(source: Any, wanted: Where) -> Iterator[StoredSession]:
    if isinstance(source, StoredSession):
        yield source
    elif isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path.endswith((".jsonl", ".jsonl.gz")):
            yield from jsonl.sessions_in(path)
        elif postgres_source.is_address(path):
            yield from postgres_source.sessions_in(partial(postgres_source.engine_of, path), wanted)
        else:
            yield from sqlite_source.sessions_in(path, wanted)
    elif callable(getattr(source, "get_session", None)) and callable(getattr(source, "list_sessions", None)):
        yield from service_source.sessions_in(source, wanted)
    elif _is_session(source):
        yield of_session(source)
    elif _is_run(source):
        yield _of_run(source)
    elif isinstance(source, Iterable) and not isinstance(source, dict):
        yield from _of_many(source, wanted)
    else:
        raise _unfit(source)


def _of_many(source: Iterable[Any], wanted: Where) -> Iterator[StoredSession]:
    items = iter(source)
    first = next(items, None)
    if first is None:
        return
    whole = itertools.chain([first], items)
    if isinstance(first, NodeRun):
        records = list(whole)
        yield StoredSession(read_records=lambda: records, is_live=True)
    elif isinstance(first, Event) or _is_event(first):
        found = list(whole)
        yield StoredSession(read_events=lambda: shown(found), is_live=True)
    elif isinstance(first, (StoredSession, str, os.PathLike)) or _is_session(first) or _is_run(first):
        for one in whole:
            yield from _sessions(one, wanted)
    else:
        raise _unfit(first)


def _of_run(run: Any) -> StoredSession:
    events = run.events
    return StoredSession(
        app=run.name,
        user=run.user_id,
        id=run.session_id,
        state=run.state,
        created_at=min((event.timestamp for event in events), default=None),
        updated_at=max((event.timestamp for event in events), default=None),
        read_events=lambda: events,
        read_records=lambda: run.records,
        is_live=True,
    )


def _is_event(item: Any) -> bool:
    return hasattr(item, "invocation_id") and hasattr(item, "author") and hasattr(item, "actions")


def _is_session(item: Any) -> bool:
    return hasattr(item, "app_name") and hasattr(item, "last_update_time") and hasattr(item, "user_id")


def _is_run(item: Any) -> bool:
    return hasattr(item, "session_id") and hasattr(item, "records") and hasattr(item, "events")


def _unfit(source: Any) -> ConfigurationError:
    return ConfigurationError(
        f"A frame can't be made from {source!r:.60}, a {type(source).__name__}; allowed: a Run, a list of events or "
        f"records, sessions, a session service, the path of an SQLite or JSONL file, or a PostgreSQL address."
    )
