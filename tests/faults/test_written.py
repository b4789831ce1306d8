"""Mistakes in how a workflow is written are told where it is written, and what people write first works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adk_nb.errors import WorkflowConfigurationError, WorkflowDataError
from adk_nb.workflow import FunctionNode, Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.graph import Graph
from tests.faults.ways import Staged, asker, giver, show
from tests.workflow.driving import run

Stage = Callable[[Callable[[], Workflow]], Staged]


def test_slips_that_would_cost_a_node() -> None:
    """A misspelt option, an empty tuple and a chain of one element are refused, naming what was meant."""
    a, b = giver(1, "a"), giver(2, "b")
    with pytest.raises(WorkflowConfigurationError, match=r"max_concurency.*'max_concurrency' \(did you mean this\?\)"):
        Workflow(name="wf", edges=[("START", a)], max_concurency=1)  # type: ignore[call-arg]
    for edges in ([("START", a, (), b)], [("START", a), (b,)]):
        with pytest.raises(WorkflowConfigurationError):
            Workflow(name="wf", edges=edges)


def test_a_graph_given_ready_made(stage: Stage) -> None:
    """It runs like one from edges: its last node gives the output, and the successor gets it."""

    def build() -> Workflow:
        inner = Workflow(name="inner", graph=Graph.from_edge_items([("START", asker("q"), giver("in", "last"))]))
        return Workflow(name="wf", edges=[("START", inner, show())])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert (await staged.answer(q=1)).output == "'in'"
        await staged.close()

    run(test)


def test_one_argument_takes_the_input(stage: Stage) -> None:
    """Whatever its name, in a graph and as a child; values of the state and defaults come before it."""

    def build() -> Workflow:
        def city_time(city: str) -> str:
            return f"10:10 in {city}"

        async def flow(ctx: Context) -> Any:
            ctx.state["lang"] = "en"
            return await ctx.run_node(city_time, "Paris")

        def told(text: str, lang: str, mark: str = "!") -> str:
            return f"{text} ({lang}){mark}"

        return Workflow(name="w", edges=[("START", node(flow, rerun_on_resume=True), told)])

    async def test() -> None:
        staged = stage(build)
        assert (await staged.say()).output == "10:10 in Paris (en)!"
        await staged.close()

    run(test)


def test_two_arguments_for_one_value(stage: Stage) -> None:
    """A dictionary is spread by name; a text can't be, and the error names node, argument and the places searched."""

    def build(value: Any) -> Workflow:
        def pair(city: str, country: str) -> str:
            return city + country

        return Workflow(name="w", edges=[("START", giver(value, "src"), pair)])

    async def test() -> None:
        staged = stage(lambda: build({"city": "Paris", "country": "France"}))
        assert (await staged.say()).output == "ParisFrance"
        await staged.close()
        staged = stage(lambda: build("Paris"))
        await staged.say()
        assert isinstance(staged.error, WorkflowDataError)
        for word in ("'city'", "'pair'", "state", "input", "default"):
            assert word in str(staged.error)
        await staged.close()

    run(test)


def test_two_arguments_are_told_before_the_run() -> None:
    """Where a node hands on a text, `check` names the node that couldn't be called."""

    def src() -> str:
        return "Paris"

    def pair(city: str, country: str) -> str:
        return city + country

    flow = Workflow(name="w", edges=[("START", src, pair)])
    assert any(hint.node == "pair" for hint in flow.check())


def test_a_function_without_a_keyword(stage: Stage) -> None:
    """`FunctionNode(func, ...)` takes the function first, as people write it; a number of outputs is one list."""

    def build() -> Workflow:
        def work() -> list[int]:
            return [1, 2]

        return Workflow(name="w", edges=[("START", FunctionNode(work, name="n"))])

    async def test() -> None:
        staged = stage(build)
        assert (await staged.say()).output == [1, 2]
        await staged.close()

    run(test)


def test_several_outputs_of_one_run(stage: Stage) -> None:
    """The second is the node's error, which says to hand on a list; nothing behind it runs."""

    def build() -> Workflow:
        async def twice() -> Any:
            yield 1
            yield 2

        return Workflow(name="w", edges=[("START", asker("q"), twice, show())])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        await staged.answer(q=1)
        assert "at most one output" in str(staged.error)
        assert "show@1" not in await staged.records()
        await staged.close()

    run(test)
