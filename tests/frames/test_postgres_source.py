"""Frames of what adk_nb and google-adk keep in PostgreSQL, read and never touched."""

from __future__ import annotations

import asyncio
import gc
import importlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adk_nb import Runner, Workflow
from adk_nb.errors import SessionStoreError
from adk_nb.events import RequestInput
from adk_nb.frames import events_frame, messages_frame, nodes_frame, pages, sessions_frame, state_frame, usage_frame
from adk_nb.sessions import DatabaseSessionService, InMemorySessionService
from tests.frames.test_sources import comparable, fill, shop
from tests.sessions.conftest import program

adk: Any = importlib.import_module("google.adk")
adk_events: Any = importlib.import_module("google.adk.events")
adk_sessions: Any = importlib.import_module("google.adk.sessions")

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL.*"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # google-adk leaves some of its connections
]
FRAMES: tuple[Callable[..., Any], ...] = (
    events_frame,
    nodes_frame,
    messages_frame,
    state_frame,
    sessions_frame,
    usage_frame,
)


def told_by_psql(folder: Path, url: str, command: str) -> str:
    """Return what the server says to a command, as the user that the address names."""
    user = url.partition("//")[2].partition("@")[0]
    told: list[str | Path] = [
        program("psql"),
        "-h",
        folder,
        "-U",
        user,
        "-q",
        "-A",
        "-t",
        "-d",
        "postgres",
        "-c",
        command,
    ]
    return str(subprocess.run(told, check=True, capture_output=True, text=True).stdout)


def reader_of(folder: Path, url: str) -> str:
    """Return the address of a second user, who may read the tables of the first and nothing else."""
    owner = url.partition("//")[2].partition("@")[0]
    reader = f"{owner}_reader"
    commands = (
        f"CREATE ROLE {reader} LOGIN; GRANT USAGE ON SCHEMA {owner} TO {reader}; "
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {owner} TO {reader}; ALTER ROLE {reader} SET search_path = {owner}"
    )
    told_by_psql(folder, "//tester@", commands)
    return url.replace(owner, reader, 1)


def contents(folder: Path, url: str, tables: str) -> str:
    """Return all rows of some tables with the transactions that wrote them last."""
    return "".join(told_by_psql(folder, url, f"SELECT xmin, ctid, * FROM {name}") for name in tables.split())


def test_what_google_adk_wrote_is_read_by_a_user_who_may_only_read(postgres_server: Path, postgres_url: str) -> None:
    """Frames of google-adk's database are those of ours with the same runs; its rows and tables stay as they are."""

    async def write() -> Any:
        service = adk_sessions.DatabaseSessionService(postgres_url.replace("postgresql:", "postgresql+asyncpg:"))
        await fill(service, adk.Runner, shop(adk.Workflow, adk_events.RequestInput))
        await service.db_engine.dispose()
        return service

    service = asyncio.run(write())
    ours = InMemorySessionService()
    asyncio.run(fill(ours, Runner, shop(Workflow, RequestInput)))
    tables = "sessions events app_states user_states adk_internal_metadata"
    before = contents(postgres_server, postgres_url, tables)
    columns = ["path", "kind", "output", "question", "text", "session", "user", "app", "route"]
    for source in (service, postgres_url, reader_of(postgres_server, postgres_url)):
        assert events_frame(source)[columns].equals(events_frame(ours)[columns])
        nodes: Any = nodes_frame(source, session="s3").set_index("path")
        assert nodes.loc["shop@1/sure@1", "status"] == "waiting"
        for frame in FRAMES:
            found, expected = frame(source), frame(ours)
            assert found.dtypes.equals(expected.dtypes)
            assert frame(source, user="nobody").dtypes.equals(expected.dtypes)
        states: Any = sessions_frame(source, user="ada")["state"]
        assert states.tolist() == ['{"seen": {"n": 1}, "user:lang": "en"}'] * 2
        assert sum(len(page) for page in pages(source, rows=2)) == len(events_frame(ours))
        seen: Any = sessions_frame(source).set_index("session")
        last: Any = events_frame(source).groupby("session")["time"].max()
        assert abs((seen["updated"] - last).dt.total_seconds()).max() < 1
    assert contents(postgres_server, postgres_url, tables) == before


def test_our_own_database_gives_the_frames_of_the_other_stores(postgres_server: Path, postgres_url: str) -> None:
    """A service, its address and a user who may only read give the same rows, columns and types as memory does."""
    ours = InMemorySessionService()
    asyncio.run(fill(ours, Runner, shop(Workflow, RequestInput)))
    theirs = DatabaseSessionService(postgres_url)

    async def write() -> None:
        await fill(theirs, Runner, shop(Workflow, RequestInput))
        await theirs.close()

    asyncio.run(write())
    for source in (theirs, postgres_url, reader_of(postgres_server, postgres_url)):
        for frame in (events_frame, nodes_frame):
            assert comparable(frame(source)).equals(comparable(frame(ours)))
            assert comparable(frame(source, user="bo")).equals(comparable(frame(ours, user="bo")))


def test_who_stops_reading_leaves_nothing_open(postgres_server: Path, postgres_url: str) -> None:
    """A page asked for and the rest left: the connection is given back, and nothing is said of it later."""
    theirs = DatabaseSessionService(postgres_url)

    async def write() -> None:
        await fill(theirs, Runner, shop(Workflow, RequestInput))
        await theirs.close()

    asyncio.run(write())
    left: Any = pages(postgres_url, rows=1)
    assert len(next(left)) == 1
    left.close()
    del left
    gc.collect()
    user = postgres_url.partition("//")[2].partition("@")[0]
    count = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{user}' AND state LIKE 'idle%'"
    # The server needs a moment to see that a connection is gone.
    assert any(told_by_psql(postgres_server, "//tester@", count).strip() == "0" for _ in range(100))


def test_a_database_without_sessions_is_told_in_a_sentence(postgres_url: str) -> None:
    """An empty database and a server that isn't there are refused, without the password in the message."""
    with pytest.raises(SessionStoreError, match="holds no sessions"):
        events_frame(postgres_url)
    with pytest.raises(SessionStoreError, match="can't be read") as refused:
        events_frame("postgresql://ada:secret@/nowhere?host=/nowhere")
    assert "secret" not in str(refused.value)
