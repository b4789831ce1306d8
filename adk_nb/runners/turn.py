"""One call of a runner while it is carried out: what it stores first, its engine, its plugins, and who stops it."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from google.genai import types

from adk_nb.auth.kept import forget
from adk_nb.errors import PluginError
from adk_nb.events.event import Event
from adk_nb.events.record import ENDED, NodeRun, Status
from adk_nb.events.state import State
from adk_nb.events.values import snapshot
from adk_nb.runners.blobs import save_blobs
from adk_nb.runners.call import Call, Opening
from adk_nb.runners.compacting import compacting
from adk_nb.runners.review import Reviewer
from adk_nb.runners.sealing import sealing_events
from adk_nb.workflow.channel import Channel
from adk_nb.workflow.engine import Engine, OnRun
from adk_nb.workflow.invocation import InvocationContext
from adk_nb.workflow.publish import Checks

if TYPE_CHECKING:
    from adk_nb.apps.app import App
    from adk_nb.plugins.plugin_manager import PluginManager

T = TypeVar("T")
OnSummary = Callable[[Event], None]


class Turn:
    """One call of a runner while it is carried out.

    Attributes:
        channel: The events for the caller.
        invocation: What all nodes share.
    """

    def __init__(
        self,
        call: Call,
        opening: Opening,
        invocation: InvocationContext,
        *,
        plugins: PluginManager | None,
        app: App | None,
        on_run: OnRun | None,
        on_summary: OnSummary | None,
        load_events: Callable[[], Awaitable[list[Event]]],
        context: contextvars.Context,
    ) -> None:
        """Prepare; nothing is stored before `begin`.

        Args:
            call: What is asked for.
            opening: What it begins with.
            invocation: What all nodes share.
            plugins: `None` when there are none.
            app: Says how its runs are resumed and what is summarised; `None` for a bare root.
            on_run: Told of each change of a record.
            on_summary: Told of each summary that was stored.
            load_events: Returns all events of the session, whatever the session object was limited to.
            context: What nodes and plugins run in.
        """
        self.call = call
        self.opening = opening
        self.invocation = invocation
        self.channel = Channel()
        self._plugins = plugins
        self._reviewer = Reviewer(plugins, invocation) if plugins is not None else None
        self._on_run = on_run
        self._on_summary = on_summary
        self._load_events = load_events
        self._context = context
        self._engine = Engine(
            invocation=invocation,
            log=call.log,
            deliver=self.channel.put,
            on_run=on_run,
            review=self._review if plugins is not None else None,
            writes_checkpoints=app is not None and app.is_resumable,
        )
        self._compacting = None if app is None else compacting(app, call, invocation, self._store_summary)
        if self._compacting is not None:
            invocation.shorten = self._compacting.shorten
        self._task: asyncio.Task[None] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._is_running_nodes = False
        self._is_over = False
        self._plugin_error: PluginError | None = None

    async def begin(self) -> Event | None:
        """Store what the call begins with, and return the user's event if there is one."""
        opening = self.opening
        event = opening.user_event
        if self._plugins is not None and event is not None and event.content is not None:
            message = await self._message_of_plugins(self._plugins, event.content)
            if message is not None:
                opening = self.opening = await self.call.open_with(message)
                event = opening.user_event
                self.invocation.invocation_id = opening.run.invocation_id
                self.invocation.user_content = opening.message
        if event is not None:
            if self.invocation.run_config.save_input_blobs_as_artifacts:
                await save_blobs(event, self.invocation)
            self.invocation.run_config.mark(event)
            _write_live(self.invocation.session, event)
        if event is not None or opening.changed:
            await self.call.log.append(event, opening.changed)
        self.call.credentials.keep(self.invocation.run_key)
        if self._reviewer is not None:
            self._reviewer.begin()
        if self._on_run is not None:
            for run in opening.changed:
                self._on_run(run)
        return event

    def start(self, abort_signal: asyncio.Event | None) -> asyncio.Task[None]:
        """Begin to run in a task of its own, which raises what the run fails with."""
        loop = asyncio.get_running_loop()
        self.invocation.on_abort = lambda: loop.call_soon_threadsafe(self._stop_nodes)  # a node may abort in a thread
        if abort_signal is not None and abort_signal.is_set():
            self.invocation.abort()
        task = self._task = asyncio.create_task(self._perform(), context=self._context)
        task.add_done_callback(self.channel.close)
        if abort_signal is not None:
            self._watch = asyncio.create_task(self._await_abort(abort_signal))
        return task

    async def stop(self) -> None:
        """Come back when nothing of this call runs any more."""
        self.invocation.on_abort = None
        self.channel.abandon()
        self._engine.stopping.is_ending = self._is_over = True
        left = [task for task in (self._task, self._watch) if task is not None and not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
        if self.opening.run.is_finished:
            forget(self.invocation.run_key)

    async def after_run(self) -> None:
        """Tell plugins that the call has ended."""
        if self._plugins is not None:
            await self._in_context(self._plugins.run_after_run_callback(invocation_context=self.invocation))

    async def summarise(self) -> None:
        """Let a summary stand for older events, if the app wants one now."""
        if self._compacting is not None and self.opening.run.status in ENDED:
            await self._in_context(self._compacting.after_run())

    async def _store_summary(self, event: Event | None, runs: list[NodeRun]) -> None:
        await self._engine.store(event, runs)
        if event is not None and self._on_summary is not None:
            self._on_summary(event)

    async def on_error(self, error: Exception) -> None:
        """Tell plugins of the error that the call ends with."""
        if self._plugins is not None:
            await self._in_context(
                self._plugins.run_on_run_error_callback(invocation_context=self.invocation, error=error)
            )

    async def _message_of_plugins(self, plugins: PluginManager, message: types.Content) -> types.Content | None:
        """Return what a plugin wants in place of the user's message: another one, or this one changed in place."""
        shown = message.model_copy(deep=True)
        given = await self._in_context(
            plugins.run_on_user_message_callback(invocation_context=self.invocation, user_message=shown)
        )
        return shown if given is None and shown != message else given

    async def _perform(self) -> None:
        if self._plugins is not None:
            reply = await self._plugins.run_before_run_callback(invocation_context=self.invocation)
            if reply is not None:
                await self._reply(reply)
                return
        try:
            self._is_running_nodes = True
            if not self.invocation.is_aborted:
                await self._engine.run_root(self.call.root, self.opening.run, is_fresh=self.opening.is_new)
        except asyncio.CancelledError:
            if self._is_over or not (self.invocation.is_aborted or self._plugin_error):
                raise
        finally:
            self._is_running_nodes = False
        if self.invocation.is_aborted or self._plugin_error is not None:
            await self._shake_off_cancellation()
        if self._plugin_error is not None:
            raise self._plugin_error
        if self.invocation.is_aborted and not self.opening.run.is_finished:
            await self._seal()

    async def _reply(self, content: types.Content) -> None:
        """Answer with a plugin's message in place of a run; a new run is done with it, another one stays as it is."""
        run = self.opening.run
        event = Event(author="model", invocation_id=run.invocation_id, content=content)
        await self._reviewed(event)
        if self.opening.is_new:
            run.begin(event.timestamp)
            run.output = snapshot(event.content)
            run.complete(event.timestamp)
        await self._engine.store(event, [run] if self.opening.is_new else [])
        self._engine.tell(run)
        await self.channel.put(event)

    async def _seal(self) -> None:
        """Say in the history that the run was aborted, and which calls will never be answered because of it."""
        run = self.opening.run
        if run.status in (Status.PENDING, Status.RUNNING):
            run.cancel(time.time())
        open_runs = await self.call.log.open_runs(run.invocation_id)
        open_ids = {question.interrupt_id for one in open_runs for question in one.open_questions}
        for event in sealing_events(self.call.root.name, run, await self._load_events(), open_ids):
            await self._reviewed(event)
            await self._engine.store(event, [run])
            await self.channel.put(event)
        self._engine.tell(run)

    async def _reviewed(self, event: Event) -> None:
        """Complete an event of the runner's own, and let plugins change it."""
        self.invocation.run_config.mark(event)
        if self._reviewer is not None:
            await self._reviewer.review(event)
            self._reviewer.show(event)

    async def _review(self, event: Event, checks: Checks | None) -> None:
        """Let plugins change an event of a node; a plugin that fails stops the run."""
        assert self._reviewer is not None  # the engine asks only then
        try:
            await self._reviewer.review(event, checks)
        except PluginError as error:
            self._plugin_error = self._plugin_error or error
            self._stop_nodes()
            await asyncio.get_running_loop().create_future()  # the node is stopped here, with all the others

    def _stop_nodes(self) -> None:
        if self._is_running_nodes and self._task is not None and not self._task.done():
            self._engine.stopping.cancel({self._task})

    async def _await_abort(self, signal: asyncio.Event) -> None:
        await signal.wait()
        self.invocation.abort()

    async def _shake_off_cancellation(self) -> None:
        """Let the cancellation of the nodes pass, also when it came too late to be noticed."""
        task = asyncio.current_task()
        assert task is not None  # a coroutine of a task
        while task.cancelling():
            task.uncancel()
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            if self._is_over:
                raise

    async def _in_context(self, hook: Coroutine[Any, Any, T]) -> T:
        """Run a plugin's hook as a part of the run, so that it can't start another run of the same session."""
        return await asyncio.create_task(hook, context=self._context)


def _write_live(session: Any, event: Event) -> None:
    """Show the state that comes with the user's event to the run; `temp:` keys live only there."""
    delta = event.actions.state_delta
    for key, value in delta.items():
        session.state[key] = snapshot(value, f"state_delta[{key!r}]")
    event.actions.state_delta = {k: v for k, v in delta.items() if not k.startswith(State.TEMP_PREFIX)}
