"""`Run`: what a person has in hand of a run: its state, its answers, what came of it, how it goes on.

A run is a background task: the cell that started it may end, and a person's answer goes on with it. Nothing here
needs a notebook; the view is loaded when there is somebody to look at it.
"""

from __future__ import annotations

import asyncio
import copy
import os
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adk_nb import frames
from adk_nb.apps.app import App
from adk_nb.errors import ConfigurationError, StoredRunError
from adk_nb.events.event import Event, new_id
from adk_nb.events.record import NodeRun
from adk_nb.frames.reading import Usage, total_usage
from adk_nb.frames.whole_file import write_page
from adk_nb.models.use import as_model
from adk_nb.notebook import settings
from adk_nb.notebook.drawing.run_graph import RunGraph
from adk_nb.notebook.drawing.timeline_picture import Timeline
from adk_nb.notebook.front_end import front_end
from adk_nb.notebook.running.messages import as_message
from adk_nb.notebook.running.presets import Presets
from adk_nb.notebook.running.run_history import PendingQuestion, RunError, RunHistory
from adk_nb.notebook.running.run_work import RunWork, Turn, Watcher
from adk_nb.notebook.settings import as_sessions, default_sessions
from adk_nb.workflow.build import build_root
from adk_nb.workflow.description import GraphDescription
from adk_nb.workflow.limits import Limits

if TYPE_CHECKING:
    import pandas as pd

    from adk_nb.notebook.view.run_view import RunView


CLICK_S = 2.0
"""Seconds in which a page says that clicks arrive; it takes 40 to 220 ms where they do."""


class Run:
    """One run of a workflow, agent or node. Made by `run` and `run_sync`; `await` it to wait until it settles.

    Awaiting returns the run itself, also when it failed or waits for a person: look at `status`, and call
    `raise_for_error` where a failure shall be raised.

    Attributes:
        history: What happened, as views read it.
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
        limits: Limits | None = None,
        app_name: str = "",
        streams: bool = False,
    ) -> None:
        node = build_root(root)
        self._settings: dict[str, Any] = {"user": user, "model": model, "answers": answers, "limits": limits}
        self._settings |= {"app_name": app_name, "streams": streams}
        self._root = root
        service, warning = default_sessions() if sessions is None else (as_sessions(sessions), "")
        self.history = RunHistory(node.name, node.describe(), session or new_id())
        if warning:
            self.history.warn(warning)
        self._sessions = service
        self._work = RunWork(
            root if isinstance(root, App) else node,
            self.history,
            Turn(message=as_message(message), state=dict(state) if state else None),
            user=user,
            app_name=app_name,
            streams=streams,
            sessions=service,
            model=as_model(model),
            presets=Presets(answers),
            limits=limits,
        )

    @classmethod
    def of_stored(cls, root: Any, history: RunHistory, work: RunWork, sessions: Any, **settings: Any) -> Run:
        """Return a run whose history a store has kept; `open_run` does this.

        Args:
            root: What it goes on with; `None` when it can only be looked at.
            history: What happened.
            work: What goes on with it.
            sessions: Where it is kept.
            settings: What later turns are run with, as arguments of `Run`.
        """
        made = cls.__new__(cls)
        made.history = history
        made._root, made._work, made._sessions, made._settings = root, work, sessions, settings
        return made

    @property
    def name(self) -> str:
        """The root's name."""
        return self.history.name

    @property
    def description(self) -> GraphDescription:
        """The root's graph, as plain data."""
        return self.history.description

    @property
    def session_id(self) -> str:
        """The session that the run is kept in."""
        return self.history.session_id

    @property
    def user_id(self) -> str:
        """Whose session it is."""
        return self._work.user_id

    @property
    def invocation_id(self) -> str:
        """The run's own id, empty until it has started."""
        return self.history.invocation_id

    @property
    def status(self) -> str:
        """One of `running`, `waiting` (for an answer), `completed`, `incomplete`, `failed`, `cancelled`, `stopped`."""
        return self.history.status

    @property
    def stopped_by(self) -> str | None:
        """Name of the limit that stopped it, for instance `max_node_runs`."""
        return self.history.stopped_by

    @property
    def is_over(self) -> bool:
        """It has ended, in whatever way; a waiting run hasn't."""
        return self.history.is_over

    @property
    def output(self) -> Any:
        """What the root returned; the text of a model's message; `None` while there is none."""
        return self.history.output

    def outputs(self, node: str) -> list[Any]:
        """Return what each completed run of a node returned, in order.

        Args:
            node: The node's name, or its path in the graph such as `inner/a` where names repeat.

        Raises:
            ConfigurationError: nothing with this name ran.
        """
        return self.history.outputs(node)

    @property
    def events(self) -> list[Event]:
        """Everything written to the session by this run so far, the user's messages and answers included."""
        return [event for event in self.history.events if not event.partial]

    @property
    def records(self) -> list[NodeRun]:
        """Its node runs as records, in the order in which they were created; they are only for reading."""
        return list(self.history.records.values())

    @property
    def pending(self) -> list[PendingQuestion]:
        """The questions that wait for an answer, oldest first."""
        return self.history.pending

    @property
    def error(self) -> RunError | None:
        """Why it failed, `None` unless it did."""
        return self.history.error

    def raise_for_error(self) -> Run:
        """Raise the original exception of a failed run; return the run when there is none.

        Raises:
            StoredRunError: a stored run had failed in an earlier process.
        """
        if self.history.exception is not None:
            raise self.history.exception
        error = self.error
        if error is not None:
            raise StoredRunError(f"{error.path or self.name} had failed with {error.type}: {error.message}")
        return self

    @property
    def warnings(self) -> list[str]:
        """What a person should know, each with the node's name, once."""
        return self.history.warnings

    @property
    def usage(self) -> Usage:
        """Model calls and tokens so far."""
        return total_usage(self.history.events)

    @property
    def printed(self) -> str:
        """What its nodes printed in a notebook, line by line in the order of time; at most 200 lines of a node run."""
        lines = [line for record in self.history.records.values() for line in record.printed]
        return "".join(f"{line.text}\n" for line in sorted(lines, key=lambda line: line.at))

    @property
    def state(self) -> dict[str, Any]:
        """A copy of the session's state as this run knows it."""
        return copy.deepcopy(self.history.state)

    def events_frame(self, *, expand: str | None = None) -> pd.DataFrame:
        """Return its events as a DataFrame, one row each; see `adk_nb.frames.events_frame`."""
        return frames.events_frame(self, expand=expand, prices=settings.prices())

    def nodes_frame(self) -> pd.DataFrame:
        """Return its node runs as a DataFrame, one row each; see `adk_nb.frames.nodes_frame`."""
        return frames.nodes_frame(self, prices=settings.prices())

    def timeline_frame(self) -> pd.DataFrame:
        """Return where the time of its node runs went, one row a stretch; see `adk_nb.frames.timeline_frame`."""
        return frames.timeline_frame(self)

    def calls_frame(self) -> pd.DataFrame:
        """Return its model calls as a DataFrame, one row each, with request and reply; see `frames.calls_frame`."""
        return frames.calls_frame(self, prices=settings.prices())

    def timeline(self) -> Timeline:
        """Return where the time of its node runs went, drawn at the end of a cell; `.svg` and `.frame` have it, too."""
        return Timeline(self.timeline_frame())

    def messages_frame(self) -> pd.DataFrame:
        """Return what was said as a DataFrame, one row a part of a message; see `adk_nb.frames.messages_frame`."""
        return frames.messages_frame(self)

    def state_frame(self) -> pd.DataFrame:
        """Return changes of the state as a DataFrame, one row each; see `adk_nb.frames.state_frame`."""
        return frames.state_frame(self)

    def usage_frame(self, by: str | Sequence[str] = "node") -> pd.DataFrame:
        """Return calls, tokens and money, summed up by node, agent, round or model; see `adk_nb.frames.usage_frame`."""
        return frames.usage_frame(self, by, prices=settings.prices())

    def start(self, loop: asyncio.AbstractEventLoop) -> Run:
        """Start it on a loop; `run` and `run_sync` do this."""
        self._work.start(loop)
        return self

    def __await__(self) -> Generator[Any, None, Run]:
        return self._work.on_own_loop(self._settled).__await__()

    async def _settled(self) -> Run:
        __tracebackhide__ = True
        await self._work.settled()
        return self

    async def completed(self) -> Run:
        """Wait until it is over, through the answers that a person gives in its forms meanwhile.

        Where nobody can answer while a cell waits, it comes back at the pause as `await run` does, with a hint in
        `warnings`: in a notebook that a program runs, in plain code, and on a kernel that keeps clicks until the cell
        has ended (ipykernel 6), which is found out by asking the page. The questions stay open.
        """
        return await self._work.on_own_loop(self._completed)

    async def _completed(self) -> Run:
        are_heard = False
        while not (await self._settled()).is_over:
            if not are_heard:
                why = await self._why_nobody_answers()
                if why:
                    asked = ", ".join(f"{one.interrupt_id!r} of node {one.node!r}" for one in self.pending)
                    self._work.warn(f"{why} Open: {asked}.")
                    break
                are_heard = True
            await self._work.goes_on()
        return self

    async def _why_nobody_answers(self) -> str:
        seen_by = front_end()
        if seen_by in ("none", "static"):
            return "Nobody can answer here: await run.respond(answer) does, or answers= beforehand."
        shown = self._shown()
        if not shown.is_open:
            self.view()
        if await shown.clicks_arrive(CLICK_S):
            return ""
        return "This kernel hears no clicks while a cell waits: answer in the form, and await it again in a later cell."

    async def respond(self, answer: Any, interrupt_id: str | None = None) -> Run:
        """Answer a question, and wait until the run settles again.

        Args:
            answer: What the question's schema wants; a pydantic model is taken as its fields.
            interrupt_id: Which question; needed when several are open.

        Raises:
            AnswerError: no such question is open, or the answer doesn't fit; nothing was stored, the question is open.
        """

        async def answer_it() -> Run:
            question = self.history.question(interrupt_id)
            await self._work.answer({question.interrupt_id: answer})
            return await self._settled()

        return await self._work.on_own_loop(answer_it)

    async def approve(self, interrupt_id: str | None = None, *, payload: Any = None) -> Run:
        """Let a call run that waits for an approval, and wait until the run settles again.

        Args:
            interrupt_id: Which question; needed when several approvals are open.
            payload: Data for the call, which it finds in `tool_context.tool_confirmation.payload`.

        Raises:
            AnswerError: no such question is open, or it asks for something else than an approval; nothing was stored.
        """
        return await self._decide(True, interrupt_id, payload)

    async def reject(self, interrupt_id: str | None = None, *, payload: Any = None) -> Run:
        """Refuse a call that waits for an approval, and wait until the run settles again; see `approve`."""
        return await self._decide(False, interrupt_id, payload)

    async def _decide(self, is_confirmed: bool, interrupt_id: str | None, payload: Any) -> Run:
        question = self.history.confirmation(interrupt_id)
        answer = {"confirmed": is_confirmed} | ({} if payload is None else {"payload": payload})
        return await self.respond(answer, question.interrupt_id)

    def send(self, message: Any, *, view: bool = True) -> Run:
        """Say something more in the same session, and return the run of that turn; `await` it as usual.

        An agent in the middle of a task, which has asked something in words, gets it in this run; else it begins a new
        run of the same root.

        Args:
            message: What the user says, as in `run`.
            view: Show the turn live under the cell, where there is somebody to look.

        Raises:
            ConfigurationError: this run is still at work, or waits for the answer to a question.
        """
        self._work.check_root()
        if self.history.waits_for_words:
            self._work.say(as_message(message))
            return self
        if not self.is_over:
            hint = "answer it with respond()" if self.pending else "await it first"
            raise ConfigurationError(
                f"send() goes on with a conversation once its last turn is over; this one is {self.status}: {hint}."
            )
        made = self.following(message)
        if view and front_end() != "none":
            made.view()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # plain code, whose runs live on a loop of their own
            loop = self._work.loop
        return made.start(loop)

    def following(self, message: Any) -> Run:
        """Return the run of the next turn in the same session, not started yet; `send` starts it."""
        return Run(self._root, message, session=self.session_id, sessions=self._sessions, **self._settings)

    def watch(self, watcher: Watcher) -> None:
        """Tell somebody of what happens, beside the view."""
        self._work.watcher = watcher

    def cancel(self) -> Run:
        """Stop it, its children included; `await run.cancel()` waits until it has. The session can be resumed."""
        self._work.call_soon(self._work.cancel)
        return self

    def resume(self, *, limits: Limits | None = None) -> Run:
        """Go on with a run that failed, was cancelled or stopped, or ended incomplete: what finished isn't run again.

        `await run.resume()` waits until it settles.

        Args:
            limits: What it may use up from now on; by default as much again as before.
        Raises:
            ConfigurationError: the run isn't over, or there is nothing to go on with.
        """
        if not self.is_over or self.status == "completed":
            hint = "answer it with respond()" if self.status == "waiting" else "there is nothing to go on with"
            raise ConfigurationError(
                f"Only a run that failed, was cancelled or ended short resumes; this one is {self.status}: {hint}."
            )
        self._work.resume(limits)
        return self

    def view(self) -> None:
        """Show it live under the running cell; once it is over, its last state."""
        self._shown().show()

    def graph(self) -> RunGraph:
        """Return the graph with where the run stands, for the end of a cell."""
        return RunGraph(*self._shown().svg(), self._shown().text())

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the view as a page of its own: picture, table, questions, answers, result; nothing is fetched.

        Args:
            path: Where to write the page as well, whole or not at all; `None` writes nothing.
        """
        whole = self._shown().html()
        if path is not None:
            write_page(path, whole)
        return whole

    def __repr__(self) -> str:
        head = f"<Run of {self.name}: {self.status}"
        if self.status == "waiting":
            asked = ", ".join(f"{one.interrupt_id!r} ({one.node}: {one.message or 'input'})" for one in self.pending)
            return f"{head} for {asked}; answer with await run.respond(answer)>"
        error = self.error
        if error is None:
            return f"{head}>"
        where = "" if error.item_index is None else f" in item {error.item_index}"
        return f"{head}, {error.type}{where}: {error.message}>"

    def _ipython_display_(self) -> None:
        """A cell that shows a run and ends in it shows it once."""
        if front_end() == "none":
            print(repr(self))  # noqa: T201  # a terminal asked for it
        elif not self._shown().is_in_this_cell:
            self.view()

    def _shown(self) -> RunView:
        if self._work.view is None:
            # Widgets and drawing are loaded when there is something to show.
            from adk_nb.notebook.view.run_view import RunView

            self._work.view = RunView(self._work)
        return self._work.view
