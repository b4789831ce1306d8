"""`Runner`: a session and a root node become a stream of events."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import dataclasses
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, Self

from google.genai import types

from adk_nb.errors import (
    AnswerError,
    ConfigurationError,
    DataError,
    EngineError,
    InvocationNotFoundError,
    SessionNotFoundError,
)
from adk_nb.events.event import Event, new_id
from adk_nb.events.record import NodeRun, Question, Status
from adk_nb.events.request_input import answer_content, unwrap_answer
from adk_nb.events.state import State
from adk_nb.events.values import snapshot
from adk_nb.sessions.in_memory_session_service import InMemorySessionService
from adk_nb.workflow.answers import check_answer, read_answer
from adk_nb.workflow.build import build_root
from adk_nb.workflow.channel import Channel
from adk_nb.workflow.context import InvocationContext
from adk_nb.workflow.engine import Engine, OnRun
from adk_nb.workflow.ports import KeepsRuns, RunLog
from adk_nb.workflow.run_config import RunConfig

_inside: contextvars.ContextVar[frozenset[tuple[object, ...]]] = contextvars.ContextVar("inside", default=frozenset())
"""The sessions with a run that this code is a part of."""


class Runner:
    """Runs a root agent, workflow or node in sessions.

    Example:
        >>> import asyncio
        >>> from adk_nb.events.event import to_content
        >>> from adk_nb.workflow import Workflow
        >>> def shout(node_input: str) -> str:
        ...     return node_input.upper()
        >>> async def main():
        ...     runner = InMemoryRunner(node=Workflow(name="flow", edges=[("START", shout)]))
        ...     session = await runner.session_service.create_session(app_name=runner.app_name, user_id="ada")
        ...     hello = to_content("hi")
        ...     stream = runner.run_async(user_id="ada", session_id=session.id, new_message=hello)
        ...     return [event.output async for event in stream]
        >>> asyncio.run(main())
        ['HI']
    """

    def __init__(
        self,
        *,
        app: Any = None,
        app_name: str | None = None,
        agent: Any = None,
        node: Any = None,
        plugins: Any = None,
        session_service: Any,
        artifact_service: Any = None,
        memory_service: Any = None,
        credential_service: Any = None,
        plugin_close_timeout: float = 5.0,
        auto_create_session: bool = False,
    ) -> None:
        """Prepare to run.

        Args:
            app: An app as root; not there yet, so it is refused.
            app_name: Under which name sessions are kept; the default is the node's name.
            agent: The root, an agent; needs `app_name`.
            node: The root, any node.
            plugins: Not there yet, so any are refused.
            session_service: Where sessions are kept.
            artifact_service: Kept as an attribute; nodes can't reach it yet.
            memory_service: Kept as an attribute; nodes can't reach it yet.
            credential_service: Kept as an attribute; nodes can't reach it yet.
            plugin_close_timeout: Seconds that plugins may take to close; there are none yet.
            auto_create_session: Make a session that isn't there yet.
        Raises:
            ConfigurationError: not exactly one root is given, an agent without `app_name`, an app or plugins.
        """
        if app is not None or plugins:
            raise ConfigurationError(
                "Apps and plugins are not there yet: give agent= with app_name=, or node=, and leave the rest out."
            )
        if agent is not None and node is not None:
            raise ConfigurationError("Only one of app, agent, or node can be the root: give one of them.")
        if agent is None and node is None:
            raise ConfigurationError("One of app, agent, or node must be given as the root.")
        if agent is not None and app_name is None:
            raise ConfigurationError("app_name is required with agent=: give the name to keep sessions under.")
        self.agent = build_root(agent if agent is not None else node)
        self.app_name = app_name or self.agent.name
        self.session_service = session_service
        self.artifact_service = artifact_service
        self.memory_service = memory_service
        self.credential_service = credential_service
        self.auto_create_session = auto_create_session

    def run_async(
        self,
        *,
        user_id: str,
        session_id: str,
        invocation_id: str | None = None,
        new_message: types.Content | None = None,
        state_delta: dict[str, Any] | None = None,
        run_config: RunConfig | None = None,
        yield_user_message: bool = False,
        abort_signal: asyncio.Event | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Run until the root ends or waits for a person, and yield each event once it is stored.

        Args:
            user_id: Whose session it is.
            session_id: Which session.
            invocation_id: Continue this run; a message of answers finds its run itself.
            new_message: What the user says: a new run starts with it. Function responses answer open questions.
            state_delta: State written before the run starts.
            run_config: Settings of this call.
            yield_user_message: Yield the user's own event, too.
            abort_signal: Not there yet, so one is refused; closing the generator stops the run.
        Raises:
            ConfigurationError: an `abort_signal` is given.
            SessionNotFoundError: there is no such session.
            AnswerError: an answer doesn't fit or its question isn't open; nothing was stored.
            Exception: what the first failing node raised, after all events.
        """
        if abort_signal is not None:
            raise ConfigurationError(
                "abort_signal is not there yet: close the generator, or cancel the task that reads it."
            )
        return self.follow(
            user_id=user_id,
            session_id=session_id,
            invocation_id=invocation_id,
            new_message=new_message,
            state_delta=state_delta,
            run_config=run_config,
            yield_user_message=yield_user_message,
        )

    async def follow(
        self,
        *,
        user_id: str,
        session_id: str,
        invocation_id: str | None = None,
        new_message: types.Content | None = None,
        answers: Mapping[str, Any] | None = None,
        state_delta: dict[str, Any] | None = None,
        run_config: RunConfig | None = None,
        yield_user_message: bool = False,
        on_run: OnRun | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Do what `run_async` does, and report each change of a node run's record.

        Args:
            user_id: As in `run_async`.
            session_id: As in `run_async`.
            invocation_id: As in `run_async`.
            new_message: As in `run_async`.
            answers: Answers to open questions by interrupt id, taken exactly as they are.
            state_delta: As in `run_async`.
            run_config: As in `run_async`.
            yield_user_message: As in `run_async`.
            on_run: Called on the event loop with the live record whenever it changed; it must be quick, and copy what
                it keeps.
        """
        session = await self._session(user_id, session_id)
        async with self._held(session, invocation_id):
            session = await self._session(user_id, session_id)
            log = self._log(session)
            call = _Call(self.agent, session, log, invocation_id, new_message, answers, state_delta)
            run, user_event = await call.begin(on_run)
            invocation = InvocationContext(
                invocation_id=run.invocation_id,
                session=session,
                root=self.agent,
                user_content=run.input if isinstance(run.input, types.Content) else None,
                run_config=run_config,
            )
            if user_event is not None and yield_user_message:
                yield user_event
            channel = Channel()
            engine = Engine(invocation=invocation, log=log, deliver=channel.put, on_run=on_run)
            task = asyncio.create_task(
                engine.run_root(self.agent, run, is_fresh=call.is_new), context=self._context_in(session)
            )
            task.add_done_callback(channel.close)
            try:
                while (event := await channel.get()) is not None:
                    yield event
            finally:
                channel.abandon()
                engine.is_ending = True
                if not task.done():
                    task.cancel()
                    await asyncio.wait([task])
            await task

    async def close(self) -> None:
        """Write out what the session service still holds."""
        await self.session_service.flush()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def root_run(self, *, user_id: str, session_id: str, invocation_id: str | None = None) -> NodeRun | None:
        """Return the root's record of an invocation, or of the newest one; `None` when nothing ran."""
        return await self._log(await self._session(user_id, session_id)).root_run(invocation_id)

    async def open_questions(
        self, *, user_id: str, session_id: str, invocation_id: str | None = None
    ) -> list[tuple[NodeRun, Question]]:
        """Return the questions that wait for an answer, oldest first, each with the run that asked."""
        log = self._log(await self._session(user_id, session_id))
        root = await log.root_run(invocation_id)
        if root is None:
            return []
        found = [(run, q) for run in await log.open_runs(root.invocation_id) for q in run.open_questions]
        return sorted(found, key=lambda pair: pair[1].asked_at)

    async def _session(self, user_id: str, session_id: str) -> Any:
        service = self.session_service
        session = await service.get_session(app_name=self.app_name, user_id=user_id, session_id=session_id)
        if session is not None:
            return session
        if self.auto_create_session:
            return await service.create_session(app_name=self.app_name, user_id=user_id, session_id=session_id)
        raise SessionNotFoundError(
            f"Session not found: {session_id} (app {self.app_name!r}, user {user_id!r}). Create it with "
            f"session_service.create_session(...), or give the Runner auto_create_session=True."
        )

    def _log(self, session: Any) -> RunLog:
        if isinstance(self.session_service, KeepsRuns):
            return self.session_service.open_log(session)
        raise ConfigurationError(
            f"{type(self.session_service).__name__} keeps events but no run records: use InMemorySessionService or "
            f"SqliteSessionService, or give it an open_log(session) method."
        )

    def _key(self, session: Any) -> tuple[object, ...]:
        return (id(self.session_service), session.app_name, session.user_id, session.id)

    def _context_in(self, session: Any) -> contextvars.Context:
        context = contextvars.copy_context()
        context.run(_inside.set, _inside.get() | {self._key(session)})
        return context

    @contextlib.asynccontextmanager
    async def _held(self, session: Any, invocation_id: str | None) -> AsyncIterator[None]:
        if self._key(session) in _inside.get():
            raise DataError(
                f"A node of a run in session {session.id!r} can't start another run in the same session, which would "
                f"wait for itself: call ctx.run_node, or give the other run a session of its own."
            )
        running = getattr(self.session_service, "running", None)
        if running is None:
            yield
            return
        async with running(session, invocation_id):
            yield


class InMemoryRunner(Runner):
    """A runner whose sessions live in memory."""

    def __init__(
        self,
        agent: Any = None,
        *,
        node: Any = None,
        app_name: str | None = None,
        plugins: Any = None,
        app: Any = None,
        plugin_close_timeout: float = 5.0,
    ) -> None:
        """Prepare to run `agent` or `node`; the app's name is `InMemoryRunner` unless given."""
        super().__init__(
            app=app,
            app_name=app_name or "InMemoryRunner",
            agent=agent,
            node=node,
            plugins=plugins,
            plugin_close_timeout=plugin_close_timeout,
            session_service=InMemorySessionService(),
        )


@dataclasses.dataclass
class _Call:
    """What one call of the runner asks for: a new run, answers to an open one, or going on with one."""

    root: Any
    session: Any
    log: RunLog
    invocation_id: str | None
    message: types.Content | None
    answers: Mapping[str, Any] | None
    state_delta: dict[str, Any] | None
    is_new: bool = False

    async def begin(self, on_run: OnRun | None) -> tuple[NodeRun, Event | None]:
        """Store the user's event and what changes with it; return the root's record and the event."""
        run, user_event, changed = await self.open()
        if user_event is not None:
            _write_live(self.session, user_event)
        if user_event is not None or changed:
            await self.log.append(user_event, changed)
        for one in changed:
            if on_run is not None:
                on_run(one)
        return run, user_event

    async def open(self) -> tuple[NodeRun, Event | None, list[NodeRun]]:
        """Return the root's record, the user's event and the records that change with it; nothing is stored yet."""
        message = self._checked_message()
        responses = [p.function_response for p in (message.parts or () if message else ()) if p.function_response]
        if self.answers is not None:
            return await self._answer(
                {k: (v, True) for k, v in self.answers.items()}, answer_content(dict(self.answers))
            )
        if any(response.id for response in responses):
            given = {str(r.id): (unwrap_answer(r.response), False) for r in responses if r.id}
            assert message is not None  # it has function responses
            return await self._answer(given, message)
        if self.invocation_id is not None:
            return await self._continue(message)
        if message is None:
            raise DataError(
                "Nothing to run: give new_message= to start a run, or invocation_id= to continue one that stopped."
            )
        return self._start(message)

    def _checked_message(self) -> types.Content | None:
        message = self.message
        if message is None:
            return None
        parts = message.parts or []
        if any(part.function_call for part in parts):
            raise DataError(
                "A user's message cannot contain function calls: send text, or function responses as answers."
            )
        if any(part.function_response for part in parts) and any(part.text for part in parts):
            raise DataError(
                "A message cannot contain both text and function responses: send the answers first, then the text."
            )
        return message if message.role == "user" else message.model_copy(update={"role": "user"})

    def _start(self, message: types.Content) -> tuple[NodeRun, Event | None, list[NodeRun]]:
        self.is_new = True
        now = time.time()
        run = NodeRun(
            path=f"{self.root.name}@1",
            name=self.root.name,
            run_id="1",
            parent="",
            invocation_id=f"e-{new_id()}",
            input=snapshot(message),
            kind=self.root.kind,
            created_at=now,
        )
        return run, self._user_event(run, message, None), [run]

    async def _continue(self, message: types.Content | None) -> tuple[NodeRun, Event | None, list[NodeRun]]:
        root = await self.log.root_run(self.invocation_id)
        if root is None:
            raise InvocationNotFoundError(
                f"No run {self.invocation_id!r} in session {self.session.id!r}: leave invocation_id "
                "out to start a new run."
            )
        if message is not None:
            raise DataError(
                f"Run {self.invocation_id!r} has its message already: continue it without "
                f"new_message=, or send the message without invocation_id= to start a new run."
            )
        event = self._user_event(root, None, None) if self.state_delta else None
        return root, event, []

    async def _answer(
        self, given: dict[str, tuple[Any, bool]], message: types.Content
    ) -> tuple[NodeRun, Event | None, list[NodeRun]]:
        asked: dict[str, NodeRun] = {}
        changed: dict[tuple[str, str], NodeRun] = {}
        for interrupt_id, (response, is_exact) in given.items():
            run = await self._asking(interrupt_id)
            if run is None:
                raise AnswerError(
                    f"Function call not found for function response ids: {interrupt_id!r}. Open questions are "
                    f"{await self._open_ids()}; nothing was stored."
                )
            run = changed.setdefault((run.invocation_id, run.path), run)
            asked[interrupt_id] = run
            question = next((q for q in run.open_questions if q.interrupt_id == interrupt_id), None)
            if question is None:
                raise AnswerError(
                    f"Question {interrupt_id!r} of {run.name!r} is answered already, and an answer "
                    f"can't be changed; open questions are {await self._open_ids()}. Nothing was stored."
                )
            value = response if is_exact else read_answer(question, response)
            run.take_answer(interrupt_id, check_answer(question, value), time.time())
        invocations = {run.invocation_id for run in asked.values()}
        if len(invocations) > 1:
            raise AnswerError(
                f"The answers resolve to multiple invocations ({', '.join(sorted(invocations))}): "
                f"send those of one run at a time. Nothing was stored."
            )
        root = await self.log.root_run(invocations.pop())
        if root is None:
            raise EngineError("A question has no root run: please report this.")
        event = self._user_event(root, message, next(iter(asked.values())).branch)
        root = changed.setdefault((root.invocation_id, root.path), root)
        root.make_ready()
        return root, event, list(changed.values())

    async def _asking(self, interrupt_id: str) -> NodeRun | None:
        """Return the record that waits for this answer; a closed one when none waits.

        The run that the caller names comes first, then the one that asked last.
        """
        newest = await self.log.asking_run(interrupt_id)
        if newest is None:
            return None
        named = self.invocation_id or newest.invocation_id
        if named == newest.invocation_id and newest.waits_for(interrupt_id):
            return newest
        for invocation_id in dict.fromkeys([named, newest.invocation_id]):
            for run in reversed(await self.log.open_runs(invocation_id)):
                if run.waits_for(interrupt_id):
                    return run
        return newest

    async def _open_ids(self) -> str:
        root = await self.log.root_run(None)
        runs = await self.log.open_runs(root.invocation_id) if root is not None else []
        return ", ".join(repr(q.interrupt_id) for run in runs for q in run.open_questions) or "none"

    def _user_event(self, run: NodeRun, message: types.Content | None, branch: str | None) -> Event:
        return Event(
            author="user",
            invocation_id=run.invocation_id,
            content=message,
            branch=branch,
            state=dict(self.state_delta or {}),
        )


def _write_live(session: Any, event: Event) -> None:
    """Show the state that comes with the user's event to the run; `temp:` keys live only there."""
    delta = event.actions.state_delta
    for key, value in delta.items():
        session.state[key] = snapshot(value, f"state_delta[{key!r}]")
    event.actions.state_delta = {k: v for k, v in delta.items() if not k.startswith(State.TEMP_PREFIX)}
