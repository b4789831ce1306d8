"""Tells one run of a drawn graph from its message to its end, through as many processes as it is cut into."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any

from adk_nb.events import Event
from adk_nb.events.event import new_id
from adk_nb.events.record import ENDED, NodeRun, Status
from adk_nb.events.request_input import answer_content
from adk_nb.workflow.limits import Limits
from adk_nb.workflow.run_config import RunConfig
from tests.workflow.driving import Conversation, user_text
from tests.workflow.mortal_stores import KilledError, Store
from tests.workflow.random_graphs import Maker
from tests.workflow.random_nodes import Story

MOST_TURNS = 60
"""Calls of the runner until a run must have ended."""


class Lives:
    """One session with one run of one graph, process after process."""

    def __init__(self, make: Maker, store: Store, *, is_limited: bool = True) -> None:
        """Prepare.

        Args:
            make: Makes the graph, anew in each process.
            store: Where the session is.
            is_limited: The limits that were drawn hold.
        """
        self.make, self.store, self.session_id = make, store, new_id()
        self.story = Story(processes=0)
        self.turns = 0
        self.most_node_runs = make.most_node_runs if is_limited else None
        self.before: dict[str, NodeRun] = {}
        """The records of finished runs with which the present process began."""
        self.told: dict[str, NodeRun] = {}
        """The live record of each run that the present process reported, by path."""

    async def begin(self) -> None:
        """Begin a process: a new runner with a new graph on the reopened store."""
        self.story.begin_process()
        self.talk = Conversation(self.make(self.story), await self.store.open(), session_id=self.session_id)
        self.talk.on_run = self._note
        self.told = {}
        root = await self._root()
        records = {} if root is None else await self.talk.records()
        self.before = {path: run for path, run in records.items() if run.is_finished}
        self.story.finished = set(self.before)

    async def live(self, events: int | None = None) -> bool:
        """Go on until the run has ended, or the caller walks away after so many events; say whether it has ended."""
        was_failed = False
        while (options := await self._next()) is not None:
            self.turns += 1
            assert self.turns <= MOST_TURNS, "the run doesn't come to an end"
            stream = self._stream(options)
            async with contextlib.aclosing(stream):
                with contextlib.suppress(ValueError):
                    async for _ in stream:
                        if events is not None and (events := events - 1) <= 0:
                            return False
            root = await self._root()
            if root is not None and root.status is Status.FAILED and was_failed:
                await self.begin()  # what fails in this process may not fail in the next one
            was_failed = root is not None and root.status is Status.FAILED
        return True

    async def live_until_killed(self, writes: int) -> bool:
        """Go on until the process is killed at a write after so many; say whether the run has ended before."""
        self.store.life.left = writes
        try:
            return await self.live()
        except KilledError:
            return False

    async def _next(self) -> dict[str, Any] | None:
        """Return what the next call of the runner asks for, `None` when the run has ended."""
        root = await self._root()
        if root is None:
            return {"new_message": user_text("hi")}
        if root.status is Status.WAITING:
            ids = sorted(question.interrupt_id for _, question in await self.talk.questions())
            chosen = ids if self.make.answers_together else ids[:1]
            return {"new_message": answer_content({one: answer_to(one) for one in chosen})}
        return None if root.status in ENDED else {"invocation_id": root.invocation_id}

    def _stream(self, options: dict[str, Any]) -> AsyncGenerator[Event, None]:
        if self.most_node_runs is not None:
            # Parents run again in every call: with the same limit in each they might take it all.
            limits = Limits(max_node_runs=self.most_node_runs + self.turns)
            options = {**options, "run_config": RunConfig(limits=limits)}
        return self.talk.runner.follow(**self.talk.where, **options, on_run=self._note)

    async def _root(self) -> NodeRun | None:
        return await self.talk.runner.root_run(**self.talk.where)

    def _note(self, run: NodeRun) -> None:
        self.told[run.path] = run
        if run.is_finished:
            self.story.finished.add(run.path)


def answer_to(interrupt_id: str) -> Any:
    """Return the answer to a question, which depends only on its id."""
    if "confirmation" in interrupt_id:
        return {"confirmed": len(interrupt_id) % 3 > 0}
    return len(interrupt_id)
