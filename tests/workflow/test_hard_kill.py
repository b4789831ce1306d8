"""The process is killed without warning, a new one goes on from the database file: nothing finished happens again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adk_nb.events.record import Status
from adk_nb.sessions import SqliteSessionService
from tests.workflow.driving import Conversation

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__)


class Shop:
    """Where side effects go: one line in a file each, so that they are counted over all processes."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "effects.txt"
        self.database = folder / "sessions.db"

    def note(self, text: str) -> None:
        """Write one side effect down, for good."""
        with self.log.open("a") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())

    def effects(self) -> list[str]:
        """Return all side effects so far."""
        return self.log.read_text().splitlines() if self.log.exists() else []


def inbox(shop: Shop) -> Any:
    """Return the support inbox, whose agents and functions write down that they ran."""
    from adk_nb import Agent, Event, Workflow
    from adk_nb.events import RequestInput
    from adk_nb.testing import FunctionModel

    def classify(request: Any) -> dict[str, str]:
        shop.note("classifier asked")
        return {"category": "BILLING", "summary": "charged twice"}

    classifier = Agent(name="classifier", model=FunctionModel(classify), instruction="Classify.", output_schema=dict)

    def router(node_input: dict[str, str]) -> Event:
        shop.note("routed")
        return Event(output=node_input, route=node_input["category"])

    def log_case() -> None:
        shop.note("case logged")

    def approve_refund(node_input: dict[str, str]) -> Any:
        yield RequestInput(interrupt_id="approve", message=f"Refund: {node_input['summary']}?")

    def issue_refund(node_input: str) -> str:
        shop.note("refund issued")
        return "Refund issued." if node_input == "yes" else "Refund declined."

    def thank(node_input: str) -> str:
        shop.note("thanked")
        return f"{node_input} Sorry!"

    return Workflow(
        name="ticket_workflow",
        edges=[
            ("START", classifier, log_case),
            (classifier, router),
            (router, {"BILLING": approve_refund, "BUG": thank}),
            (approve_refund, issue_refund, thank),
        ],
    )


def conversation(shop: Shop) -> Conversation:
    """Return a conversation kept in the shop's file."""
    return Conversation(inbox(shop), SqliteSessionService(str(shop.database)))


async def live(folder: Path, deadly: int, step: str) -> None:
    """Be a process: start or answer, and die by SIGKILL when the event with this number is out."""
    shop = Shop(folder)
    talk = conversation(shop)
    options: dict[str, Any] = {}
    if step == "start":
        from google.genai import types

        options = {"new_message": types.UserContent("I was charged twice")}
    elif step == "answer":
        options = {"answers": {"approve": "yes"}}
    else:
        options = {"invocation_id": (await talk.root()).invocation_id}
    count = 0
    async for _ in talk.runner.follow(**talk.where, **options):
        count += 1
        if count == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def in_a_process(folder: Path, deadly: int, step: str) -> None:
    """Run `live` in a process of its own, until it is killed."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), json.dumps([str(folder), deadly, step])],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_killed_at_the_pause(tmp_path: Path) -> None:
    """Killed while a person is asked: the answer in a new process issues the refund once and asks no model again."""
    in_a_process(tmp_path, 0, "start")
    shop = Shop(tmp_path)
    assert sorted(shop.effects()) == ["case logged", "classifier asked", "routed"]

    async def afterwards() -> None:
        talk = conversation(shop)
        ((_, question),) = await talk.questions()
        assert question.message == "Refund: charged twice?"
        await talk.answer(approve="yes")
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, "Refund issued. Sorry!")
        assert await talk.go_on() == []
        await talk.service.close()

    asyncio.run(afterwards())
    assert sorted(shop.effects()) == ["case logged", "classifier asked", "refund issued", "routed", "thanked"]


@pytest.mark.slow
def test_killed_after_each_event_in_turn(tmp_path: Path) -> None:
    """Kill a new process after its first event again and again: each thing is done once and the outcome is the same."""
    in_a_process(tmp_path, 1, "start")
    shop = Shop(tmp_path)
    for _ in range(10):
        if asyncio.run(open_question(shop)):
            break
        in_a_process(tmp_path, 1, "go on")
    in_a_process(tmp_path, 1, "answer")
    for _ in range(10):
        root = asyncio.run(root_of(shop))
        if root.status is Status.COMPLETED:
            break
        in_a_process(tmp_path, 1, "go on")
    assert root.output == "Refund issued. Sorry!"
    effects = shop.effects()
    # What ran when the process died, and hadn't finished, may have happened; everything else happened once.
    assert sorted(set(effects)) == ["case logged", "classifier asked", "refund issued", "routed", "thanked"]
    assert effects.count("refund issued") == 1
    assert effects.count("classifier asked") == 1


async def open_question(shop: Shop) -> bool:
    """Say whether a question is open."""
    talk = conversation(shop)
    try:
        return bool(await talk.questions())
    finally:
        await talk.service.close()


async def root_of(shop: Shop) -> Any:
    """Return the root's record."""
    talk = conversation(shop)
    try:
        return await talk.root()
    finally:
        await talk.service.close()


if __name__ == "__main__":
    where, deadly_event, what = json.loads(sys.argv[1])
    asyncio.run(live(Path(where), deadly_event, what))
