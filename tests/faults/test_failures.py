"""Failures: the first one is told, with its node; nothing behind it runs; tries are counted as they were written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from pydantic import BaseModel

import adk_nb as adk
from adk_nb.errors import WorkflowConfigurationError
from adk_nb.events.record import Status
from adk_nb.workflow import FunctionNode, JoinNode, RetryConfig, Workflow, node
from tests.faults.ways import Staged, Way, asker, giver, show
from tests.workflow.driving import run

Stage = Callable[[Callable[[], Workflow]], Staged]


class Numbered(BaseModel):
    """An input with a number."""

    v: int


@pytest.mark.parametrize(("attempts", "expected"), [(0, 1), (1, 1), (3, 3), (None, 5)])
def test_how_often_a_node_is_tried(stage: Stage, attempts: int | None, expected: int) -> None:
    """0 and 1 mean one try, `None` five, n means n in all; each is in the record with its own error and times."""
    calls: list[int] = []

    def build() -> Workflow:
        def flaky() -> None:
            calls.append(1)
            raise ValueError(f"no {len(calls)}")

        rule = RetryConfig(max_attempts=attempts, initial_delay=0, jitter=0)
        return Workflow(name="w", edges=[("START", FunctionNode(func=flaky, retry_config=rule))])

    async def test() -> None:
        staged = stage(build)
        root = await staged.say()
        assert (root.status, len(calls)) == (Status.FAILED, expected)
        tries = (await staged.records())["flaky@1"].attempts
        assert [one.error_message for one in tries] == [f"no {i + 1}" for i in range(expected)]
        assert all(one.ended_at is not None and one.ended_at >= one.started_at for one in tries)
        await staged.close()

    run(test)


def test_tries_in_the_table_of_nodes() -> None:
    """`nodes_frame` counts the tries of a node; a negative number of them is refused where it is written."""

    async def test() -> None:
        def flaky(node_input: str) -> None:
            raise ValueError("no")

        rule = RetryConfig(max_attempts=3, initial_delay=0, jitter=0)
        flow = Workflow(name="w", edges=[("START", node(flaky, retry_config=rule))])
        ran = await adk.run(flow, "x", sessions="memory", view=False)
        assert ran.status == "failed"
        table = ran.nodes_frame()
        assert table.loc[table.node == "flaky", "attempts"].item() == 3
        with pytest.raises(WorkflowConfigurationError, match="max_attempts"):
            RetryConfig(max_attempts=-1)

    run(test)


def test_input_that_does_not_fit(stage: Stage) -> None:
    """It is the failure of the node that wanted it, at its path, and is tried again under its rule."""

    def build() -> Workflow:
        def f(node_input: Numbered) -> int:
            return node_input.v

        rule = RetryConfig(max_attempts=3, initial_delay=0, jitter=0)
        return Workflow(
            name="wf", edges=[("START", asker("q"), giver({"v": "x"}, "src"), node(f, retry_config=rule), show())]
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        root = await staged.answer(q=1)
        errors = [event for event in staged.events if event.error_code]
        assert [event.node_info.path.rpartition("/")[2] for event in errors] == ["f@1"] * 3
        assert root.error_path is not None
        assert root.error_path.endswith("wf@1/f@1")
        assert "'node_input' of node 'f'" in str(staged.error)
        await staged.close()

    run(test)


def test_the_first_failure_is_the_one_told(stage: Stage, way: Way) -> None:
    """One error event, at the node that failed; its successor doesn't run, and no stack is stored."""
    ran: list[str] = []

    def build() -> Workflow:
        async def load() -> None:
            raise PermissionError("401 bad key")

        def parse(node_input: str) -> str:
            ran.append("parse")
            return node_input.strip()

        async def other() -> str:
            await asyncio.sleep(0)
            return "fine"

        return Workflow(name="w", edges=[("START", load, parse), ("START", other)])

    async def test() -> None:
        staged = stage(build)
        root = await staged.say()
        assert isinstance(staged.error, PermissionError)
        assert (root.status, root.error_type, root.error_message) == (Status.FAILED, "PermissionError", "401 bad key")
        assert root.error_path is not None
        assert root.error_path.endswith("w@1/load@1")
        (told,) = [event for event in await staged.talk.stored() if event.error_code]
        assert told.node_info.path == root.error_path
        assert "Traceback" not in told.model_dump_json()
        assert ran == []
        records = await staged.records()
        assert "parse@1" not in records
        assert records["load@1"].status is Status.FAILED
        assert staged.error.args == ("401 bad key",)
        await staged.close()

    run(test)


def test_such_a_failure_on_the_handle() -> None:
    """`run.error` names node, type and message, the table says which node failed, `raise_for_error` raises it."""

    async def test() -> None:
        def load(node_input: str) -> None:
            raise PermissionError("401 bad key")

        def parse(node_input: str) -> str:
            return node_input.strip()

        flow = Workflow(name="w", edges=[("START", load, parse)])
        ran = await adk.run(flow, "x", sessions="memory", view=False)
        assert ran.status == "failed"
        assert ran.error is not None
        assert (ran.error.node, ran.error.type, ran.error.message) == ("load", "PermissionError", "401 bad key")
        table = ran.nodes_frame()
        assert table.loc[table.node == "load", "status"].item() == "failed"
        assert "parse" not in set(table.node)
        with pytest.raises(PermissionError, match="401 bad key"):
            ran.raise_for_error()

    run(test)


def test_tries_over_a_pause(stage: Stage) -> None:
    """Tries of an earlier turn stay in the record; a continued run has its full number of tries again."""
    calls: list[int] = []

    def build() -> Workflow:
        def flaky() -> str:
            calls.append(1)
            if len(calls) < 4:
                raise ValueError(f"no {len(calls)}")
            return "done"

        rule = RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
        return Workflow(name="w", edges=[("START", asker("q"), node(flaky, retry_config=rule))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        await staged.answer(q=1)
        root = await staged.go_on()
        assert (root.status, root.output) == (Status.COMPLETED, "done")
        tries = (await staged.records())["flaky@1"].attempts
        assert [one.error_message for one in tries] == ["no 1", "no 2", "no 3", None]
        await staged.close()

    run(test)


def test_a_failure_beside_a_question(stage: Stage) -> None:
    """The question stays open in the failed run; its answer goes on with all of it, and nothing finished runs again."""
    calls: list[str] = []

    def build() -> Workflow:
        async def bad() -> str:
            for _ in range(5):
                await asyncio.sleep(0)
            calls.append("bad")
            if len(calls) == 1:
                raise ValueError("x")
            return "fine"

        return Workflow(name="wf", edges=[("START", (asker("q"), bad), JoinNode(name="j"))])

    async def test() -> None:
        staged = stage(build)
        root = await staged.say()
        assert root.status is Status.FAILED
        assert await staged.questions() == ["q"]
        root = await staged.answer(q=1)
        assert (root.status, root.output) == (Status.COMPLETED, {"ask_q": 1, "bad": "fine"})
        assert await staged.asked() == ["q"]
        await staged.close()

    run(test)
