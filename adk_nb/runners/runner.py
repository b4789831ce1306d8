"""`Runner`: a session and a root become a stream of events."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from typing import Any, Self

from google.genai import types

from adk_nb.apps.app import App
from adk_nb.errors import ConfigurationError
from adk_nb.events.event import Event, to_content
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.events.record import NodeRun, Question, Status
from adk_nb.plugins.base_plugin import BasePlugin
from adk_nb.plugins.plugin_manager import PluginManager
from adk_nb.runners.apart import run_apart
from adk_nb.runners.call import Call
from adk_nb.runners.held_sessions import HeldSessions
from adk_nb.runners.kinds import check_kinds
from adk_nb.runners.printing import printed_lines
from adk_nb.runners.rewind import rewind_event
from adk_nb.runners.threaded import read_on_thread
from adk_nb.runners.toolsets import close_toolsets
from adk_nb.runners.turn import OnSummary, Turn
from adk_nb.sessions.in_memory_session_service import InMemorySessionService
from adk_nb.workflow.build import build_root
from adk_nb.workflow.engine import OnRun
from adk_nb.workflow.invocation import InvocationContext
from adk_nb.workflow.limits import Allowance
from adk_nb.workflow.run_config import RunConfig


class Runner:
    """Runs a root agent, workflow or node in sessions.

    Attributes:
        app: The app that was given, `None` for a bare root.
        app_name: Under which name sessions are kept.
        agent: The root.
        plugin_manager: The plugins in their order.
        session_service: Where sessions are kept.

    Example:
        >>> import asyncio
        >>> from adk_nb.events.event import to_content
        >>> from adk_nb.runners import InMemoryRunner
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
        app: App | None = None,
        app_name: str | None = None,
        agent: Any = None,
        node: Any = None,
        plugins: Sequence[BasePlugin] | None = None,
        session_service: Any,
        artifact_service: Any = None,
        memory_service: Any = None,
        credential_service: Any = None,
        plugin_close_timeout: float = 5.0,
        auto_create_session: bool = False,
    ) -> None:
        """Prepare to run.

        Args:
            app: The root with its name and plugins.
            app_name: Under which name sessions are kept; the default is the app's or the node's name.
            agent: The root, an agent; needs `app_name`.
            node: The root, any node.
            plugins: Plugins of a bare root; an app has its own.
            session_service: Where sessions are kept.
            artifact_service: Where artifacts are kept; nodes reach it through their context.
            memory_service: Where memories are kept; nodes reach it through their context.
            credential_service: Where credentials are kept; nodes reach it through their context.
            plugin_close_timeout: Seconds that each plugin may take to close.
            auto_create_session: Make a session that isn't there yet.
        Raises:
            ConfigurationError: not exactly one root is given, an agent without `app_name`, plugins beside an app.
        """
        root = _only_root(app, agent, node)
        if agent is not None and app_name is None:
            raise ConfigurationError("app_name is required with agent=: give the name to keep sessions under.")
        if app is not None and plugins:
            raise ConfigurationError("An app has its own plugins: give App(plugins=...), and no plugins= beside app=.")
        self.app = app
        self.agent = build_root(root)
        self.app_name: str = app_name or (app.name if app is not None else self.agent.name)
        self.plugin_manager = PluginManager(app.plugins if app is not None else plugins, plugin_close_timeout)
        self.session_service = session_service
        self._sessions = HeldSessions(session_service, self.agent, self.app_name)
        self.artifact_service = artifact_service
        self.memory_service = memory_service
        self.credential_service = credential_service
        self.auto_create_session = auto_create_session
        self._allowance: Allowance | None = None
        """What is left of the limits of the call inside of which this runner works; `None` for a call of its own."""

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
            abort_signal: Once it is set, running nodes are stopped, the history says so, and the stream ends without an
                error. Questions stay open; the run can be continued.
        Raises:
            SessionNotFoundError: there is no such session.
            AnswerError: an answer doesn't fit or its question isn't open; nothing was stored.
            PluginError: a plugin failed.
            Exception: what the first failing node raised, after all events.
        """
        return self.follow(
            user_id=user_id,
            session_id=session_id,
            invocation_id=invocation_id,
            new_message=new_message,
            state_delta=state_delta,
            run_config=run_config,
            yield_user_message=yield_user_message,
            abort_signal=abort_signal,
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
        abort_signal: asyncio.Event | None = None,
        on_run: OnRun | None = None,
        on_summary: OnSummary | None = None,
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
            abort_signal: As in `run_async`.
            on_run: Called on the event loop with the live record whenever it changed; it must be quick, and copy what
                it keeps.
            on_summary: Called on the event loop with each summary of older events that was stored; no caller gets it.
        """
        check_kinds(
            new_message=new_message,
            answers=answers,
            state_delta=state_delta,
            run_config=run_config,
            abort_signal=abort_signal,
        )
        session = await self._load(user_id, session_id)
        async with self._sessions.held(session, invocation_id):
            config = None if run_config is None else run_config.get_session_config
            session = await self._load(user_id, session_id, config)
            call = Call(
                self.agent, session_id, self._sessions.log(session), invocation_id, new_message, answers, state_delta
            )
            turn = await self._turn(call, session, run_config, on_run, on_summary)
            try:
                user_event = await turn.begin()
                if user_event is not None and yield_user_message:
                    yield user_event
                task = turn.start(abort_signal)
                channel = turn.channel
                try:
                    while (event := await channel.get()) is not None:
                        yield event
                finally:
                    await turn.stop()
                await task
                await turn.summarise()
                await turn.after_run()
            except GeneratorExit:  # the caller has seen enough
                await turn.after_run()
                raise
            except Exception as error:
                await turn.on_error(error)
                raise

    def run(
        self,
        *,
        user_id: str,
        session_id: str,
        new_message: types.Content,
        state_delta: dict[str, Any] | None = None,
        run_config: RunConfig | None = None,
    ) -> Generator[Event, None, None]:
        """Do what `run_async` does for code that can't await; also inside a running event loop, which stands still.

        The run happens on a thread of its own and goes on when the next event is asked for. Closing the generator stops
        it.

        Args:
            user_id: As in `run_async`.
            session_id: As in `run_async`.
            new_message: As in `run_async`.
            state_delta: As in `run_async`.
            run_config: As in `run_async`.
        """
        return read_on_thread(
            lambda: self.run_async(
                user_id=user_id,
                session_id=session_id,
                new_message=new_message,
                state_delta=state_delta,
                run_config=run_config,
            )
        )

    async def run_debug(
        self,
        user_messages: str | list[str],
        *,
        user_id: str = "debug_user_id",
        session_id: str = "debug_session_id",
        run_config: RunConfig | None = None,
        quiet: bool = False,
        verbose: bool = False,
    ) -> list[Event]:
        """Say one or several things, one after the other, print what happens, and return all events.

        Args:
            user_messages: What the user says.
            user_id: Whose session it is.
            session_id: Which session; it is made if it isn't there yet, and continued otherwise.
            run_config: Settings of the calls.
            quiet: Print nothing.
            verbose: Print tool calls and their results, too.
        """
        where: dict[str, Any] = {"user_id": user_id, "session_id": session_id}
        if await self.session_service.get_session(app_name=self.app_name, **where) is None:
            await self.session_service.create_session(app_name=self.app_name, **where)
        events = []
        for message in [user_messages] if isinstance(user_messages, str) else user_messages:
            if not quiet:
                print(f"user > {message}")  # noqa: T201  # to print is what this method is for
            async for event in self.run_async(**where, new_message=to_content(message), run_config=run_config):
                events.append(event)
                if not quiet and not event.partial:
                    for line in printed_lines(event, verbose=verbose):
                        print(line)  # noqa: T201  # likewise
        return events

    async def cancel_async(self, *, user_id: str, session_id: str, invocation_id: str | None = None) -> list[Event]:
        """Give up a run that waits for a person, for instance one whose agent asked in the course of a task.

        Calls that will never be answered get an error as their response, so that models don't wait for it, and the next
        message begins a new turn. Returns the events that say so; none when there is nothing to give up.

        Args:
            user_id: Whose session it is.
            session_id: Which session.
            invocation_id: Which run; `None` for the newest.
        Raises:
            SessionNotFoundError: there is no such session.
        """
        where: dict[str, Any] = {"user_id": user_id, "session_id": session_id}
        root = await self.root_run(**where, invocation_id=invocation_id)
        if root is None or root.status is not Status.WAITING:
            return []
        given_up = asyncio.Event()
        given_up.set()
        stream = self.follow(**where, invocation_id=root.invocation_id, abort_signal=given_up)
        events = [event async for event in stream]
        session = await self._load(user_id, session_id)
        async with self._sessions.held(session, root.invocation_id):
            log = self._sessions.log(await self._load(user_id, session_id))
            root = await log.root_run(root.invocation_id)
            if root is not None and root.status is Status.WAITING:
                root.cancel(time.time())
                await log.append(None, [root])
        return events

    async def rewind_async(
        self,
        *,
        user_id: str,
        session_id: str,
        rewind_before_invocation_id: str,
        run_config: RunConfig | None = None,
    ) -> None:
        """Take a run and all later ones of its session back: the session goes on as if they hadn't been.

        Their events stay in the store, and neither people's next messages nor models or answers reach them. The state
        and the artifacts of the session become what they were before; keys that weren't there become `None`, also
        those that the session was created with, once the runs have written to them. What sessions share stays.

        Args:
            user_id: Whose session it is.
            session_id: Which session.
            rewind_before_invocation_id: The first run to take back.
            run_config: Taken for ADK's sake; nothing in it matters here.
        Raises:
            SessionNotFoundError: there is no such session.
            InvocationNotFoundError: there is no such run, or it was taken back already.
            DataError: an earlier run went on since this one began.
        """
        session = await self._load(user_id, session_id)
        async with self._sessions.held(session, rewind_before_invocation_id):
            session = await self._load(user_id, session_id)
            event = await rewind_event(session, rewind_before_invocation_id, self.artifact_service)
            await self._sessions.log(session).append(event, [])

    async def close(self) -> None:
        """Close the toolsets and plugins, and write out what the session service still holds.

        A toolset may take 10 seconds; one that fails to close is told in a warning.

        Raises:
            PluginError: plugins failed to close; everything else is done.
        """
        try:
            await close_toolsets(self.agent)
            await self.plugin_manager.close()
        finally:
            await self._sessions.flush()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def root_run(self, *, user_id: str, session_id: str, invocation_id: str | None = None) -> NodeRun | None:
        """Return the root's record of an invocation, or of the newest one; `None` when nothing ran."""
        return await self._sessions.log(await self._load(user_id, session_id)).root_run(invocation_id)

    async def open_questions(
        self, *, user_id: str, session_id: str, invocation_id: str | None = None
    ) -> list[tuple[NodeRun, Question]]:
        """Return the questions that wait for an answer, oldest first, each with the run that asked."""
        log = self._sessions.log(await self._load(user_id, session_id))
        root = await log.root_run(invocation_id)
        if root is None:
            return []
        found = [(run, q) for run in await log.open_runs(root.invocation_id) for q in run.open_questions]
        return sorted(found, key=lambda pair: pair[1].asked_at)

    async def _turn(
        self,
        call: Call,
        session: Any,
        run_config: RunConfig | None,
        on_run: OnRun | None,
        on_summary: OnSummary | None,
    ) -> Turn:
        opening = await call.open()

        async def load_events() -> list[Event]:
            return list((await self._load(session.user_id, session.id)).events)

        invocation = InvocationContext(
            invocation_id=opening.run.invocation_id,
            session=session,
            root=self.agent,
            user_content=opening.message,
            run_config=run_config,
            artifact_service=self.artifact_service,
            memory_service=self.memory_service,
            credential_service=self.credential_service,
            plugin_manager=self.plugin_manager,
            load_events=load_events,
            run_apart=functools.partial(run_apart, self._beside),
        )
        if self._allowance is not None:
            invocation.allowance = self._allowance
        return Turn(
            call,
            opening,
            invocation,
            plugins=self.plugin_manager if self.plugin_manager.plugins else None,
            app=self.app,
            on_run=on_run,
            on_summary=on_summary,
            load_events=load_events,
            context=self._sessions.context_in(session),
        )

    def _beside(self, root: Any, plugins: Sequence[BasePlugin], artifact_service: Any, allowance: Allowance) -> Runner:
        """Return a runner for another root, with sessions of its own, the same services and what is left of limits."""
        runner = Runner(
            app_name=self.app_name,
            node=root,
            plugins=plugins,
            session_service=InMemorySessionService(),
            artifact_service=artifact_service,
            memory_service=self.memory_service,
            credential_service=self.credential_service,
        )
        runner._allowance = allowance
        return runner

    async def _load(self, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Any:
        return await self._sessions.load(user_id, session_id, makes=self.auto_create_session, config=config)


def _only_root(app: App | None, agent: Any, node: Any) -> Any:
    given = {name: value for name, value in (("app", app), ("agent", agent), ("node", node)) if value is not None}
    if not given:
        raise ConfigurationError("One of app, agent, or node must be given as the root.")
    if len(given) > 1:
        found = ", ".join(f"{name}={type(value).__name__}" for name, value in given.items())
        raise ConfigurationError(f"Only one of app, agent, or node can be the root, and got {found}: give one of them.")
    if app is not None and not isinstance(app, App):
        raise ConfigurationError(f"app= is {app!r:.80}, which is no App: write App(name=..., root_agent=...).")
    return next(iter(given.values()))
