"""Values: what goes in comes back, typed as declared, in memory and in a file, at once and after a pause."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import adk_nb as adk
from adk_nb.errors import WorkflowDataError
from adk_nb.events import RequestInput
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.context import Context
from tests.faults.ways import Staged, asker, giver
from tests.workflow.driving import run

Stage = Callable[[Callable[[], Workflow]], Staged]


class Kind(Enum):
    """Kinds of bills."""

    A = 1


class Bill(BaseModel):
    """What a node hands on."""

    total: Decimal
    due: date
    kind: Kind
    id: uuid.UUID
    notes: dict[int, str] = {}


A_BILL = Bill(total=Decimal("9.90"), due=date(2026, 1, 31), kind=Kind.A, id=uuid.UUID(int=7), notes={1: "x"})


class Doc(BaseModel):
    """A model with a class of its own."""

    class Phase(Enum):
        """Its phases."""

        NEW = "new"

    phase: Phase


class Colour(StrEnum):
    """A text of some."""

    RED = "red"


@dataclass
class Sum:
    """A dataclass with a field that isn't given."""

    a: int
    twice: int = field(init=False, default=0)


@pytest.mark.parametrize(
    "value",
    [
        (1, 2),
        b"\xff\x00",
        {1: "x", 2: {3: "y"}},
        {1, 2},
        frozenset({"a"}),
        Decimal("9.90"),
        date(2026, 1, 31),
        datetime(2026, 1, 31, 12, 30),
        timedelta(minutes=5),
        uuid.UUID(int=7),
        [(1, {"k": (2,)})],
        float("inf"),
        "null",
        [],
        0,
        False,
        "",
    ],
    ids=repr,
)
def test_a_value_handed_on(stage: Stage, value: Any) -> None:
    """The successor gets an equal value of the same types, in its first execution and after the answer."""
    seen: list[Any] = []

    def build() -> Workflow:
        def down(ctx: Context, node_input: Any) -> Any:
            seen.append(node_input)
            return node_input if ctx.resume_inputs else RequestInput(interrupt_id="q")

        return Workflow(name="wf", edges=[("START", giver(value, "src"), node(down, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q=1)
        assert seen == [value, value]
        assert root.output == value
        kinds = {type(one) if type(one).__module__ == "builtins" else type(one).__mro__[1] for one in seen}
        assert len(kinds) == 1
        await staged.close()

    run(test)


def test_a_model_for_who_declares_it(stage: Stage) -> None:
    """A receiver with a type hint gets the object back, at once and after a pause; the event can be dumped."""
    seen: list[Any] = []

    def build() -> Workflow:
        def bill() -> Bill:
            return A_BILL

        def use(ctx: Context, node_input: Bill) -> Any:
            seen.append(node_input)
            return node_input.total + 1 if ctx.resume_inputs else RequestInput(interrupt_id="q")

        return Workflow(name="w", edges=[("START", bill, node(use, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q=1)
        assert seen == [A_BILL, A_BILL]
        assert root.output == Decimal("10.90")
        for event in await staged.talk.stored():
            event.model_dump_json()
        await staged.close()

    run(test)


def test_models_in_the_table_of_events(tmp_path: Path) -> None:
    """Memory and file give the same output, and the table of events can be written as JSON."""

    async def test() -> None:
        def bill(node_input: str) -> Bill:
            return A_BILL

        def use(node_input: Bill) -> Decimal:
            return node_input.total + 1

        flow = Workflow(name="w", edges=[("START", bill, use)])
        for sessions in ("memory", str(tmp_path / "t.db")):
            ran = await adk.run(flow, "x", sessions=sessions, view=False)
            assert ran.output == Decimal("10.90")
            ran.events_frame().to_json(date_format="iso")

    run(test)


@pytest.mark.parametrize("where", ["output", "state", "input of a child", "payload", "event"])
def test_what_cannot_be_stored(stage: Stage, where: str) -> None:
    """It is refused at the node that gave it, with the place in the value, in every store alike."""

    def build() -> Workflow:
        async def give(ctx: Context) -> Any:
            bad = {"a": [1, object()]}
            if where == "state":
                ctx.state["bad"] = bad
            elif where == "input of a child":
                await ctx.run_node(giver(1, "child"), bad)
            elif where == "payload":
                return RequestInput(payload=bad)
            elif where == "event":
                return adk.Event(output=bad)
            return bad

        return Workflow(name="w", edges=[("START", asker("q"), node(give, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q=1)
        assert isinstance(staged.error, WorkflowDataError)
        assert "['a'][1]" in str(staged.error)
        assert root.error_path is not None
        assert root.error_path.endswith("w@1/give@1")
        await staged.close()

    run(test)


def test_values_in_the_state(stage: Stage) -> None:
    """State comes back equal after a pause; models, enums and dataclasses read the same before and after it."""
    seen: list[Any] = []

    def build() -> Workflow:
        def make(ctx: Context) -> None:
            ctx.state.update(
                {"doc": Doc(phase=Doc.Phase.NEW), "s": Colour.RED, "d": Sum(1), "t": (1, 2), "k": {1: "a"}}
            )

        def check(ctx: Context) -> None:
            seen.append({key: ctx.state[key] for key in ("doc", "s", "d", "t", "k")})

        return Workflow(
            name="w", edges=[("START", make, node(check, name="now"), asker("q"), node(check, name="later"))]
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        await staged.answer(q=1)
        now, later = seen
        assert now == later
        assert [type(now[key]) for key in now] == [type(later[key]) for key in later]
        assert (now["t"], now["k"]) == ((1, 2), {1: "a"})
        assert None not in now.values()
        assert (await staged.talk.state())["k"] == {1: "a"}
        await staged.close()

    run(test)


def test_state_for_who_declares_it(stage: Stage) -> None:
    """A function that takes a state value with a type hint gets that type, before and after a pause."""
    seen: list[Any] = []

    def build() -> Workflow:
        def make(ctx: Context) -> None:
            ctx.state.update({"doc": Doc(phase=Doc.Phase.NEW), "s": Colour.RED, "d": Sum(1)})

        def check(doc: Doc, s: Colour, d: Sum) -> None:
            seen.append([doc, s, d])

        return Workflow(
            name="w", edges=[("START", make, node(check, name="now"), asker("q"), node(check, name="later"))]
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        await staged.answer(q=1)
        assert staged.error is None
        assert seen == [[Doc(phase=Doc.Phase.NEW), Colour.RED, Sum(1)]] * 2
        assert {type(one) for one in seen[1]} == {Doc, Colour, Sum}
        await staged.close()

    run(test)


class Checked(BaseModel):
    """A workflow's declared output."""

    v: int


@pytest.mark.parametrize("given", ["3", "no number"])
def test_a_workflows_declared_output(stage: Stage, given: str) -> None:
    """It is checked before the event: history, record and successor say the same; a bad one is never stored."""
    seen: list[Any] = []

    def build() -> Workflow:
        inner = Workflow(name="inner", edges=[("START", giver({"v": given}, "src"))], output_schema=Checked)

        def down(ctx: Context, node_input: Any) -> Any:
            seen.append(node_input)
            return "ok" if ctx.resume_inputs else RequestInput(interrupt_id="q")

        return Workflow(name="wf", edges=[("START", inner, node(down, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        outputs = [event.output for event in await staged.talk.stored() if event.output is not None]
        if given == "3":
            await staged.answer(q=1)
            assert seen == [{"v": 3}, {"v": 3}]
            assert outputs == [{"v": 3}]
            assert (await staged.records())["inner@1"].output == {"v": 3}
        else:
            assert staged.error is not None
            assert outputs == []
            assert seen == []
        await staged.close()

    run(test)


def test_what_was_handed_on_is_a_snapshot(stage: Stage) -> None:
    """A change made by the giver, a sibling or a successor afterwards is seen by nobody, nor in the history."""
    mine: list[list[int]] = []
    seen: list[Any] = []

    def build() -> Workflow:
        def give() -> list[int]:
            mine.append([1])
            return mine[-1]

        def spoil(node_input: list[int]) -> None:
            mine[-1].append(2)
            node_input.append(3)

        def look(node_input: list[int]) -> None:
            seen.append(list(node_input))

        return Workflow(
            name="w",
            edges=[
                ("START", give, (node(spoil), node(look, name="beside"), asker("q"))),
            ],
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert seen == [[1]]
        (told,) = [event for event in await staged.talk.stored() if event.output is not None]
        assert list(told.output) == [1]
        await staged.answer(q=1)
        assert list((await staged.records())["give@1"].output) == [1]
        await staged.close()

    run(test)


class Whole(BaseModel):
    """An inner workflow's declared output, with a default."""

    v: int
    w: int = 5


class Rough(BaseModel):
    """An outer workflow's."""

    v: float


def test_declared_outputs_one_inside_the_other(stage: Stage) -> None:
    """The value passes every workflow that it is the output of, and is the same in event, record and successor."""
    seen: list[Any] = []

    def build() -> Workflow:
        inner = Workflow(name="inner", edges=[("START", giver({"v": "3"}, "src"))], output_schema=Whole)
        middle = Workflow(name="middle", edges=[("START", inner)], output_schema=Rough)

        async def par(ctx: Context) -> None:
            await ctx.run_node(middle, use_as_output=True)

        def down(ctx: Context, node_input: Any) -> Any:
            seen.append(node_input)
            return "ok" if ctx.resume_inputs else RequestInput(interrupt_id="q")

        return Workflow(name="wf", edges=[("START", node(par, rerun_on_resume=True), node(down, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        (told,) = [event.output for event in staged.events if event.output is not None]
        recorded = (await staged.records())["par@1"].output
        await staged.answer(q=1)
        assert [told, recorded, *seen] == [{"v": 3.0}] * 4
        assert {type(one["v"]) for one in (told, recorded, *seen)} == {float}
        await staged.close()

    run(test)
