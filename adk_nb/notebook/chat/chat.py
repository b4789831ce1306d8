"""`chat`: a conversation with an agent, in a box under a cell or from code."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adk_nb import frames
from adk_nb.errors import AnswerError, ConfigurationError
from adk_nb.events.event import Event, new_id
from adk_nb.notebook.chat.chat_fold import ChatFold
from adk_nb.notebook.front_end import front_end
from adk_nb.notebook.running.open_run import newest_runs
from adk_nb.notebook.running.private_loop import run_blocking
from adk_nb.notebook.running.run import Run
from adk_nb.notebook.running.run_history import PendingQuestion
from adk_nb.workflow.build import build_root
from adk_nb.workflow.limits import Limits

if TYPE_CHECKING:
    import pandas as pd

    from adk_nb.notebook.chat.chat_view import ChatView


TURNS_SHOWN = 100
"""How many of the turns that a session has already are shown, and in `Chat.runs`."""


class Chat:
    """A conversation. Made by `chat`; what a person types in its box, `send` says from code.

    Attributes:
        runs: The runs of its turns, oldest first; of a session that is gone on with, the newest `TURNS_SHOWN` too.
        session_id: The session that it is kept in.
        answering: Answers from the box on their way.
    """

    def __init__(self, root: Any, *, session: str | None = None, **settings: Any) -> None:
        """Begin a conversation; `chat` does this.

        Args:
            root: As in `chat`.
            session: As in `chat`.
            settings: Further arguments of `Run`.
        """
        self.runs: list[Run] = []
        self.session_id = session or new_id()
        self._root = root
        self._settings = settings
        self._fold = ChatFold(build_root(root).name)
        self._folded = 0
        self._lines = 0
        """How many lines that the last run printed are shown."""
        self._printed = 0
        self._view: ChatView | None = None
        self.answering: set[asyncio.Future[Run]] = set()
        if session is not None:
            self._take_up()

    def _take_up(self) -> None:
        """Show what was said in the session before, and go on where it stands."""
        given = {name: value for name, value in self._settings.items() if name != "state"}
        for run in newest_runs(self._root, self.session_id, count=TURNS_SHOWN, streams=True, **given):
            self.runs.append(run)
            self._folded = self._lines = 0
            self._fold_settled()
        self._printed = self._fold.count
        if self.runs:
            self.runs[-1].watch(self)

    @property
    def status(self) -> str:
        """That of its last run; `idle` before the first."""
        return self.runs[-1].status if self.runs else "idle"

    @property
    def pending(self) -> list[PendingQuestion]:
        """The questions that wait for an answer: `await chat.runs[-1].respond(answer)` gives one."""
        return self.runs[-1].pending if self.runs else []

    @property
    def events(self) -> list[Event]:
        """Everything that was written to the session by its runs."""
        return [event for run in self.runs for event in run.events]

    def events_frame(self, *, expand: str | None = None) -> pd.DataFrame:
        """Return the events of all its runs as a DataFrame, one row each; see `adk_nb.frames.events_frame`."""
        return frames.events_frame(self.events, expand=expand)

    def send(self, message: Any) -> Run:
        """Say something, and return the run of that turn; `await` it to wait for the reply.

        Args:
            message: What the user says, as in `run`.

        Raises:
            ConfigurationError: the last turn is still at work, or waits for the answer to a question.
        """
        last = self.runs[-1] if self.runs else None
        if last is None:
            made = Run(self._root, message, session=self.session_id, streams=True, **self._settings)
        elif last.history.waits_for_words:
            self._fold.begin()
            return last.send(message)
        elif not last.is_over:
            hint = "answer it with chat.runs[-1].respond(...)" if last.pending else "await it first"
            raise ConfigurationError(
                f"send() says something once the last turn is over; this one is {last.status}: {hint}."
            )
        else:
            made = last.following(message)
        self._begin(made)
        return made

    def stop(self) -> None:
        """Stop the turn that is at work or waits; what was said stays."""
        if self.runs and not self.runs[-1].is_over:
            self.runs[-1].cancel()

    def view(self) -> None:
        """Show the box under the running cell."""
        self._shown().show()

    def __str__(self) -> str:
        self._catch_up()
        return "\n".join(self._fold.lines()) or f"Chat with {self._fold.name}: say something with chat.send(text)"

    def __repr__(self) -> str:
        return f"<Chat with {self._fold.name}: {self.status}, {len(self.runs)} turns>"

    def _ipython_display_(self) -> None:
        """A cell that makes a chat and ends in it shows it once."""
        if front_end() == "none":
            print(repr(self))  # noqa: T201  # a terminal asked for it
        elif not self._shown().is_in_this_cell:
            self.view()

    def _begin(self, run: Run) -> None:
        self.runs.append(run)
        self._folded = self._lines = 0
        self._fold.begin()
        run.watch(self)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # plain code, whose runs live on a loop of their own
            run_blocking(_started(run))
        else:
            run.start(loop)

    @property
    def is_seen(self) -> bool:
        """Its box was shown, so that what is printed needn't stand under a cell as well."""
        return self._view is not None

    def touch(self) -> None:
        """Its run tells that something happened."""
        if self.runs[-1].status == "running" != self._fold.status:
            self._fold.begin()
        if self._view is not None:
            self._catch_up()
            self._view.touch()

    def settled(self) -> None:
        """Its run tells that the turn has ended, or waits for a person."""
        self._fold_settled()
        if self._view is not None:
            self._view.settled()
        if front_end() == "none":
            for line in self._fold.lines(self._printed):
                print(line)  # noqa: T201  # without a notebook, this is how a chat is read
            self._printed = self._fold.count

    def _fold_settled(self) -> None:
        self._catch_up()
        run = self.runs[-1]
        error = "" if run.error is None else f"{run.error.type}: {run.error.message}"
        lines = run.printed.splitlines()
        self._fold.settle(run.status, output=run.output, error=error, printed=lines[self._lines :])
        self._lines = len(lines)

    def _catch_up(self) -> None:
        if not self.runs:
            return
        events = self.runs[-1].history.events
        for event in events[self._folded :]:
            self._fold.event(event)
        self._folded = len(events)

    def _shown(self) -> ChatView:
        if self._view is None:
            # Widgets are loaded when there is something to show.
            from adk_nb.notebook.chat.chat_view import ChatView

            self._catch_up()
            self._view = ChatView(self._fold, self._take, lambda: str(self))
        return self._view

    def _take(self, content: Mapping[str, Any]) -> None:
        """Do what a person did in the box."""
        kind = content.get("kind")
        if kind == "stop":
            self.stop()
        elif kind == "say":
            try:
                self.send(str(content.get("text", "")))
            except ConfigurationError as error:
                self._shown().tell_errors("", {"": str(error)})
        elif kind == "answer":
            self._take_answer(str(content.get("key")), content.get("entry"), content.get("json"))

    def _take_answer(self, key: str, entry: Any, json_text: str | None) -> None:
        # Forms are a matter of notebooks, which have loaded them by now.
        from adk_nb.notebook.view.forms import answer_in

        question = self._fold.question(key)
        view = self._shown()
        if question is None or question["answered"] is not None:
            view.tell_errors(key, {"": "This question isn't open any more."})
            return
        answer, errors = answer_in(question, entry, json_text)
        if errors:
            view.tell_errors(key, errors)
            return
        stored = asyncio.ensure_future(self.runs[-1].respond(answer, question["interrupt_id"]))

        def tell(done: asyncio.Future[Run]) -> None:
            self.answering.discard(done)
            error = None if done.cancelled() else done.exception()
            if isinstance(error, AnswerError):
                view.tell_errors(key, {"": str(error)})

        self.answering.add(stored)
        stored.add_done_callback(tell)


async def _started(run: Run) -> None:
    run.start(asyncio.get_running_loop())


def chat(
    root: Any,
    message: Any = None,
    *,
    session: str | None = None,
    user: str = "user",
    state: Mapping[str, Any] | None = None,
    sessions: Any = None,
    model: Any = None,
    view: bool = True,
    limits: Limits | None = None,
) -> Chat:
    """Open a conversation with an agent: in a notebook a chat box under the cell, elsewhere printed turn by turn.

    Replies stream in; calls of tools are folded; what a task asks, approvals and hand-overs have their place. Each turn
    is a run like any other, in `chat.runs`.

    Args:
        root: An agent, a workflow or any node, or an `App`.
        message: What to say first; `None` waits for the person.
        session: The session to talk in: what was said in it before is shown, and what is open can be answered. It is
            made when it isn't there; `None` makes a new one.
        user: Whose session it is.
        state: State written before the first turn.
        sessions: Where to keep it, as in `run`.
        model: The model that every agent asks; `None` leaves each its own.
        view: Show the box under the cell, where there is somebody to look.
        limits: What each turn may use up.

    Example:
        >>> import adk_nb as adk
        >>> from adk_nb.testing import ScriptedModel
        >>> talk = chat(adk.Agent(name="bot", model=ScriptedModel(["Hello!"])), sessions="memory")
        >>> run = adk.run_sync(talk.send("hi"))
        user > hi
        bot > Hello!
    """
    settings: dict[str, Any] = {"user": user, "sessions": sessions, "model": model, "limits": limits}
    made = Chat(root, session=session, state=state, **settings)
    if view and front_end() != "none":
        made.view()
    if message is not None:
        made.send(message)
    return made
