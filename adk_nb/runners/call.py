"""What one call of a runner asks for, checked in full before anything is stored."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from adk_nb.auth.answers import TakenCredentials
from adk_nb.errors import AnswerError, DataError, EngineError, InvocationNotFoundError
from adk_nb.events.credential_request import REQUEST_CREDENTIAL
from adk_nb.events.event import Event, content_text, new_id
from adk_nb.events.record import ENDED, NodeRun, Status
from adk_nb.events.request_input import answer_content, unwrap_answer
from adk_nb.events.values import freeze
from adk_nb.workflow.answers import check_answer, read_answer
from adk_nb.workflow.lost_nodes import refuse_lost_run, refuse_other_root
from adk_nb.workflow.ports import RunLog


@dataclass
class Opening:
    """What a call begins with; nothing of it is stored yet."""

    run: NodeRun
    """The root's record."""
    user_event: Event | None
    changed: list[NodeRun]
    """The records that change with the user's event."""
    is_new: bool = False
    """A new run begins."""

    @property
    def message(self) -> types.Content | None:
        """The message that the run began with."""
        given = self.run.input
        return given if isinstance(given, types.Content) else None


@dataclass
class Call:
    """What one call of the runner asks for: a new run, answers to an open one, or going on with one."""

    root: Any
    session_id: str
    log: RunLog
    invocation_id: str | None
    message: types.Content | None
    answers: Mapping[str, Any] | None
    state_delta: dict[str, Any] | None
    new_invocation_id: str = field(default_factory=lambda: f"e-{new_id()}")
    """Id of the run, if a new one begins."""
    credentials: TakenCredentials = field(default_factory=TakenCredentials)
    """What was answered to questions for credentials; it isn't stored."""

    async def open(self) -> Opening:
        """Return what the call begins with.

        Raises:
            AnswerError: an answer doesn't fit, or its question isn't open.
            InvocationNotFoundError: there is no run with the given id.
            DataError: the message can't be taken, or there is nothing to run.
        """
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
        asked = await self._spoken_question()
        if asked is not None:
            return await self._answer({asked: (content_text(message), True)}, message)
        return self._start(message)

    async def open_with(self, message: types.Content) -> Opening:
        """Return what the call begins with when this message takes the place of the user's."""
        self.message, self.answers = message, None
        return await self.open()

    def _checked_message(self) -> types.Content | None:
        message = self.message
        if message is None:
            return None
        parts = message.parts or []
        if any(part.function_call for part in parts):
            raise DataError(
                "A user's message cannot contain function calls: send text, or function responses as answers."
            )
        responses = [part.function_response for part in parts if part.function_response]
        if any(response.name == REQUEST_CREDENTIAL and not response.id for response in responses):
            raise DataError(
                "An answer to a request for a credential needs the request's id: without it, the credential would be "
                "stored as an ordinary message. Nothing was stored."
            )
        ids = [response.id for response in responses if response.id]
        twice = next((one for one in ids if ids.count(one) > 1), None)
        if twice is not None:
            raise AnswerError(f"A message holds several answers to {twice!r}: send one. Nothing was stored.")
        if responses and any(part.text for part in parts):
            raise DataError(
                "A message cannot contain both text and function responses: send the answers first, then the text."
            )
        return message if message.role == "user" else message.model_copy(update={"role": "user"})

    def _start(self, message: types.Content) -> Opening:
        run = NodeRun(
            path=f"{self.root.name}@1",
            name=self.root.name,
            run_id="1",
            parent="",
            invocation_id=self.new_invocation_id,
            input=freeze(message),
            kind=self.root.kind,
            created_at=time.time(),
        )
        return Opening(run, self._user_event(run, message), [run], is_new=True)

    async def _continue(self, message: types.Content | None) -> Opening:
        root = await self.log.root_run(self.invocation_id)
        if root is None:
            raise InvocationNotFoundError(
                f"No run {self.invocation_id!r} in session {self.session_id!r}: leave invocation_id "
                "out to start a new run."
            )
        if message is not None:
            raise DataError(
                f"Run {self.invocation_id!r} has its message already: continue it without "
                f"new_message=, or send the message without invocation_id= to start a new run."
            )
        refuse_other_root(self.root, root)
        await self._refuse_lost_runs(root.invocation_id)
        return Opening(root, self._user_event(root, None) if self.state_delta else None, [])

    async def _spoken_question(self) -> str | None:
        """Return the id of what an agent said last in the course of a task that isn't finished; `None` without one."""
        root = await self.log.root_run(None)
        if root is None or root.status is not Status.WAITING or root.name != self.root.name:
            return None
        asked = [
            one for run in await self.log.open_runs(root.invocation_id) for one in run.open_questions if one.is_spoken
        ]
        return max(asked, key=lambda one: one.asked_at).interrupt_id if asked else None

    async def _answer(self, given: dict[str, tuple[Any, bool]], message: types.Content) -> Opening:
        asked: dict[str, NodeRun] = {}
        changed: dict[tuple[str, str], NodeRun] = {}
        spoken: dict[str, Any] = {}
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
            if question.is_spoken:
                answer = response
                spoken[interrupt_id] = response
            elif question.is_secret:
                answer = self.credentials.take(question, response)
            else:
                answer = check_answer(question, response if is_exact else read_answer(question, response))
            run.take_answer(interrupt_id, answer, time.time())
        root = await self._root_of(asked)
        refuse_other_root(self.root, root)
        for run in asked.values():
            refuse_lost_run(self.root, run)
        await self._refuse_lost_runs(root.invocation_id)
        message = self.credentials.taken_out_of(message)
        asking = next(iter(asked.values()))
        if spoken:
            message = self._in_words(message, spoken)
        event = self._user_event(root, message, None if spoken else asking.branch, asking.isolation_scope)
        root = changed.setdefault((root.invocation_id, root.path), root)
        root.make_ready()
        return Opening(root, event, list(changed.values()))

    def _in_words(self, message: types.Content, spoken: dict[str, Any]) -> types.Content:
        """Return an answer to what an agent said as what it is: a person's message."""
        if not any(part.function_response for part in message.parts or ()):
            return message
        if len(spoken) > 1 or len(message.parts or ()) > 1:
            raise AnswerError(
                "What an agent said is answered with a message of its own: answer one question at a time. Nothing was "
                "stored."
            )
        (said,) = spoken.values()
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str)
        return types.Content(role="user", parts=[types.Part(text=text)])

    async def _refuse_lost_runs(self, invocation_id: str) -> None:
        """Refuse to go on while a node is gone that has an open run; where only events tell, the graph may differ."""
        for run in await self.log.open_runs(invocation_id):
            if run.status not in ENDED and not run.is_told:
                refuse_lost_run(self.root, run)

    async def _root_of(self, asked: dict[str, NodeRun]) -> NodeRun:
        """Return the root of the run that all of the questions belong to."""
        invocations = {run.invocation_id for run in asked.values()}
        if len(invocations) > 1:
            raise AnswerError(
                f"The answers resolve to multiple invocations ({', '.join(sorted(invocations))}): "
                f"send those of one run at a time. Nothing was stored."
            )
        invocation_id = invocations.pop()
        if self.invocation_id not in (None, invocation_id):
            warnings.warn(
                f"The answered question belongs to run {invocation_id!r}, so invocation_id={self.invocation_id!r} is "
                f"ignored: leave it out with answers.",
                RuntimeWarning,
                stacklevel=2,
            )
        root = await self.log.root_run(invocation_id)
        if root is None:
            raise EngineError("A question has no root run: please report this.")
        return root

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

    def _user_event(
        self,
        run: NodeRun,
        message: types.Content | None,
        branch: str | None = None,
        isolation_scope: str | None = None,
    ) -> Event:
        return Event(
            author="user",
            invocation_id=run.invocation_id,
            content=message,
            branch=branch,
            isolation_scope=isolation_scope,
            state=dict(self.state_delta or {}),
        )
