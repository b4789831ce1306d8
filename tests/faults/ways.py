"""The ways in which one workflow can be run: what holds in one has to hold in all of them.

A way is a store, whether the turns of a run share a process, and where the workflow stands: alone, as a node of
another workflow, or started with `ctx.run_node`. `Staged` runs a workflow in one way, so that a test says only what
the workflow is and what has to come out.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.genai import types

from adk_nb.events import Event, RequestInput
from adk_nb.events.record import NodeRun
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.workflow import BaseNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.sessions.plain_store import PlainStore
from tests.workflow.driving import Conversation


@dataclass(frozen=True)
class Way:
    """One way to run a workflow."""

    store: str
    """`memory`, `file`, or `plain`: a store of someone else's with ADK's interface and nothing more."""
    process: str
    """`same`: one runner and one workflow object for all turns; `new`: each turn builds them, and the store, anew."""
    place: str
    """`alone`, `nested` in another workflow, or `dynamic`: started by a node of another workflow."""

    def __str__(self) -> str:
        return f"{self.store}-{self.process}-{self.place}"


WAYS = (
    Way("memory", "same", "alone"),
    Way("file", "new", "alone"),
    Way("memory", "new", "nested"),
    Way("file", "same", "nested"),
    Way("memory", "same", "dynamic"),
    Way("file", "new", "dynamic"),
    Way("plain", "new", "alone"),
    Way("plain", "same", "nested"),
    Way("plain", "new", "dynamic"),
)
"""Every two choices stand together in at least one of them, but for a plain store's in one process."""


class Staged:
    """One session with one workflow, in one way. The methods that run return the root's record after the turn."""

    def __init__(self, way: Way, folder: Path, build: Callable[[], BaseNode]) -> None:
        """Prepare to run what `build` returns; it is called again whenever the way wants a new process."""
        self.way = way
        self._file = folder / "sessions.db"
        self._build = build
        self._memory = InMemorySessionService()
        self._plain = PlainStore()
        self._talk: Conversation | None = None
        self.error: BaseException | None = None
        """What the last turn raised."""
        self.events: list[Event] = []
        """The events of the last turn."""

    @property
    def talk(self) -> Conversation:
        """The conversation of the present process."""
        if self._talk is None:
            self._talk = Conversation(placed(self._build(), self.way.place), self._store())
        return self._talk

    async def say(self, text: str = "hi", **options: Any) -> NodeRun:
        """Start a run with a message."""
        return await self._turn(lambda talk: talk.say(text, **options))

    async def answer(self, **answers: Any) -> NodeRun:
        """Answer open questions, by id."""
        return await self._turn(lambda talk: talk.answer(answers))

    async def send(self, message: types.Content, **options: Any) -> NodeRun:
        """Send any message, with options of the runner."""
        return await self._turn(lambda talk: talk._collect(new_message=message, **options))

    async def go_on(self) -> NodeRun:
        """Continue the newest run without a message."""
        return await self._turn(lambda talk: talk.go_on())

    async def questions(self) -> list[str]:
        """Return the ids of the open questions, oldest first."""
        return [question.interrupt_id for _, question in await self.talk.questions()]

    async def asked(self) -> list[str]:
        """Return the ids of all questions that were published, in order."""
        events = await self.talk.stored()
        return [one for event in events for one in sorted(event.long_running_tool_ids or ())]

    async def records(self) -> dict[str, NodeRun]:
        """Return the records by their path below the workflow, the workflow's own under an empty path."""
        own = f"{PREFIXES[self.way.place]}{self._build().name}@1"
        records = await self.talk.records()
        return {path.removeprefix(own).removeprefix("/"): run for path, run in records.items() if path.startswith(own)}

    async def warnings(self) -> str:
        """Return everything that the run says it ended short of: its notes, and its error."""
        root = await self.talk.root()
        return "; ".join([*root.notes, root.error_message or ""])

    async def close(self) -> None:
        """Close the store."""
        if self._talk is not None and isinstance(self._talk.service, SqliteSessionService):
            await self._talk.service.close()

    async def _turn(self, begin: Callable[[Conversation], Coroutine[Any, Any, list[Event]]]) -> NodeRun:
        if self.way.process == "new":
            await self.close()
            self._talk = None
        talk = self.talk
        self.error = None
        try:
            await begin(talk)
        except Exception as error:  # noqa: BLE001  # each test says which one it expects
            self.error = error
        self.events = talk.last
        return await talk.root()

    def _store(self) -> Any:
        if self.way.store == "file":
            return SqliteSessionService(self._file)
        return self._memory if self.way.store == "memory" else self._plain


PREFIXES = {"alone": "", "nested": "outer@1/", "dynamic": "outer@1/caller@1/"}
"""Where a workflow's path begins, by place."""


def placed(workflow: BaseNode, place: str) -> BaseNode:
    """Return a root that runs a workflow in a place and hands on what it hands on."""
    if place == "alone":
        return workflow
    if place == "nested":
        return Workflow(
            name="outer", edges=[("START", workflow, node(lambda node_input: node_input, name="handed_on"))]
        )

    async def caller(ctx: Context, node_input: Any) -> Any:
        return await ctx.run_node(workflow, node_input)

    return Workflow(name="outer", edges=[("START", node(caller, rerun_on_resume=True))])


def asker(interrupt_id: str, name: str = "", **options: Any) -> BaseNode:
    """Return a node that asks one question, whose answer becomes its output."""
    return node(lambda: RequestInput(interrupt_id=interrupt_id, **options), name=name or f"ask_{interrupt_id}")


def giver(value: Any, name: str) -> BaseNode:
    """Return a node that hands on a value."""
    return node(lambda: value, name=name)


def show() -> BaseNode:
    """Return a node that hands on how its input prints."""
    return node(lambda node_input: repr(node_input), name="show")
