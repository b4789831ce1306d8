"""`import_jsonl`: sessions from a text file into a store."""

from __future__ import annotations

import inspect
import os
from dataclasses import replace
from typing import Any

from adk_nb.events.record import Status
from adk_nb.frames.jsonl import sessions_in
from adk_nb.frames.stored_session import StoredSession


async def import_jsonl(path: str | os.PathLike[str], sessions: Any) -> int:
    """Put the sessions of a file that `export_jsonl` wrote into a store, and return how many.

    Events keep their ids and times; node runs are stored with them where the store keeps records, so that a run goes on
    there.

    Args:
        path: The file.
        sessions: A session service of adk_nb.

    Raises:
        AlreadyExistsError: a session with the same ids is in the store; those before it in the file are in it now.
        DataError: the file isn't such a file.

    Example:
        >>> import asyncio, tempfile
        >>> from adk_nb.events.event import Event
        >>> from adk_nb.frames.files import export_jsonl
        >>> from adk_nb.sessions import InMemorySessionService
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     exported = export_jsonl([Event(output=1)], f"{folder}/all.jsonl")
        ...     asyncio.run(import_jsonl(f"{folder}/all.jsonl", InMemorySessionService()))
        1
    """
    count = 0
    for one in sessions_in(os.fspath(path)):
        await _put(one, sessions)
        count += 1
    return count


async def _put(one: StoredSession, service: Any) -> None:
    events = list(one.events())
    written = {key for event in events for key in event.actions.state_delta}
    session = await _settled(
        service.create_session(
            app_name=one.app or "app",
            user_id=one.user or "user",
            session_id=one.id,
            state={key: value for key, value in one.state.items() if key not in written},
        )
    )
    open_log = getattr(service, "open_log", None)
    if open_log is None:
        for event in events:
            await _settled(service.append_event(session, event))
        return
    log = open_log(session)
    for event in events:
        await log.append(event, [])
    records = one.records()
    if records:
        # Stores keep the order of creation and that of completion by when they first see each.
        await log.append(None, [replace(run, status=Status.RUNNING) for run in records])
        await log.append(None, sorted(records, key=lambda run: run.ended_at or float("inf")))


async def _settled(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer
