"""Drives a root turn by turn in one session, for tests that look at events, records and what a cut leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from google.genai import types

from adk_nb.events import Event
from adk_nb.events.record import NodeRun, Question
from adk_nb.events.request_input import answer_content
from adk_nb.runners import Runner
from adk_nb.runners.records import with_records
from adk_nb.sessions import InMemorySessionService


def user_text(text: str) -> types.Content:
    """Return what a user says."""
    return types.Content(role="user", parts=[types.Part(text=text)])


class Conversation:
    """One session with one root. Every method that runs returns the events of that turn."""

    def __init__(
        self,
        root: Any,
        service: Any = None,
        *,
        session_id: str = "s",
        app_name: str = "app",
        user_id: str = "u",
        **services: Any,
    ) -> None:
        self.service: Any = InMemorySessionService() if service is None else service
        self.runner = Runner(
            node=root, app_name=app_name, session_service=self.service, auto_create_session=True, **services
        )
        self.sessions: Any = with_records(self.service, self.runner.agent)
        """The service, or what reads and keeps records in the events of one that keeps only events."""
        self.where: dict[str, Any] = {"user_id": user_id, "session_id": session_id}
        self.app_name = app_name
        self.changes: list[tuple[str, str]] = []
        """Path and status of each change of a record, in order."""
        self.on_run: Callable[[NodeRun], None] | None = None
        """Told of each change of a record, too."""

    async def say(self, text: str = "hi", **options: Any) -> list[Event]:
        """Start a run with a message."""
        return await self._collect(new_message=user_text(text), **options)

    async def answer(self, answers: dict[str, Any] | None = None, /, **more: Any) -> list[Event]:
        """Answer open questions, by id."""
        return await self._collect(new_message=answer_content({**(answers or {}), **more}))

    async def go_on(self, invocation_id: str | None = None) -> list[Event]:
        """Continue the newest run, or a given one, without a message."""
        if invocation_id is None:
            invocation_id = (await self.root()).invocation_id
        return await self._collect(invocation_id=invocation_id)

    async def fail(self, error: type[BaseException], turn: Coroutine[Any, Any, list[Event]]) -> BaseException:
        """Run a turn that has to raise `error`; return what it raised. Its events are in `last`."""
        try:
            await turn
        except error as raised:
            return raised
        raise AssertionError(f"the turn should have raised {error.__name__}")

    async def cut_after(self, count: int, **options: Any) -> list[Event]:
        """Start or continue a run, and walk away after that many events."""
        options = options or {"new_message": user_text("hi")}
        stream = self.runner.follow(**self.where, on_run=self._note, **options)
        events = []
        async with contextlib.aclosing(stream):
            if count == 0:
                return []
            async for event in stream:
                events.append(event)
                if len(events) >= count:
                    break
        return events

    async def root(self) -> NodeRun:
        """Return the record of the newest run's root."""
        run = await self.runner.root_run(**self.where)
        assert run is not None
        return run

    async def questions(self) -> list[tuple[NodeRun, Question]]:
        """Return the open questions of the newest run."""
        return await self.runner.open_questions(**self.where)

    async def stored(self) -> list[Event]:
        """Return all events that the session keeps."""
        session = await self.sessions.get_session(app_name=self.app_name, **self.where)
        return list(session.events)

    async def state(self) -> dict[str, Any]:
        """Return the session's stored state."""
        session = await self.sessions.get_session(app_name=self.app_name, **self.where)
        return dict(session.state)

    async def records(self) -> dict[str, NodeRun]:
        """Return all stored records of the newest run, by path."""
        session = await self.sessions.get_session(app_name=self.app_name, **self.where)
        log = self.sessions.open_log(session)
        invocation_id = (await self.root()).invocation_id
        found: dict[str, NodeRun] = {}
        parents = [""]
        while parents:
            for run in await log.child_runs(invocation_id, parents.pop()):
                found[run.path] = run
                parents.append(run.path)
        return found

    async def _collect(self, **options: Any) -> list[Event]:
        self.last: list[Event] = []
        async for event in self.runner.follow(**self.where, on_run=self._note, **options):
            self.last.append(event)
        return self.last

    def _note(self, run: NodeRun) -> None:
        if self.on_run is not None:
            self.on_run(run)
        self.changes.append((run.path, str(run.status)))


def lines(events: Sequence[Event]) -> list[tuple[str, Any]]:
    """Return what each event says in short: its path, and its output, `?id` for a question or `!Error` for an error."""
    return [(event.node_info.path, _said(event)) for event in events]


def outputs(events: Sequence[Event]) -> dict[str, Any]:
    """Return the outputs by path, for events with an output."""
    return {event.node_info.path: event.output for event in events if event.output is not None}


def claimed(event: Event) -> list[str]:
    """Return the paths whose output an event is, without its own."""
    return [path for path in event.node_info.output_for or [] if path != event.node_info.path]


HANGS_AFTER_S = 60


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's coroutine to its end, and fail when it leaves a task behind."""

    async def whole() -> None:
        before = asyncio.all_tasks()
        running = asyncio.ensure_future(test())
        if not (await asyncio.wait([running], timeout=HANGS_AFTER_S))[0]:
            for task in asyncio.all_tasks() - before:
                task.print_stack(limit=4)
            raise AssertionError(f"still not done after {HANGS_AFTER_S} s; stacks of the tasks are above")
        running.result()
        await asyncio.sleep(0)
        left = [task for task in asyncio.all_tasks() - before if not task.done()]
        assert not left, f"tasks left behind: {left}"

    asyncio.run(whole())


def _said(event: Event) -> Any:
    if event.error_code:
        return f"!{event.error_code}"
    if event.long_running_tool_ids:
        return "?" + ",".join(sorted(event.long_running_tool_ids))
    return event.output
