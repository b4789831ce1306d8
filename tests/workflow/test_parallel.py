"""Parallel workers: one run for each item, in order, limited, stopped by a failure, paused by a question."""

from __future__ import annotations

import asyncio
import pathlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adk_nb as adk
from adk_nb import Agent, Context
from adk_nb.errors import DynamicNodeFailError
from adk_nb.events import RequestInput
from adk_nb.events.event import content_text
from adk_nb.events.record import Status
from adk_nb.sessions import SqliteSessionService
from adk_nb.testing import FunctionModel
from adk_nb.workflow import BaseNode, JoinNode, Workflow, node
from adk_nb.workflow.parallel import ItemError
from tests.workflow.driving import Conversation, lines, outputs, run


def source(value: Any) -> BaseNode:
    """Return a node that hands on `value`."""
    return node(lambda: value, name="source")


def over(items: Any, worker: Any, *more: Any) -> Workflow:
    """Return a workflow that hands `items` to `worker`."""
    return Workflow(name="wf", edges=[("START", source(items), worker, *more)])


async def output_of(root: Any, text: str = "hi") -> Any:
    """Run a root and return what it hands on."""
    talk = Conversation(root)
    await talk.say(text)
    return (await talk.root()).output


@node(parallel_worker=True)
async def sq(node_input: int) -> int:
    """Square it."""
    return node_input**2


def test_events_of_a_worker() -> None:
    """Each item is a numbered child on a lane of its own, whose event comes before that of the whole list."""

    async def test() -> None:
        @node(name="sq", parallel_worker=True)
        async def late_first(node_input: int) -> int:
            for _ in range(3 * (4 - node_input)):
                await asyncio.sleep(0)
            return node_input**2

        talk = Conversation(over([1, 2, 3], late_first))
        events = (await talk.say())[1:]
        assert lines(events)[-1] == ("wf@1/sq@1", [1, 4, 9])
        assert sorted(lines(events)[:-1]) == [("wf@1/sq@1/sq@1", 1), ("wf@1/sq@1/sq@2", 4), ("wf@1/sq@1/sq@3", 9)]
        assert {event.branch for event in events} == {"sq@1", "sq@2", "sq@3", None}
        assert events[-1].branch is None
        assert events[-1].node_info.output_for == ["wf@1/sq@1", "wf@1"]
        assert {event.author for event in events} == {"wf"}

    run(test)


@pytest.mark.parametrize(
    ("items", "expected"),
    [([], []), ([3], [9]), (3, [9]), ((1, 2), [1, 4]), ([2, 3, 4], [4, 9, 16])],
    ids=["empty", "one", "bare", "tuple", "list"],
)
def test_what_is_spread(items: Any, expected: list[int]) -> None:
    """Lists and tuples are spread, anything else is one item; the node after a worker runs once, also for nothing."""

    async def test() -> None:
        totals: list[Any] = []

        def total(node_input: Any) -> Any:
            totals.append(node_input)
            return node_input

        assert await output_of(over(items, sq, total)) == expected
        assert totals == [expected]

    run(test)


@pytest.mark.parametrize("items", [None, {"a": 1}, "[1, 2]", {1, 2}])
def test_one_item(items: Any) -> None:
    """`None`, a dictionary, a set and a text are one item, which gets there unchanged."""
    same = node(lambda node_input: node_input, name="same", parallel_worker=True)
    run(lambda: _check(over(items, same), [items]))


async def _check(root: Any, expected: Any, text: str = "hi") -> None:
    assert await output_of(root, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("[1, 2]", [1, 2]), ("hello", ["hello"]), ('{"a": 1}', [{"a": 1}]), ("7", [7]), ("[]", [])]
)
def test_a_message(text: str, expected: list[Any]) -> None:
    """A message is spread when its text is a JSON list; else its text, read as JSON where it is that, is one item."""
    same = node(lambda node_input: node_input, name="same", parallel_worker=True)
    run(lambda: _check(same, expected, text))


def test_items_without_output() -> None:
    """An item that gives nothing stands as `None` in the output."""
    odd = node(lambda node_input: node_input if node_input % 2 else None, name="odd", parallel_worker=True)
    run(lambda: _check(over([1, 2, 3], odd), [1, None, 3]))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=12), st.integers(1, 5))
def test_limit_and_order(delays: list[int], limit: int) -> None:
    """Never more than the limit run at a time, however long each takes, and the output has the order of the items."""
    at_work, most = 0, 0

    @node(parallel_worker=True, max_parallel_workers=limit)
    async def slow(node_input: list[int]) -> int:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        for _ in range(node_input[1]):
            await asyncio.sleep(0)
        at_work -= 1
        return node_input[0]

    items = [[index, delay] for index, delay in enumerate(delays)]
    run(lambda: _check(over(items, slow), [index for index, _ in items]))
    assert most <= limit


def test_a_failing_item_stops_the_rest() -> None:
    """The items at work are cancelled; the error says which item it was; going on keeps what is done."""

    async def test() -> None:
        ran: list[int] = []
        is_broken = True

        @node(parallel_worker=True, max_parallel_workers=3)
        async def part(node_input: int) -> int:
            ran.append(node_input)
            if node_input == 1 and is_broken:
                await asyncio.sleep(0)
                raise ValueError("no")
            if node_input == 2 and is_broken:
                await asyncio.sleep(60)
            if node_input == 0:
                return 0
            return node_input

        talk = Conversation(over([0, 1, 2], part))
        error = await talk.fail(ValueError, talk.say())
        assert error.__notes__ == ["Item 1 of parallel worker 'part': 1"]
        records = await talk.records()
        assert [str(records[f"wf@1/part@1/part@{i}"].status) for i in (1, 2, 3)] == ["completed", "failed", "cancelled"]
        assert (await talk.root()).error_path == "wf@1/part@1/part@2"
        is_broken = False
        assert outputs(await talk.go_on())["wf@1/part@1"] == [0, 1, 2]
        assert sorted(ran) == [0, 1, 1, 2, 2]

    run(test)


def test_no_item_begins_after_a_failure() -> None:
    """One at a time, nothing behind the item that failed runs."""

    async def test() -> None:
        ran: list[int] = []

        @node(parallel_worker=True, max_parallel_workers=1)
        async def part(node_input: int) -> float:
            ran.append(node_input)
            return 1 / node_input

        talk = Conversation(over([1, 0, 2], part))
        await talk.fail(ZeroDivisionError, talk.say())
        assert ran == [1, 0]

    run(test)


def test_failures_at_the_same_time() -> None:
    """Of several items that fail together, the one that stands first in the list is the worker's error."""

    async def test() -> None:
        gate = asyncio.Event()

        @node(parallel_worker=True)
        async def part(node_input: int) -> None:
            if node_input == 2:
                gate.set()
            await gate.wait()
            raise ValueError(str(node_input))

        error = await (talk := Conversation(over([0, 1, 2], part))).fail(ValueError, talk.say())
        assert str(error) == "0"
        assert (await talk.root()).error_message == str(error)

    run(test)


def test_the_run_of_a_notebook_names_the_item() -> None:
    """`run.error.item_index` is the item's place in the list, also where something below the item failed."""

    async def test() -> None:
        async def bad(node_input: int) -> float:
            return 1 / node_input

        inner = Workflow(name="inner", edges=[("START", bad)])
        for worker in (node(bad, parallel_worker=True), node(inner, parallel_worker=True)):
            done = await adk.run(over([1, 0, 2], worker), "go", view=False)
            assert done.status == "failed"
            assert done.error is not None
            assert (done.error.item_index, done.error.type, done.error.node) == (1, "ZeroDivisionError", "bad")
            assert repr(done) == "<Run of wf: failed, ZeroDivisionError in item 1: division by zero>"
            assert done.outputs("bad")[0] == 1.0
        alone = await adk.run(Workflow(name="wf", edges=[("START", source(0), bad)]), "go", view=False)
        assert alone.error is not None
        assert alone.error.item_index is None

    run(test)


def test_collecting_errors() -> None:
    """With `on_error="collect"` all items run, and a failed one leaves its index, type and message in its place."""

    async def test() -> None:
        def read(node_input: list[ItemError | float]) -> list[str]:
            return [type(one).__name__ for one in node_input]

        @node(parallel_worker=True, max_parallel_workers=1, on_error="collect")
        async def part(node_input: int) -> float:
            return 1 / node_input

        talk = Conversation(over([1, 0, 2], part, read))
        found = outputs(await talk.say())
        failed = {"item_index": 1, "error_type": "ZeroDivisionError", "error_message": "division by zero"}
        assert found["wf@1/part@1"] == [1.0, failed, 0.5]
        assert found["wf@1/read@1"] == ["float", "ItemError", "float"]
        assert (await talk.root()).status is Status.COMPLETED

    run(test)


def test_a_collected_failure_is_final(tmp_path: pathlib.Path) -> None:
    """After a pause, in a new process, an item whose failure was collected isn't run again and stands as before."""

    async def test() -> None:
        ran: list[Any] = []

        def build() -> Workflow:
            @node(parallel_worker=True, on_error="collect")
            async def part(node_input: str) -> Any:
                ran.append(node_input)
                if node_input == "bad":
                    raise LookupError("gone")
                return RequestInput(interrupt_id="q") if node_input == "ask" else node_input

            return over(["bad", "ask", "good"], part)

        service = SqliteSessionService(str(tmp_path / "s.db"))
        await Conversation(build(), service).say()
        await service.close()
        service = SqliteSessionService(str(tmp_path / "s.db"))
        talk = Conversation(build(), service)
        await talk.answer(q="yes")
        failed = {"item_index": 0, "error_type": "LookupError", "error_message": "gone"}
        assert (await talk.root()).output == [failed, "yes", "good"]
        assert sorted(ran) == ["ask", "bad", "good"]
        await service.close()

    run(test)


def test_an_item_that_asks() -> None:
    """After a question no item begins, those at work finish; the answer is the item's output, and the rest follows."""

    async def test() -> None:
        ran: list[int] = []

        @node(parallel_worker=True, max_parallel_workers=2)
        async def part(node_input: int) -> Any:
            ran.append(node_input)
            if node_input == 1:
                for _ in range(20):
                    await asyncio.sleep(0)
            return RequestInput(interrupt_id="q") if node_input == 0 else node_input

        talk = Conversation(over([0, 1, 2, 3], part))
        events = await talk.say()
        assert ran == [0, 1]
        assert outputs(events)["wf@1/part@1/part@2"] == 1
        assert (await talk.root()).status is Status.WAITING
        assert lines(await talk.answer(q="yes"))[-1] == ("wf@1/part@1", ["yes", 1, 2, 3])
        assert ran == [0, 1, 2, 3]

    run(test)


def test_an_item_that_runs_again() -> None:
    """An item that has `rerun_on_resume` runs again with its answers, and nothing else does."""

    async def test() -> None:
        ran: list[int] = []

        @node(parallel_worker=True, rerun_on_resume=True)
        async def part(ctx: Context, node_input: int) -> Any:
            ran.append(node_input)
            wanted = f"q{node_input}"
            if node_input % 2 and wanted not in ctx.resume_inputs:
                return RequestInput(interrupt_id=wanted)
            return ctx.resume_inputs.get(wanted, node_input)

        talk = Conversation(over([0, 1, 2, 3], part))
        await talk.say()
        assert ran == [0, 1, 2, 3]
        await talk.answer(q3="c")
        await talk.answer(q1="a")
        assert (await talk.root()).output == [0, "a", 2, "c"]
        assert ran == [0, 1, 2, 3, 3, 1]

    run(test)


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_cut_anywhere(limit: int | None, tmp_path: pathlib.Path) -> None:
    """Cut after any event and continued elsewhere, a worker comes to the same output and repeats no finished item."""

    async def test() -> None:
        def build() -> Workflow:
            @node(parallel_worker=True, max_parallel_workers=limit)
            async def part(node_input: int) -> int:
                return node_input * 2

            again = node(
                lambda node_input: adk.Event(output=node_input, route="again" if sum(node_input) < 20 else "end"),
                name="again",
            )
            end = node(lambda node_input: node_input, name="end")
            return over([1, 2, 3], part, again, {"again": part, "end": end})

        whole = Conversation(build())
        expected = sorted(lines(await whole.say()))
        for cut in range(1, len(expected) + 1):
            service = SqliteSessionService(str(tmp_path / f"{cut}.db"))
            await Conversation(build(), service).cut_after(cut)
            talk = Conversation(build(), service)
            await talk.go_on()
            assert (await talk.root()).output == (await whole.root()).output
            assert sorted(lines((await talk.stored())[1:])) == expected
            await service.close()

    run(test)


def test_what_can_be_spread() -> None:
    """Workflows, agents and workers themselves run for each item as well; a worker can be a root or a child."""

    async def test() -> None:
        plus = node(lambda node_input: node_input + 1, name="plus")
        inner = Workflow(name="inner", edges=[("START", plus)])
        assert await output_of(over([1, 2], node(inner, parallel_worker=True))) == [2, 3]
        assert await output_of(over([[1, 2], [3], []], node(sq, parallel_worker=True))) == [[1, 4], [9], []]
        assert await output_of(sq, "[1, 2]") == [1, 4]
        model = FunctionModel(lambda request: content_text(request.contents[-1]).upper())
        poet = Agent(name="poet", model=model)
        assert await output_of(over(["a", "b"], node(poet, parallel_worker=True))) == ["A", "B"]

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> Any:
            return [await ctx.run_node(sq, [1, 2]), await ctx.run_node(sq, [3])]

        assert await output_of(parent) == [[1, 4], [9]]
        both = Workflow(name="wf", edges=[("START", source([1, 2]), (sq, inner_of(plus)), JoinNode(name="join"))])
        assert await output_of(both) == {"sq": [1, 4], "each": [2, 3]}

    run(test)


def inner_of(one: BaseNode) -> BaseNode:
    """Return a worker named `each`."""
    return node(one, name="each", parallel_worker=True)


def test_a_parent_may_catch_an_item() -> None:
    """A worker that a node runs as its child fails like any child, with the path of the item."""

    async def test() -> None:
        @node(parallel_worker=True)
        async def bad(node_input: int) -> float:
            return 1 / node_input

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> str:
            try:
                await ctx.run_node(bad, [1, 0])
            except DynamicNodeFailError as error:
                return f"{error.error_node_path} {error.error_type}"
            return "none"

        assert await output_of(parent) == "parent@1/bad@1/bad@2 ZeroDivisionError"

    run(test)


def test_stopping_a_worker() -> None:
    """A caller that walks away stops all items; none is left behind, and going on runs what isn't finished."""

    async def test() -> None:
        is_slow = True

        @node(parallel_worker=True, max_parallel_workers=2)
        async def part(node_input: int) -> int:
            if node_input and is_slow:
                await asyncio.sleep(60)
            return node_input

        talk = Conversation(over([0, 1, 2], part))
        await talk.cut_after(2)
        is_slow = False
        assert outputs(await talk.go_on())["wf@1/part@1"] == [0, 1, 2]

    run(test)
