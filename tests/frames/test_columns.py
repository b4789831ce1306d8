"""Every frame has one set of columns and types, whatever it is made from and however little is in it."""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adk_nb import Runner, Workflow, frames
from adk_nb.events import RequestInput
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from tests.frames.test_sources import fill, shop

adk: Any = importlib.import_module("google.adk")
adk_events: Any = importlib.import_module("google.adk.events")
adk_sessions: Any = importlib.import_module("google.adk.sessions")
adk_sqlite: Any = importlib.import_module("google.adk.sessions.sqlite_session_service")

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL.*"),
    pytest.mark.filterwarnings("ignore:Binding 1:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # google-adk leaves some of its connections
]
ALL: dict[str, Callable[..., Any]] = {
    "events": frames.events_frame,
    "nodes": frames.nodes_frame,
    "calls": frames.calls_frame,
    "messages": frames.messages_frame,
    "state": frames.state_frame,
    "sessions": frames.sessions_frame,
    "runs": frames.runs_frame,
    "timeline": frames.timeline_frame,
    "usage": frames.usage_frame,
}


@pytest.fixture(autouse=True)
def their_connections_are_collected() -> Iterator[None]:
    """Collect google-adk's left-over connections here, where their warning is expected, and not in a later test."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Return the same three sessions in everything that a frame is made from."""
    folder: Path = tmp_path_factory.mktemp("sources")
    ours: dict[str, Any] = {
        "memory": InMemorySessionService(),
        "file": SqliteSessionService(str(folder / "ours.db")),
    }
    theirs: dict[str, Any] = {
        "google memory": adk_sessions.InMemorySessionService(),
        "google file": adk_sqlite.SqliteSessionService(str(folder / "theirs.db")),
        "google database": adk_sessions.DatabaseSessionService(f"sqlite+aiosqlite:///{folder / 'alchemy.db'}"),
    }
    for store in ours.values():
        asyncio.run(fill(store, Runner, shop(Workflow, RequestInput)))
    for store in theirs.values():
        asyncio.run(fill(store, adk.Runner, shop(adk.Workflow, adk_events.RequestInput)))
    frames.export_jsonl(ours["file"], folder / "all.jsonl")
    found: dict[str, Any] = {**ours, **theirs, "path": str(folder / "ours.db"), "text": folder / "all.jsonl"}
    for name, store in (("", ours["memory"]), ("google ", theirs["google memory"])):
        where = {"app_name": "shop", "user_id": "bo", "session_id": "s3"}
        session = asyncio.run(store.get_session(**where))
        found |= {f"{name}session": session, f"{name}sessions": [session], f"{name}events": list(session.events)}
    yield found
    asyncio.run(theirs["google database"].db_engine.dispose())
    gc.collect()


@pytest.mark.parametrize("name", ALL)
def test_columns_are_the_same_from_everywhere_and_when_empty(
    name: str, sources: dict[str, Any], tmp_path: Path
) -> None:
    """From stores, files, sessions and events, ours and google-adk's, full, filtered to nothing, saved and loaded."""
    frame = ALL[name]
    expected = frame([]).dtypes
    for source_name, source in sources.items():
        full = frame(source)
        assert full.dtypes.equals(expected), source_name
        assert len(full) or name in ("calls", "usage"), source_name
        for filters in ({"user": "nobody"}, {"since": "2100-01-01"}, {"session": ["none"]}):
            empty = frame(source, **filters)
            assert empty.dtypes.equals(expected), (source_name, filters)
            assert not len(empty) or "events" in source_name, (source_name, filters)
        for suffix in ("jsonl", "parquet"):
            frames.save_frame(full, tmp_path / f"x.{suffix}")
            assert frames.load_frame(tmp_path / f"x.{suffix}").equals(full), source_name
