"""`RunWork`: what one run does, turn after turn, as a task on its own event loop.

A turn is begun by a message, by answers or by going on with what stopped, and lasts until the run ends or waits for a
person. Answers that come meanwhile wait in a queue. Views are told when there is something new to show.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from google.genai import types

from adk_nb.apps.app import App
from adk_nb.errors import AnswerError, ConfigurationError
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun
from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.use import use_model
from adk_nb.notebook import settings
from adk_nb.notebook.running.beside import services_beside
from adk_nb.notebook.running.presets import Presets
from adk_nb.notebook.running.printing import prints_kept
from adk_nb.notebook.running.run_history import RunHistory
from adk_nb.runners import Runner
from adk_nb.runners.records import with_records
from adk_nb.workflow.limits import Limits
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.run_config import RunConfig, StreamingMode, ToolThreadPoolConfig
from adk_nb.workflow.threads import THREADS

if TYPE_CHECKING:
    from adk_nb.notebook.view.run_view import RunView

T = TypeVar("T")

TICK_S = 0.1
"""How often a waiting cell looks up: without it, a kernel's interrupt isn't noticed by a quiet `await`."""

_alive: set[asyncio.Task[None]] = set()
"""Tasks of runs: a loop alone holds them weakly."""


@dataclass(slots=True)
class Turn:
    """One stretch of work: a message, answers, or going on with what stopped."""

    message: types.Content | None = None
    answers: dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    accepted: asyncio.Future[None] | None = None
    """Done when an answer is stored; holds the error of one that was refused."""
    is_preset: bool = False

    def say_stored(self) -> None:
        """Tell who gave the answers that they are stored."""
        if self.accepted is not None and not self.accepted.done():
            self.accepted.set_result(None)

    def say_refused(self, error: Exception) -> None:
        """Tell who gave the answers why they aren't stored."""
        if self.accepted is not None and not self.accepted.done():
            self.accepted.set_exception(error)


class Watcher(Protocol):
    """Who is told of what happens, on the run's own loop."""

    @property
    def is_seen(self) -> bool:
        """Somebody sees what it is told."""

    def touch(self) -> None:
        """Something happened."""

    def settled(self) -> None:
        """The run ended, or waits for a person."""


class RunWork:
    """The turns of one run.

    Attributes:
        history: What they come to.
        user_id: Whose session they are kept in.
        view: The view that is told of them; `None` before somebody looks, and when it broke off.
        watcher: Who else is told, for instance the chat that it is a turn of.
    """

    def __init__(
        self,
        root: BaseNode | App | None,
        history: RunHistory,
        first: Turn | None,
        *,
        user: str,
        app_name: str = "",
        streams: bool = False,
        sessions: Any,
        model: BaseLlm | None,
        presets: Presets,
        limits: Limits | None = None,
    ) -> None:
        self.history = history
        self.user_id = user
        self.view: RunView | None = None
        self.watcher: Watcher | None = None
        self._first = first
        self._known_runner: Runner | None = None
        if root is not None:
            given: dict[str, Any] = {"app": root} if isinstance(root, App) else {"node": root}
            self._known_runner = Runner(
                **given, app_name=app_name or root.name, session_service=sessions, **services_beside(sessions)
            )
        agent = None if self._known_runner is None else self._known_runner.agent
        self._sessions = with_records(sessions, agent)  # reads values as they were, in any store
        self._model = model
        self._presets = presets
        self._streaming = StreamingMode.SSE if streams else StreamingMode.NONE
        self._config = self._run_config(limits)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._queue: deque[Turn] = deque()
        self._is_cancelled = False
        self._refusal: BaseException | None = None

    def _run_config(self, limits: Limits | None) -> RunConfig:
        # In a notebook a function that blocks would hold view, Stop button and every other run.
        threads = ToolThreadPoolConfig(max_workers=THREADS) if settings.threads() else None
        return RunConfig(
            limits=limits,
            prices=settings.prices(),
            streaming_mode=self._streaming,
            tool_thread_pool_config=threads,
        )

    @property
    def _runner(self) -> Runner:
        """What carries the turns out.

        Raises:
            ConfigurationError: a stored run was opened without its root.
        """
        if self._known_runner is None:
            raise ConfigurationError(
                f"This run was opened without its root, so it can be looked at and not go on: open it with "
                f"adk_nb.open_run({self.history.session_id!r}, root=...)."
            )
        return self._known_runner

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that the run lives on."""
        if self._loop is None:
            raise ConfigurationError("The run hasn't been started: adk_nb.run starts it.")
        return self._loop

    @property
    def _is_idle(self) -> bool:
        return self._task is None or self._task.done()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin the first turn."""
        self._loop = loop
        if self._first is None:  # a stored run, which is at work no more
            return
        if asyncio._get_running_loop() is loop:
            self._go_on(self._first)
        else:
            self.call_soon(self._go_on, self._first)

    async def on_own_loop(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something on the run's own loop and wait for it, from whichever loop."""
        __tracebackhide__ = True
        here = asyncio.get_running_loop()
        if self._loop is not None and self._loop.is_closed() and self._is_idle:
            self._loop = here  # its loop is gone, as between two calls of asyncio.run: it lives on here
        if self.loop is here:
            return await work()

        async def there() -> T:
            return await work()

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(there(), self.loop))

    def call_soon(self, act: Callable[..., Any], *args: Any) -> None:
        """Do something on the run's own loop, from whichever thread."""
        self.loop.call_soon_threadsafe(act, *args)

    async def settled(self) -> None:
        """Wait until nothing more happens by itself; a wait that is cancelled cancels the run.

        Raises:
            AnswerError: an answer given beforehand was refused.
        """
        __tracebackhide__ = True  # an interrupted cell ends in its own line
        await asyncio.sleep(0)  # a cancel or a resume just asked for comes first
        try:
            while self._task is not None and not self._task.done():
                await asyncio.wait({self._task}, timeout=TICK_S)
        except asyncio.CancelledError:
            self.cancel()
            if self._task is not None:
                await asyncio.wait({self._task}, timeout=1.0)
            raise asyncio.CancelledError("the wait was interrupted, and the run with it") from None
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal

    async def goes_on(self) -> None:
        """Wait until a run that waits for a person goes on."""
        while self.history.status == "waiting":  # noqa: ASYNC110  # a kernel's interrupt isn't noticed by a quiet await
            await asyncio.sleep(TICK_S)

    def answer(self, answers: dict[str, Any]) -> asyncio.Future[None]:
        """Answer as soon as the turn that runs now has ended; the future is done when the answer is stored."""
        accepted: asyncio.Future[None] = self.loop.create_future()
        turn = Turn(answers=answers, accepted=accepted)
        try:
            self.check_root()
        except ConfigurationError as error:
            turn.say_refused(error)
            return accepted
        if self._is_idle:
            self._go_on(turn)
        else:
            self._queue.append(turn)
        return accepted

    def say(self, message: types.Content | None) -> None:
        """Go on with the person's next message."""
        self.check_root()
        self.history.status = "running"
        self.call_soon(self._go_on, Turn(message=message))

    def resume(self, limits: Limits | None = None) -> None:
        """Go on with what stopped, with other limits where some are given."""
        self.check_root()
        if limits is not None:
            self._config = self._run_config(limits)
        self.history.status = "running"
        first = self._first or Turn()
        self.call_soon(self._go_on, Turn() if self.history.invocation_id else first, True)

    def check_root(self) -> None:
        """Refuse to go on without a root.

        Raises:
            ConfigurationError: a stored run was opened without its root.
        """
        _ = self._runner

    def cancel(self) -> None:
        """Stop what runs; a run that waits for a person is over."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
        elif self.history.status == "waiting":
            if self.history.waits_for_words:
                self._task = self.loop.create_task(self._give_up(), name=f"adk_nb run {self.history.name}")
                _alive.add(self._task)
                self._task.add_done_callback(self._ended)
                return
            self.history.status = "cancelled"
            self.history.settle()
            self._show_settled()

    async def _give_up(self) -> None:
        """End a task that has asked something in words, so that the next message of the session isn't its answer."""
        where = {"user_id": self.user_id, "session_id": self.history.session_id}
        for event in await self._runner.cancel_async(**where, invocation_id=self.history.invocation_id):
            self.history.add(event)
        self.history.status = "cancelled"
        self.history.settle()
        self._show_settled()

    def warn(self, text: str) -> None:
        """Tell a person something once, in the view as well."""
        self.history.warn(text)
        if self.view is not None:
            self.view.settled()

    def view_broke_off(self, error: Exception) -> None:
        """A view could not be shown: the run goes on without it, and says so once."""
        self.view = None
        self.history.warn(f"The view broke off ({type(error).__name__}: {error}); run.view() tries again.")

    def _go_on(self, turn: Turn, was_over: bool = False) -> None:
        was_over = was_over or self.history.is_over
        self._is_cancelled = False
        self._task = self.loop.create_task(self._live(turn), name=f"adk_nb run {self.history.name}")
        _alive.add(self._task)
        self._task.add_done_callback(self._ended)
        if was_over and self.view is not None:
            self.view.resumed()

    def _ended(self, task: asyncio.Task[None]) -> None:
        _alive.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.history.exception, self.history.status = error, "failed"
        elif self.history.status == "running":
            self.history.status = "cancelled"
        else:
            return
        self.history.settle()
        self._show_settled()

    async def _live(self, turn: Turn | None) -> None:
        model = contextlib.nullcontext() if self._model is None else use_model(self._model)
        with model, prints_kept(lambda: self._is_seen):
            while turn is not None:
                await self._take(turn)
                turn = await self._next_turn()
        self._show_settled()

    async def _take(self, turn: Turn) -> None:
        """Do one stretch of work, and note how it ended."""
        history = self.history
        if turn.answers is None:
            self._accept(turn)
        try:
            if not history.events:
                await self._open_session()
            stream = self._runner.follow(
                user_id=self.user_id,
                session_id=history.session_id,
                invocation_id=None if turn.message is not None else history.invocation_id or None,
                new_message=turn.message,
                answers=turn.answers,
                state_delta=turn.state,
                run_config=self._config,
                yield_user_message=True,
                on_run=lambda record: self._note_record(turn, record),
                on_summary=lambda event: self._note_event(turn, event),
            )
            async with contextlib.aclosing(stream) as events:
                async for event in events:
                    self._note_event(turn, event)
        except asyncio.CancelledError:
            self._is_cancelled = True
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
        except Exception as error:  # noqa: BLE001  # the run's own failure: kept, shown, and raised by raise_for_error
            if self._refuse(turn, error):
                return
            history.exception = error
        history.conclude(is_cancelled=self._is_cancelled)
        if history.events:
            await self._read_state()
        history.settle()

    def _accept(self, turn: Turn) -> None:
        """A turn has begun: what it brings is stored."""
        turn.say_stored()
        self.history.begin()
        self._touch()

    def _refuse(self, turn: Turn, error: Exception) -> bool:
        """Take an answer back that was refused before anything was stored; say whether that is what happened."""
        if turn.answers is None or self.history.status == "running":
            return False
        if turn.is_preset:
            self._refusal = error
            self.history.warn(str(error))
        turn.say_refused(error)
        return True

    def _note_event(self, turn: Turn, event: Event) -> None:
        self._begin_answered(turn)
        self.history.add(event)
        self._touch()

    def _note_record(self, turn: Turn, record: NodeRun) -> None:
        self._begin_answered(turn)
        self.history.put(record)
        self._touch()

    def _begin_answered(self, turn: Turn) -> None:
        """The first sign of a turn of answers says that they are stored."""
        if turn.answers is not None and self.history.status != "running":
            self._accept(turn)

    async def _next_turn(self) -> Turn | None:
        status = self.history.status
        while self._queue:
            turn = self._queue.popleft()
            if status == "waiting":
                return turn
            turn.say_refused(AnswerError(f"The run is {status}: the answer came too late and wasn't stored."))
        if status != "waiting" or not self._presets or self._refusal is not None:
            return None
        try:
            answers = await self._presets.answers_to(self.history.pending)
        except Exception as error:  # noqa: BLE001  # a person's own callable: raised where the run is awaited
            self._refusal = error
            return None
        return Turn(answers=answers, is_preset=True) if answers else None

    @property
    def _key(self) -> dict[str, str]:
        return {"app_name": self._runner.app_name, "user_id": self.user_id, "session_id": self.history.session_id}

    async def _open_session(self) -> None:
        session = await self._sessions.get_session(**self._key)
        if session is None:
            session = await self._sessions.create_session(**self._key)
        self.history.state = dict(session.state)
        self.history.start_state = dict(session.state)

    async def _read_state(self) -> None:
        session = await self._sessions.get_session(**self._key)
        if session is not None:
            self.history.state = dict(session.state)

    @property
    def _is_seen(self) -> bool:
        return self.view is not None or (self.watcher is not None and self.watcher.is_seen)

    def _touch(self) -> None:
        if self.view is not None:
            self.view.touch()
        if self.watcher is not None:
            self.watcher.touch()

    def _show_settled(self) -> None:
        if self.view is not None:
            self.view.settled()
        if self.watcher is not None:
            self.watcher.settled()
