"""Aborting a run: it stops in order, the history says so, and what was asked can still be answered."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any

import pytest
from google.genai import types

from adk_nb.errors import AnswerError
from adk_nb.events import Event, RequestInput
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.events.record import Status
from adk_nb.sessions import SqliteSessionService
from adk_nb.workflow import JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import RunConfig
from tests.runners.talking import AppTalk, Editor, Recorder
from tests.workflow.driving import Conversation, outputs, run

ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")
echo = node(lambda node_input: node_input.parts[0].text if node_input.parts else None, name="echo")


def call(interrupt_id: str) -> Event:
    """Return a tool call of a model."""
    made = types.FunctionCall(id=interrupt_id, name="tool", args={})
    return Event(content=types.Content(role="model", parts=[types.Part(function_call=made)]))


class Slow:
    """A node that runs until it is stopped, or for ever after `release`."""

    def __init__(self) -> None:
        self.ended = 0
        self.signal = asyncio.Event()
        self.is_released = False

    async def __call__(self, node_input: Any) -> Any:
        """Wait."""
        if self.is_released:
            return "slow"
        self.signal.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended += 1


async def aborted(talk: Conversation, signal: asyncio.Event, after: asyncio.Event, **options: Any) -> list[Event]:
    """Say something and abort once `after` is set; return the events."""

    async def watch() -> None:
        await after.wait()
        signal.set()

    watching = asyncio.create_task(watch())
    events = await talk.say(abort_signal=signal, **options)
    await watching
    return events


def said(events: list[Event]) -> list[tuple[Any, ...]]:
    """Return author, path, code and the answered calls of each event."""
    return [
        (e.author, e.node_info.path, e.error_code, [response.id for response in e.get_function_responses()])
        for e in events
    ]


def test_running_nodes_are_stopped() -> None:
    """They are cancelled, one last event says so, the stream ends without an error, and the run can go on."""

    async def test() -> None:
        slow, plugin = Slow(), Recorder()
        talk = AppTalk(Workflow(name="wf", edges=[("START", echo, node(slow, name="slow"))]), plugin)
        events = await aborted(talk, asyncio.Event(), slow.signal)
        assert said(events) == [("wf", "wf@1/echo@1", None, []), ("wf", "", "INVOCATION_ABORTED", [])]
        assert slow.ended == 1
        assert [event.id for event in events] == [event.id for event in await talk.stored()][1:]
        assert (await talk.root()).status is Status.CANCELLED
        assert plugin.log == ["rec.message", "rec.before", "rec.event", "rec.event", "rec.after"]
        slow.is_released = True
        assert outputs(await talk.go_on()) == {"wf@1/slow@1": "slow"}

    run(test)


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_open_questions_stay_open(store: str) -> None:
    """Calls that nobody will answer any more get an error as response; questions to people don't, and take answers."""

    async def test() -> None:
        slow = Slow()
        calls = node(lambda: call("f1"), name="calls")
        lanes = (ask, node(slow, name="slow"), node(lambda: call("f2"), name="other"))
        service = SqliteSessionService(":memory:") if store == "sqlite" else None
        talk = Conversation(Workflow(name="wf", edges=[("START", calls, lanes, JoinNode(name="j"))]), service)
        limited = RunConfig(get_session_config=GetSessionConfig(num_recent_events=0))
        events = await aborted(talk, asyncio.Event(), slow.signal, run_config=limited)
        sealed = [event for event in events if event.error_code]
        assert said(sealed) == [("wf", "", "INVOCATION_ABORTED", ["f1"]), ("wf", "", "INVOCATION_ABORTED", ["f2"])]
        assert [event.branch for event in sealed] == [None, "other@1"]
        assert [event.content and event.content.role for event in sealed] == ["user", "user"]
        assert [q.interrupt_id for _, q in await talk.questions()] == ["q"]
        slow.is_released = True
        again = Conversation(talk.runner.agent, talk.service)
        joined = outputs(await again.answer(q=7))["wf@1/j@1"]
        assert joined == {"ask": 7, "slow": "slow", "other": None}
        await again.fail(AnswerError, again.answer(q=8))
        if service is not None:
            await service.close()

    run(test)


def test_answered_calls_are_not_sealed() -> None:
    """A call with a response in the history is left alone."""

    async def test() -> None:
        slow = Slow()
        response = types.FunctionResponse(id="f1", name="tool", response={"ok": 1})
        answered = Event(content=types.Content(role="user", parts=[types.Part(function_response=response)]))
        steps = node(lambda: call("f1"), name="calls"), node(lambda: answered, name="answers")
        talk = Conversation(Workflow(name="wf", edges=[("START", *steps, node(slow, name="slow"))]))
        events = await aborted(talk, asyncio.Event(), slow.signal)
        assert said(events[-1:]) == [("wf", "", "INVOCATION_ABORTED", [])]

    run(test)


def test_aborted_before_it_began() -> None:
    """No node runs, the message is kept, and the run can be started after all."""

    async def test() -> None:
        signal = asyncio.Event()
        signal.set()
        talk = Conversation(Workflow(name="wf", edges=[("START", node(Slow(), name="slow"))]))
        assert said(await talk.say(abort_signal=signal)) == [("wf", "", "INVOCATION_ABORTED", [])]
        assert [event.author for event in await talk.stored()] == ["user", "wf"]
        other = Conversation(Workflow(name="wf", edges=[("START", echo)]), talk.service)
        assert outputs(await other.go_on()) == {"wf@1/echo@1": "hi"}

    run(test)


@pytest.mark.parametrize("in_thread", [True, False])
def test_a_node_aborts(in_thread: bool) -> None:
    """`abort()` works from a node, also from one on a thread; the node sees that the run is aborted."""

    async def test() -> None:
        seen: list[bool] = []

        async def stops(ctx: Context) -> None:
            seen.append(ctx.is_aborted)
            abort = ctx.get_invocation_context().abort
            if in_thread:
                threading.Thread(target=abort).start()
            else:
                abort()
                seen.append(ctx.is_aborted)
            try:
                await asyncio.Event().wait()
            finally:
                seen.append(ctx.is_aborted)

        talk = Conversation(Workflow(name="wf", edges=[("START", stops)]))
        assert said(await talk.say()) == [("wf", "", "INVOCATION_ABORTED", [])]
        assert seen == ([False, True] if in_thread else [False, True, True])

    run(test)


def test_a_bare_root_aborts_itself_at_its_end() -> None:
    """An abort that comes too late to stop anything leaves the result as it is."""

    async def test() -> None:
        def stops(ctx: Context) -> str:
            ctx.get_invocation_context().abort()
            return "done"

        talk = Conversation(node(stops, name="stops"))
        assert outputs(await talk.say()) == {"stops@1": "done"}
        root = await talk.root()
        assert root.status in (Status.COMPLETED, Status.CANCELLED)
        assert await talk.go_on() == []
        assert (await talk.root()).output == "done"

    run(test)


def test_the_signal_is_set_by_who_reads() -> None:
    """Setting the signal between two events stops what follows."""

    async def test() -> None:
        signal, ran = asyncio.Event(), []
        last = node(lambda: ran.append(1), name="last")
        talk = Conversation(Workflow(name="wf", edges=[("START", echo, node(asyncio.Event().wait, name="w"), last)]))
        events = []
        async for event in talk.runner.run_async(
            **talk.where, new_message=Event(message="hi").content, abort_signal=signal
        ):
            events.append(event)
            signal.set()
        assert said(events)[-1] == ("wf", "", "INVOCATION_ABORTED", [])
        assert ran == []

    run(test)


def test_a_reader_who_leaves_while_a_signal_is_watched() -> None:
    """Nothing is left behind when the stream is closed and the signal never comes."""

    async def test() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", echo, ask)]))
        stream = talk.runner.run_async(
            **talk.where, new_message=Event(message="hi").content, abort_signal=asyncio.Event()
        )
        async with contextlib.aclosing(stream):
            await anext(stream)

    run(test)


def test_plugins_see_the_last_event() -> None:
    """What a plugin makes of it is stored, state included."""

    async def test() -> None:
        slow = Slow()
        edit = Editor(lambda event: Event(error_message="***", state={"k": 1}) if event.error_code else None)
        talk = AppTalk(Workflow(name="wf", edges=[("START", node(slow, name="slow"))]), edit)
        (event,) = await aborted(talk, asyncio.Event(), slow.signal)
        assert (event.error_message, await talk.state()) == ("***", {"k": 1})

    run(test)


def test_nested_and_looping_nodes_stop_and_go_on() -> None:
    """A run that is aborted inside a nested flow, a loop or a dynamic child goes on there in a new process."""

    async def test() -> None:
        slow = Slow()
        runs: list[str] = []

        @node(rerun_on_resume=True)
        async def parent(ctx: Context, node_input: Any) -> Any:
            runs.append("parent")
            await ctx.run_node(node(lambda: runs.append("child"), name="child"))
            return await ctx.run_node(node(slow, name="slow"))

        def flow() -> Workflow:
            inner = Workflow(name="inner", edges=[("START", parent)])
            return Workflow(name="wf", edges=[("START", echo, inner)])

        talk = Conversation(flow())
        await aborted(talk, asyncio.Event(), slow.signal)
        slow.is_released = True
        again = Conversation(flow(), talk.service)
        await again.go_on()
        assert (await again.root()).output == "slow"
        assert runs == ["parent", "child", "parent"]

    run(test)
