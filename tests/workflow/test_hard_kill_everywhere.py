"""A process is killed without warning at each event, and inside each function, of a graph with all that can be open.

One program forks a new process for each life: a real process with nothing left of the one before, at the price of none.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from adk_nb.events import RequestInput
from adk_nb.events.record import Status
from adk_nb.events.request_input import answer_content
from adk_nb.sessions import SqliteSessionService
from adk_nb.workflow import JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, user_text

ROOT = Path(__file__).parents[2]


class Life:
    """One process: it writes down what its functions did, and dies where it has to."""

    def __init__(self, folder: Path, deadly: str, count: int) -> None:
        """Begin.

        Args:
            folder: Where database and diary are.
            deadly: What kills it: an `event`, a function that `begins` or one that `ends`; `nothing` does.
            count: Which of them.
        """
        self.diary = folder / "diary.txt"
        self.database = folder / "sessions.db"
        self.deadly, self.left = deadly, count

    def pass_by(self, what: str) -> None:
        """Live on, or die here."""
        if what == self.deadly:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def do(self, ctx: Context) -> None:
        """Do something outside that can't be undone."""
        self.pass_by("begins")
        with self.diary.open("a") as file:
            file.write(f"{ctx.node_path} {ctx.idempotency_key}\n")
            file.flush()
            os.fsync(file.fileno())
        self.pass_by("ends")

    def graph(self) -> Workflow:
        """Return a graph with a join, dynamic children side by side and in turn, a parallel worker and a question."""

        async def child(ctx: Context, node_input: int) -> int:
            self.do(ctx)
            await asyncio.sleep(0)
            ctx.state[f"child{node_input}"] = node_input
            return node_input * 10

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> list[int]:
            first = await asyncio.gather(*(ctx.run_node(child, i) for i in range(3)))
            return [*first, await ctx.run_node(child, 3, run_id="last")]

        def listing(ctx: Context) -> list[int]:
            self.do(ctx)
            return [1, 2, 3]

        async def square(ctx: Context, node_input: int) -> int:
            self.do(ctx)
            await asyncio.sleep(0)
            return node_input**2

        def ask(ctx: Context, node_input: dict[str, Any]) -> RequestInput:
            return RequestInput(interrupt_id=f"q:{ctx.node_path}", payload=node_input, response_schema=int)

        def pay(ctx: Context, node_input: int) -> str:
            self.do(ctx)
            ctx.state["paid"] = node_input
            return f"paid {node_input}"

        worker = node(square, parallel_worker=True, max_parallel_workers=2)
        return Workflow(
            name="wf",
            edges=[
                ("START", (parent, listing)),
                (listing, worker),
                ((parent, worker), JoinNode(name="both"), ask, pay),
            ],
        )

    async def live(self) -> None:
        """Go on with the run until it has ended."""
        async with SqliteSessionService(self.database) as service:
            talk = Conversation(self.graph(), service)
            while (options := await next_call(talk)) is not None:
                async for _ in talk.runner.follow(**talk.where, **options):
                    self.pass_by("event")


async def next_call(talk: Conversation) -> dict[str, Any] | None:
    """Return what the next call of the runner asks for, `None` when the run has ended."""
    root = await talk.runner.root_run(**talk.where)
    if root is None:
        return {"new_message": user_text("hi")}
    if root.status is Status.WAITING:
        return {"new_message": answer_content({q.interrupt_id: 7 for _, q in await talk.questions()})}
    return None if root.status is Status.COMPLETED else {"invocation_id": root.invocation_id}


def lead_lives() -> None:
    """Be the program that forks a process for each line that it reads, and says how each one ended."""
    with TemporaryDirectory() as folder:  # what is loaded and built when it is first used needn't be so in each process
        asyncio.run(Life(Path(folder), "nothing", 0).live())
    for line in sys.stdin:
        folder, deadly, count = json.loads(line)
        child = os.fork()
        if child == 0:
            asyncio.run(Life(Path(folder), deadly, count).live())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


@contextmanager
def lives() -> Iterator[Any]:
    """Start the program; return a function that lets a process live and says whether it was killed."""
    with subprocess.Popen(
        [sys.executable, __file__],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None

        def is_killed(folder: Path, deadly: str = "nothing", count: int = 0) -> bool:
            assert program.stdin is not None
            assert program.stdout is not None
            program.stdin.write(json.dumps([str(folder), deadly, count]) + "\n")
            program.stdin.flush()
            code = int(program.stdout.readline())
            assert code in (0, -signal.SIGKILL)
            return code != 0

        yield is_killed
        program.stdin.close()


async def read(folder: Path) -> dict[str, Any]:
    """Return what is stored: how each run ended, the state, and how often each question was asked."""
    async with SqliteSessionService(folder / "sessions.db") as service:
        talk = Conversation(Life(folder, "nothing", 0).graph(), service)
        records = await talk.records()
        return {
            "runs": {path: (str(run.status), run.input, run.output) for path, run in records.items() if run.parent},
            "state": await talk.state(),
            "asked": Counter(i for event in await talk.stored() for i in event.long_running_tool_ids or ()),
        }


def done(folder: Path) -> Counter[str]:
    """Return how often each function was begun, by path."""
    lines = (folder / "diary.txt").read_text().splitlines() if (folder / "diary.txt").exists() else []
    assert len({line.split()[0] for line in lines}) == len(set(lines)), "a node run has one idempotency key"
    return Counter(line.split()[0] for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("deadly", ["event", "begins", "ends"])
def test_killed_at_each_point(tmp_path: Path, deadly: str) -> None:
    """Killed anywhere, a new process comes to the same end, and does nothing again that was stored as finished."""
    whole = tmp_path / "whole"
    whole.mkdir()
    with lives() as is_killed:
        assert not is_killed(whole)
        expected = asyncio.run(read(whole))
        assert expected["state"] == {"child0": 0, "child1": 1, "child2": 2, "child3": 3, "paid": 7}
        assert set(done(whole).values()) == {1}
        count = 1
        while True:
            folder = tmp_path / str(count)
            folder.mkdir()
            if not is_killed(folder, deadly, count):
                break
            before, stored = done(folder), asyncio.run(read(folder))
            finished = {path for path, (status, _, _) in stored["runs"].items() if status == "completed"}
            assert not is_killed(folder)
            assert asyncio.run(read(folder)) == expected
            again = {path for path, times in (done(folder) - before).items() if times and path in before}
            assert not again & finished, count
            count += 1
    assert count > 9


@pytest.mark.slow
def test_killed_at_each_event_in_turn(tmp_path: Path) -> None:
    """Killed at its first event, and the next process at its first one, until none comes any more."""
    with lives() as is_killed:
        deaths = 0
        while is_killed(tmp_path, "event", 1):
            deaths += 1
            assert deaths < 50
    stored = asyncio.run(read(tmp_path))
    assert stored["runs"]["wf@1/pay@1"] == ("completed", 7, "paid 7")
    assert max(stored["asked"].values()) == 1
    assert done(tmp_path)["wf@1/pay@1"] == 1
    assert deaths > 6


if __name__ == "__main__":
    lead_lives()
