"""Questions and their answers: each is published once, checked in full, and its answer reaches the node that asked."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable
from typing import Any, Literal

import pytest
from google.genai import types
from pydantic import BaseModel, Field

import adk_nb as adk
from adk_nb.errors import AnswerError
from adk_nb.events import Event, RequestInput
from adk_nb.events.record import Status
from adk_nb.sessions import InMemorySessionService
from adk_nb.workflow import BaseNode, JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.faults.ways import Staged, asker, show
from tests.workflow.driving import run, user_text

Stage = Callable[[Callable[[], BaseNode]], Staged]


class Measure(BaseModel):
    """An answer with a list and a default."""

    tags: list[int]
    unit: str = "kg"
    amount: float = Field(default=1.0, ge=0)


@pytest.mark.parametrize(
    ("schema", "bad", "good", "received"),
    [
        (int, "abc", "5", 5),
        (Measure, {"tags": ["zz"]}, {"tags": [1]}, {"tags": [1], "unit": "kg", "amount": 1.0}),
        (Measure, {"tags": [1], "unit": 3}, {"tags": [], "unit": "g"}, {"tags": [], "unit": "g", "amount": 1.0}),
        (list[Measure], [{"unit": "g"}], [{"tags": [2]}], [{"tags": [2], "unit": "kg", "amount": 1.0}]),
        (Measure, {"unit": "g"}, {"tags": [1]}, {"tags": [1], "unit": "kg", "amount": 1.0}),
        (Measure, {"tags": [1], "amount": -1}, {"tags": [1]}, {"tags": [1], "unit": "kg", "amount": 1.0}),
        (bool, "perhaps", "false", False),
        (str, 5, "5", "5"),
        (Literal["yes", "no"], "perhaps", "no", "no"),
        ({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}, {"n": 0}, {"n": "2"}, {"n": 2}),
    ],
)
def test_an_answer_that_does_not_fit(stage: Stage, schema: Any, bad: Any, good: Any, received: Any) -> None:
    """It is checked at every depth before anything is stored; the question stays open and takes a good one later."""
    got: list[Any] = []

    def build() -> Workflow:
        return Workflow(
            name="wf",
            edges=[
                (
                    "START",
                    asker("q", response_schema=schema),
                    node(lambda node_input: got.append(node_input), name="get"),
                )
            ],
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        before = [event.model_dump() for event in await staged.talk.stored()]
        for _ in range(2):
            root = await staged.answer(q=bad)
            assert isinstance(staged.error, AnswerError)
            assert "Validation failed for interrupt 'q'" in str(staged.error)
            assert root.status is Status.WAITING
        assert [event.model_dump() for event in await staged.talk.stored()] == before
        assert await staged.questions() == ["q"]
        root = await staged.answer(q=good)
        assert root.status is Status.COMPLETED
        assert got == [received]
        await staged.close()

    run(test)


@pytest.mark.parametrize("typed", ["5", "true", "null", '{"a": 1}', "[]", " x "])
def test_text_that_looks_like_data(stage: Stage, typed: str) -> None:
    """Where text is asked for, text arrives as it was typed."""

    def build() -> Workflow:
        return Workflow(name="wf", edges=[("START", asker("q", response_schema=str), show())])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert (await staged.answer(q=typed)).output == repr(typed)
        await staged.close()

    run(test)


def test_the_answer_comes_after_a_route(stage: Stage) -> None:
    """A node that chose its route, or gave an output, before it asked: the answer is handed on, along that route."""

    def build() -> Workflow:
        async def q() -> AsyncGenerator[Any, None]:
            yield Event(output="early", route="x")
            yield RequestInput(interrupt_id="q")

        return Workflow(name="wf", edges=[("START", node(q), {"x": show(), "y": node(lambda: "no", name="other")})])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        assert (await staged.records())["q@1"].output is None
        assert (await staged.answer(q="answer")).output == "'answer'"
        await staged.close()

    run(test)


@pytest.mark.parametrize("root", ["workflow", "node"])
def test_gathered_children_that_ask_at_different_times(stage: Stage, root: str) -> None:
    """A question keeps no sibling from coming to its own; both are open and are answered together or one by one."""

    def build() -> BaseNode:
        async def later(ctx: Context) -> Any:
            await ctx.run_node(node(lambda: None, name="first"))
            return await ctx.run_node(asker("k2"))

        async def par(ctx: Context, node_input: str) -> Any:
            late = node(later, rerun_on_resume=True)
            return await together_in(ctx, [asker("k1"), late])

        parent = node(par, rerun_on_resume=True)
        return parent if root == "node" else Workflow(name="wf", edges=[("START", parent)])

    async def test() -> None:
        for together in (True, False):
            staged = stage(build)
            await staged.say("together" if together else "one by one")
            assert sorted(await staged.questions()) == ["k1", "k2"]
            if together:
                ended = await staged.answer(k2=2, k1=1)
            else:
                await staged.answer(k2=2)
                assert await staged.questions() == ["k1"]
                ended = await staged.answer(k1=1)
            assert ended.output == [1, 2]
            await staged.close()

    run(test)


async def together_in(ctx: Context, nodes: list[Any]) -> list[Any]:
    """Run children at the same time and return their outputs."""
    return list(await asyncio.gather(*(ctx.run_node(one) for one in nodes)))


def test_an_answer_for_another_lane(stage: Stage) -> None:
    """A node with one of its two questions answered doesn't run again for somebody else's answer, nor ask twice."""
    runs: list[list[str]] = []

    def build() -> Workflow:
        async def two(ctx: Context) -> AsyncGenerator[Any, None]:
            runs.append(sorted(ctx.resume_inputs))
            for key in ("m1", "m2"):
                if key not in ctx.resume_inputs:
                    yield RequestInput(interrupt_id=key)
            if len(ctx.resume_inputs) == 2:
                yield "both"

        return Workflow(
            name="wf", edges=[("START", (node(two, rerun_on_resume=True), asker("o", "other")), JoinNode(name="j"))]
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        await staged.answer(m1=1)
        await staged.answer(o=1)
        assert runs == [[], ["m1"]]
        root = await staged.answer(m2=1)
        assert runs == [[], ["m1"], ["m1", "m2"]]
        assert root.output == {"two": "both", "other": 1}
        assert sorted(await staged.asked()) == ["m1", "m2", "o"]
        await staged.close()

    run(test)


def test_one_id_in_every_round(stage: Stage) -> None:
    """A node that asks under the same id again has a new question each time, with its own message and answer."""

    def build() -> Workflow:
        async def gate(ctx: Context) -> AsyncGenerator[Any, None]:
            answer = ctx.resume_inputs.get("human_review")
            if answer != "approve":
                yield RequestInput(interrupt_id="human_review", message=f"last answer: {answer}")
            else:
                yield Event(output="shipped")

        return Workflow(name="w", edges=[("START", node(gate, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        seen = []
        for answer in ("revise", "again", "approve"):
            ((asking, question),) = await staged.talk.questions()
            seen.append(question.message)
            root = await staged.answer(human_review=answer)
        assert seen == ["last answer: None", "last answer: revise", "last answer: again"]
        assert root.output == "shipped"
        record = (await staged.records())["gate@1"]
        assert [(one.message, one.answer) for one in record.questions] == list(
            zip(seen, ("revise", "again", "approve"), strict=True)
        )
        assert asking.path.endswith("gate@1")
        await staged.close()

    run(test)


def test_one_id_in_every_pass_of_a_loop_and_in_two_lanes(stage: Stage) -> None:
    """The same id used by several runs, one after the other or at once: each run gets an answer of its own."""

    def build() -> Workflow:
        def again(node_input: Any) -> Event:
            return Event(output=node_input, route="stop" if node_input == "enough" else "again")

        ask = asker("same", "ask")
        pair = (asker("same", "left"), asker("same", "right"))
        router = node(again)
        return Workflow(
            name="wf",
            edges=[
                ("START", ask, router, {"again": ask, "stop": node(lambda: None, name="fork")}),
                (router, {"stop": pair}),
                (pair, JoinNode(name="j")),
            ],
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        for answer in ("more", "more", "enough"):
            await staged.answer(same=answer)
        records = await staged.records()
        assert [records[f"ask@{i}"].output for i in (1, 2, 3)] == ["more", "more", "enough"]
        await staged.answer(same=1)
        root = await staged.answer(same=2)
        assert sorted(root.output.values()) == [1, 2]
        await staged.close()

    run(test)


def test_parallel_questions_without_ids_of_their_own(stage: Stage) -> None:
    """Their ids differ; answers go by id in any order, together or one by one, each to the lane that asked."""

    def build() -> Workflow:
        def ask(name: str) -> Any:
            return node(lambda: RequestInput(message=f"value for {name}?"), name=name)

        return Workflow(name="w", edges=[("START", (ask("a"), ask("b")), JoinNode(name="j"))])

    async def test() -> None:
        for together in (True, False):
            staged = stage(build)
            await staged.say(f"together: {together}")
            ids = {asked.name: question.interrupt_id for asked, question in await staged.talk.questions()}
            assert len(set(ids.values())) == 2
            if together:
                root = await staged.answer(**{ids["b"]: "B", ids["a"]: "A"})
            else:
                await staged.answer(**{ids["b"]: "B"})
                assert await staged.questions() == [ids["a"]]
                root = await staged.answer(**{ids["a"]: "A"})
            assert root.output == {"a": "A", "b": "B"}
            await staged.close()

    run(test)


def test_answers_that_go_nowhere(stage: Stage) -> None:
    """An unknown id, a closed question, and a bare answer to two questions are refused and change nothing."""
    ran: list[Any] = []

    def build() -> Workflow:
        return Workflow(
            name="w",
            edges=[("START", asker("q"), node(lambda: ran.append(1), name="after"), (asker("a"), asker("b")))],
        )

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        await staged.answer(q=1)
        before = len(await staged.talk.stored())
        for wrong in ({"nobody": 1}, {"q": 2}, {"a": 1, "nobody": 1}, {"a": 1, "q": 2}):
            await staged.answer(**wrong)
            assert isinstance(staged.error, AnswerError)
            assert "'a', 'b'" in str(staged.error)
        assert len(await staged.talk.stored()) == before
        assert sorted(await staged.questions()) == ["a", "b"]
        assert ran == [1]
        await staged.close()

    run(test)


def test_a_bare_answer_to_two_questions() -> None:
    """`respond` without an id is refused with the ids when more than one question is open."""

    async def test() -> None:
        flow = Workflow(name="w", edges=[("START", (asker("a"), asker("b")), JoinNode(name="j"))])
        waiting = await adk.run(flow, "x", sessions="memory", view=False)
        with pytest.raises(AnswerError, match=r"'a'.*'b'"):
            await waiting.respond("?")
        assert [one.interrupt_id for one in waiting.pending] == ["a", "b"]

    run(test)


def test_an_id_made_anew_at_every_execution(stage: Stage) -> None:
    """Questions are matched by place, so that an unstable id does no harm; what children gave is the same each time."""
    prices: list[str] = []

    def build() -> Workflow:
        def price() -> str:
            prices.append(str(uuid.uuid4()))
            return prices[-1]

        async def flow(ctx: Context) -> AsyncGenerator[Any, None]:
            p = await ctx.run_node(price)
            if not ctx.resume_inputs:
                yield RequestInput(message=f"pay {p}?")
            else:
                yield [p, next(iter(ctx.resume_inputs.values()))]

        return Workflow(name="w", edges=[("START", node(flow, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        ((_, question),) = await staged.talk.questions()
        root = await staged.answer(**{question.interrupt_id: True})
        assert root.status is Status.COMPLETED
        assert root.output == [prices[0], True]
        assert question.message == f"pay {prices[0]}?"
        assert len(prices) == 1
        await staged.close()

    run(test)


def test_a_child_whose_question_has_an_unstable_name(stage: Stage) -> None:
    """A child that asks under a new id in every execution of its caller is still asked once and answered once."""

    def build() -> Workflow:
        async def flow(ctx: Context) -> Any:
            return await ctx.run_node(asker(str(uuid.uuid4()), "ask"))

        return Workflow(name="w", edges=[("START", node(flow, rerun_on_resume=True))])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        (interrupt_id,) = await staged.questions()
        root = await staged.answer(**{interrupt_id: "yes"})
        assert (root.status, root.output) == (Status.COMPLETED, "yes")
        assert await staged.asked() == [interrupt_id]
        await staged.close()

    run(test)


def test_text_while_a_question_is_open(stage: Stage) -> None:
    """A plain message starts a run of its own from START; the old question stays open and is answered afterwards."""

    def build() -> Workflow:
        def greet(node_input: str) -> str:
            return node_input

        return Workflow(name="wf", edges=[("START", greet, asker("q"), show())])

    async def test() -> None:
        staged = stage(build)
        first = await staged.say("first")
        second = await staged.say("second")
        assert second.invocation_id != first.invocation_id
        await staged.answer(q="to the newest")
        await staged.answer(q="to the older")
        for root, answer in ((first, "to the older"), (second, "to the newest")):
            now = await staged.talk.runner.root_run(**staged.talk.where, invocation_id=root.invocation_id)
            assert now is not None
            assert (now.status, now.output) == (Status.COMPLETED, repr(answer))
        await staged.close()

    run(test)


def test_the_published_question() -> None:
    """Its call carries exactly these names, mixed as clients know them, with the schema as JSON schema."""

    async def test() -> None:
        staged_root = asker("q", message="how many?", payload={"at": 1}, response_schema=int)
        runner = adk.Runner(
            node=staged_root, app_name="a", session_service=InMemorySessionService(), auto_create_session=True
        )
        (event,) = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=user_text("hi"))]
        (call,) = event.get_function_calls()
        assert (call.id, call.name) == ("q", "adk_request_input")
        assert call.args == {
            "interruptId": "q",
            "payload": {"at": 1},
            "message": "how many?",
            "response_schema": {"type": "integer"},
        }
        assert event.content is not None
        assert event.content.role == "model"
        assert event.long_running_tool_ids == {"q"}

    run(test)


@pytest.mark.parametrize(
    ("response", "received"),
    [
        ({"result": "5"}, 5),
        ({"result": '{"a": 1}'}, {"a": 1}),
        ({"result": "[1"}, "[1"),
        ({"result": None}, None),
        ({"result": 1, "more": 2}, {"result": 1, "more": 2}),
        ({"a": 1}, {"a": 1}),
        ({}, {}),
    ],
)
def test_how_an_answer_is_wrapped(stage: Stage, response: dict[str, Any], received: Any) -> None:
    """`{"result": value}` alone is unwrapped and text read as JSON where it is JSON; other dictionaries are whole."""

    def build() -> Workflow:
        return Workflow(name="wf", edges=[("START", asker("q"), show())])

    async def test() -> None:
        staged = stage(build)
        await staged.say()
        part = types.Part(function_response=types.FunctionResponse(id="q", name="any", response=response))
        root = await staged.send(types.Content(role="user", parts=[part]))
        assert root.output == repr(received)
        await staged.close()

    run(test)


@pytest.mark.parametrize("name", ["approve_payment", "adk_request_input"])
def test_any_call_that_waits_for_an_answer_is_a_question(stage: Stage, name: str) -> None:
    """A long-running call that a node yields by hand pauses the run and is answered like a RequestInput."""

    def build() -> Workflow:
        call = types.FunctionCall(id="z", name=name, args={"amount": 1})
        event = Event(
            content=types.Content(role="model", parts=[types.Part(function_call=call)]), long_running_tool_ids={"z"}
        )
        return Workflow(name="wf", edges=[("START", node(lambda: event, name="by_hand"), show())])

    async def test() -> None:
        staged = stage(build)
        root = await staged.say()
        assert root.status is Status.WAITING
        assert (await staged.answer(z="fine")).output == "'fine'"
        await staged.close()

    run(test)


def test_two_runs_of_one_session_ask_under_one_id() -> None:
    """An answer given to a run goes to that run, whichever asked last."""

    async def test() -> None:
        flow = Workflow(name="w", edges=[("START", asker("q"), show())])
        sessions = InMemorySessionService()
        first = await adk.run(flow, "1", session="s", sessions=sessions, view=False)
        second = await adk.run(flow, "2", session="s", sessions=sessions, view=False)
        await first.respond("for the first")
        assert (first.status, first.output) == ("completed", "'for the first'")
        await second.respond("for the second")
        assert (second.status, second.output) == ("completed", "'for the second'")

    run(test)
