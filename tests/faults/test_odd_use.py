"""What a clumsy or unlucky user does: it is refused with a sentence, or comes to a good end, and nothing is lost."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from adk_nb import Limits
from adk_nb.apps import App
from adk_nb.auth import AuthCredential, AuthCredentialTypes
from adk_nb.errors import ConfigurationError, DataError, WorkflowConfigurationError, WorkflowDataError
from adk_nb.events import Event
from adk_nb.events.packing import TAG
from adk_nb.events.record import Status
from adk_nb.events.request_input import RequestInput
from adk_nb.events.values import MAX_DEPTH, Answer, freeze, snapshot
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.workflow import RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import RunConfig
from tests.sessions.plain_store import PlainStore
from tests.workflow.driving import Conversation, run, user_text


def nested(wrap: Any, levels: int) -> Any:
    """Return 1 inside so many containers."""
    value: Any = 1
    for _ in range(levels):
        value = wrap(value)
    return value


WRAPS: dict[str, Any] = {
    "list": lambda value: [value],
    "dict": lambda value: {"k": value},
    "numbered": lambda value: {1: value},
    "tuple": lambda value: (value,),
    "set": lambda value: frozenset({value}),
    "answer": lambda value: Answer(k=value),
    "marked": lambda value: {TAG: value},
}


@pytest.mark.parametrize("store", ["memory", "plain", "sqlite"])
@pytest.mark.parametrize("kind", WRAPS)
def test_what_can_be_stored_can_be_read(kind: str, store: str, tmp_path: Path) -> None:
    """Values as deep as is allowed come back from each store; deeper ones, and those that hold themselves, don't go in.

    The dictionaries that an event holds them in (state, arguments of a call, metadata) don't count.
    """
    deep, deeper = nested(WRAPS[kind], MAX_DEPTH), nested(WRAPS[kind], MAX_DEPTH + 1)
    file = str(tmp_path / "s.db")

    def source(ctx: Context) -> Any:
        ctx.state["deep"] = deep
        return deep

    def calling(node_input: Any) -> Event:
        call = types.FunctionCall(name="f", args={"x": node_input})
        return Event(content=types.Content(parts=[types.Part(function_call=call)]), custom_metadata={"x": node_input})

    def writing(ctx: Context) -> None:
        ctx.state["deeper"] = deeper

    async def test() -> None:
        services: dict[str, Any] = {"memory": InMemorySessionService, "plain": PlainStore}
        service = services[store]() if store in services else SqliteSessionService(file)
        last = node(lambda node_input: node_input, name="last")
        root = Workflow(name="w", edges=[("START", node(source, name="a"), (node(calling), last))])
        await Conversation(root, service).say()
        bodies: list[Any] = [writing, lambda: deeper, lambda: Event(state={"deeper": deeper})]
        for number, body in enumerate(bodies):
            refused = Conversation(node(body, name="refused"), service, session_id=f"refused{number}")
            await refused.fail(WorkflowDataError, refused.say())
        reread = Conversation(root, SqliteSessionService(file) if store == "sqlite" else service)
        assert (await reread.state())["deep"] == deep
        assert (await reread.root()).output == deep
        [called] = [event for event in await reread.stored() if event.get_function_calls()]
        assert called.get_function_calls()[0].args == called.custom_metadata == {"x": deep}

    run(test)
    with pytest.raises(WorkflowDataError, match="nested more than"):
        snapshot(nested(WRAPS[kind], MAX_DEPTH + 1))
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(WorkflowDataError, match="holds itself"):
        snapshot(circle)


def test_what_is_frozen_already_counts_as_well() -> None:
    """A value of history that is put into another one again and again, or a key of tuples, is refused as well."""
    value = freeze([1])
    for _ in range(MAX_DEPTH - 1):
        value = freeze([value])
    with pytest.raises(WorkflowDataError, match="nested more than"):
        freeze([value])
    with pytest.raises(WorkflowDataError, match="nested more than"):
        snapshot({nested(WRAPS["tuple"], MAX_DEPTH): 1})
    snapshot({nested(WRAPS["tuple"], MAX_DEPTH - 1): 1})


def test_a_credential_that_is_asked_for_is_stored_without_its_secret() -> None:
    """Of a credential in `requested_auth_configs` an event keeps what may be shown, the secret not."""
    credential = AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key="s3cret")

    async def test() -> None:
        def source(ctx: Context) -> int:
            ctx.actions.requested_auth_configs["x"] = credential
            return 1

        talk = Conversation(node(source, name="a"))
        await talk.say()
        [event] = [event for event in await talk.stored() if event.output == 1]
        assert event.actions.requested_auth_configs == {"x": {"authType": "apiKey"}}

    run(test)


def test_a_credential_inside_a_model_is_refused() -> None:
    """A model that holds a credential somewhere isn't stored, and the error says where the credential is."""

    class Login(BaseModel):
        user: str
        keys: list[AuthCredential]

    login = Login(user="ada", keys=[AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key="s3cret")])
    with pytest.raises(WorkflowDataError, match=r"keys\.0 is an AuthCredential") as refused:
        snapshot({"login": login})
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("run_id", ["ann@x.org", "x/g@1", "", 7])
def test_run_ids_that_would_break_a_path(run_id: Any) -> None:
    """A run_id that would make a path ambiguous is refused, with one that would do."""

    @node(rerun_on_resume=True)
    async def parent(ctx: Context) -> Any:
        return await ctx.run_node(node(lambda: 1, name="child"), run_id=run_id)

    async def test() -> None:
        talk = Conversation(Workflow(name="w", edges=[("START", parent)]))
        error = await talk.fail(WorkflowConfigurationError, talk.say())
        assert "run_id" in str(error)

    run(test)


def test_an_abort_signal_of_another_kind() -> None:
    """A signal that can't be awaited is refused before anything is stored."""

    async def test() -> None:
        talk = Conversation(node(lambda: 1, name="a"))
        wrong: Any = threading.Event()
        await talk.fail(ConfigurationError, talk.say(abort_signal=wrong))
        assert await talk.sessions.get_session(app_name=talk.app_name, **talk.where) is None

    run(test)


def test_a_node_that_waits_to_try_again_is_stopped_with_the_others() -> None:
    """A node that waits for its next try is recorded as cancelled when a sibling fails, and its tries are kept."""
    waits = asyncio.Event()

    @node(retry_config=RetryConfig(initial_delay=1000, jitter=0))
    async def flaky() -> None:
        waits.set()
        raise ValueError("not now")

    async def bad() -> None:
        await waits.wait()
        for _ in range(10):
            await asyncio.sleep(0)
        raise KeyError("bad")

    async def test() -> None:
        talk = Conversation(Workflow(name="w", edges=[("START", (flaky, bad))]))
        await talk.fail(KeyError, talk.say())
        record = (await talk.records())["w@1/flaky@1"]
        assert (record.status, len(record.attempts)) == (Status.CANCELLED, 1)

    run(test)


def test_a_root_whose_cleanup_fails_is_stopped_all_the_same() -> None:
    """When the time is up, what a node's own cleanup raises is no failure of the run."""

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("cleanup")

    async def test() -> None:
        talk = Conversation(node(slow, name="slow"))
        await talk.say(run_config=RunConfig(limits=Limits(max_seconds=0.05)))
        assert (await talk.root()).status is Status.STOPPED

    run(test)


def test_a_finished_node_that_is_gone() -> None:
    """A node that had finished and was taken out of the workflow during a pause isn't in the way."""

    def flow(*, is_old: bool) -> Workflow:
        ask = node(lambda: RequestInput(interrupt_id="q", message="?"), name="ask")
        steps = [node(lambda: 1, name="gone"), ask] if is_old else [ask]
        return Workflow(name="w", edges=[("START", *steps)])

    async def test() -> None:
        talk = Conversation(flow(is_old=True))
        await talk.say()
        changed = Conversation(flow(is_old=False), talk.service)
        await changed.answer(q="yes")
        assert ((await changed.root()).status, (await changed.root()).output) == (Status.COMPLETED, "yes")

    run(test)


def test_two_calls_that_make_one_session(tmp_path: Path) -> None:
    """Two first calls of one session at once share the session that the quicker one made."""

    async def test() -> None:
        service = SqliteSessionService(str(tmp_path / "s.db"))
        talks = [Conversation(node(lambda: 1, name="a"), service) for _ in range(2)]
        await asyncio.gather(*(talk.say() for talk in talks))
        assert len([event for event in await talks[0].stored() if event.author == "user"]) == 2

    run(test)


WRONG: dict[str, tuple[type[Exception], dict[str, Any]]] = {
    "a text": (DataError, {"new_message": "hi"}),
    "no answers": (DataError, {"answers": {}}),
    "a list of answers": (DataError, {"answers": ["q"]}),
    "a list of state": (DataError, {"new_message": user_text("hi"), "state_delta": [1]}),
    "a dict of settings": (ConfigurationError, {"new_message": user_text("hi"), "run_config": {"max_llm_calls": 1}}),
}


@pytest.mark.parametrize("case", WRONG)
def test_arguments_of_another_kind(case: str) -> None:
    """What a runner can't take is refused in a sentence that names it, before a session is made."""
    error, given = WRONG[case]

    async def test() -> None:
        talk = Conversation(node(lambda: 1, name="a"))
        refused = await talk.fail(error, talk._collect(**given))
        assert any(str(refused).startswith(name) for name in given)
        assert await talk.sessions.get_session(app_name=talk.app_name, **talk.where) is None

    run(test)


def test_an_app_inside_an_app() -> None:
    """An app isn't the root of another one: its plugins would never be asked."""
    inner = App(name="inner", root_agent=node(lambda: 1, name="a"))
    with pytest.raises(ConfigurationError, match="'inner'"):
        App(name="outer", root_agent=inner)


@pytest.mark.parametrize("kind", ["whole", "nested"])
@pytest.mark.parametrize("store", ["memory", "sqlite", "plain", "told"])
@pytest.mark.parametrize("is_root_other", [True, False])
def test_an_answer_to_another_root(kind: str, is_root_other: bool, store: str, tmp_path: Path) -> None:
    """A root that can't go on with a run refuses its answer before it is stored; the right one takes it afterwards."""

    def flow(name: str, step: str) -> Workflow:
        steps: Any = node(lambda: RequestInput(interrupt_id="q", message="?"), name=step)
        if kind == "nested":
            steps = Workflow(name="inner", edges=[("START", steps)])
        return Workflow(name=name, edges=[("START", steps)])

    async def test() -> None:
        services: dict[str, Any] = {"plain": PlainStore, "sqlite": lambda: SqliteSessionService(str(tmp_path / "s.db"))}
        talk = Conversation(flow("w", "ask"), services[store]() if store in services else None)
        await talk.say()
        if store == "told":
            talk = await told_by_events(talk)
        stored = len(await talk.stored())
        other = Conversation(flow("other", "ask") if is_root_other else flow("w", "gone"), talk.service)
        await other.fail(WorkflowConfigurationError, other.answer(q="lost"))
        if is_root_other:
            await other.fail(WorkflowConfigurationError, other.go_on())
        assert len(await talk.stored()) == stored
        await talk.answer(q="yes")
        assert ((await talk.root()).status, (await talk.root()).output) == (Status.COMPLETED, "yes")

    run(test)


async def told_by_events(talk: Conversation) -> Conversation:
    """Return the same session in a store that has its events only, and no records."""
    store = PlainStore()
    session = await store.create_session(app_name=talk.app_name, **talk.where)
    for event in await talk.stored():
        await store.append_event(session, Event.model_validate_json(event.model_dump_json()))
    return Conversation(talk.runner.agent, store)


@pytest.mark.parametrize("how", ["abort", "max_seconds"])
@pytest.mark.parametrize("is_root", [True, False])
@pytest.mark.parametrize("calls", ["awaited", "gathered", "grouped"])
def test_children_whose_cleanup_fails_are_stopped_all_the_same(calls: str, is_root: bool, how: str) -> None:
    """When a run is stopped, what the cleanup of dynamic children raises is no failure, in whatever task they run."""
    waits = asyncio.Event()

    async def child() -> None:
        waits.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("cleanup")

    @node(rerun_on_resume=True)
    async def parent(ctx: Context) -> None:
        if calls == "awaited":
            await ctx.run_node(child)
        elif calls == "gathered":
            await asyncio.gather(ctx.run_node(child), ctx.run_node(child))
        else:
            async with asyncio.TaskGroup() as group:
                group.create_task(ctx.run_node(child))
                group.create_task(ctx.run_node(child))

    async def test() -> None:
        talk = Conversation(parent if is_root else Workflow(name="w", edges=[("START", parent)]))
        if how == "abort":
            await talk.say(abort_signal=waits)
        else:
            await talk.say(run_config=RunConfig(limits=Limits(max_seconds=0.05)))
        records = await talk.records()
        children = [record for record in records.values() if record.name == "child"]
        assert {record.status for record in children} == {Status.CANCELLED}
        assert (await talk.root()).status is (Status.CANCELLED if how == "abort" else Status.STOPPED)
        assert not [event for event in talk.last if event.error_code == "ValueError"]

    run(test)
