"""`run`, `run_sync` and `Run`: start a workflow or agent, watch it, answer its questions, look at what came of it.

A run is a background task: the cell that started it may end, and a person's answer goes on with it. Nothing here
needs a notebook; the view is loaded when there is somebody to look at it.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import os
import time
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb import frames
from adk_nb.errors import AnswerError, ConfigurationError, LlmCallsLimitExceededError, one_of
from adk_nb.events.event import Event, new_id
from adk_nb.events.record import NodeRun, Status
from adk_nb.frames.notes import Notes, sentence
from adk_nb.frames.reading import Usage, total_usage
from adk_nb.models.use import as_model, use_model
from adk_nb.notebook.fold import RunFold
from adk_nb.notebook.forms import collect, problems, read_json
from adk_nb.notebook.front_end import front_end
from adk_nb.notebook.messages import as_message, spoken
from adk_nb.notebook.private_loop import run_blocking
from adk_nb.notebook.settings import as_sessions, default_sessions
from adk_nb.notebook.tracebacks import full_traceback, short_traceback
from adk_nb.runners import Runner
from adk_nb.workflow.build import build_root

if TYPE_CHECKING:
    import pandas as pd

    from adk_nb.notebook.run_view import RunView

TICK_S = 0.1
"""How often a waiting cell looks up: without it, a kernel's interrupt isn't noticed by a quiet `await`."""

_alive: set[asyncio.Task[None]] = set()
"""Tasks of runs: a loop alone holds them weakly."""


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """A question that waits for an answer."""

    interrupt_id: str
    node: str
    """Name of the node that asks."""
    message: str | None
    payload: Any
    response_schema: dict[str, Any] | None
    """JSON schema of the answer; `None` takes anything."""
    path: str
    """Path of the node run that asks."""
    asked_at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class RunError:
    """Why a run failed."""

    path: str
    """Path of the node run that raised it first; empty when nothing ran."""
    type: str
    """Class name of the exception."""
    message: str

    @property
    def node(self) -> str:
        """Name of the node that raised it."""
        return self.path.rpartition("/")[2].partition("@")[0]


@dataclass(slots=True)
class _Turn:
    """One stretch of work: a message, answers, or going on with what stopped."""

    message: types.Content | None = None
    answers: dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    accepted: asyncio.Future[None] | None = None
    """Done when an answer is stored; holds the error of one that was refused."""
    is_preset: bool = False


class Run:
    """One run of a workflow, agent or node. Made by `run` and `run_sync`; `await` it to wait until it settles.

    Awaiting returns the run itself, also when it failed or waits for a person: look at `status`, and call
    `raise_for_error` where a failure shall be raised.

    Attributes:
        name: The root's name.
        session_id: The session that the run is kept in.
        user_id: Whose session it is.
        invocation_id: The run's own id, empty until it has started.
        description: The root's graph, as plain data.
    """

    def __init__(
        self,
        root: Any,
        message: Any = None,
        *,
        session: str | None = None,
        user: str = "user",
        state: Mapping[str, Any] | None = None,
        sessions: Any = None,
        model: Any = None,
        answers: Mapping[str, Any] | None = None,
    ) -> None:
        node = build_root(root)
        self.name: str = node.name
        self.description = node.describe()
        self.session_id = session or new_id()
        self.user_id = user
        self.invocation_id = ""
        self._sessions, warning = default_sessions() if sessions is None else (as_sessions(sessions), "")
        self._runner = Runner(node=node, app_name=self.name, session_service=self._sessions)
        self._model = as_model(model)
        self._presets = dict(answers or {})
        self._used_presets: set[tuple[str, str]] = set()
        self._first = _Turn(message=as_message(message), state=dict(state) if state else None)
        self._status = "running"
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_cancelled = False
        self._settled_at = 0.0
        self._queue: deque[_Turn] = deque()
        self._events: list[Event] = []
        self._records: dict[str, NodeRun] = {}
        self._root: NodeRun | None = None
        self._state: dict[str, Any] = {}
        self._exception: BaseException | None = None
        self._refusal: BaseException | None = None
        self._warned = [warning] if warning else []
        self._fold: RunFold | None = None
        self._folded = 0
        self._unfolded: dict[str, NodeRun] = {}
        self._view: RunView | None = None

    # What it is

    @property
    def status(self) -> str:
        """One of `running`, `waiting` (for an answer), `completed`, `incomplete`, `failed`, `cancelled`, `stopped`."""
        return self._status

    @property
    def is_over(self) -> bool:
        """It has ended, in whatever way; a waiting run hasn't."""
        return self._status not in ("running", "waiting")

    @property
    def output(self) -> Any:
        """What the root returned; the text of a model's message; `None` while there is none."""
        return None if self._root is None else spoken(self._root.output)

    def outputs(self, node: str) -> list[Any]:
        """Return what each completed run of a node returned, in order.

        Args:
            node: The node's name, or its path in the graph such as `inner/a` where names repeat.

        Raises:
            ConfigurationError: nothing with this name ran.
        """
        found = [record for record in self._records.values() if node in (record.name, _place(record.path))]
        if not found:
            names = dict.fromkeys(record.name for record in self._records.values())
            raise ConfigurationError(f"No node {node!r} has run; these have: {one_of(node, names)}.")
        return [spoken(record.output) for record in found if record.status is Status.COMPLETED]

    @property
    def events(self) -> list[Event]:
        """Everything written to the session by this run so far, the user's messages and answers included."""
        return [event for event in self._events if not event.partial]

    @property
    def pending(self) -> list[PendingQuestion]:
        """The questions that wait for an answer, oldest first."""
        found = [
            PendingQuestion(q.interrupt_id, run.name, q.message, q.payload, q.response_schema, run.path, q.asked_at)
            for run in self._records.values()
            for q in run.open_questions
        ]
        return sorted(found, key=lambda question: question.asked_at)

    @property
    def error(self) -> RunError | None:
        """Why it failed, `None` unless it did."""
        if self._exception is None:
            return None
        root = self._root
        if root is not None and root.error_type:
            return RunError(root.error_path or root.path, root.error_type, root.error_message or "")
        return RunError("", type(self._exception).__name__, str(self._exception))

    def raise_for_error(self) -> Run:
        """Raise the original exception of a failed run; return the run when there is none."""
        if self._exception is not None:
            raise self._exception
        return self

    @property
    def warnings(self) -> list[str]:
        """What a person should know, each with the node's name, once."""
        return [*self._warned, *(sentence(node, note) for node, note in Notes(self._records.values()))]

    @property
    def usage(self) -> Usage:
        """Model calls and tokens so far."""
        return total_usage(self._events)

    @property
    def state(self) -> dict[str, Any]:
        """A copy of the session's state as this run knows it."""
        return copy.deepcopy(self._state)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that the run lives on."""
        if self._loop is None:
            raise ConfigurationError("The run hasn't been started: adk_nb.run starts it.")
        return self._loop

    def events_frame(self, *, expand: str | None = None) -> pd.DataFrame:
        """Return its events as a DataFrame, one row each; see `adk_nb.frames.events_frame`."""
        return frames.events_frame(self.events, expand=expand)

    def nodes_frame(self) -> pd.DataFrame:
        """Return its node runs as a DataFrame, one row each; see `adk_nb.frames.nodes_frame`."""
        return frames.nodes_frame(self._records.values(), self.events)

    # Acting

    def start(self, loop: asyncio.AbstractEventLoop) -> Run:
        """Start it on a loop; `run` and `run_sync` do this."""
        self._loop = loop
        self._go_on(self._first)
        return self

    def __await__(self) -> Generator[Any, None, Run]:
        return self._on_own_loop(self._settled).__await__()

    async def respond(self, answer: Any, interrupt_id: str | None = None) -> Run:
        """Answer a question, and wait until the run settles again.

        Args:
            answer: What the question's schema wants; a pydantic model is taken as its fields.
            interrupt_id: Which question; needed when several are open.

        Raises:
            AnswerError: no such question is open, or the answer doesn't fit; nothing was stored, the question is open.
        """

        async def answer_it() -> Run:
            question = self._pending_question(interrupt_id)
            await self._enqueue({question.interrupt_id: answer})
            return await self._settled()

        return await self._on_own_loop(answer_it)

    def cancel(self) -> Run:
        """Stop it, its children included; `await run.cancel()` waits until it has. The session can be resumed."""
        self.call_soon(self._cancel)
        return self

    def resume(self) -> Run:
        """Go on with a run that failed, was cancelled or ended incomplete: what finished isn't run again.

        `await run.resume()` waits until it settles.

        Raises:
            ConfigurationError: the run isn't over, or there is nothing to go on with.
        """
        if not self.is_over or self._status == "completed":
            hint = "answer it with respond()" if self._status == "waiting" else "there is nothing to go on with"
            raise ConfigurationError(
                f"Only a run that failed, was cancelled or ended short resumes; this one is {self._status}: {hint}."
            )
        self._status = "running"
        self.call_soon(self._go_on, _Turn() if self.invocation_id else self._first, True)
        return self

    # Showing

    def view(self) -> None:
        """Show it live under the running cell; once it is over, its last state."""
        self._shown().show()

    def graph(self) -> RunGraph:
        """Return the graph with where the run stands, for the end of a cell."""
        return RunGraph(*self._shown().svg(), self._shown().text())

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the view as a page of its own: picture, table, questions, answers, result; nothing is fetched.

        Args:
            path: Where to write the page as well; `None` writes nothing.
        """
        whole = self._shown().html()
        if path is not None:
            Path(path).write_text(whole, encoding="utf-8")
        return whole

    def __repr__(self) -> str:
        head = f"<Run of {self.name}: {self._status}"
        if self._status == "waiting":
            asked = ", ".join(f"{one.interrupt_id!r} ({one.node}: {one.message or 'input'})" for one in self.pending)
            return f"{head} for {asked}; answer with await run.respond(answer)>"
        if self._exception is not None:
            error = self.error
            return f"{head}, {error.type}: {error.message}>" if error else f"{head}>"
        return f"{head}>"

    def _ipython_display_(self) -> None:
        """A cell that shows a run and ends in it shows it once."""
        if front_end() == "none":
            print(repr(self))  # noqa: T201  # a terminal asked for it
        elif not self._shown().is_in_this_cell:
            self.view()

    def _shown(self) -> RunView:
        if self._view is None:
            # Widgets and drawing are loaded when there is something to show.
            from adk_nb.notebook.run_view import RunView

            self._view = RunView(self)
        return self._view

    # The fold of what happened, made when a view first asks

    @property
    def fold(self) -> RunFold:
        """What views show, up to date as of the last `catch_up`."""
        if self._fold is None:
            self._fold = RunFold(
                self.description, name=self.name, run_id=self.invocation_id, session_id=self.session_id
            )
            self._unfolded = dict(self._records)
            for warning in self._warned:
                self._fold.warn(warning)
            self.catch_up()
            if self._status != "running":
                self._settle_fold()
        return self._fold

    def catch_up(self) -> None:
        """Fold what happened since the last time."""
        fold = self._fold
        if fold is None:
            return
        for record in self._unfolded.values():
            fold.run(record)
        self._unfolded.clear()
        for event in self._events[self._folded :]:
            fold.event(event)
        self._folded = len(self._events)

    def _note_settled(self) -> None:
        self._settled_at = time.time()
        self.catch_up()
        self._settle_fold()

    def _settle_fold(self) -> None:
        if self._fold is None:
            return
        at = self._settled_at
        error = self.error
        shown: dict[str, Any] | None = None
        if error is not None and self._exception is not None:
            shown = {"path": error.path, "type": error.type, "message": error.message}
            shown |= {"short": short_traceback(self._exception), "full": full_traceback(self._exception)}
        self._fold.settle(self._status, at=at, result=self.output, error=shown)

    # How it runs

    async def _on_own_loop(self, work: Callable[[], Awaitable[Run]]) -> Run:
        here = asyncio.get_running_loop()
        if self._loop is not None and self._loop.is_closed() and (self._task is None or self._task.done()):
            self._loop = here  # its loop is gone, as between two calls of asyncio.run: it lives on here
        if self.loop is here:
            return await work()

        async def there() -> Run:
            return await work()

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(there(), self.loop))

    def call_soon(self, act: Callable[..., Any], *args: Any) -> None:
        """Do something on the run's own loop, from whichever thread."""
        self.loop.call_soon_threadsafe(act, *args)

    async def _settled(self) -> Run:
        await asyncio.sleep(0)  # a cancel or a resume just asked for comes first
        try:
            while self._task is not None and not self._task.done():
                await asyncio.wait({self._task}, timeout=TICK_S)
        except asyncio.CancelledError:
            self._cancel()
            if self._task is not None:
                await asyncio.wait({self._task}, timeout=1.0)
            raise
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal
        return self

    def _go_on(self, turn: _Turn, was_over: bool = False) -> None:
        was_over = was_over or self.is_over
        self._is_cancelled = False
        self._task = self.loop.create_task(self._live(turn), name=f"adk_nb run {self.name}")
        _alive.add(self._task)
        self._task.add_done_callback(self._ended)
        if was_over and self._view is not None:
            self._view.resumed()

    def _ended(self, task: asyncio.Task[None]) -> None:
        _alive.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._exception, self._status = error, "failed"
        elif self._status == "running":
            self._status = "cancelled"
        else:
            return
        self._note_settled()
        if self._view is not None:
            self._view.settled()

    async def _live(self, turn: _Turn | None) -> None:
        with use_model(self._model) if self._model is not None else contextlib.nullcontext():
            while turn is not None:
                await self._take(turn)
                turn = await self._next_turn()
        if self._view is not None:
            self._view.settled()

    async def _take(self, turn: _Turn) -> None:
        """Do one stretch of work, and note how it ended."""
        if turn.answers is None:
            self._accept(turn)
        try:
            if not self._events:
                await self._open_session()
            stream = self._runner.follow(
                user_id=self.user_id,
                session_id=self.session_id,
                invocation_id=self.invocation_id or None,
                new_message=turn.message,
                answers=turn.answers,
                state_delta=turn.state,
                yield_user_message=True,
                on_run=lambda record: self._note_record(turn, record),
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
            self._exception = error
        self._status = self._status_now()
        await self._refresh_state()
        self._note_settled()

    def _accept(self, turn: _Turn) -> None:
        """A turn has begun: what it brings is stored."""
        if turn.accepted is not None and not turn.accepted.done():
            turn.accepted.set_result(None)
        self._status, self._exception = "running", None
        if self._fold is not None:
            self.catch_up()
            self._fold.begin(time.time())
            self._touch()

    def _refuse(self, turn: _Turn, error: Exception) -> bool:
        """Take an answer back that was refused before anything was stored; say whether that is what happened."""
        if turn.answers is None or self._status == "running":
            return False
        if turn.is_preset:
            self._refusal = error
            self._warned.append(str(error))
            if self._fold is not None:
                self._fold.warn(str(error))
        if turn.accepted is not None and not turn.accepted.done():
            turn.accepted.set_exception(error)
        return True

    async def _open_session(self) -> None:
        key = {"app_name": self.name, "user_id": self.user_id, "session_id": self.session_id}
        session = await self._sessions.get_session(**key)
        if session is None:
            session = await self._sessions.create_session(**key)
        self._state = dict(session.state)

    async def _refresh_state(self) -> None:
        if not self._events:
            return
        key = {"app_name": self.name, "user_id": self.user_id, "session_id": self.session_id}
        session = await self._sessions.get_session(**key)
        if session is not None:
            self._state = dict(session.state)

    def _note_event(self, turn: _Turn, event: Event) -> None:
        if turn.answers is not None and self._status != "running":
            self._accept(turn)
        if not self.invocation_id:
            self._learn(event.invocation_id)
        self._events.append(event)
        if event.actions.state_delta:
            self._state |= event.actions.state_delta
        self._touch()

    def _note_record(self, turn: _Turn, record: NodeRun) -> None:
        if turn.answers is not None and self._status != "running":
            self._accept(turn)
        if not record.parent:
            self._root = record
            if not self.invocation_id:
                self._learn(record.invocation_id)
        self._records[record.path] = record
        if self._fold is not None:
            self._unfolded[record.path] = record
            self._touch()

    def note_broken_view(self, error: Exception) -> None:
        """A view could not be shown: the run goes on without it, and says so once."""
        self._view = None
        self._warned.append(f"The view broke off ({type(error).__name__}: {error}); run.view() tries again.")

    def _learn(self, invocation_id: str) -> None:
        self.invocation_id = invocation_id
        if self._fold is not None:
            self._fold.known_as(invocation_id, self.session_id)

    def _touch(self) -> None:
        if self._view is not None:
            self._view.touch()

    def _status_now(self) -> str:
        if self._is_cancelled:
            return "cancelled"
        if self._exception is not None:
            return "stopped" if isinstance(self._exception, LlmCallsLimitExceededError) else "failed"
        status = str(self._root.status) if self._root is not None else "failed"
        return status if status in ("waiting", "completed", "incomplete", "failed", "cancelled") else "incomplete"

    def _cancel(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
        elif self._status == "waiting":
            self._status = "cancelled"
            self._note_settled()
            if self._view is not None:
                self._view.settled()

    # Answers

    def _pending_question(self, interrupt_id: str | None) -> PendingQuestion:
        pending = self.pending
        ids = [question.interrupt_id for question in pending]
        if not pending:
            raise AnswerError(f"No question is open in this run, which is {self._status}; nothing was stored.")
        if interrupt_id is None and len(pending) > 1:
            raise AnswerError(
                f"{len(pending)} questions are open: say which one, as in respond(answer, {ids[0]!r}). "
                f"Open are {one_of('', ids)}."
            )
        for question in pending:
            if interrupt_id in (None, question.interrupt_id):
                return question
        raise AnswerError(
            f"No question {interrupt_id!r} is open; open are {one_of(interrupt_id, ids)}. Nothing was stored."
        )

    def _enqueue(self, answers: dict[str, Any]) -> asyncio.Future[None]:
        """Answer as soon as the turn that runs now has ended; the future is done when the answer is stored."""
        accepted: asyncio.Future[None] = self.loop.create_future()
        turn = _Turn(answers=answers, accepted=accepted)
        if self._task is None or self._task.done():
            self._go_on(turn)
        else:
            self._queue.append(turn)
        return accepted

    async def _next_turn(self) -> _Turn | None:
        while self._queue:
            turn = self._queue.popleft()
            if self._status == "waiting":
                return turn
            if turn.accepted is not None and not turn.accepted.done():
                turn.accepted.set_exception(
                    AnswerError(f"The run is {self._status}: the answer came too late and wasn't stored.")
                )
        if self._status != "waiting" or not self._presets or self._refusal is not None:
            return None
        try:
            answers = await self._preset_answers()
        except Exception as error:  # noqa: BLE001  # a person's own callable: raised where the run is awaited
            self._refusal = error
            return None
        return _Turn(answers=answers, is_preset=True) if answers else None

    async def _preset_answers(self) -> dict[str, Any]:
        """Answers given beforehand; a plain value answers one node run's question once, a callable each time."""
        found: dict[str, Any] = {}
        for question in self.pending:
            names = (question.interrupt_id, question.node, _place(question.path))
            name = next((name for name in names if name in self._presets), None)
            if name is None:
                continue
            preset = self._presets[name]
            if callable(preset):
                preset = preset(question)
                if inspect.isawaitable(preset):
                    preset = await preset
            elif (question.path, question.interrupt_id) in self._used_presets:
                continue
            self._used_presets.add((question.path, question.interrupt_id))
            found[question.interrupt_id] = preset
        return found

    def answer_from_form(
        self,
        question: Mapping[str, Any] | None,
        values: Mapping[str, Mapping[str, str]],
        json_text: str | None,
        refuse: Callable[[dict[str, str]], None],
    ) -> None:
        """Take the answer in a form: check it, store it, go on. What is wrong with it goes to `refuse`, by field."""
        if question is None or question["answered"] is not None:
            refuse({"": "This question isn't open any more."})
            return
        fields = question["fields"]
        if json_text is None:
            answer, errors = collect(fields, values)
        else:
            try:
                answer, errors = read_json(json_text), {}
            except ValueError as error:
                refuse({"": str(error)})
                return
        errors = errors or problems(question["schema"], fields, answer)
        if errors:
            refuse(errors)
            return
        stored = self._enqueue({question["interrupt_id"]: answer})
        stored.add_done_callback(lambda done: refuse({"": str(done.exception())}) if done.exception() else None)


@dataclass(frozen=True)
class RunGraph:
    """A run's graph with where it stands, drawn at the end of a cell."""

    svg: str
    outline: str
    """The graph as text where it can't be drawn."""
    text: str

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        if not self.svg:
            return {"text/plain": self.outline}
        return {"text/html": f'<div style="overflow-x:auto">{self.svg}</div>', "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def run(
    root: Any,
    message: Any = None,
    *,
    session: str | None = None,
    user: str = "user",
    state: Mapping[str, Any] | None = None,
    sessions: Any = None,
    model: Any = None,
    view: bool = True,
    answers: Mapping[str, Any] | None = None,
) -> Run:
    """Start a run and return it at once; `await` it to wait until it ends or asks a person.

    Args:
        root: A workflow, an agent, or any node or function.
        message: What the user says: a text, a part, a list of them or a Content; other values go as JSON text.
        session: The session to run in, made when it isn't there; `None` makes a new one.
        user: Whose session it is.
        state: State written before the run starts.
        sessions: Where to keep it: a session service, a path of an SQLite file or `"memory"`; `None` is the default of
            `configure`: in a notebook `.adk_nb/sessions.db` beside it, in a script memory.
        model: The model that every agent in this run asks; `None` leaves each its own.
        view: Show it live under the cell, where there is somebody to look.
        answers: Answers to questions, by interrupt id or node name, for when nobody is there: a value, which answers
            a node run's question once, or a function of the question.

    Returns:
        Run: running. `await` returns the same object, also when it failed or waits.

    Raises:
        ConfigurationError: no event loop runs here: use `run_sync`.

    Example:
        >>> import adk_nb as adk
        >>> def shout(node_input: str) -> str:
        ...     return node_input.upper()
        >>> async def main() -> str:
        ...     flow = adk.Workflow(name="flow", edges=[("START", shout)])
        ...     return (await run(flow, "hi", sessions="memory")).output
        >>> asyncio.run(main())
        'HI'
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigurationError(
            "run needs a running event loop, as in a notebook cell or an async function: use run_sync(...) here."
        ) from None
    made = Run(root, message, session=session, user=user, state=state, sessions=sessions, model=model, answers=answers)
    if view and front_end() != "none":
        made.view()
    return made.start(loop)


def run_sync(
    root: Any,
    message: Any = None,
    *,
    session: str | None = None,
    user: str = "user",
    state: Mapping[str, Any] | None = None,
    sessions: Any = None,
    model: Any = None,
    view: bool = True,
    answers: Mapping[str, Any] | None = None,
) -> Run:
    """Run from code that can't await: blocks until the run ends or asks a person, and returns it.

    It works in a script and inside a running event loop, and never waits for a person: a run that asks comes back with
    status `waiting`. `run_sync(run.respond(answer))` goes on with it in the same way.

    Args:
        root: As in `run`; or a `Run`, or what one of its methods returned, to wait for.
        message: As in `run`.
        session: As in `run`.
        user: As in `run`.
        state: As in `run`.
        sessions: As in `run`.
        model: As in `run`.
        view: As in `run`.
        answers: As in `run`.

    Example:
        >>> def shout(node_input: str) -> str:
        ...     return node_input.upper()
        >>> run_sync(shout, "hi", sessions="memory").output
        'HI'
    """
    if isinstance(root, Run) or inspect.isawaitable(root):
        return run_blocking(_waited(root))
    made = Run(root, message, session=session, user=user, state=state, sessions=sessions, model=model, answers=answers)

    async def whole() -> Run:
        made.start(asyncio.get_running_loop())
        return await made

    if view and front_end() != "none":
        made.view()
    return run_blocking(whole())


async def _waited(work: Awaitable[Run]) -> Run:
    return await work


def _place(path: str) -> str:
    return "/".join(step.partition("@")[0] for step in path.split("/")[1:])
