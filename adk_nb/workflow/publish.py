"""What an event of a running node says: it is completed with where it comes from, and its outcome is noted.

Every event of every node passes through `enrich` before it is stored.
"""

from __future__ import annotations

import time
from typing import Any

from adk_nb.errors import WorkflowDataError
from adk_nb.events.event import Event
from adk_nb.events.event_actions import EventActions
from adk_nb.events.questions import questions_in
from adk_nb.events.record import Question
from adk_nb.events.request_input import chose_its_id
from adk_nb.events.state import State
from adk_nb.events.values import freeze, snapshot
from adk_nb.workflow.context import Context
from adk_nb.workflow.execution import Execution


def enrich(execution: Execution, context: Context, event: Event) -> None:
    """Complete an event with where it comes from, and note what it says about the run's outcome."""
    run, node, outcome = execution.run, execution.node, context.outcome
    if event.branch is not None:
        run.branch = event.branch or None
    event.place(
        invocation_id=run.invocation_id,
        author=context.event_author or (node.name if node.speaks_as_itself else execution.author),
        path=run.path,
        branch=run.branch,
    )
    if execution.isolation_scope is not None and event.isolation_scope is None:
        event.isolation_scope = execution.isolation_scope
    if context.run_config.custom_metadata:
        event.custom_metadata = {**context.run_config.custom_metadata, **(event.custom_metadata or {})}
    if event.partial:
        return
    pending = context.take_actions()
    if pending is not None:
        event.actions = merged_actions(event.actions, pending)
    if event.actions.route is not None:
        outcome.route, outcome.is_route_sent = event.actions.route, True
    if event.usage_metadata is not None:
        context.get_invocation_context().allowance.note(event)
    if event.long_running_tool_ids:
        _note_questions(execution, event)
    _note_output(execution, context, event)
    _apply_state(context, event)


def merged_actions(own: EventActions, pending: EventActions) -> EventActions:
    """Return an event's actions with those of its node's context; the event's own win where both say something."""
    fields = {name: getattr(pending, name) for name in EventActions.model_fields}
    for name in EventActions.model_fields:
        value = getattr(own, name)
        if isinstance(value, dict) and isinstance(fields[name], dict):
            fields[name] = {**fields[name], **value}
        elif value is not None:
            fields[name] = value
    return EventActions.model_construct(**fields)


def _note_output(execution: Execution, context: Context, event: Event) -> None:
    outcome = context.outcome
    value = event.output
    is_plain_message = value is None
    if event.node_info.message_as_output and event.content is not None:
        if value is None:
            value = snapshot(event.content)
        event.output = None
    if value is None:
        return
    if outcome.is_published and execution.delegate is not None:
        event.output = None
        return
    if outcome.has_output:
        raise WorkflowDataError(
            f"Node {execution.run.name!r} gave a second output: a node hands on at most one output a run; put several "
            f"values into one list or dictionary."
        )
    value = freeze(_claimed(execution, value))  # once: successors, history and records share it
    if event.output is not value and event.output is not None:
        event.output = value
    outcome.output, outcome.has_output, outcome.is_published = value, True, True
    if is_plain_message:
        return
    event.note_output_for([execution.run.path, *(one.run.path for one in execution.claims)])
    if execution.claimer is not None:
        event.branch = execution.claimer.run.branch


def _claimed(execution: Execution, value: Any) -> Any:
    for above in execution.claims:
        if above.node.output_schema is not None:
            value = above.node.checked_output(value)
    return value


def _apply_state(context: Context, event: Event) -> None:
    live, actions = context.session.state, event.actions
    if actions.state_delta:
        for key, value in actions.state_delta.items():
            context.state.check(key, value)
            live[key] = snapshot(value, f"state[{key!r}]")
    written = context.state.take_delta()
    if written or actions.state_delta:
        merged = {**actions.state_delta, **written}
        actions.state_delta = {k: v for k, v in merged.items() if not k.startswith(State.TEMP_PREFIX)}


def _note_questions(execution: Execution, event: Event) -> None:
    for asked in list(questions_in(event)):
        question = Question(
            interrupt_id=asked.interrupt_id,
            message=asked.message,
            payload=snapshot(asked.payload),
            response_schema=asked.response_schema,
            asked_at=time.time(),
            is_named=chose_its_id(asked.interrupt_id),
            is_secret=asked.is_secret,
        )
        _ask(execution, event, question)
    event.long_running_tool_ids = event.long_running_tool_ids or None


def _ask(execution: Execution, event: Event, question: Question) -> None:
    run = execution.run
    if question.is_named:
        known = [one for one in run.open_questions if one.interrupt_id == question.interrupt_id]
    else:
        unnamed = [one for one in run.open_questions if not one.is_named]
        known = unnamed[execution.asked : execution.asked + 1]
        execution.asked += 1
    if not known:
        run.ask(question)
        return
    assert event.long_running_tool_ids is not None  # a question event
    assert event.content is not None
    event.long_running_tool_ids.discard(question.interrupt_id)
    event.content.parts = [
        part
        for part in event.content.parts or ()
        if part.function_call is None or part.function_call.id != question.interrupt_id
    ]


def is_empty(event: Event) -> bool:
    """Say whether an event says nothing: no content, output, route, state, question or error."""
    content = event.content
    return (
        event.output is None
        and not (content and content.parts)
        and event.error_code is None
        and event.actions.route is None
        and not event.actions.state_delta
        and not event.actions.artifact_delta
        and event.usage_metadata is None
        and event.custom_metadata is None
    )
