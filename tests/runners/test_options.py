"""What a call may bring: which events are loaded, and which process holds the session."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from adk_nb.apps import App, ResumabilityConfig
from adk_nb.apps.app import validate_app_name
from adk_nb.artifacts import InMemoryArtifactService
from adk_nb.errors import ConfigurationError, SessionBusyError
from adk_nb.events import RequestInput
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.events.request_input import answer_content
from adk_nb.runners import InMemoryRunner, Runner
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.sessions.base_session_service import GetSessionConfig as TheSameConfig
from adk_nb.workflow import JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import RunConfig
from tests.workflow.driving import Conversation, run, user_text

ROOT = Path(__file__).resolve().parents[2]
ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")
echo = node(lambda node_input: node_input.parts[0].text if node_input.parts else None, name="echo")


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_a_limit_on_loaded_events(store: str) -> None:
    """It limits what nodes see of the history, never what a run goes on with or what is stored."""

    async def test() -> None:
        seen: list[int] = []
        ran: list[str] = []

        def first() -> str:
            ran.append("first")
            return "x"

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> Any:
            return [await ctx.run_node(first), await ctx.run_node(ask)]

        def look(ctx: Context, node_input: Any) -> Any:
            seen.append(len(ctx.session.events))
            return node_input

        flow = Workflow(
            name="wf", edges=[("START", echo, (parent, node(first, name="other")), JoinNode(name="j"), look)]
        )
        service = SqliteSessionService(":memory:") if store == "sqlite" else InMemorySessionService()
        nothing = RunConfig(get_session_config=GetSessionConfig(num_recent_events=0))
        talk = Conversation(flow, service)
        await talk.say(run_config=nothing)
        await talk._collect(new_message=_answer(), run_config=nothing)
        assert (await talk.root()).output == {"parent": ["x", 1], "other": "x"}
        assert ran == ["first", "first"]
        assert seen == [3]  # the answer, what parent and the join handed on
        assert len(await talk.stored()) == 9
        await service.close()

    run(test)
    assert TheSameConfig is GetSessionConfig


def _answer() -> Any:
    """Return the answer to `q`."""
    return answer_content({"q": 1})


HOLD = """
import asyncio, sys
from adk_nb.runners import Runner
from adk_nb.sessions import SqliteSessionService
from adk_nb.workflow import Workflow, node
from tests.workflow.driving import user_text

async def wait():
    print("in", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)

async def main():
    service = SqliteSessionService(sys.argv[1])
    runner = Runner(node=Workflow(name="wf", edges=[("START", wait)]), app_name="app", session_service=service)
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=user_text("x")):
        pass

asyncio.run(main())
"""


def test_another_process_has_the_session(tmp_path: Path) -> None:
    """Every way to run or rewind it is refused at once, naming the process; another session is free."""
    path = str(tmp_path / "s.db")

    async def make() -> str:
        async with SqliteSessionService(path) as service:
            talk = Conversation(Workflow(name="wf", edges=[("START", echo)]), service)
            (event,) = await talk.say()
            return event.invocation_id

    invocation_id = asyncio.run(make())
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "in\n"
        busy = pytest.raises(SessionBusyError, match=rf"'s' is busy .a run in process {holder.pid} on")

        async def refused() -> None:
            async with SqliteSessionService(path) as service:
                runner = Conversation(Workflow(name="wf", edges=[("START", echo)]), service).runner
                where: dict[str, Any] = {"user_id": "u", "session_id": "s"}
                with busy:
                    await anext(runner.run_async(**where, new_message=user_text("x")))
                with busy:
                    next(runner.run(**where, new_message=user_text("x")))
                with busy:
                    await runner.run_debug("x", **where, quiet=True)
                with busy:
                    await runner.rewind_async(**where, rewind_before_invocation_id=invocation_id)
                assert len(await runner.run_debug("x", quiet=True)) == 1

        asyncio.run(refused())
        assert holder.stdin is not None
        holder.stdin.close()
        assert holder.wait(timeout=30) == 0


def test_an_app_is_checked_when_it_is_written() -> None:
    """Name, root and options: each mistake is one sentence, and what isn't there yet is refused, not ignored."""
    with pytest.raises(ConfigurationError, match="Invalid app name '1a'"):
        App(name="1a", root_agent=echo)
    with pytest.raises(ConfigurationError, match="reserved"):
        validate_app_name("user")
    with pytest.raises(ConfigurationError, match="root_agent must be provided"):
        App(name="a")
    with pytest.raises(ConfigurationError, match="has no argument 'plugin'"):
        App(name="a", root_agent=echo, plugin=[])  # type: ignore[call-arg]
    with pytest.raises(ConfigurationError, match="can't have context_cache_config= yet"):
        App(name="a", root_agent=echo, context_cache_config=object())
    assert ResumabilityConfig().is_resumable is False


def test_files_of_a_message_are_saved_when_wanted() -> None:
    """`save_input_blobs_as_artifacts` saves them and says so in the message's event, which keeps them.

    That there is no service is told before anything is stored. What needs live calls is refused.
    """
    parts = [types.Part(text="look"), types.Part(inline_data=types.Blob(mime_type="image/png", data=b"1"))]
    message = types.Content(role="user", parts=parts)
    wanted = RunConfig(save_input_blobs_as_artifacts=True)

    async def main() -> None:
        talk = Conversation(echo, artifact_service=InMemoryArtifactService())
        async for _ in talk.runner.run_async(**talk.where, new_message=message, run_config=wanted):
            pass
        (event, *_) = await talk.stored()
        ((name, version),) = event.actions.artifact_delta.items()
        assert (name, version) == (f"artifact_{event.invocation_id}_1", 0)
        saved = await talk.runner.artifact_service.load_artifact(app_name="app", **talk.where, filename=name)
        assert saved.inline_data.data == b"1"
        assert event.content is not None
        assert event.content.parts == parts
        bare = Conversation(echo)
        with pytest.raises(ConfigurationError, match="need an artifact service"):
            async for _ in bare.runner.run_async(**bare.where, new_message=message, run_config=wanted):
                pass
        assert await bare.stored() == []

    asyncio.run(main())
    with pytest.raises(ValueError, match="needs live model calls"):
        RunConfig(support_cfc=True)


def test_names_of_an_apps_runner() -> None:
    """Sessions are kept under the app's name, or under the one given to the runner."""
    app = App(name="desk", root_agent=echo)
    assert InMemoryRunner(app=app).app_name == "desk"
    assert InMemoryRunner(app=app).app is app
    assert Runner(app=app, app_name="other", session_service=InMemorySessionService()).app_name == "other"
    assert InMemoryRunner(app=app).agent is echo
    with pytest.raises(ConfigurationError, match=r"Only one of app, agent, or node.*app=App, node=FunctionNode"):
        InMemoryRunner(app=app, node=echo)
    with pytest.raises(ConfigurationError, match="which is no App"):
        InMemoryRunner(app=echo)  # type: ignore[arg-type]


def test_an_answer_with_the_id_of_another_run() -> None:
    """The run that asked gets it; the id is said to be ignored."""

    async def test() -> None:
        flow = Workflow(name="wf", edges=[("START", ask, node(lambda node_input: node_input, name="end"))])
        talk = Conversation(flow)
        await talk.say()
        with pytest.warns(RuntimeWarning, match="invocation_id='e-other' is ignored"):
            await talk._collect(new_message=_answer(), invocation_id="e-other")
        assert (await talk.root()).output == 1

    run(test)
