"""A tree of agents whose process is killed at a write, in every store, and goes on in the next one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from adk_nb.agents import BaseAgent, InvocationContext, LoopAgent, ParallelAgent, SequentialAgent
from adk_nb.events import Event, EventActions, RequestInput
from adk_nb.events.record import NodeRun, Status
from adk_nb.events.request_input import answer_content
from tests.agents.speaking import spoken, text
from tests.workflow.driving import Conversation, user_text
from tests.workflow.mortal_stores import KilledError, OnlyEvents, SqliteStore, Store


class Diary:
    """What the agents of all processes did."""

    def __init__(self) -> None:
        self.finished: set[str] = set()
        self.ran_again: list[str] = []
        self.heard: list[str] = []

    def begin(self, path: str) -> None:
        """Note that a run begins."""
        if path in self.finished:
            self.ran_again.append(path)


class Speaks(BaseAgent):
    """Says its path; escalates in a given run of its name."""

    diary: Any
    escalates_in: str = ""

    async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Event, None]:
        path = ctx.context.node_path
        self.diary.begin(path)
        await asyncio.sleep(0)
        escalate = True if path.endswith(f"/{self.name}@{self.escalates_in}") else None
        yield Event(author=self.name, content=text(path), actions=EventActions(escalate=escalate))


class Asks(BaseAgent):
    """Asks a person and says the answer."""

    diary: Any
    rerun_on_resume: bool = True

    async def _run_impl(self, *, ctx: Any, node_input: Any) -> AsyncGenerator[Any, None]:
        self.diary.begin(ctx.node_path)
        if not ctx.resume_inputs:
            yield RequestInput(interrupt_id=f"q {ctx.node_path}")
            return
        yield Event(author=self.name, content=text(f"heard {next(iter(ctx.resume_inputs.values()))}"))


class Story(BaseAgent):
    """Runs its sub-agents by hand and sums up what they said."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        heard = set()
        for agent in self.sub_agents:
            async for event in agent.run_async(ctx):
                heard |= set(spoken([event]))
                yield event
        yield Event(author=self.name, content=text(f"{len(heard)} things were said"))


def tree(diary: Diary) -> BaseAgent:
    """Return a tree with all that can be open at the same time."""

    def speaks(name: str, escalates_in: str = "") -> Speaks:
        return Speaks(name=name, diary=diary, escalates_in=escalates_in)

    both = ParallelAgent(
        name="both",
        sub_agents=[
            SequentialAgent(name="left", sub_agents=[speaks("a"), Asks(name="asks", diary=diary), speaks("b")]),
            Story(name="story", sub_agents=[speaks("c"), Asks(name="too", diary=diary), speaks("d")]),
        ],
    )
    loop = LoopAgent(name="loop", sub_agents=[speaks("draft"), speaks("judge", "2"), speaks("skipped")])
    return SequentialAgent(name="root", sub_agents=[both, loop, speaks("end")])


class Lives:
    """One run, process after process."""

    def __init__(self, store: Store) -> None:
        self.store, self.diary = store, Diary()

    async def live(self, writes: int | None = None) -> NodeRun:
        """Go on in a new process until the run has ended, or the process is killed at a write after so many."""
        talk = Conversation(tree(self.diary), await self.store.open())
        self.store.life.left = writes
        talk.on_run = self._note
        while True:
            root = await talk.runner.root_run(**talk.where)
            if root is None:
                options: dict[str, Any] = {"new_message": user_text("hi")}
            elif root.status is Status.WAITING:
                ids = sorted(question.interrupt_id for _, question in await talk.questions())
                options = {"new_message": answer_content({ids[0]: len(ids[0])})}
            elif root.status is Status.COMPLETED:
                self.records = await talk.records()
                self.events = await talk.stored()
                return root
            else:
                options = {"invocation_id": root.invocation_id}
            await talk._collect(**options)

    def _note(self, run: NodeRun) -> None:
        if run.is_finished:
            self.diary.finished.add(run.path)


def told(lives: Lives) -> set[tuple[str, str]]:
    """Return what was said, and by whom."""
    return {(author, words) for author, words in spoken(lives.events) if author != "user"}


@pytest.mark.parametrize(("kind", "step"), [(Store, 1), (SqliteStore, 5), (OnlyEvents, 3)])
def test_killed_at_a_write(kind: Callable[[], Store], step: int) -> None:
    """No finished agent runs again, and outputs and all that is said are those of a run that nobody killed."""

    async def test() -> None:
        whole = Lives(kind())
        expected = await whole.live()
        assert expected.output == "root@1/end@1"
        for writes in range(1, whole.store.life.writes, step):
            lives = Lives(kind())
            with pytest.raises(KilledError):
                await lives.live(writes)
            root = await lives.live()
            assert root.output == expected.output
            assert lives.diary.ran_again == [], writes
            outputs = {path: run.output for path, run in lives.records.items()}
            assert outputs == {path: run.output for path, run in whole.records.items()}, writes
            assert told(lives) == told(whole), writes
            await lives.store.close()
        await whole.store.close()

    asyncio.run(test())
