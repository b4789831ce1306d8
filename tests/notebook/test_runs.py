"""`adk_nb.runs`: which runs are stored, newest first, by page."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import adk_nb
from adk_nb.agents import LlmAgent
from adk_nb.errors import ConfigurationError
from adk_nb.events.stored import event_from_json
from adk_nb.notebook.running.runs import COLUMNS
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel
from tests.notebook.test_open_run import boom, flow
from tests.sessions.plain_store import PlainStore


def test_a_row_a_run(tmp_path: Path) -> None:
    """Each run is a row with what it came to: status, events, tokens, open questions, error."""
    store = SqliteSessionService(tmp_path / "s.db")

    async def main() -> None:
        agent = LlmAgent(name="bot", model=ScriptedModel(["one", "two"]))
        runs: list[adk_nb.Run] = []
        for root in (flow(), boom, agent):
            runs.append(await adk_nb.run(root, "hi", sessions=store, user="ada"))
        runs.append(await runs[-1].send("more"))
        frame = adk_nb.runs(store)
        assert list(frame.columns) == list(COLUMNS)
        assert frame.invocation.tolist() == [run.invocation_id for run in reversed(runs)]
        assert frame.root.tolist() == ["bot", "bot", "boom", "flow"]
        assert frame.status.tolist() == ["completed", "completed", "failed", "waiting"]
        assert frame.events.tolist() == [len(run.events) for run in reversed(runs)]
        assert frame.tokens.tolist() == [run.usage.tokens for run in reversed(runs)]
        assert frame.open_questions.tolist() == [0, 0, 0, 1]
        assert frame.error.tolist() == [None, None, "ValueError", None]
        assert (frame.seconds >= 0).all()

    asyncio.run(main())


def test_filters_and_pages() -> None:
    """Filters leave rows out before pages are cut, and pages follow each other without a gap."""
    store = InMemorySessionService()

    async def main() -> None:
        ids = [(await adk_nb.run(flow(), "hi", sessions=store, user=f"u{n % 2}")).session_id for n in range(5)]
        ids.reverse()
        assert adk_nb.runs(store).session.tolist() == ids
        assert [adk_nb.runs(store, limit=2, page=page).session.tolist() for page in (1, 2, 3, 4)] == [
            ids[:2],
            ids[2:4],
            ids[4:],
            [],
        ]
        assert adk_nb.runs(store, user="u0").session.tolist() == ids[::2]
        assert adk_nb.runs(store, session=ids[3]).session.tolist() == [ids[3]]
        assert adk_nb.runs(store, status="waiting", limit=1).session.tolist() == ids[:1]
        assert len(adk_nb.runs(store, root="other")) == len(adk_nb.runs(store, app="other")) == 0
        empty = adk_nb.runs(InMemorySessionService())
        assert {name: str(kind) for name, kind in empty.dtypes.items()} == COLUMNS

    asyncio.run(main())


def test_events_arent_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a store keeps records, a list of runs reads no event, and opens no session behind the page."""
    path = tmp_path / "s.db"

    async def main() -> None:
        for n in range(4):
            await adk_nb.run(flow(), "hi", sessions=SqliteSessionService(path), session=f"s{n}")

    asyncio.run(main())
    read, opened = list[str](), list[Any]()

    def reading(text: str) -> Any:
        read.append(text)
        return event_from_json(text)

    store = SqliteSessionService(path)
    get_session = store.get_session

    async def getting(**names: Any) -> Any:
        opened.append(names["session_id"])
        return await get_session(**names)

    monkeypatch.setattr("adk_nb.sessions.sqlite_session_service.event_from_json", reading)
    monkeypatch.setattr("adk_nb.notebook.running.runs._CLOCK_S", -1e-9)
    monkeypatch.setattr(store, "get_session", getting)
    assert adk_nb.runs(store, limit=2).session.tolist() == ["s3", "s2"]
    assert (read, opened) == ([], ["s3", "s2"])


def test_what_is_refused() -> None:
    """An unknown status, a page below one and a plain store without its app are refused in a sentence."""
    with pytest.raises(ConfigurationError, match="status='done' isn't one; allowed: 'running', 'waiting'"):
        adk_nb.runs("memory", status="done")
    with pytest.raises(ConfigurationError, match="from 1 on"):
        adk_nb.runs("memory", page=0)
    with pytest.raises(ConfigurationError, match="give app="):
        adk_nb.runs(PlainStore())
