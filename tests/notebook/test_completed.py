"""`run.completed()`: through the answers of a person where clicks arrive, with a hint where they can't."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from adk_nb.notebook.running import run as run_module
from adk_nb.notebook.running.starts import run
from tests.notebook.test_run_view import FLOW, Page, drive, page, question_key, shown

__all__ = ["page"]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that tasks bring about."""
    while not condition():  # noqa: ASYNC110  # what brings it about sets no event
        await asyncio.sleep(0.01)


def test_it_waits_through_the_answers(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the page answers a ping, it comes back when the run is over."""
    monkeypatch.setattr(run_module, "front_end", lambda: "live")

    async def main() -> None:
        made = shown(run(FLOW, "x", sessions="memory"))
        waiting = asyncio.ensure_future(made.completed())
        await until(lambda: bool(page.sent("ping")))
        page.say(kind="pong")
        await asyncio.sleep(0.3)
        assert not waiting.done()
        page.say(kind="answer", key=question_key(page), entry=None, json='{"limit": 5}')
        assert (await waiting) is made
        assert (made.output, made.warnings) == ({"paid": 5}, [])

    drive(main)


def test_a_page_that_is_silent_is_not_waited_for(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that keeps clicks for later answers no ping: the run comes back at the pause and says what to do."""
    monkeypatch.setattr(run_module, "front_end", lambda: "live")
    monkeypatch.setattr(run_module, "CLICK_S", 0.4)

    async def main() -> None:
        made = await run(FLOW, "x", sessions="memory", view=False).completed()
        assert made.status == "waiting"
        (said,) = made.warnings
        assert said.startswith("This kernel hears no clicks while a cell waits")
        assert "'q' of node 'ask'" in said
        assert "hears no clicks" in page.outputs[-1]["text/html"]
        assert len(page.sent("ping")) == 2
        await made.respond({"limit": 5})
        assert (await made.completed()).output == {"paid": 5}

    drive(main)


@pytest.mark.parametrize("looked_at", ["none", "static"])
def test_without_anybody_it_ends_at_once(looked_at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In plain code and in a notebook that a program runs, nothing is waited for and the question is named."""
    monkeypatch.setattr(run_module, "front_end", lambda: looked_at)

    async def main() -> None:
        made = await run(FLOW, "x", sessions="memory", view=False).completed()
        assert made.status == "waiting"
        assert made.warnings == [
            "Nobody can answer here: await run.respond(answer) does, or answers= beforehand. Open: 'q' of node 'ask'."
        ]

    drive(main)
