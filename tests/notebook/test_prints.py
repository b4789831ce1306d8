# ruff: noqa: T201  # printing is what these tests are about
"""What nodes print in a notebook is kept with their records and shown in the run's view, and nowhere else."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from adk_nb import Agent
from adk_nb.events import RequestInput
from adk_nb.notebook.running import printing
from adk_nb.notebook.running.open_run import open_run
from adk_nb.notebook.running.run import Run
from adk_nb.notebook.running.starts import run
from adk_nb.testing import ScriptedModel, call
from adk_nb.workflow import RetryConfig, Workflow, node
from adk_nb.workflow.prints import LINE_LIMIT, LINES_KEPT
from tests.sessions.plain_store import PlainStore


class Shown:
    """A view that takes whatever comes."""

    def touch(self) -> None:
        """Something happened."""

    def settled(self) -> None:
        """The run ended or waits."""

    def resumed(self) -> None:
        """The run goes on."""


@pytest.fixture
def in_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs believe that they are in a notebook."""
    monkeypatch.setattr(printing, "front_end", lambda: "live")


def drive(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's coroutine."""
    asyncio.run(asyncio.wait_for(work(), 30))


def watched(root: Any, **settings: Any) -> Run:
    """A run with a view."""
    made = run(root, "x", view=False, **{"sessions": "memory", **settings})
    made._work.view = Shown()  # type: ignore[assignment]
    return made


def by_node(made: Run) -> dict[str, list[str]]:
    """Lines by the name of the node that printed them."""
    found: dict[str, list[str]] = {}
    for record in made.history.records.values():
        if record.printed:
            found.setdefault(record.name, []).extend(line.text for line in record.printed)
    return found


def test_prints_are_kept_with_the_node_that_printed(in_notebook: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Siblings in threads, async nodes, children and tools each keep their own lines; others print as ever."""
    real = sys.stdout

    def slow(node_input: Any) -> None:
        print("slow", 1)
        time.sleep(0.02)
        print("slow", 2, file=sys.stderr)

    def quick(node_input: Any) -> None:
        print("quick")
        print("half", end="")

    async def patient(node_input: Any) -> None:
        print("patient 1")
        await asyncio.sleep(0.01)
        print("patient 2")

    @node(rerun_on_resume=True)
    async def parent(ctx: Any, node_input: Any) -> None:
        print("before")
        await ctx.run_node(quick, 1)
        print("after")

    def lookup(order: str) -> str:
        """Look an order up."""
        print("looking", order)
        return "found"

    agent = Agent(name="clerk", model=ScriptedModel([call("lookup", order="RF-1"), "done"]), tools=[lookup])
    flow = Workflow(name="flow", edges=[("START", (slow, quick, patient, parent, agent))])

    async def main() -> None:
        made = watched(flow)
        for _ in range(5):
            print("cell")
            await asyncio.sleep(0.005)
        await made
        assert made.status == "completed", made.error
        assert by_node(made) == {
            "slow": ["slow 1", "slow 2"],
            "quick": ["quick", "half", "quick", "half"],
            "patient": ["patient 1", "patient 2"],
            "parent": ["before", "after"],
            "lookup": ["looking RF-1"],
        }
        assert [line.is_error for line in made.history.records["flow@1/slow@1"].printed] == [False, True]
        assert "looking RF-1\n" in made.printed

    drive(main)
    assert capsys.readouterr() == ("cell\n" * 5, "")
    assert sys.stdout is real


def test_without_a_view_the_cell_has_them_as_well(in_notebook: None, capsys: pytest.CaptureFixture[str]) -> None:
    """A print is never lost: where no view shows it, it is printed too."""

    def say(node_input: Any) -> None:
        print("hello")

    async def main() -> None:
        made = await run(say, "x", sessions="memory", view=False)
        assert made.printed == "hello\n"

    drive(main)
    assert capsys.readouterr().out == "hello\n"


def test_a_script_prints_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    """Outside of a notebook nothing stands in for `sys.stdout`, and nothing is kept."""
    seen = []

    def say(node_input: Any) -> None:
        seen.append(sys.stdout)
        print("hello")

    async def main() -> None:
        assert (await run(say, "x", sessions="memory")).printed == ""

    real = sys.stdout
    drive(main)
    assert seen == [real]
    assert capsys.readouterr().out.count("hello\n") >= 1


def test_what_is_kept_is_bounded_and_holds_no_key(in_notebook: None) -> None:
    """Of very many or long lines the first are kept, and how many aren't is said; keys and progress leave no trail."""

    def noisy(node_input: Any) -> None:
        print("key sk-abcdefghijklmnopqrstuvwx \ud800")
        for step in range(10):
            print(f"\r{step}0 %", end="")
        print()
        print("z" * 10_000_000)
        for number in range(100_000):
            print(number)

    async def main() -> None:
        made = await watched(noisy)
        lines = by_node(made)["noisy"]
        assert lines[0] == "key <hidden> ?"
        assert lines[1] == "90 %"
        assert len(lines) == LINES_KEPT + 1
        assert max(map(len, lines)) < LINE_LIMIT + 20
        assert lines[-1] == f"… {100_000 + 3 - LINES_KEPT:,} more lines aren't kept"

    drive(main)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "plain"])
def test_prints_outlive_the_kernel(kind: str, in_notebook: None, tmp_path: Path) -> None:
    """A stored run has what was printed before a question, in every try, and what is printed after its answer."""
    tries = []

    @node(retry_config=RetryConfig(max_attempts=2, initial_delay=0.001))
    def twice(node_input: Any) -> None:
        tries.append(1)
        print("try", len(tries))
        if len(tries) == 1:
            raise ValueError("not yet")

    def ask(node_input: Any) -> Any:
        print("asking")
        yield RequestInput(message="?", interrupt_id="q")

    def end(node_input: Any) -> None:
        print("got", node_input)

    flow = Workflow(name="flow", edges=[("START", twice, ask, end)])
    store: Any = {"memory": "memory", "sqlite": str(tmp_path / "runs.db"), "plain": PlainStore()}[kind]

    async def main() -> None:
        made = await watched(flow, sessions=store, session="s")
        assert made.printed == "try 1\ntry 2\nasking\n"
        if kind == "plain":
            return
        again = open_run("s", flow, store, app="flow", view=False)
        assert again.printed == made.printed
        again._work.view = Shown()  # type: ignore[assignment]
        await again.respond("yes")
        assert again.printed == "try 1\ntry 2\nasking\ngot yes\n"

    drive(main)
