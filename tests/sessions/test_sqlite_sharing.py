"""One file, used from all over one process: its own writers queue, and it notices when the file is taken away."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from adk_nb.errors import SessionStoreError
from adk_nb.events import Event, RequestInput
from adk_nb.sessions import SqliteSessionService
from adk_nb.workflow import Workflow, node
from tests.workflow.driving import Conversation, run

APP: dict[str, Any] = {"app_name": "app", "user_id": "u"}


def test_the_move_of_the_log_is_waited_for(tmp_path: Path) -> None:
    """While the process's own thread keeps writers out of the file, however long, they wait and none fails."""
    path = tmp_path / "sessions.db"

    async def test() -> None:
        async with SqliteSessionService(path, lock_timeout=0) as service:
            session = await service.create_session(**APP)
            reader = sqlite3.connect(path, isolation_level=None)
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM adk_nb_steps").fetchall()  # the move waits for it, holding the file
            for number in range(2100):
                await service.append_event(session, Event(author="x", output=number))
            reader.close()
            found = await service.get_session(**APP, session_id=session.id)
            assert found is not None
            assert [event.output for event in found.events] == list(range(2100))

    run(test)


def test_services_of_one_process_queue_for_a_file(tmp_path: Path) -> None:
    """Event loops of several threads, each with a service of its own on one file, never find it locked."""
    path = tmp_path / "sessions.db"
    counts: list[int] = []

    async def use(name: str) -> None:
        async with SqliteSessionService(path, lock_timeout=0) as service:
            session = await service.create_session(**APP, session_id=name)
            for number in range(300):
                await service.append_event(session, Event(author="x", output=number, state={"app:last": number}))
            found = await service.get_session(**APP, session_id=name)
            assert found is not None
            counts.append(len(found.events))

    threads = [threading.Thread(target=asyncio.run, args=(use(f"s{i}"),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [300] * 4


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_file_that_was_taken_away_is_noticed(tmp_path: Path, how: str) -> None:
    """What would go into a file that nobody can open any more is refused, and goes on when the file is put back."""
    path, aside = tmp_path / "sessions.db", tmp_path / "aside.db"

    def take_away() -> None:
        path.rename(aside)
        if how == "replaced":
            path.touch()

    async def test() -> None:
        ask = node(lambda: RequestInput(interrupt_id="q", message="?"), name="ask")
        talk = Conversation(Workflow(name="w", edges=[("START", ask)]), SqliteSessionService(path))
        await talk.say()
        take_away()
        for turn in (talk.answer(q="lost"), talk.say("lost")):
            assert "was deleted or replaced while it was open" in str(await talk.fail(SessionStoreError, turn))
        with pytest.raises(SessionStoreError, match="put it back"):
            await talk.service.create_session(**APP)
        aside.rename(path)
        await talk.answer(q="kept")
        assert (await talk.root()).output == "kept"
        take_away()
        await talk.service.close()
        fresh = Conversation(node(lambda: 1, name="one"), talk.service, session_id="fresh")
        await fresh.say()
        assert (await fresh.root()).output == 1
        await talk.service.close()

    run(test)


@pytest.mark.parametrize("asks", [False, True])
def test_a_file_that_is_taken_away_in_a_run_is_noticed(tmp_path: Path, asks: bool) -> None:
    """A run whose file was deleted while it ran says so at its end, or when it pauses, and doesn't seem kept."""
    path = tmp_path / "sessions.db"

    def body() -> Any:
        for part in tmp_path.iterdir():
            part.unlink()
        return RequestInput(interrupt_id="q", message="?") if asks else 1

    async def test() -> None:
        talk = Conversation(node(body, name="a"), SqliteSessionService(path))
        await talk.fail(SessionStoreError, talk.say())
        await talk.service.close()

    run(test)
