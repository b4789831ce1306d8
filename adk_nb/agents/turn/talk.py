"""One run of an agent: its model is asked, what it calls is carried out, until it answers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_nb.agents.calls.function_calls import FunctionCalls
from adk_nb.agents.calls.model_response import SET_MODEL_RESPONSE
from adk_nb.agents.calls.own_tools import OwnTools
from adk_nb.agents.reading.request import as_planned, request_of, schema_hint, transfer_text
from adk_nb.agents.turn.answer import answer_text, answer_value, said_event, unusable_event
from adk_nb.agents.turn.asking import new_call_id, question_events
from adk_nb.agents.turn.model_call import ModelCall
from adk_nb.agents.turn.repairs import Repairs
from adk_nb.agents.turn.standing import MadeCall, Standing
from adk_nb.agents.turn.transfer import targets_of
from adk_nb.errors import UnusableAnswerError
from adk_nb.events.event import Event, new_id
from adk_nb.events.event_actions import EventActions
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.workflow.context import Context

if TYPE_CHECKING:
    from adk_nb.agents.llm_agent import LlmAgent


class Talk:
    """One run of an agent, from where its events say that it stands."""

    def __init__(self, agent: LlmAgent, ctx: Context, node_input: Any, standing: Standing) -> None:
        """Take up a run.

        Args:
            agent: The agent.
            ctx: Its context.
            node_input: Its input.
            standing: Where the run stands.
        """
        self._agent = agent
        self._ctx = ctx
        self._input = node_input
        self._standing = standing
        self._targets = targets_of(agent, has_parent=agent.was_handed_over)
        self._tools = OwnTools(agent, ctx, self._targets)
        self._since = len(ctx.session.events) if ctx.is_first_try else 0
        self._ids: set[str] = set()
        """Ids of the calls in the events of the session that were looked at."""
        self._looked_at = 0

    async def events(self) -> AsyncGenerator[Event, None]:
        """Go on until the agent has answered, has handed over, or waits for a person."""
        standing, invocation = self._standing, self._ctx.get_invocation_context()
        is_task = self._agent.mode == "task"
        begun: set[str] = set()
        """Calls that were made here and whose results come later."""
        while not (invocation.end_invocation or standing.is_over(is_task=is_task)):
            given = standing.given_response
            if given is not None:
                yield self._answer_given(given)
                return
            for event in self._unasked():
                yield event
                standing.take(self._as_stored(event))
            due = [one for one in standing.due(self._ctx.resume_inputs) if str(one.call.id) not in begun]
            begun |= {str(one.call.id) for one in due if one.is_long_running}
            if not due and not standing.wants_model:
                return
            if not due:
                self._ctx.check_limits()
            async with contextlib.aclosing(self._carried_out(due) if due else self._step()) as events:
                async for event in events:
                    yield event
                    if not event.partial:
                        standing.take(self._as_stored(event))
            if due and not standing.wants_model and standing.given_response is None:
                return

    async def _carried_out(self, due: list[MadeCall]) -> AsyncGenerator[Event, None]:
        calls = FunctionCalls(
            self._agent,
            self._ctx,
            due,
            await self._tools.by_name(),
            targets=self._targets,
            tries=self._standing.failed_tries if self._agent.mode == "task" else 0,
        )
        async with contextlib.aclosing(calls.events()) as events:
            async for event in events:
                yield event

    async def _step(self) -> AsyncGenerator[Event, None]:
        """Ask the model, again where it wrote a call of a tool that is none."""
        agent, repairs = self._agent, Repairs(self._agent)
        shorten = self._ctx.get_invocation_context().shorten
        if shorten is not None:
            await shorten(self._ctx.branch, self._ctx.isolation_scope)
        while True:
            request = await self._request()
            repairs.add_to(request)
            call, event_id = ModelCall(agent, self._ctx, request), new_id()
            async with contextlib.aclosing(call.responses()) as responses:
                async for response in responses:
                    if response.partial:
                        yield said_event(agent.name, response, event_id, partial=True)
                    else:
                        whole = as_planned(agent, self._ctx, response)
            tools = await self._tools.by_name()
            repaired = repairs.event_of(whole, tools.values())
            if repaired is None:
                break
            yield repaired
        calls = [part.function_call for part in (whole.content and whole.content.parts) or () if part.function_call]
        if calls and tools:
            yield self._calling(whole, event_id)
            return
        try:
            text = answer_text(self._agent, whole, bool(tools))
            value = answer_value(self._agent, whole, text)
        except UnusableAnswerError:
            told = unusable_event(agent.name, whole, event_id)
            if told is not None:
                yield told
            raise
        yield self.answer(whole, event_id, text, value)

    async def _request(self) -> LlmRequest:
        """Return what the model is asked."""
        agent = self._agent
        blocks = [schema_hint(SET_MODEL_RESPONSE)] if self._tools.answers_by_tool else []
        blocks.append(transfer_text(self._targets))
        request = await request_of(
            agent, self._ctx, self._input, agent.canonical_model, blocks=blocks, since=self._since
        )
        if agent.output_schema is not None and agent.mode != "task" and not self._tools.answers_by_tool:
            request.set_output_schema(agent.output_schema)
        await self._tools.tell(request)
        return request

    def _calling(self, response: LlmResponse, event_id: str) -> Event:
        """Return the event in which the model calls tools; calls without an id of their own get one."""
        event = said_event(self._agent.name, response, event_id)
        assert event.content is not None  # it calls
        long_running, known, used = set(), self._tools.known, self._used_ids(event)
        for at, part in enumerate(event.content.parts or ()):
            call = part.function_call
            if call is None:
                continue
            if not call.id or call.id in used:
                call = call.model_copy(update={"id": new_call_id()})
                assert event.content.parts is not None
                event.content.parts[at] = part.model_copy(update={"function_call": call})
            used.add(str(call.id))
            tool = known.get(str(call.name))
            if tool is not None and tool.is_long_running:
                long_running.add(str(call.id))
        event.long_running_tool_ids = long_running or None
        return event

    def _used_ids(self, event: Event) -> set[str]:
        """Return the ids of earlier calls: some models begin to count anew in each reply."""
        if not any(call.id for call in event.get_function_calls()):
            return set()
        events = self._ctx.session.events
        self._ids |= {str(call.id) for one in events[self._looked_at :] for call in one.get_function_calls()}
        self._looked_at = len(events)
        return self._ids | self._standing.used

    def answer(self, response: LlmResponse, event_id: str, text: str, value: Any) -> Event:
        """Return the event of the agent's answer.

        Args:
            response: What was said.
            event_id: The event's id.
            text: Its text.
            value: What it means.
        """
        agent, ctx = self._agent, self._ctx
        content = response.content or types.Content(parts=[types.Part(text=text)])
        event = said_event(agent.name, response.model_copy(update={"content": content}), event_id)
        if agent.mode == "task":
            self._ctx.ask_in_words(text)
            return event
        if agent.output_key:
            is_value = agent.output_schema is not None or agent.mode == "single_turn"
            kept = value if is_value else "".join([*self._standing.texts, text])
            event.actions = EventActions(state_delta={agent.output_key: kept})
        if agent.mode == "single_turn":
            event.output = value
            event.node_info.message_as_output = True if agent.output_schema is None else None
        elif "/" not in ctx.node_path or not self._agent.wait_for_output:
            # A reply to a person is no output event; the run's record still says what came out.
            ctx.keep_output(value)
        return event

    def _unasked(self) -> list[Event]:
        """Return the questions that calls wanted to ask when the run was cut off."""
        return question_events(self._agent.name, [(one.call, *one.wanted[-1]) for one in self._standing.unasked])

    def _answer_given(self, value: Any) -> Event:
        """Return the event of an answer that the model gave by calling a tool."""
        text = json.dumps(value, ensure_ascii=False)
        response = LlmResponse(content=types.Content(parts=[types.Part(text=text)]))
        return self.answer(response, new_id(), text, value)

    def _as_stored(self, event: Event) -> Event:
        """Return an event as history has it: a plugin may have changed it."""
        if self._ctx.get_invocation_context().plugins is None:
            return event.model_copy(
                update={"node_info": event.node_info.model_copy(update={"path": self._ctx.node_path})}
            )
        return next((one for one in reversed(self._ctx.session.events) if one.id == event.id), event)
