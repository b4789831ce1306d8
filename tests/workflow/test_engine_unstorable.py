"""An event that can't be stored is its own node's failure, wherever in the event the reason is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.genai import types

from adk_nb.errors import WorkflowDataError
from adk_nb.events import Event
from adk_nb.events.record import Status
from adk_nb.events.request_input import RequestInput
from adk_nb.workflow import RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, run

LONE = "scraped \ud800 text"


def in_text() -> Event:
    """A message with half of a surrogate pair."""
    return Event(message=LONE)


def in_call() -> Event:
    """A call with an object among its arguments."""
    call = types.FunctionCall(name="x", args={"c": object()})
    return Event(content=types.Content(role="model", parts=[types.Part(function_call=call)]))


def in_metadata() -> Event:
    """Metadata with an object."""
    return Event(output=1, custom_metadata={"c": object()})


def in_agent_state(ctx: Context) -> int:
    """An agent's state with an object."""
    ctx.actions.agent_state = {"c": object()}
    return 1


def in_the_middle() -> Iterator[Any]:
    """An event before the last one."""
    yield Event(message=LONE)
    yield 1


@pytest.mark.parametrize("body", [in_text, in_call, in_metadata, in_agent_state, in_the_middle])
def test_an_event_that_cannot_be_stored_fails_its_node(body: Callable[..., Any]) -> None:
    """Each try is recorded, the retry rule applies, and the error event is at the node's path; nested runs alike."""

    async def test() -> None:
        source = node(body, name="a", retry_config=RetryConfig(max_attempts=2, initial_delay=0))
        inner = Workflow(name="inner", edges=[("START", source)])
        talk = Conversation(Workflow(name="w", edges=[("START", inner)]))
        await talk.fail(WorkflowDataError, talk.say())
        path = "w@1/inner@1/a@1"
        assert lines(talk.last) == [(path, "!WorkflowDataError")] * 2
        record = (await talk.records())[path]
        assert (record.status, len(record.attempts)) == (Status.FAILED, 2)
        assert (await talk.root()).error_path == path

    run(test)


def test_a_root_that_is_no_workflow_fails_as_well() -> None:
    """A root node whose last event can't be stored has failed, it isn't left pending."""

    async def test() -> None:
        talk = Conversation(node(in_text, name="a"))
        await talk.fail(WorkflowDataError, talk.say())
        assert (await talk.root()).status is Status.FAILED

    run(test)


def test_what_could_not_be_stored_left_nothing_behind() -> None:
    """Neither the output nor the state of an event that can't be stored is there in the next try."""
    tries = []

    def source(ctx: Context) -> Event:
        tries.append(ctx.state.get("seen"))
        if len(tries) == 1:
            return Event(output=1, message=LONE, state={"seen": True})
        return Event(output=2)

    async def test() -> None:
        talk = Conversation(node(source, name="a", retry_config=RetryConfig(max_attempts=2, initial_delay=0)))
        await talk.say()
        assert tries == [None, None]
        assert (await talk.root()).output == 2
        assert "seen" not in await talk.state()

    run(test)


def test_a_question_that_could_not_be_stored_is_asked_in_the_next_try() -> None:
    """A question whose event can't be stored isn't noted as asked, so the next try asks it."""
    tries = []

    def ask() -> Iterator[Any]:
        tries.append(1)
        yield RequestInput(interrupt_id="q", message=LONE if len(tries) == 1 else "?")

    async def test() -> None:
        talk = Conversation(node(ask, name="a", retry_config=RetryConfig(max_attempts=2, initial_delay=0)))
        await talk.say()
        assert (await talk.root()).status is Status.WAITING
        await talk.answer(q="yes")
        assert (await talk.root()).output == "yes"

    run(test)
