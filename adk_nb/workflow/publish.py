"""What an event of a running node says: it is completed with where it comes from, and its outcome is noted.

Every event of every node passes through `enrich` before it is stored.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from adk_nb.errors import WorkflowDataError
from adk_nb.events.apart import CALLS_APART
from adk_nb.events.event import Event, content_text
from adk_nb.events.event_actions import EventActions
from adk_nb.events.questions import questions_in
from adk_nb.events.record import Question
from adk_nb.events.request_input import chose_its_id
from adk_nb.events.state import State
from adk_nb.events.values import freeze, freeze_each, snapshot
from adk_nb.workflow.answers import usable_schema
from adk_nb.workflow.context import Context
from adk_nb.workflow.execution import Execution
from adk_nb.workflow.run_config import RunConfig


class Checks(NamedTuple):
    """What a node says of values that others put into its events; each raises to refuse one."""

    output: Callable[[Any], Any]
    """Returns the output as the node's schema wants it."""
    state: Callable[[str, Any], None]


Review = Callable[[Event, Checks | None], Awaitable[None]]
"""Looks at an event before anything is made of it, and may change it."""


def enrich(execution: Execution, context: Context, event: Event) -> None:
    """Complete an event with where it comes from, and note what it says about the run's outcome."""
    _place(execution, context, event)
    if not event.partial:
        if event.long_running_tool_ids:
            _take_out_asked(execution, event)
        event.settle()
        _note(execution, context, event)


async def enrich_reviewed(execution: Execution, context: Context, event: Event, review: Review) -> None:
    """Do what `enrich` does; what the event says is noted as it is after the review."""
    _place(execution, context, event)
    event.own_actions()
    if event.partial:
        await review(event, Checks(execution.node.checked_output, context.state.check))
        return
    if event.long_running_tool_ids:
        _take_out_asked(execution, event)
    if event.output is not None:
        if context.outcome.is_published and execution.delegate is not None:
            event.output = None
        else:
            _note_output_for(execution, event)
    written = _taken_writes(execution, context)
    if written:
        context.get_invocation_context().writers.update(dict.fromkeys(written, context.node_path))
        event.actions.state_delta = {**event.actions.state_delta, **written}
    if not is_empty(event, context.run_config):
        said, output = content_text(event.content), event.output
        await review(event, Checks(execution.node.checked_output, context.state.check))
        _follow_changes(execution, context, event, said, output)
    delta = event.actions.state_delta
    # What the node wrote through its context is live already, and its own lists go on being watched.
    untouched = {key: value for key, value in written.items() if delta.get(key) is value}
    event.actions.state_delta = {key: value for key, value in delta.items() if key not in untouched}
    event.settle()
    _note(execution, context, event)
    event.actions.state_delta |= {k: v for k, v in untouched.items() if not k.startswith(State.TEMP_PREFIX)}


def _follow_changes(execution: Execution, context: Context, event: Event, said: str, output: Any) -> None:
    """Of a message that is the output, take the new text; the review checked an output of its own."""
    now, outcome = content_text(event.content), context.outcome
    if event.output is None and output is not None:
        event.node_info.output_for = None
    elif event.output is output and now != said and output is not None and output == said:
        event.output = now
    elif event.output is output and now != said and output is None and outcome.has_output and outcome.output == said:
        outcome.output = now


def _place(execution: Execution, context: Context, event: Event) -> None:
    run, node = execution.run, execution.node
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
    context.run_config.mark(event)
    if not event.partial:
        pending = context.take_actions()
        if pending is not None:
            event.actions = merged_actions(event.actions, pending)
        apart = context.get_invocation_context().calls_apart
        if apart and run.path in apart:
            event.custom_metadata = {**(event.custom_metadata or {}), CALLS_APART: apart.pop(run.path)}


def _note(execution: Execution, context: Context, event: Event) -> None:
    outcome = context.outcome
    if event.actions.route is not None:
        outcome.route, outcome.is_route_sent = event.actions.route, True
    if event.actions.escalate:
        _note_escalation(execution)
    if event.usage_metadata is not None:
        context.get_invocation_context().allowance.note(event)
    if event.long_running_tool_ids:
        execution.run.isolation_scope = event.isolation_scope
        _note_questions(execution, event)
    _note_output(execution, context, event)
    _apply_state(execution, context, event)


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


def _note_escalation(execution: Execution) -> None:
    """Mark the run and those above it, up to the nearest node that ends on it, which is the one to notice."""
    one: Execution | None = execution
    while one is not None:
        if one is not execution and one.node.ends_on_escalation:
            return
        one.run.has_escalated = True
        one.engine.store_later(one.run)
        one = one.parent if one.graph is None else one.graph.holder


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
    if execution.claims:
        value = _claimed(execution, value)
    value = freeze(value)  # once: successors, history and records share it
    if event.output is not value and event.output is not None:
        event.output = value
    outcome.output, outcome.has_output, outcome.is_published = value, True, True
    if is_plain_message:
        return
    _note_output_for(execution, event)


def _note_output_for(execution: Execution, event: Event) -> None:
    event.note_output_for([execution.run.path, *[one.run.path for one in execution.claims]])
    if execution.claimer is not None:
        event.branch = execution.claimer.run.branch


def _claimed(execution: Execution, value: Any) -> Any:
    for above in execution.claims:
        if above.node.output_schema is not None:
            value = above.node.checked_output(value)
    return value


def _apply_state(execution: Execution, context: Context, event: Event) -> None:
    actions = event.actions
    if not actions.state_delta and not context.state.is_touched:
        return
    live, shared = context.session.state, context.get_invocation_context()
    if actions.state_delta:
        taken = {}
        for key, value in actions.state_delta.items():
            context.state.check(key, value)
            taken[key] = snapshot(value, f"state[{key!r}]")
        live.update(taken)
        for key, value in taken.items():
            _note_loss(execution, context, key, value, was_changed=False)
            shared.writes += 1
            shared.stored[key] = (value, shared.writes)
    written = _taken_writes(execution, context)
    if written or actions.state_delta:
        merged = {**actions.state_delta, **written}
        shared.writers.update(dict.fromkeys(merged, context.node_path))
        delta = {k: v for k, v in merged.items() if not k.startswith(State.TEMP_PREFIX)}
        event.own_actions().state_delta = delta
        _note_writes(execution, delta)


def _note_writes(execution: Execution, delta: dict[str, Any]) -> None:
    """Keep what was written with each child of a node that this run is or is below: its caller may run again."""
    one: Execution | None = execution
    while one is not None:
        if one.parent is not None:
            one.run.wrote = freeze_each({**(one.run.wrote or {}), **delta}, "state")
            one.engine.store_later(one.run)
        one = one.parent if one.graph is None else one.graph.holder


def _taken_writes(execution: Execution, context: Context) -> dict[str, Any]:
    """Return what the node wrote since its last event, and make the state that others see agree with it.

    Where another node wrote the same key meanwhile and knew this write, its value is the newer one. Else the write that
    is stored last counts, so that a run sees the same now as after a pause, and a note says what was lost. What a child
    has stored since is newer than what its caller wrote before it.
    """
    written = context.state.take_delta()
    if not written:
        return written
    shared = context.get_invocation_context()
    live, writers, stored = context.session.state, shared.writers, shared.stored
    uninformed = context.state.take_uninformed()
    for key, value in list(written.items()):
        newest = live.get(key)
        if newest is not value:
            if writers.get(key, "").startswith(f"{context.node_path}/"):
                del written[key]
                continue
            if key in shared.informed and shared.informed[key] is newest:
                if key in stored and stored[key][0] is newest:
                    del written[key]
                    continue
            else:
                live[key] = value
                uninformed[key] = True
        if key in uninformed:
            _note_loss(execution, context, key, value, was_changed=uninformed[key])
        shared.writes += 1
        stored[key] = (value, shared.writes)
    return written


def _note_loss(execution: Execution, context: Context, key: str, value: Any, *, was_changed: bool) -> None:
    """Say that a write took the place of one that it didn't know; one after the other, by callers too, is no loss."""
    shared, path = context.get_invocation_context(), context.node_path
    other = shared.writers.get(key)
    before, number = shared.stored.get(key, (value, 0))
    if other is None or before == value or f"{path}/".startswith(f"{other}/") or other.startswith(f"{path}/"):
        return
    if was_changed or number > context.writes_before:
        execution.run.note(
            f"{path} wrote state[{key!r}] without knowing what {other} had written to it meanwhile, which is lost: "
            f"read it just before it is written, or let each write a key of its own"
        )


def _take_out_asked(execution: Execution, event: Event) -> None:
    """Take the questions out of an event that the run asked before and that are still open."""
    run = execution.run
    for asked in list(questions_in(event)):
        if chose_its_id(asked.interrupt_id):
            is_known = run.waits_for(asked.interrupt_id)
        else:
            unnamed = [one for one in run.open_questions if not one.is_named]
            is_known = execution.asked < len(unnamed)
            execution.asked += 1
        if is_known:
            _take_out(event, asked.interrupt_id)


def _take_out(event: Event, interrupt_id: str) -> None:
    assert event.long_running_tool_ids is not None  # a question event
    assert event.content is not None
    event.long_running_tool_ids.discard(interrupt_id)
    event.content.parts = [
        part
        for part in event.content.parts or ()
        if part.function_call is None or part.function_call.id != interrupt_id
    ]


def _note_questions(execution: Execution, event: Event) -> None:
    run = execution.run
    for asked in questions_in(event):
        if run.waits_for(asked.interrupt_id):
            continue
        schema = asked.response_schema
        if execution.node.kind == "agent":  # a model may have made it up; those of other nodes are checked already
            schema = usable_schema(schema)
        question = Question(
            interrupt_id=asked.interrupt_id,
            message=asked.message,
            payload=snapshot(asked.payload),
            response_schema=schema,
            asked_at=time.time(),
            is_named=chose_its_id(asked.interrupt_id),
            is_secret=asked.is_secret,
        )
        run.ask(question)
    event.long_running_tool_ids = event.long_running_tool_ids or None


def is_empty(event: Event, run_config: RunConfig) -> bool:
    """Say whether an event says nothing, and does nothing, but carry what the call puts onto every event."""
    content = event.content
    return (
        event.output is None
        and not (content and content.parts)
        and event.error_code is None
        and event.usage_metadata is None
        and (event.custom_metadata is None or event.custom_metadata == run_config.custom_metadata)
        and (event.does_nothing or event.actions.is_empty)
    )
