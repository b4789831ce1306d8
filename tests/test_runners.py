"""`Runner`: what it refuses, what it stores before anything runs, how runs of a session follow each other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types

from adk_nb.errors import ConfigurationError, DataError, InvocationNotFoundError, SessionNotFoundError
from adk_nb.events import RequestInput
from adk_nb.events.record import Status
from adk_nb.runners import InMemoryRunner, Runner
from adk_nb.sessions import InMemorySessionService
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, run, user_text

echo = node(lambda node_input: node_input.parts[0].text if node_input.parts else None, name="echo")
ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "One of app, agent, or node"),
        ({"agent": echo, "node": echo}, "Only one of"),
        ({"agent": echo}, "app_name is required"),
    ],
)
def test_exactly_one_root(arguments: dict[str, Any], words: str) -> None:
    """A runner has one root; an agent needs the name of its app."""
    with pytest.raises(ConfigurationError, match=words):
        Runner(session_service=InMemorySessionService(), **arguments)


def test_names_of_apps() -> None:
    """The app is named after the root unless a name is given."""
    assert Runner(node=echo, session_service=InMemorySessionService()).app_name == "echo"
    assert InMemoryRunner(node=echo).app_name == "InMemoryRunner"
    assert InMemoryRunner(node=echo, app_name="mine").app_name == "mine"


def test_a_missing_session() -> None:
    """It is an error that says how to make one, and with auto_create_session it is made."""

    async def test() -> None:
        runner = InMemoryRunner(node=echo)
        with pytest.raises(SessionNotFoundError, match="Session not found: s"):
            [e async for e in runner.run_async(user_id="u", session_id="s", new_message=user_text("x"))]
        assert lines(await Conversation(echo).say("x")) == [("echo@1", "x")]

    run(test)


def test_nothing_to_run() -> None:
    """No message and no id, an unknown id, a second message for a run: each is an error, and nothing is kept."""

    async def test() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", ask, echo)]))
        await talk.fail(DataError, talk._collect())
        await talk.fail(InvocationNotFoundError, talk._collect(invocation_id="e-no-such"))
        await talk.say()
        invocation_id = (await talk.root()).invocation_id
        error = await talk.fail(DataError, talk._collect(invocation_id=invocation_id, new_message=user_text("again")))
        assert "has its message already" in str(error)
        assert len(await talk.stored()) == 2

    run(test)


def test_the_role_of_the_message() -> None:
    """A message of another role becomes the user's, in a copy."""

    async def test() -> None:
        message = types.Content(role="model", parts=[types.Part(text="x")])
        talk = Conversation(echo)
        await talk._collect(new_message=message)
        assert message.role == "model"
        stored = await talk.stored()
        assert stored[0].content is not None
        assert (stored[0].author, stored[0].content.role) == ("user", "user")

    run(test)


def test_the_users_event_is_stored_first_and_yielded_on_request() -> None:
    """It is the first event of the run, and part of the stream only with yield_user_message."""

    async def test() -> None:
        talk = Conversation(echo)
        assert [e.author for e in await talk.say("x", yield_user_message=True)] == ["user", "echo"]
        assert [e.author for e in await talk.say("y")] == ["echo"]

    run(test)


def test_starting_state() -> None:
    """It is on the first event, seen by the first node, kept over a pause; temp: values live for one call only."""

    async def test() -> None:
        seen: list[Any] = []

        def look(ctx: Context, test_state: str = "missing") -> None:
            seen.append((test_state, ctx.state.get("temp:t")))

        talk = Conversation(Workflow(name="wf", edges=[("START", look, ask, node(look, name="look2"))]))
        await talk.say(state_delta={"test_state": "x", "temp:t": 1, "user:u": 2})
        assert (await talk.stored())[0].actions.state_delta == {"test_state": "x", "user:u": 2}
        await talk.answer(q=1)
        assert seen == [("x", 1), ("x", None)]

    run(test)


def test_runs_of_one_session_are_kept_apart() -> None:
    """Each message is a run with ids from 1 and its own invocation; a resume looks at its own run only."""

    async def test() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", echo)]))
        first = await talk.say("1")
        second = await talk.say("2")
        assert lines(first + second) == [("wf@1/echo@1", "1"), ("wf@1/echo@1", "2")]
        assert first[0].invocation_id != second[0].invocation_id
        assert await talk.go_on(first[0].invocation_id) == []

    run(test)


def test_every_change_of_a_record_is_told() -> None:
    """on_run hears pending, running, waiting, completed in this order, also over an answer."""

    async def test() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", ask, node(lambda: 1, name="end"))]))
        await talk.say()
        await talk.answer(q=1)
        for path in ("wf@1", "wf@1/ask@1"):
            told = [status for one, status in talk.changes if one == path]
            assert told[:2] == ["pending", "running"]
            assert "waiting" in told
            assert told[-1] == "completed"

    run(test)


def test_two_loops_one_after_the_other() -> None:
    """A runner and its root can be used from one event loop after another."""
    talk = Conversation(Workflow(name="wf", edges=[("START", ask, node(lambda node_input: node_input, name="end"))]))
    asyncio.run(talk.say())
    asyncio.run(talk.answer(q=3))
    root = asyncio.run(talk.root())
    assert (root.status, root.output) == (Status.COMPLETED, 3)


def test_a_run_inside_a_run_of_the_same_session_is_refused() -> None:
    """A node that starts another run in its own session would wait for itself for ever: it fails with what to do."""

    async def test() -> None:
        inner = node(lambda: "inner", name="inner")

        async def outer() -> Any:
            return [event.output async for event in start(inner)]

        service = InMemorySessionService()

        def start(root: Any) -> Any:
            runner = Runner(node=root, app_name="app", session_service=service, auto_create_session=True)
            return runner.run_async(user_id="u", session_id="s", new_message=user_text("x"))

        with pytest.raises(DataError, match="can't start another run in the same session"):
            async for _ in start(Workflow(name="wf", edges=[("START", outer)])):
                pass

    run(test)


def test_a_runner_closes_with_its_block() -> None:
    """`async with` gives the runner and ends with everything written."""

    async def test() -> None:
        async with InMemoryRunner(node=echo) as runner:
            assert isinstance(runner, InMemoryRunner)

    run(test)
