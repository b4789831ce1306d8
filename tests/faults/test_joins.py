"""Joins and nodes with several predecessors: nothing ends short in silence, nothing fires twice or too early."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import adk_nb as adk
from adk_nb.events import Event, RequestInput
from adk_nb.events.record import Status
from adk_nb.workflow import JoinNode, Workflow, node
from tests.faults.ways import Staged, Way, asker, giver, show
from tests.workflow.driving import run

Stage = Callable[[Callable[[], Workflow]], Staged]


@pytest.mark.parametrize("pauses", [0, 1])
def test_a_join_that_waits_for_a_branch_not_taken(stage: Stage, way: Way, pauses: int) -> None:
    """The run isn't completed: it names the join, what it has and what it waits for, also after a pause.

    Nothing behind the join runs, and neither does what follows the workflow.
    """
    ran: list[Any] = []

    def build() -> Workflow:
        def pick() -> Event:
            return Event(output=1, route="left")

        join = JoinNode(name="j")
        picker, left, right = node(pick), giver("L", "left"), giver("R", "right")
        end = node(lambda node_input: ran.append(node_input), name="end")
        return Workflow(
            name="wf",
            edges=[
                ("START", *(asker(f"q{i}") for i in range(pauses)), picker, {"left": left, "right": right}),
                ((left, right), join, end),
            ],
        )

    async def test() -> None:
        staged = stage(build)
        root = await staged.say()
        for i in range(pauses):
            root = await staged.answer(**{f"q{i}": 1})
        assert root.status is (Status.FAILED if way.place == "dynamic" else Status.INCOMPLETE)
        told = await staged.warnings()
        assert "the join 'j' never fired: it got 'left' but waits for 'right'" in told
        assert (await staged.records())[""].status is Status.INCOMPLETE
        assert ran == []
        await staged.go_on()  # changes nothing: no branch has come to it meanwhile
        assert ran == []
        await staged.close()

    run(test)


def test_such_a_join_is_told_before_the_run_and_by_the_run() -> None:
    """`check` names join and missing node; the run's handle is incomplete, with the same names in its warnings."""

    async def test() -> None:
        def pick(node_input: Any) -> Event:
            return Event(output="x", route="left")

        def left(node_input: Any) -> str:
            return "L"

        def right(node_input: Any) -> str:
            return "R"

        flow = Workflow(
            name="w",
            edges=[("START", pick, {"left": left, "right": right}), ((left, right), JoinNode(name="j"), show())],
        )
        assert any(hint.node == "j" and "right" in hint.text for hint in flow.check())
        ran = await adk.run(flow, "x", sessions="memory", view=False)
        assert ran.status == "incomplete"
        assert any("'j'" in text and "'right'" in text for text in ran.warnings)

    run(test)


def test_a_predecessor_without_output(stage: Stage) -> None:
    """The join fires once with None under its name, and the run warns of it; the next node doesn't fail blindly."""

    def build() -> Workflow:
        def total(node_input: dict[str, Any]) -> int:
            return sum(value or 0 for value in node_input.values())

        return Workflow(name="wf", edges=[("START", (giver(1, "a"), asker("b")), JoinNode(name="j"), total)])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(b=None)
        assert (root.status, root.output) == (Status.COMPLETED, 1)
        joined = (await staged.records())["j@1"]
        assert joined.input == {"a": 1, "ask_b": None}
        assert list(joined.notes) == ["ask_b gave no output, so the join 'j' gets None for it"]
        assert "ask_b gave no output" in await staged.warnings()
        await staged.close()

    run(test)


@pytest.mark.parametrize("order", [("b", "c"), ("c", "b")])
def test_a_half_filled_join_over_pauses(stage: Stage, order: tuple[str, str]) -> None:
    """Finished branches don't run again, and the join fires exactly once, with every value, in the edges' order."""
    ran: list[Any] = []

    def build() -> Workflow:
        def a() -> str:
            ran.append("a")
            return "A"

        def end(node_input: Any) -> Any:
            ran.append("end")
            return node_input

        return Workflow(name="wf", edges=[("START", (a, asker("b", "b"), asker("c", "c")), JoinNode(name="j"), end)])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert ran == ["a"]
        await staged.answer(**{order[0]: order[0].upper()})
        assert ran == ["a"]
        root = await staged.answer(**{order[1]: order[1].upper()})
        assert root.output == {"a": "A", "b": "B", "c": "C"}
        assert list(root.output) == ["a", "b", "c"]
        assert ran == ["a", "end"]
        await staged.close()

    run(test)


def test_keys_of_a_join_in_every_process() -> None:
    """They stand in the order of the edges whatever the seed of Python's hashes, so that prompts are reproducible."""
    program = (
        "import adk_nb as adk\n"
        "from adk_nb.workflow import JoinNode, Workflow, node\n"
        "lanes = tuple(node(lambda: 1, name=name) for name in ('gamma', 'alpha', 'beta', 'delta'))\n"
        "flow = Workflow(name='wf', edges=[('START', lanes, JoinNode(name='j'))])\n"
        "print(list(adk.run_sync(flow, 'x', sessions='memory').output))\n"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == "['gamma', 'alpha', 'beta', 'delta']"


def test_an_ordinary_node_behind_a_fan_out(stage: Stage) -> None:
    """It runs once per arrival, one after the other and never at once, and every output is kept, over a pause too."""
    inside: list[str] = []
    got: list[Any] = []

    def build() -> Workflow:
        async def d(ctx: adk.Context, node_input: str) -> Any:
            assert not inside
            inside.append(node_input)
            await ctx.run_node(node(lambda: None, name="breathe"))
            inside.remove(node_input)
            got.append(node_input)
            return node_input

        return Workflow(
            name="wf",
            edges=[("START", (giver("b", "b"), asker("q", "c")), node(d, rerun_on_resume=True))],
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert got == ["b"]
        root = await staged.answer(q="c")
        assert got == ["b", "c"]
        assert root.output == "c"
        records = await staged.records()
        assert [records[f"d@{i}"].output for i in (1, 2)] == ["b", "c"]
        await staged.close()

    run(test)


def test_such_a_node_is_told_before_the_run() -> None:
    """`check` proposes a JoinNode, and the handle gives all outputs of the node."""

    async def test() -> None:
        def d(node_input: str) -> str:
            return node_input

        flow = Workflow(name="diamond", edges=[("START", giver("a", "a"), (giver("b", "b"), giver("c", "c")), d)])
        assert any(hint.node == "d" and "JoinNode" in hint.text for hint in flow.check())
        ran = await adk.run(flow, "x", sessions="memory", view=False)
        assert ran.outputs("d") == ["b", "c"]

    run(test)


def test_a_node_that_never_gives_what_is_waited_for(stage: Stage, way: Way) -> None:
    """A `wait_for_output` node without output leaves the run incomplete and named, never quietly done."""

    def build() -> Workflow:
        quiet = node(lambda: None, name="quiet")
        quiet.wait_for_output = True
        return Workflow(name="wf", edges=[("START", asker("q"), quiet, show())])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q=1)
        assert root.status is (Status.FAILED if way.place == "dynamic" else Status.INCOMPLETE)
        assert "quiet ended without output" in await staged.warnings()
        assert "show@1" not in await staged.records()
        await staged.close()

    run(test)


def test_a_join_of_two_askers_that_ask_again(stage: Stage) -> None:
    """A predecessor that asks twice before it is done counts as one arrival, with its last word."""

    def build() -> Workflow:
        def twice(ctx: adk.Context) -> Any:
            known = ctx.resume_inputs
            missing = next((i for i in ("a1", "a2") if i not in known), None)
            return dict(known) if missing is None else RequestInput(interrupt_id=missing)

        return Workflow(
            name="wf",
            edges=[("START", (node(twice, rerun_on_resume=True), asker("b", "b")), JoinNode(name="j"))],
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        await staged.answer(a1=1)
        await staged.answer(b=2)
        root = await staged.answer(a2=3)
        assert root.output == {"twice": {"a1": 1, "a2": 3}, "b": 2}
        assert sorted(await staged.asked()) == ["a1", "a2", "b"]
        await staged.close()

    run(test)


@pytest.mark.parametrize("order", ["abc", "acb", "bac", "bca", "cab", "cba"])
def test_joins_in_joins(stage: Stage, order: str) -> None:
    """Whatever the order of the answers, each join has every value under its name, in the order of the edges."""

    def build() -> Workflow:
        inner = Workflow(name="inner", edges=[("START", (asker("a"), asker("b")), JoinNode(name="ij"))])
        return Workflow(name="wf", edges=[("START", (inner, asker("c")), JoinNode(name="j"), show())])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        for key in order:
            root = await staged.answer(**{key: key})
        assert root.output == repr({"inner": {"ask_a": "a", "ask_b": "b"}, "ask_c": "c"})
        await staged.close()

    run(test)
