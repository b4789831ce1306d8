"""Limits end a run in order: what finished is kept, nothing new starts, and the run can be continued."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from pydantic import ValidationError

import adk_nb as adk
from adk_nb import Event, Limits
from adk_nb.agents import LlmAgent
from adk_nb.events.prices import Price
from adk_nb.events.record import Status
from adk_nb.events.request_input import RequestInput
from adk_nb.models.llm_response import LlmResponse
from adk_nb.sessions import SqliteSessionService
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.context import Context
from adk_nb.workflow.run_config import RunConfig
from tests.workflow.driving import Conversation, run


def limited(**limits: Any) -> RunConfig:
    """Return the settings of a call with these limits."""
    return RunConfig(limits=Limits(**limits))


def endless(log: list[str] | None = None) -> Workflow:
    """Return a loop whose route never changes."""

    def think(ctx: Context, node_input: Any) -> str:
        if log is not None:
            log.append(ctx.run_id)
        return (node_input if isinstance(node_input, str) else "") + "."

    def again(node_input: str) -> Event:
        return Event(output=node_input, route="again")

    think_node = node(think)
    return Workflow(name="w", edges=[("START", think_node, node(again), {"again": think_node})])


def test_an_endless_loop_stops_at_max_node_runs_and_goes_on_from_there(tmp_path: Path) -> None:
    """A loop stops after as many node runs as allowed; continued in a new process, it goes on where it stopped."""

    async def test() -> None:
        log: list[str] = []
        talk = Conversation(endless(log), SqliteSessionService(str(tmp_path / "s.db")))
        events = await talk.say(run_config=limited(max_node_runs=20))
        root = await talk.root()
        assert root.status is Status.STOPPED
        assert root.stopped_by == "max_node_runs"
        assert "max_node_runs=20" in str(root.error_message)
        assert [event.output for event in events if "think" in event.node_info.path][-1] == "." * 10
        again = Conversation(endless(log), SqliteSessionService(str(tmp_path / "s.db")))
        more = await again._collect(invocation_id=root.invocation_id, run_config=limited(max_node_runs=4))
        assert [event.output for event in more if "think" in event.node_info.path] == ["." * 11, "." * 12]
        assert log == [str(number) for number in range(1, 13)]

    run(test)


def test_a_run_within_its_limits_ends_as_without() -> None:
    """Limits that are just enough change nothing."""

    async def test() -> None:
        talk = Conversation(Workflow(name="w", edges=[("START", node(lambda: 1, name="a"), node(lambda: 2, name="b"))]))
        await talk.say(run_config=limited(max_node_runs=2, max_tokens=1, max_seconds=60))
        root = await talk.root()
        assert (root.status, root.output, root.stopped_by) == (Status.COMPLETED, 2, None)

    run(test)


@pytest.mark.parametrize("allowed", range(7))
def test_what_runs_side_by_side_comes_to_its_end(allowed: int) -> None:
    """Runs that had started when the limit was reached finish; the others run when the run is continued, once each."""
    ran: list[str] = []

    def lane(name: str) -> Any:
        async def body(node_input: Any) -> str:
            await asyncio.sleep(0)
            ran.append(name)
            return name

        return node(body, name=name)

    flow = Workflow(name="w", edges=[("START", (lane("a"), lane("b"), lane("c")), lane("d"))], max_concurrency=2)

    async def test() -> None:
        talk = Conversation(flow)
        await talk.say(run_config=limited(max_node_runs=allowed))
        assert len(ran) == min(allowed, 6)
        root = await talk.root()
        assert root.status is (Status.STOPPED if allowed < 6 else Status.COMPLETED)
        if allowed < 6:
            await talk.go_on()
        assert (await talk.root()).status is Status.COMPLETED
        assert sorted(ran) == ["a", "b", "c", "d", "d", "d"]

    run(test)


@pytest.mark.parametrize("allowed", range(8))
def test_a_dynamic_parent_in_a_nested_workflow_stops_and_goes_on(allowed: int) -> None:
    """A limit reached by a child stops its parents in order; continued, finished children aren't run again."""
    ran: list[str] = []

    def child(node_input: str) -> str:
        ran.append(node_input)
        return node_input.upper()

    @node(rerun_on_resume=True)
    async def parent(ctx: Context) -> list[str]:
        return [await ctx.run_node(child, name) for name in "xyz"]

    def last(node_input: list[str]) -> str:
        return "".join(node_input)

    inner = Workflow(name="inner", edges=[("START", parent, last)])
    flow = Workflow(name="w", edges=[("START", inner, node(lambda node_input: node_input + "!", name="end"))])

    async def test() -> None:
        talk = Conversation(flow)
        await talk.say(run_config=limited(max_node_runs=allowed))
        root = await talk.root()
        assert root.status is (Status.STOPPED if allowed < 6 else Status.COMPLETED), allowed
        if allowed < 6:
            await talk.go_on()
        root = await talk.root()
        assert (root.status, root.output) == (Status.COMPLETED, "XYZ!")
        assert ran == ["x", "y", "z"]

    run(test)


def test_max_seconds_stops_what_runs() -> None:
    """When the time is up, what executes is cancelled; it runs again when the run is continued."""
    tries: list[int] = []

    async def slow() -> str:
        tries.append(1)
        if len(tries) == 1:
            await asyncio.Event().wait()
        return "done"

    flow = Workflow(name="w", edges=[("START", node(lambda: "first", name="first"), slow)])

    async def test() -> None:
        talk = Conversation(flow)
        await talk.say(run_config=limited(max_seconds=0.05))
        root = await talk.root()
        assert (root.status, root.stopped_by) == (Status.STOPPED, "max_seconds")
        await talk.go_on()
        root = await talk.root()
        assert (root.status, root.output, root.stopped_by) == (Status.COMPLETED, "done", None)

    run(test)


def test_max_tokens_stops_after_the_call_that_reaches_it() -> None:
    """The tokens of all calls count; after the one that reaches the limit no further node starts."""
    first, second = (
        LlmAgent(name=name, model=ScriptedModel([f"answer of {name}"]), instruction="Answer.")
        for name in ("one", "two")
    )

    async def test() -> None:
        talk = Conversation(Workflow(name="w", edges=[("START", first, second)]))
        await talk.say(run_config=limited(max_tokens=1))
        root = await talk.root()
        assert (root.status, root.stopped_by) == (Status.STOPPED, "max_tokens")
        assert (await talk.records())["w@1/one@1"].status is Status.COMPLETED
        await talk.go_on()
        assert (await talk.root()).output == "answer of two"

    run(test)


def costly(model: str, answers: int) -> Workflow:
    """Return a workflow of agents whose calls cost the same each: 1,000 prompt and 100 output tokens."""
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=1_000, candidates_token_count=100)
    reply = LlmResponse(content=types.ModelContent("yes"), usage_metadata=usage, model_version=model)
    agents = [LlmAgent(name=f"a{i}", model=ScriptedModel([reply]), instruction="Answer.") for i in range(answers)]
    return Workflow(name="w", edges=[("START", *agents)])


@pytest.mark.parametrize(
    ("model", "prices", "max_cost", "ran"),
    [
        ("mine", {"mine": Price(input=1.0, output=10.0)}, 0.004, 2),
        ("mine", {"mine": Price(input=1.0, output=10.0)}, 0.0039, 2),
        ("mine", {"mine": Price(input=1.0, output=10.0)}, 0.0041, 3),
        ("gemini-2.5-flash", None, 0.0001, 1),
        ("nobody-knows-it", None, 5.0, 1),
    ],
)
def test_max_cost_stops_a_run(model: str, prices: Any, max_cost: float, ran: int) -> None:
    """The money of all calls counts, by a person's own price first; a call whose price isn't known stops the run."""

    async def test() -> None:
        talk = Conversation(costly(model, 3))
        config = RunConfig(limits=Limits(max_cost=max_cost), prices=prices)
        events = await talk.say(run_config=config)
        root = await talk.root()
        assert len(events) == ran
        assert root.status is (Status.STOPPED if ran < 3 else Status.COMPLETED)
        assert root.stopped_by == ("max_cost" if ran < 3 else None)
        assert ("isn't known" in str(root.error_message)) is (model == "nobody-knows-it")

    run(test)


def test_a_question_stays_open_beside_a_lane_that_was_stopped() -> None:
    """A run with a stopped and an asking lane is `stopped`; answering its question goes on with both."""

    def ask() -> RequestInput:
        return RequestInput(interrupt_id="q", message="?")

    steps = [node(lambda: 1, name=name) for name in "abc"]
    flow = Workflow(name="w", edges=[("START", ask), ("START", *steps)])

    async def test() -> None:
        talk = Conversation(flow)
        await talk.say(run_config=limited(max_node_runs=2))
        assert (await talk.root()).status is Status.STOPPED
        assert [question.interrupt_id for _, question in await talk.questions()] == ["q"]
        await talk._collect(
            new_message=adk.events.request_input.answer_content({"q": None}), run_config=limited(max_node_runs=9)
        )
        assert (await talk.records())["w@1/c@1"].status is Status.COMPLETED

    run(test)


def test_limits_from_the_notebooks_verbs() -> None:
    """`run(limits=)` ends with the status `stopped` and says by which limit; `resume` goes on."""

    async def test() -> None:
        made = await adk.run(endless(), "", sessions="memory", view=False, limits=Limits(max_node_runs=20))
        assert (made.status, made.stopped_by) == ("stopped", "max_node_runs")
        assert made.outputs("think")[-1] == "." * 10
        assert any("max_node_runs=20" in str(warning) for warning in made.warnings)
        await made.resume(limits=Limits(max_node_runs=2))
        assert made.outputs("think")[-1] == "." * 11

    run(test)


@pytest.mark.parametrize("limit", ["max_node_runs", "max_tokens", "max_cost"])
@pytest.mark.parametrize("root", ["function", "agent", "parent", "workflow", "nested"])
def test_nothing_starts_with_a_limit_of_nothing(root: str, limit: str, tmp_path: Path) -> None:
    """With a limit of 0 no node runs, whatever the root is; continued in a new process with more, the run completes."""
    ran: list[str] = []

    def one() -> str:
        ran.append("one")
        return "done"

    @node(rerun_on_resume=True)
    async def parent(ctx: Context) -> Any:
        return await ctx.run_node(one)

    inner = Workflow(name="inner", edges=[("START", one)])
    roots: dict[str, Any] = {
        "function": node(one),
        "agent": LlmAgent(name="agent", model=ScriptedModel(["done"]), instruction="Answer."),
        "parent": parent,
        "workflow": Workflow(name="w", edges=[("START", one)]),
        "nested": Workflow(name="w", edges=[("START", inner)]),
    }

    async def test() -> None:
        talk = Conversation(roots[root], SqliteSessionService(str(tmp_path / "s.db")))
        assert await talk.say(run_config=limited(**{limit: 0})) == []
        stopped = await talk.root()
        assert (stopped.status, stopped.stopped_by, ran) == (Status.STOPPED, limit, [])
        assert f"{limit}=0" in str(stopped.error_message)
        again = Conversation(roots[root], SqliteSessionService(str(tmp_path / "s.db")))
        await again.go_on()
        assert ((await again.root()).status, (await again.root()).output) == (Status.COMPLETED, "done")

    run(test)


def test_a_bare_root_counts_as_a_node_run() -> None:
    """A root that is no workflow is counted like the same node inside one."""

    @node(rerun_on_resume=True)
    async def parent(ctx: Context) -> Any:
        return [await ctx.run_node(node(lambda: 1, name=name)) for name in "ab"]

    async def test() -> None:
        for root in (parent, Workflow(name="w", edges=[("START", parent)])):
            talk = Conversation(root)
            await talk.say(run_config=limited(max_node_runs=2))
            assert (await talk.root()).status is Status.STOPPED
            await talk.go_on()
            assert (await talk.root()).output == [1, 1]

    run(test)


@pytest.mark.parametrize("given", [{"max_node_runs": -1}, {"max_seconds": 0}, {"max_tokens": -5}, {"max_runs": 3}])
def test_limits_that_make_no_sense_are_refused(given: dict[str, Any]) -> None:
    """A negative limit, no time at all or an unknown name is an error where it is written."""
    with pytest.raises(ValidationError):
        Limits(**given)
