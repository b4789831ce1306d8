"""What a context does with the services given to the runner, and what it says when one isn't there."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from adk_nb.auth import APIKey, APIKeyIn, AuthConfig
from adk_nb.errors import ConfigurationError, WorkflowDataError
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, run

CONFIG = AuthConfig(auth_scheme=APIKey(in_=APIKeyIn.header, name="X-Key"))
CALLS: list[tuple[str, str, Any]] = [
    ("artifact", "Artifact service is not initialized", lambda ctx: ctx.load_artifact("a")),
    ("artifact", "Artifact service is not initialized", lambda ctx: ctx.save_artifact("a", types.Part(text="x"))),
    ("artifact", "Artifact service is not initialized", lambda ctx: ctx.list_artifacts()),
    ("artifact", "Artifact service is not initialized", lambda ctx: ctx.get_artifact_version("a")),
    ("credential", "Credential service is not initialized", lambda ctx: ctx.load_credential(CONFIG)),
    ("credential", "Credential service is not initialized", lambda ctx: ctx.save_credential(CONFIG)),
    ("memory", "memory service is not available", lambda ctx: ctx.search_memory("x")),
    ("memory", "Cannot add session to memory: memory service is not", lambda ctx: ctx.add_session_to_memory()),
    ("memory", "Cannot add events to memory: memory service is not", lambda ctx: ctx.add_events_to_memory(events=[])),
    ("memory", "Cannot add memory: memory service is not", lambda ctx: ctx.add_memory(memories=[])),
    ("memory", "Cannot delete memory: memory service is not", lambda ctx: ctx.delete_memory("x")),
]


class Recorder:
    """A service that has every method, and notes what it is asked."""

    def __init__(self, answer: Any = None) -> None:
        self.asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.answer = answer

    def __getattr__(self, name: str) -> Any:
        async def method(*args: Any, **kwargs: Any) -> Any:
            self.asked.append((name, args, kwargs))
            return self.answer

        return method


@pytest.mark.parametrize(("kind", "said", "use"), CALLS, ids=range(len(CALLS)))
def test_a_missing_service_is_named(kind: str, said: str, use: Any) -> None:
    """The error says which service is missing and how to give it; one without the method is named as well."""

    async def test() -> None:
        async def body(ctx: Context) -> None:
            await use(ctx)

        error = await (talk := Conversation(node(body))).fail(ConfigurationError, talk.say())
        assert said in str(error)
        assert f"{kind}_service=" in str(error)
        assert isinstance(error, ValueError)
        services: Any = {f"{kind}_service": object()}
        if kind != "credential":
            error = await (talk := Conversation(node(body), **services)).fail(ConfigurationError, talk.say())
            assert "has no method" in str(error)

    run(test)


def test_services_are_asked_as_google_adks_are() -> None:
    """Each method passes on app, user and session under ADK's names; a saved artifact's version goes with the event."""

    async def test() -> None:
        async def body(ctx: Context) -> Any:
            saved = await ctx.save_artifact("a.txt", types.Part(text="x"), {"m": 1})
            await ctx.load_artifact("a.txt", version=3)
            await ctx.get_artifact_version("a.txt")
            await ctx.search_memory("what")
            await ctx.add_events_to_memory(events=[])
            await ctx.add_session_to_memory()
            return saved

        artifacts, memory = Recorder(7), Recorder()
        talk = Conversation(
            Workflow(name="wf", edges=[("START", node(body))]), artifact_service=artifacts, memory_service=memory
        )
        [event] = await talk.say()
        assert (event.output, event.actions.artifact_delta) == (7, {"a.txt": 7})
        whose = {"app_name": "app", "user_id": "u"}
        where = {**whose, "session_id": "s"}
        (_, _, saved), loaded, versioned = artifacts.asked
        assert saved == {**where, "filename": "a.txt", "artifact": types.Part(text="x"), "custom_metadata": {"m": 1}}
        assert loaded == ("load_artifact", (), {**where, "filename": "a.txt", "version": 3})
        assert versioned == ("get_artifact_version", (), {**where, "filename": "a.txt", "version": None})
        searched, events, session = memory.asked
        assert searched == ("search_memory", (), {**whose, "query": "what"})
        assert events == ("add_events_to_memory", (), {**where, "events": [], "custom_metadata": None})
        assert (session[0], session[1][0].id) == ("add_session_to_memory", "s")

    run(test)


@pytest.mark.parametrize("asked", ["request_confirmation", "request_credential"])
def test_what_only_a_tool_may_ask_for(asked: str) -> None:
    """Outside of a call of a tool, the error says so and what to do in its place."""

    async def test() -> None:
        def body(ctx: Context) -> None:
            if asked == "request_confirmation":
                ctx.request_confirmation(hint="sure?")
            else:
                ctx.request_credential(CONFIG)

        talk = Conversation(node(body))
        error = await talk.fail(WorkflowDataError, talk.say())
        assert f"{asked} requires function_call_id" in str(error)

    run(test)
