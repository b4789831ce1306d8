"""`run` gives its nodes artifacts and memory without being asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

from google.genai import types

import adk_nb
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.workflow import Workflow
from adk_nb.workflow.context import Context


async def saves(ctx: Context) -> int:
    """Save another version of an artifact, and remember the session."""
    await ctx.add_session_to_memory()
    return await ctx.save_artifact("a.txt", types.Part(text="x"))


async def finds(ctx: Context) -> list[str]:
    """Return what there is."""
    found = await ctx.search_memory("hello")
    return [*await ctx.list_artifacts(), *(one.author or "" for one in found.memories)]


def test_in_memory() -> None:
    """Runs in one store share artifacts of a session and memories; another store has its own."""

    async def test() -> None:
        store = InMemorySessionService()
        flow = Workflow(name="flow", edges=[("START", saves, finds)])
        run = await adk_nb.run(flow, "hello", sessions=store, session="s", view=False)
        assert run.output == ["a.txt", "user"]
        run = await adk_nb.run(flow, "hello", sessions=store, session="s", view=False)
        assert run.outputs("saves") == [1]
        run = await adk_nb.run(flow, "hello", sessions=InMemorySessionService(), session="s", view=False)
        assert run.outputs("saves") == [0]

    asyncio.run(test())


def test_beside_a_file(tmp_path: Path) -> None:
    """Beside a session file, artifacts are in a folder of its name, and a later kernel finds them."""

    async def test() -> None:
        flow = Workflow(name="flow", edges=[("START", saves)])
        for version in (0, 1):
            async with SqliteSessionService(tmp_path / "mine.db") as store:
                run = await adk_nb.run(flow, "hello", sessions=store, session="s", view=False)
                assert run.output == version
        assert (tmp_path / "mine.artifacts").is_dir()

    asyncio.run(test())
