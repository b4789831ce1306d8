"""Where one run of an agent stands, read from its events: what was called, what was answered, who has to speak next.

The same fold serves a run that goes on live and one that is taken up after a pause, a failure or in a new process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adk_nb.events.credential_request import REQUEST_CREDENTIAL
from adk_nb.events.event import Event
from adk_nb.events.tool_confirmation import REQUEST_CONFIRMATION
from adk_nb.workflow.context import Context

FINISH_TASK = "finish_task"


@dataclass(slots=True)
class MadeCall:
    """One call of a tool that the model made, and what came of it so far."""

    call: types.FunctionCall
    is_long_running: bool = False
    responses: int = 0
    questions: list[str] = field(default_factory=list)
    """Ids of the questions that were asked about it, oldest first."""
    wanted: list[tuple[Any, Any]] = field(default_factory=list)
    """What it wanted to ask, oldest first: a confirmation or a credential, each `None` where it isn't that."""

    def answers(self, answered: Collection[str]) -> list[str]:
        """Return its questions that have an answer."""
        return [one for one in self.questions if one in answered]

    def is_asked(self, answered: Collection[str]) -> bool:
        """Say whether a question about it is open."""
        return len(self.questions) > len(self.answers(answered))

    def is_due(self, answered: Collection[str]) -> bool:
        """Say whether it is to be carried out: it has no response yet, or none since it was last answered."""
        return self.responses <= len(self.answers(answered))


class Standing:
    """Where one run of an agent stands; `take` follows it from event to event."""

    def __init__(self, path: str, scope: str | None, used: set[str] | None = None) -> None:
        """Begin with nothing said.

        Args:
            path: Path of the run.
            scope: The conversation that it belongs to.
            used: Ids of the calls that the run has made before; added to.
        """
        self._path = path
        self._scope = scope
        self._asked: dict[str, str] = {}
        self.used: set[str] = set() if used is None else used
        """Ids of all calls that the run has made: each names a run of its own, so that none may come twice."""
        self.calls: dict[str, MadeCall] = {}
        """What it called, by id; settled calls of earlier steps are left out."""
        self.own: list[Event] = []
        """What it said and did itself."""
        self.texts: list[str] = []
        """What it said beside its calls."""
        self._newest: list[MadeCall] = []
        """The calls that it made last."""
        self.has_words = False
        """Somebody said something to it since it spoke last."""
        self.has_news = False
        """Somebody answered something since it spoke last."""

    @property
    def last(self) -> Event | None:
        """What it said or did last."""
        return self.own[-1] if self.own else None

    @property
    def transfer(self) -> str | None:
        """Name of the agent that it handed the conversation to."""
        return None if self.last is None else self.last.actions.transfer_to_agent

    def is_over(self, *, is_task: bool) -> bool:
        """Say whether it has handed over, or has finished its task.

        Args:
            is_task: It has a task to finish; elsewhere a tool of that name is like any other.
        """
        if self.last is None:
            return False
        ends = is_task and any(_ends_task(one) for one in self.last.get_function_responses())
        return ends or self.transfer is not None

    @property
    def given_response(self) -> Any:
        """The answer that the model gave by calling a tool, and that isn't told yet; `None` when there is none."""
        return None if self.last is None else self.last.actions.set_model_response

    @property
    def failed_tries(self) -> int:
        """How often the model tried in vain to finish its task."""
        responses = (one for event in self.own for one in event.get_function_responses())
        return sum(one.name == FINISH_TASK and not _ends_task(one) for one in responses)

    @property
    def wants_model(self) -> bool:
        """The model is to speak next: nothing was said yet, or a result or an answer came in."""
        last = self.last
        if last is None or self.has_words:
            return True
        if any(one.is_long_running and not one.responses for one in self._newest):
            return False  # models refuse a message of which only some calls have a response
        return self.has_news or (bool(last.get_function_responses()) and not last.is_final_response())

    @property
    def unasked(self) -> list[MadeCall]:
        """The calls that wanted to ask a person, which wasn't done yet."""
        return [one for one in self.calls.values() if len(one.wanted) > len(one.questions)]

    def due(self, answered: Collection[str]) -> list[MadeCall]:
        """Return the calls that are to be carried out now, in order.

        Args:
            answered: Ids of the run's questions that have an answer.
        """
        return [one for one in self.calls.values() if one.is_due(answered)]

    def take(self, event: Event) -> None:
        """Follow the run by one event of its invocation."""
        if event.partial:
            return
        if event.node_info.path == self._path:
            self._take_own(event)
        elif event.author == "user" and not event.node_info.path and self.own:
            self._take_message(event)

    def _take_own(self, event: Event) -> None:
        if event.error_code or event.content is None or not event.content.parts:
            return  # an error, with what was said until then, token counts, or state alone
        self.own.append(event)
        self.has_news = self.has_words = False
        calls = event.get_function_calls()
        for response in event.get_function_responses():
            self._take_response(response)
            made, actions = self.calls.get(str(response.id)), event.actions
            confirmation = actions.requested_tool_confirmations.get(str(response.id))
            credential = actions.requested_auth_configs.get(str(response.id))
            if made is not None and (confirmation is not None or credential is not None):
                made.wanted.append((confirmation, credential))
        self._take_calls(calls, event.long_running_tool_ids or ())
        if calls:
            self.texts.extend(_texts(event.content))

    def _take_calls(self, calls: list[types.FunctionCall], long_running: Collection[str]) -> None:
        # A model may say a question's name, too; only what the agent asked itself waits for a person.
        asked = [one.name in (REQUEST_CONFIRMATION, REQUEST_CREDENTIAL) and one.id in long_running for one in calls]
        if not all(asked):
            self.calls = {key: one for key, one in self.calls.items() if one.questions or not one.responses}
            self._newest = []
        for call, is_question in zip(calls, asked, strict=True):
            args: dict[str, Any] = call.args or {}
            if not is_question:
                made = self.calls[str(call.id)] = MadeCall(call, call.id in long_running)
                self._newest.append(made)
                self.used.add(str(call.id))
                continue
            about = args.get("functionCallId") or (args.get("originalFunctionCall") or {}).get("id")
            if about in self.calls:
                self._asked[str(call.id)] = about
                self.calls[about].questions.append(str(call.id))

    def _take_response(self, response: types.FunctionResponse) -> None:
        made = self.calls.get(str(response.id))
        if made is not None:
            made.responses += 1

    def _take_message(self, event: Event) -> None:
        responses = event.get_function_responses()
        for response in responses:
            if str(response.id) in self._asked:
                self.has_news = True
            elif str(response.id) in self.calls:
                self.has_news = True
                self._take_response(response)
        if not responses and event.content and event.isolation_scope == self._scope and self._scope is not None:
            self.has_words = True


def read_standings(ctx: Context, events: Iterable[Event]) -> list[Standing]:
    """Return where an agent's run stands: one standing for each time that it had the word, in order.

    Args:
        ctx: The context of the run.
        events: The session's events, oldest first.
    """
    standings = [Standing(ctx.node_path, ctx.isolation_scope)]
    for event in events:
        if event.invocation_id != ctx.invocation_id or event.partial:
            continue
        if event.node_info.path == ctx.node_path and standings[-1].transfer is not None and event.content is not None:
            standings.append(Standing(ctx.node_path, ctx.isolation_scope, standings[0].used))
        standings[-1].take(event)
    return standings


def _ends_task(response: types.FunctionResponse) -> bool:
    return response.name == FINISH_TASK and "error" not in (response.response or {})


def _texts(content: types.Content | None) -> Iterable[str]:
    for part in (content.parts if content else None) or ():
        if part.text and not part.thought:
            yield part.text
