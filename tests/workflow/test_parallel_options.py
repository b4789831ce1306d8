"""`Node` and the options of parallel workers: what they apply to, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pydantic import BaseModel

import adk_nb as adk
from adk_nb import Context
from adk_nb.errors import NodeTimeoutError, StateSchemaError, WorkflowConfigurationError
from adk_nb.workflow import START, Node, RetryConfig, Workflow, node
from adk_nb.workflow.build import build_node
from adk_nb.workflow.parallel import ParallelWorker
from tests.workflow.driving import Conversation, run
from tests.workflow.test_parallel import output_of, over, sq


def test_an_own_node_class() -> None:
    """A `Node` yields what it hands on, and with `parallel_worker=True` it does so for each item."""

    class Twice(Node):
        async def run_node_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
            yield adk.Event(message="working")
            yield node_input * 2

    async def test() -> None:
        assert await output_of(over(4, Twice(name="twice"))) == 8
        assert await output_of(over([4, 5], Twice(name="twice", parallel_worker=True))) == [8, 10]
        nothing = Conversation(Node(name="nothing"))
        error = await nothing.fail(NotImplementedError, nothing.say())
        assert "run_node_impl must be implemented" in str(error)

    run(test)


def test_options_are_those_of_one_item() -> None:
    """Retries and timeouts count for each item, whether the worker is a function's or an own node's."""

    async def test() -> None:
        ran: list[int] = []

        class Flaky(Node):
            async def run_node_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
                ran.append(node_input)
                if ctx.attempt_count < 2:
                    raise ValueError("not yet")
                yield node_input

        again = RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
        assert await output_of(over([1, 2], Flaky(name="f", parallel_worker=True, retry_config=again))) == [1, 2]
        assert sorted(ran) == [1, 1, 2, 2]

        @node(parallel_worker=True, timeout=0.01)
        async def slow(node_input: int) -> int:
            await asyncio.sleep(60 if node_input else 0)
            return node_input

        talk = Conversation(over([0, 1], slow))
        await talk.fail(NodeTimeoutError, talk.say())
        assert (await talk.root()).error_path == "wf@1/slow@1/slow@2"

    run(test)


class Unsaid(Node):
    """A node of one's own."""


any_node: Any = node  # written as no type checker would allow


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: node(max_parallel_workers=2), "can only be set when parallel_worker is True"),
        (lambda: node(sq, on_error="collect"), "can only be set when parallel_worker is True"),
        (lambda: Unsaid(name="m", max_parallel_workers=2), "can only be set when parallel_worker is True"),
        (lambda: node(sq, parallel_worker=True, max_parallel_workers=0), "greater than or equal to 1"),
        (lambda: Unsaid(name="m", parallel_worker=True, max_parallel_workers=0), "greater than or equal to 1"),
        (lambda: ParallelWorker(node=sq, max_parallel_workers=-1), "greater than or equal to 1"),
        (lambda: any_node("START", parallel_worker=True), "cannot wrap a START"),
        (lambda: ParallelWorker(node=START), "cannot wrap a START"),
        (lambda: any_node("START", timeout=3), "START can't have options"),
        (lambda: any_node(sq, parallel_worker=True, on_error="ignore"), "on_error='ignore'"),
        (lambda: any_node(sq, parallel_worker=True, max_parallel_workers="many"), "max_parallel_workers='many'"),
    ],
)
def test_wrong_options(build: Any, words: str) -> None:
    """Options of workers are checked where they are written, each with one sentence."""
    with pytest.raises(WorkflowConfigurationError) as caught:
        build()
    assert words in str(caught.value)


def test_frozen_options() -> None:
    """What makes an own node a worker can't be changed afterwards."""
    built = Unsaid(name="m", parallel_worker=True, max_parallel_workers=2)
    for name, value in (("parallel_worker", False), ("max_parallel_workers", 3), ("on_error", "collect")):
        with pytest.raises(ValueError, match="frozen"):
            setattr(built, name, value)


def test_copies_of_a_worker() -> None:
    """`node` gives other options to what a worker runs, in a copy; the worker's own limit stays."""
    limited = node(sq, name="few", parallel_worker=True, max_parallel_workers=2, on_error="collect")
    assert isinstance(limited, ParallelWorker)
    assert isinstance(limited.node, ParallelWorker)
    worker = node(lambda node_input: node_input, name="one", parallel_worker=True, max_parallel_workers=2)
    other = node(worker, name="two", timeout=3)
    assert isinstance(other, ParallelWorker)
    assert isinstance(worker, ParallelWorker)
    assert (other.name, other.node.name, other.node.timeout, other.timeout) == ("two", "two", 3, None)
    assert (other.max_parallel_workers, worker.name, worker.node.timeout) == (2, "one", None)
    assert node(worker) is worker
    spread = build_node(Unsaid(name="m", parallel_worker=True, timeout=3))
    assert isinstance(spread, ParallelWorker)
    assert (spread.timeout, spread.node.timeout) == (None, 3)


def test_a_drawn_worker() -> None:
    """A worker is drawn as a pile of what it runs, a workflow with the graph inside."""
    inner = Workflow(name="inner", edges=[("START", sq)])
    drawn = node(inner, parallel_worker=True).describe_node()
    assert (drawn.name, drawn.kind) == ("inner", "parallel")
    assert drawn.inner is not None
    assert (sq.describe_node().kind, sq.describe_node().detail) == ("parallel", "Square it.")


def test_a_worker_and_a_state_schema() -> None:
    """What a function takes from state is checked against the schema of its workflow in a worker, too."""

    class Shop(BaseModel):
        rate: float = 1.0

    def priced(node_input: int, rate: float) -> float:
        return node_input * rate

    def wrong(node_input: int, rat: float) -> float:
        return node_input * rat

    edges: Any = [("START", node(priced, parallel_worker=True))]
    assert Workflow(name="wf", state_schema=Shop, edges=edges).name == "wf"
    edges = [("START", node(node(wrong, parallel_worker=True), parallel_worker=True))]
    with pytest.raises(StateSchemaError, match=r"'rat' of function 'wrong' .* 'rate' \(did you mean this\?\)"):
        Workflow(name="wf", state_schema=Shop, edges=edges)
