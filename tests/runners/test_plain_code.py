"""`run` and `run_debug`: for code that can't await, and for looking at what happens in a terminal."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from google.genai import types

from adk_nb.errors import DataError, SessionNotFoundError
from adk_nb.events import Event, RequestInput
from adk_nb.events.record import Status
from adk_nb.models import current_model, use_model
from adk_nb.runners import InMemoryRunner, Runner
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.context import Context
from tests.runners.talking import Recorder
from tests.workflow.driving import user_text

echo = node(lambda node_input: node_input.parts[0].text if node_input.parts else None, name="echo")
ask = node(lambda: RequestInput(interrupt_id="q", message="Well?"), name="ask")
show = node(lambda node_input: repr(node_input), name="show")
HI: dict[str, Any] = {"user_id": "u", "session_id": "s", "new_message": user_text("hi")}


def runner_of(*steps: Any, service: Any = None, plugins: Any = None) -> Runner:
    """Return a runner of a chain."""
    return Runner(
        node=Workflow(name="wf", edges=[("START", *steps)]),
        app_name="app",
        session_service=service or InMemorySessionService(),
        auto_create_session=True,
        plugins=plugins,
    )


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_events_come_without_a_loop(store: str, tmp_path: Any) -> None:
    """A plain script gets the same events, and the run is in the store afterwards."""
    service = InMemorySessionService() if store == "memory" else SqliteSessionService(tmp_path / "s.db")
    runner = runner_of(echo, show, service=service)
    events = list(runner.run(**HI, state_delta={"k": 1}))
    assert [event.output for event in events] == ["hi", "'hi'"]
    session = asyncio.run(service.get_session(app_name="app", user_id="u", session_id="s"))
    assert session is not None
    assert (len(session.events), session.state) == (3, {"k": 1})
    asyncio.run(service.close())


def test_inside_a_running_loop() -> None:
    """It works in a coroutine, and in a node of another run."""

    def nested(node_input: Any) -> list[Any]:
        return [event.output for event in runner_of(echo).run(**HI)]

    async def main() -> list[Any]:
        assert [event.output for event in runner_of(echo).run(**HI)] == ["hi"]
        return [event.output async for event in runner_of(nested).run_async(**HI)]

    assert asyncio.run(main()) == [["hi"]]


def test_a_run_in_its_own_session_is_refused() -> None:
    """A node that runs its own session from plain code would wait for itself for ever."""

    def nested(node_input: Any) -> list[Any]:
        return list(runner.run(**HI))

    runner = runner_of(nested)
    with pytest.raises(DataError, match="can't start another run in the same session"):
        list(runner.run(**HI))


def test_what_a_node_raises() -> None:
    """It is raised to the reader after the events before it, and the thread is gone."""

    def boom() -> None:
        raise KeyError("k")

    stream = runner_of(echo, boom).run(**HI)
    assert next(stream).output == "hi"
    assert next(stream).error_code == "KeyError"
    with pytest.raises(KeyError):
        next(stream)
    assert not [thread for thread in threading.enumerate() if thread.name == "adk_nb run"]


def test_a_missing_session() -> None:
    """It is an error when the first event is asked for."""
    with pytest.raises(SessionNotFoundError, match="Session not found: s"):
        next(InMemoryRunner(node=echo).run(**HI))


def test_the_run_waits_for_its_reader() -> None:
    """The next node starts when the next event is asked for."""
    ran: list[str] = []

    def step(node_input: Any) -> str:
        ran.append("step")
        return "x"

    stream = runner_of(echo, step).run(**HI)
    next(stream)
    assert ran == []
    assert next(stream).output == "x"
    assert ran == ["step"]
    assert list(stream) == []


def test_closing_early_stops_the_run() -> None:
    """The run is cancelled, plugins hear of its end, and it can go on later."""
    plugin = Recorder()
    runner = runner_of(echo, show, plugins=[plugin])
    stream = runner.run(**HI)
    next(stream)
    stream.close()
    assert plugin.log == ["rec.message", "rec.before", "rec.event", "rec.after"]
    root = asyncio.run(runner.root_run(user_id="u", session_id="s"))
    assert root is not None
    assert root.status is Status.CANCELLED


def test_a_stream_that_is_never_read() -> None:
    """Nothing runs, and nothing is left to close."""
    stream = runner_of(echo).run(**HI)
    stream.close()
    assert list(stream) == []


def test_what_the_caller_has_set_holds() -> None:
    """A model set for a block is the model of the runs in it."""

    def which() -> str:
        model = current_model()
        return model.model if model is not None else "none"

    with use_model(ScriptedModel([])):
        assert [event.output for event in runner_of(which).run(**HI)] == ["scripted"]


def test_debug_prints_what_happens(capsys: pytest.CaptureFixture[str]) -> None:
    """Each message and what it leads to is printed, a question too; all events are returned; the session goes on."""

    async def main() -> None:
        runner = runner_of(echo, ask, show)
        events = await runner.run_debug(["one", "two"])
        assert [event.output for event in events] == ["one", None, "two", None]
        assert capsys.readouterr().out.splitlines() == [
            "user > one",
            "wf > [echo: 'one']",
            "wf > [asks q: Well?]",
            "user > two",
            "wf > [echo: 'two']",
            "wf > [asks q: Well?]",
        ]
        await runner.run_debug("three", quiet=True)
        assert capsys.readouterr().out == ""
        session = await runner.session_service.get_session(
            app_name="app", user_id="debug_user_id", session_id="debug_session_id"
        )
        assert len(session.events) == 9

    asyncio.run(main())


def test_debug_shows_tools_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """With verbose, tool calls and results are printed, cut to a length that a line holds."""

    def tool_parts() -> Event:
        call = types.FunctionCall(id="f", name="look_up", args={"text": "a" * 100})
        response = types.FunctionResponse(id="f", name="look_up", response={"found": "b" * 200})
        parts = [types.Part(text="So:"), types.Part(function_call=call), types.Part(function_response=response)]
        return Event(content=types.Content(role="model", parts=parts))

    async def main() -> None:
        await runner_of(tool_parts).run_debug("x", verbose=True)
        lines = capsys.readouterr().out.splitlines()
        assert lines[1] == "wf > So:"
        assert lines[2] == "wf > [Calling tool: look_up(" + str({"text": "a" * 100})[:50] + "...)]"
        assert lines[3] == "wf > [Tool result: " + str({"found": "b" * 200})[:100] + "...]"
        await runner_of(tool_parts).run_debug("x")
        assert capsys.readouterr().out.splitlines() == ["user > x", "wf > So:"]

    asyncio.run(main())


def test_debug_shows_errors(capsys: pytest.CaptureFixture[str]) -> None:
    """A failing node is printed before its error is raised."""

    def boom() -> None:
        raise ValueError("oh")

    with pytest.raises(ValueError, match="oh"):
        asyncio.run(runner_of(boom).run_debug("x"))
    assert capsys.readouterr().out.splitlines() == ["user > x", "wf > [ValueError: oh]"]


def test_debug_shows_what_changes(capsys: pytest.CaptureFixture[str]) -> None:
    """State that is written and artifacts that are saved are printed."""

    async def works(ctx: Context) -> None:
        ctx.state["count"] = 3
        await ctx.save_artifact("a.txt", types.Part(text="x"))

    runner = InMemoryRunner(node=Workflow(name="wf", edges=[("START", works)]))
    asyncio.run(runner.run_debug("x"))
    assert capsys.readouterr().out.splitlines() == [
        "user > x",
        "wf > [state count = 3]",
        "wf > [saved a.txt, version 0]",
    ]
