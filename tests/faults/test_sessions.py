"""Sessions: several runs of one object, one session or one file; what a turn costs; ids that lead nowhere."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import adk_nb as adk
from adk_nb.apps import App, ResumabilityConfig
from adk_nb.errors import DataError, InvocationNotFoundError
from adk_nb.events import Event
from adk_nb.events.record import Status
from adk_nb.runners import Runner
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.workflow import FunctionNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.faults.ways import Staged, asker, giver, show
from tests.workflow.driving import Conversation, run, user_text

Stage = Callable[[Callable[[], Workflow]], Staged]


def chain(count: int) -> Workflow:
    """Return a workflow of some nodes that hand on their input."""

    def quick(node_input: str) -> str:
        return node_input

    return Workflow(name="w", edges=[("START", *(FunctionNode(func=quick, name=f"n{i}") for i in range(count)))])


@pytest.mark.parametrize("store", ["memory", "file"])
def test_a_clock_that_stands_still(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Order and staleness are counted, not read off a clock: a burst of events and writers in between are all kept."""
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.0)

    async def test() -> None:
        service: Any = InMemorySessionService() if store == "memory" else SqliteSessionService(tmp_path / "s.db")
        flow = chain(30)
        talk = Conversation(flow, service)
        await talk.say("x")
        where = {"app_name": talk.app_name, **talk.where}
        await service.append_event(await service.get_session(**where), Event(author="someone", state={"title": "mine"}))
        await talk.say("y")
        others = [Conversation(flow, service) for _ in range(2)]
        await asyncio.gather(*(other.say(text) for other, text in zip(others, "pq", strict=True)))
        stored = await talk.stored()
        assert len(stored) == 4 * 31 + 1
        assert (await talk.state())["title"] == "mine"
        for invocation in dict.fromkeys(event.invocation_id for event in stored if event.invocation_id):
            paths = [event.node_info.path for event in stored if event.invocation_id == invocation]
            assert paths == ["", *(f"w@1/n{i}@1" for i in range(30))]
        await talk.runner.close()
        if store == "file":
            await service.close()

    run(test)


def test_two_notebooks_on_one_file(tmp_path: Path) -> None:
    """Any number of runs through two services of one file are all kept; none is told that the file is locked."""

    async def test() -> None:
        file = tmp_path / "shared.db"
        services = [SqliteSessionService(file), SqliteSessionService(file)]
        flow = chain(1)
        talks = [
            Conversation(flow, service, session_id=f"{i}{k}") for i in range(20) for k, service in enumerate(services)
        ]
        await asyncio.gather(*(talk.say() for talk in talks))
        assert {(await talk.root()).status for talk in talks} == {Status.COMPLETED}
        for service in services:
            listed = await service.list_sessions(app_name="app", user_id="u")
            assert len(listed.sessions) == 40
            await service.close()

    run(test)


def test_plain_calls_inside_a_running_loop() -> None:
    """`run_sync` works in a coroutine, and in a node of the run that it waits for: it never hangs."""

    async def test() -> None:
        def inside() -> Any:
            return adk.run_sync(chain(2), "inner", sessions="memory", view=False).status

        assert adk.run_sync(node(inside), "x", sessions="memory", view=False).output == "completed"

    run(test)


def test_one_workflow_object_for_many_runs() -> None:
    """The object is a description: fifty runs at once don't meet in it, and it prints the same afterwards."""

    async def test() -> None:
        async def a(ctx: Context, node_input: str) -> str:
            ctx.state["me"] = node_input
            await asyncio.sleep(0)
            return node_input

        async def b(ctx: Context, node_input: str) -> Any:
            return ctx.state["me"], node_input

        flow = Workflow(name="w", edges=[("START", a, asker("q"), b)])
        before = repr(flow), flow.model_dump_json(include={"name", "max_concurrency"}), flow.describe()
        sessions = InMemorySessionService()
        runs = [adk.run(flow, str(i), session=f"s{i}", sessions=sessions, view=False) for i in range(50)]
        await asyncio.gather(*runs)
        await asyncio.gather(*(one.respond(str(-i)) for i, one in enumerate(runs)))
        assert [one.output for one in runs] == [(str(i), str(-i)) for i in range(50)]
        assert (repr(flow), flow.model_dump_json(include={"name", "max_concurrency"}), flow.describe()) == before

    run(test)


def test_ids_that_lead_nowhere() -> None:
    """No message and no id, an unknown id, and text for a run that has its message: each is an error that keeps all."""
    ran: list[Any] = []

    async def test() -> None:
        talk = Conversation(
            Workflow(
                name="wf", edges=[("START", asker("q"), node(lambda node_input: ran.append(node_input), name="n"))]
            )
        )
        await talk.say()
        before = len(await talk.stored())
        known = (await talk.root()).invocation_id
        await talk.fail(DataError, talk._collect())
        await talk.fail(InvocationNotFoundError, talk.go_on("e-no-such"))
        await talk.fail(DataError, talk.say("a new message", invocation_id=known))
        await talk.fail(InvocationNotFoundError, talk.say("a new message", invocation_id="e-no-such"))
        assert len(await talk.stored()) == before
        assert ran == []

    run(test)


class Counting(InMemorySessionService):
    """Sessions whose logs count what is asked of them, and how many records they give."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    def open_log(self, session: Any) -> Any:
        """Return a log that counts."""
        log = super().open_log(session)
        for name in ("run_at", "open_runs", "latest_runs", "child_runs", "asking_run", "root_run", "append"):
            setattr(log, name, self._counted(name, getattr(log, name)))
        return log

    def _counted(self, name: str, call: Any) -> Any:
        async def counted(*arguments: Any) -> Any:
            found = await call(*arguments)
            self.asked[name] += 1
            self.asked[f"records of {name}"] += len(found) if isinstance(found, list) else found is not None
            return found

        return counted


def test_what_an_answer_costs() -> None:
    """The hundredth answer of a loop asks the store for as much as the tenth, and reads as many records."""

    async def test() -> None:
        ask = node(lambda ctx: adk.events.RequestInput(interrupt_id=f"q{ctx.run_id}"), name="ask")
        again = node(lambda: Event(route="again"), name="again")
        service = Counting()
        talk = Conversation(Workflow(name="wf", edges=[("START", ask, again, {"again": ask})]), service)
        await talk.say()
        costs = []
        for i in range(1, 101):
            service.asked.clear()
            await talk.answer({f"q{i}": 1})
            costs.append(dict(service.asked))
        assert costs[9] == costs[99]

    run(test)


@pytest.mark.parametrize("is_resumable", [False, True])
def test_going_on_with_nothing_to_do(is_resumable: bool) -> None:
    """A resumable app says nothing twice: continuing a finished run adds no event, and no output is told again."""

    async def test() -> None:
        flow = Workflow(name="wf", edges=[("START", giver("a", "a"), asker("q"), show())])
        app = App(name="x", root_agent=flow, resumability_config=ResumabilityConfig(is_resumable=is_resumable))
        runner = Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)
        where: dict[str, Any] = {"user_id": "u", "session_id": "s"}

        async def events() -> list[Event]:
            session = await runner.session_service.get_session(app_name="x", **where)
            return list(session.events)

        for i in range(2):
            message = user_text("hi") if i == 0 else adk.events.request_input.answer_content({"q": 1})
            _ = [event async for event in runner.run_async(**where, new_message=message)]
        before = await events()
        for _ in range(3):
            again = [event async for event in runner.run_async(**where, invocation_id=before[0].invocation_id)]
            assert again == []
        assert await events() == before
        told = [(event.node_info.path, event.output) for event in before if event.output is not None]
        assert told == [("wf@1/a@1", "a"), ("wf@1/show@1", "1")]
        ends = [event for event in before if event.actions.end_of_agent]
        assert len(ends) == is_resumable

    run(test)
