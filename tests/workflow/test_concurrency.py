"""Many runs of one object at once, many runs of one session, and two processes on one session."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adk_nb import Agent, Runner
from adk_nb.errors import SessionBusyError
from adk_nb.events import Event
from adk_nb.events.event import content_text
from adk_nb.events.record import Status
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import FunctionModel
from adk_nb.workflow import JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.deep_view import deep_view
from tests.workflow.driving import Conversation, run, user_text

RUNS = 1000
ROOT = Path(__file__).parents[2]


def flow() -> Workflow:
    """Return a graph of every kind: each node hands on the number that the run was started with."""

    async def first(ctx: Context, node_input: str) -> int:
        ctx.state["number"] = number = int(node_input)
        await asyncio.sleep(0)
        return number

    async def left(node_input: int) -> int:
        await asyncio.sleep(0)
        return node_input

    def right(ctx: Context) -> int:
        return int(ctx.state["number"])

    @node(rerun_on_resume=True)
    async def parent(ctx: Context, node_input: dict[str, int]) -> list[int]:
        assert node_input["left"] == node_input["right"]
        return list(await asyncio.gather(*(ctx.run_node(left, node_input["left"]) for _ in range(2))))

    async def item(node_input: int) -> int:
        await asyncio.sleep(0)
        return node_input

    def again(ctx: Context, node_input: list[int]) -> Event:
        ctx.state["passes"] = ctx.state.get("passes", 0) + 1
        return Event(output=node_input, route="stop" if ctx.state["passes"] == 2 else "again")

    model = FunctionModel(lambda request: f"it was {content_text(request.contents[0])}")
    agent = Agent(name="agent", model=model, instruction="Repeat {number}.")
    inner = Workflow(name="inner", edges=[("START", node(lambda node_input: node_input[0], name="pick"), agent)])
    worker = node(item, parallel_worker=True)
    loop = node(again)
    return Workflow(
        name="wf",
        edges=[
            ("START", first, (left, right), JoinNode(name="both"), parent, worker, loop),
            (loop, {"again": worker, "stop": inner}),
        ],
    )


@pytest.mark.parametrize("is_file", [False, True], ids=["memory", "sqlite"])
def test_a_thousand_runs_of_one_object_at_once(tmp_path: Path, is_file: bool) -> None:
    """All come to the right end, none sees anything of another, the object stays as it was, and no task is left."""

    async def test() -> None:
        root = flow()
        before = deep_view(root)
        service: Any = SqliteSessionService(tmp_path / "sessions.db") if is_file else InMemorySessionService()
        runner = Runner(node=root, app_name="app", session_service=service, auto_create_session=True)

        async def one(number: int) -> list[Event]:
            where: dict[str, Any] = {"user_id": f"u{number % 7}", "session_id": f"s{number}"}
            return [event async for event in runner.run_async(**where, new_message=user_text(str(number)))]

        told = await asyncio.gather(*map(one, range(RUNS)))
        assert deep_view(root) == before
        paths = [event.node_info.path for event in told[0]]
        for number, events in enumerate(told):
            assert sorted(event.node_info.path for event in events) == sorted(paths)
            assert {_number_in(event) for event in events} == {number}
            session = await service.get_session(app_name="app", user_id=f"u{number % 7}", session_id=f"s{number}")
            assert [event.id for event in session.events[1:]] == [event.id for event in events]
            assert session.state == {"number": number, "passes": 2}
        await service.close()

    run(test)


def _number_in(event: Event) -> int:
    """Return the one number of which an output speaks."""
    value = event.output if event.output is not None else content_text(event.content)
    found = {
        int(word) for word in str(value).replace("[", " ").replace("]", " ").replace(",", " ").split() if word.isdigit()
    }
    if isinstance(value, dict):
        found = set(value.values())
    assert len(found) == 1, value
    return found.pop()


def test_runs_of_one_session_queue() -> None:
    """Runs that are started at once in one session come one after the other, in the order of their starts."""

    async def test() -> None:
        talk = Conversation(flow())

        async def one(number: int) -> None:
            async for _ in talk.runner.run_async(
                **talk.where, new_message=user_text(str(number)), state_delta={"passes": 0}
            ):
                await asyncio.sleep(0)

        await asyncio.gather(*map(one, range(20)))
        spoken = [(event.invocation_id, _number_in(event)) for event in await talk.stored()]
        assert [number for _, number in dict.fromkeys(spoken)] == list(range(20))
        changes = sum(a != b for a, b in itertools.pairwise(spoken))
        assert changes == 19

    run(test)


async def hammer(path: Path, name: str) -> None:
    """Be a process: start ten runs in the same session, each as soon as no other process runs it."""
    async with SqliteSessionService(path) as service:
        talk = Conversation(flow(), service)
        for number in range(10):
            while True:
                try:
                    await talk.say(f"{name}{number}", state_delta={"passes": 0})
                    break
                except SessionBusyError:
                    await asyncio.sleep(0.001)


async def hold(path: Path) -> None:
    """Be a process that is in the middle of a run until its input ends."""

    async def wait(node_input: str) -> str:
        sys.stdout.write("in\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        return node_input

    async with SqliteSessionService(path) as service:
        await Conversation(
            Workflow(name="wf", edges=[("START", wait, node(lambda: "done", name="last"))]), service
        ).say()


@contextmanager
def process(*args: str) -> Iterator[subprocess.Popen[str]]:
    """Start one of the above in a process of its own, and end it."""
    with subprocess.Popen(
        [sys.executable, __file__, *args],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def test_a_session_that_another_process_runs_is_refused(tmp_path: Path) -> None:
    """The second process is told at once in a sentence who runs the session; nothing of what it wanted is stored."""
    path = tmp_path / "sessions.db"

    async def test() -> None:
        async with SqliteSessionService(path) as service:
            talk = Conversation(flow(), service)
            with process("hold", str(path)) as holder:
                assert holder.stdout is not None
                assert holder.stdin is not None
                assert holder.stdout.readline() == "in\n"
                before = len(await talk.stored())
                busy = await talk.fail(SessionBusyError, talk.say("1"))
                assert str(holder.pid) in str(busy)
                assert "'s' is busy" in str(busy)
                assert "\n" not in str(busy)
                assert len(await talk.stored()) == before
                assert _number_in((await Conversation(flow(), service, session_id="another").say("1"))[-1]) == 1
                holder.stdin.close()
                assert holder.wait() == 0
            root = await talk.root()
            assert (root.status, root.output) == (Status.COMPLETED, "done")
            assert _number_in((await talk.say("1"))[-1]) == 1

    asyncio.run(test())


@pytest.mark.slow
def test_two_processes_take_turns_in_one_session(tmp_path: Path) -> None:
    """Two processes that start runs in one session again and again leave all runs of both, whole and unmixed."""
    path = tmp_path / "sessions.db"
    with process("hammer", str(path), "1") as one, process("hammer", str(path), "2") as two:
        assert (one.wait(timeout=120), two.wait(timeout=120)) == (0, 0)

    async def test() -> None:
        async with SqliteSessionService(path) as service:
            spoken = [(e.invocation_id, _number_in(e)) for e in await Conversation(flow(), service).stored()]
        runs = list(dict.fromkeys(spoken))
        assert len({invocation_id for invocation_id, _ in runs}) == len(runs) == 20
        for first in (10, 20):
            assert [number for _, number in runs if number // 10 * 10 == first] == list(range(first, first + 10))
        assert {spoken.count(one) for one in runs} == {spoken.count(runs[0])}
        assert sum(a != b for a, b in itertools.pairwise(spoken)) == 19

    asyncio.run(test())


if __name__ == "__main__":
    what, where, *more = sys.argv[1:]
    asyncio.run(hold(Path(where)) if what == "hold" else hammer(Path(where), more[0]))
