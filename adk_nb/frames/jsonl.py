"""Sessions as text, one JSON object a line: out of any source, and in again without loss.

A line has one key. `{"session": {...}}` begins a session and names it: `app`, `user`, `id`, `state`, `created_at`,
`updated_at`. The lines after it belong to it: `{"event": {...}}` with ADK's field names, `{"record": {...}}` with those
of `NodeRun`. Values that JSON has no form for are packed as in every store, as `{"$adk_nb": kind, "v": value}`.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from pydantic_core import from_json, to_json

from adk_nb.errors import DataError
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun, run_from_dict
from adk_nb.events.stored import event_from_json, event_to_json, pack_each, run_to_json, unpack_each
from adk_nb.frames.stored_session import StoredSession
from adk_nb.frames.whole_file import written_whole

FIELDS = ("app", "user", "id", "created_at", "updated_at")


def write_sessions(sessions: Iterable[StoredSession], path: str | os.PathLike[str]) -> int:
    """Write sessions to a file, one after the other, and return how many; a name that ends in `.gz` compresses.

    The file is there under its name when all is in it, and not before.
    """
    place = Path(path)
    count = 0
    with written_whole(place) as part, _open(part, "wt", place.suffix == ".gz") as file:
        for session in sessions:
            count += 1
            for line in _lines(session):
                file.write(f"{line}\n")
    return count


def _lines(session: StoredSession) -> Iterator[str]:
    head: dict[str, Any] = {name: getattr(session, name) for name in FIELDS}
    head["state"] = pack_each(session.state)
    yield to_json({"session": head}).decode()
    for event in session.events():
        yield f'{{"event":{event_to_json(event)}}}'
    for run in session.records():
        yield f'{{"record":{run_to_json(run)}}}'


def sessions_in(path: str) -> Iterator[StoredSession]:
    """Give the sessions in a file that `write_sessions` wrote, one after the other.

    Raises:
        DataError: a line isn't one of such a file.
    """
    current: StoredSession | None = None
    events: list[Event] = []
    records: list[NodeRun] = []
    with _open(Path(path), "rt", path.endswith(".gz")) as file:
        for number, line in enumerate(file, 1):
            kind, held = _parsed(line, number, path)
            if kind == "session":
                if current is not None:
                    yield current
                current, events, records = _session(held)
            elif current is None:
                raise DataError(f"{path!r}, line {number}: {kind!r} stands before any session; begin with a session.")
            elif kind == "event":
                events.append(event_from_json(to_json(held).decode()))
            else:
                records.append(run_from_dict(held))
    if current is not None:
        yield current


def _session(held: dict[str, Any]) -> tuple[StoredSession, list[Event], list[NodeRun]]:
    events: list[Event] = []
    records: list[NodeRun] = []
    named: dict[str, Any] = {name: held.get(name) for name in FIELDS}
    state = unpack_each(held.get("state") or {})
    return (
        StoredSession(**named, state=state, read_events=lambda: events, read_records=lambda: records),
        events,
        records,
    )


def _parsed(line: str, number: int, path: str) -> tuple[str, dict[str, Any]]:
    try:
        found = from_json(line)
    except ValueError as error:
        raise DataError(f"{path!r}, line {number} isn't JSON: {error}.") from error
    if isinstance(found, dict) and len(found) == 1:
        kind, held = next(iter(found.items()))
        if kind in ("session", "event", "record") and isinstance(held, dict):
            return kind, held
    raise DataError(
        f"{path!r}, line {number} is {line.strip()!r:.60}; allowed: an object with one key, 'session', 'event' or "
        f"'record'. `export_jsonl` writes such files."
    )


def _open(place: Path, mode: str, is_packed: bool) -> IO[Any]:
    if is_packed:
        return cast("IO[Any]", gzip.open(place, mode, encoding="utf-8"))
    return place.open(mode, encoding="utf-8")
