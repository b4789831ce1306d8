"""`rewind_async`: a session goes on as if some of its runs hadn't been."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from adk_nb.agents import LlmAgent
from adk_nb.artifacts import FileArtifactService, InMemoryArtifactService
from adk_nb.errors import AnswerError, DataError, InvocationNotFoundError, SessionNotFoundError
from adk_nb.events import Event, RequestInput
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.runners import Runner
from adk_nb.sessions import BaseSessionService, InMemorySessionService, Session, SqliteSessionService
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import RunConfig
from tests.workflow.driving import Conversation, outputs, run

ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")
show = node(lambda node_input: repr(node_input), name="show")


class PlainStore(BaseSessionService):
    """A store that offers only ADK's interface."""

    def __init__(self) -> None:
        self._kept = InMemorySessionService()

    async def create_session(self, **where: Any) -> Session:
        """Make one."""
        return await self._kept.create_session(**where)

    async def get_session(self, **where: Any) -> Session | None:
        """Find one."""
        return await self._kept.get_session(**where)

    async def list_sessions(self, **where: Any) -> Any:
        """List them."""
        return await self._kept.list_sessions(**where)

    async def delete_session(self, **where: Any) -> None:
        """Remove one."""
        await self._kept.delete_session(**where)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Keep an event."""
        return await self._kept.append_event(session, event)


@asynccontextmanager
async def store(kind: str, tmp_path: Any) -> AsyncIterator[Any]:
    """Give a service of a kind."""
    kinds = {"memory": InMemorySessionService, "plain": PlainStore}
    service = kinds[kind]() if kind in kinds else SqliteSessionService(tmp_path / "s.db")
    async with service:
        yield service


def remembering() -> Workflow:
    """Return a flow that writes what the user says into the state, asks, and shows the answer."""

    def writes(ctx: Context, node_input: types.Content) -> None:
        text = node_input.parts[0].text if node_input.parts else ""
        ctx.state.update({"last": text, f"said_{text}": True, "user:last": text})

    return Workflow(name="wf", edges=[("START", writes, ask, show)])


async def rewind(talk: Conversation, invocation_id: str) -> None:
    """Rewind to before a run."""
    await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=invocation_id)


async def said(talk: Conversation, *texts: str) -> list[str]:
    """Say several things; return the ids of their runs."""
    return [(await talk.say(text))[0].invocation_id for text in texts]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "plain"])
def test_runs_are_taken_back(kind: str, tmp_path: Any) -> None:
    """State and questions are those from before; taken back runs can't go on or be answered; events stay stored."""

    async def test() -> None:
        async with store(kind, tmp_path) as service:
            talk = Conversation(remembering(), service)
            first, second, third = await said(talk, "one", "two", "three")
            count = len(await talk.stored())
            await rewind(talk, second)
            talk = Conversation(remembering(), service)
            state = await talk.state()
            assert state == {
                "last": "one", "said_one": True, "said_two": None, "said_three": None, "user:last": "three"
            }  # fmt: skip
            stored = await talk.stored()
            assert len(stored) == count + 1
            assert (stored[-1].author, stored[-1].actions.rewind_before_invocation_id) == ("user", second)
            for gone in (second, third):
                await talk.fail(InvocationNotFoundError, talk.go_on(gone))
                assert await talk.runner.open_questions(**talk.where, invocation_id=gone) == []
            assert (await talk.root()).invocation_id == first
            # All runs asked under the same id: the answer goes to the one that is left.
            (event,) = await talk.answer(q=1)
            assert (event.invocation_id, event.output) == (first, "1")
            error = await talk.fail(AnswerError, talk.answer(q=2))
            assert "answered already" in str(error)
            await talk.say("four")
            assert outputs(await talk.answer(q=4)) == {"wf@1/show@1": "4"}

    run(test)


def test_a_question_that_was_taken_back() -> None:
    """Its answer finds nothing, and nothing is stored."""

    async def test() -> None:
        talk = Conversation(remembering())
        (only,) = await said(talk, "one")
        await rewind(talk, only)
        count = len(await talk.stored())
        error = await talk.fail(AnswerError, talk.answer(q=1))
        assert "Function call not found for function response ids" in str(error)
        assert len(await talk.stored()) == count
        assert await talk.runner.root_run(**talk.where) is None

    run(test)


def test_rewinding_again() -> None:
    """A run that was taken back isn't there to rewind to; an earlier one is, and takes the runs since with it."""

    async def test() -> None:
        talk = Conversation(remembering())
        first, second, third = await said(talk, "one", "two", "three")
        await rewind(talk, third)
        with pytest.raises(InvocationNotFoundError, match="was taken back already"):
            await rewind(talk, third)
        (fourth,) = await said(talk, "four")
        await rewind(talk, second)
        assert (await talk.state())["last"] == "one"
        for gone in (second, third, fourth):
            with pytest.raises(InvocationNotFoundError):
                await rewind(talk, gone)
        await rewind(talk, first)
        assert (await talk.state())["last"] is None

    run(test)


def test_unknown_runs_and_sessions() -> None:
    """Both are errors that name what was asked for, and nothing changes."""

    async def test() -> None:
        talk = Conversation(remembering())
        await said(talk, "one")
        with pytest.raises(InvocationNotFoundError, match="Invocation ID not found: 'e-no'"):
            await rewind(talk, "e-no")
        runner = Runner(node=remembering(), app_name="app", session_service=talk.service)
        with pytest.raises(SessionNotFoundError):
            await runner.rewind_async(user_id="u", session_id="other", rewind_before_invocation_id="e-no")
        assert len(await talk.stored()) == 3

    run(test)


def test_an_earlier_run_that_went_on_since() -> None:
    """Half of it can't be taken back: it is refused, and the earlier run named as the one to rewind to."""

    async def test() -> None:
        talk = Conversation(remembering())
        first, second = await said(talk, "one", "two")
        runner = talk.runner
        answer = types.FunctionResponse(id="q", name="any", response={"result": 1})
        message = types.Content(role="user", parts=[types.Part(function_response=answer)])
        async for _ in runner.run_async(**talk.where, invocation_id=first, new_message=message):
            pass
        with pytest.raises(DataError, match=f"Rewind to before '{first}'"):
            await rewind(talk, second)
        await rewind(talk, first)
        assert await talk.runner.root_run(**talk.where) is None

    run(test)


def test_what_models_read() -> None:
    """An agent's conversation leaves out what was taken back, also where only the newest events are loaded."""

    async def test() -> None:
        model = ScriptedModel(["a1", "a2", "a3", "a4"])
        talk = Conversation(LlmAgent(name="agent", model=model))
        _, second = await said(talk, "one", "two")
        await rewind(talk, second)
        await talk.say("three")

        def read() -> list[str]:
            contents = model.requests[-1].contents
            return [part.text or "" for content in contents for part in content.parts or ()]

        assert read() == ["one", "a1", "three"]
        await talk.say("four", run_config=RunConfig(get_session_config=GetSessionConfig(num_recent_events=4)))
        assert read() == ["three", "a3", "four"]

    run(test)


@pytest.mark.parametrize("kind", ["memory", "files"])
def test_artifacts(kind: str, tmp_path: Path) -> None:
    """Those that changed get their earlier content as a new version; those that weren't there are gone."""

    async def test() -> None:
        artifacts = InMemoryArtifactService() if kind == "memory" else FileArtifactService(tmp_path)

        async def saves(ctx: Context, node_input: types.Content) -> None:
            text = node_input.parts[0].text if node_input.parts else ""
            await ctx.save_artifact("common.txt", types.Part(text=text))
            await ctx.save_artifact(f"{text}.txt", types.Part(text=text))
            await ctx.save_artifact("user:newest.txt", types.Part(text=text))

        talk = Conversation(Workflow(name="wf", edges=[("START", saves)]), artifact_service=artifacts)
        _, second, _ = await said(talk, "one", "two", "three")
        await rewind(talk, second)
        where: dict[str, Any] = {"app_name": "app", **talk.where}
        for name, text in {"common.txt": "one", "one.txt": "one", "user:newest.txt": "three"}.items():
            assert await artifacts.load_artifact(**where, filename=name) == types.Part(text=text)
        assert await artifacts.load_artifact(**where, filename="two.txt") is None
        assert await artifacts.list_artifact_keys(**where) == ["common.txt", "one.txt", "user:newest.txt"]
        assert await artifacts.list_versions(**where, filename="two.txt") == [0, 1]
        last = (await talk.stored())[-1]
        assert last.actions.artifact_delta == {"common.txt": 3, "two.txt": 1, "three.txt": 1}
        await said(talk, "two")
        assert await artifacts.load_artifact(**where, filename="two.txt") == types.Part(text="two")

    run(test)
