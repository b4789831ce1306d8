"""Nodes that run only when a person lets them: asked once a run, refused in order, answered in any order."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from adk_nb.errors import AnswerError, WorkflowConfigurationError, WorkflowDataError
from adk_nb.events import Event, RequestInput
from adk_nb.events.record import Status
from adk_nb.events.tool_confirmation import ToolConfirmation
from adk_nb.plugins import BasePlugin
from adk_nb.sessions import SqliteSessionService
from adk_nb.tools import FunctionTool
from adk_nb.workflow import FunctionNode, JoinNode, RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, outputs, run

REFUSED = {"error": "This tool call is rejected."}
PAY = "wf_tool_confirmation:wf@1/pay@1"


def pay(node_input: Any) -> str:
    """Pay."""
    return f"paid {node_input}"


show = node(lambda node_input: repr(node_input), name="show")
five = node(lambda: 5, name="five")


def paying(**options: Any) -> Workflow:
    """Return a chain whose second node asks before it pays."""
    return Workflow(name="wf", edges=[("START", five, node(pay, **{"require_confirmation": True, **options}), show)])


def test_the_question_shows_the_call() -> None:
    """The question carries name and arguments of the call, and the schema of a decision in which `confirmed` is due."""

    async def test() -> None:
        talk = Conversation(paying())
        asked = (await talk.say())[-1]
        [(run_, question)] = await talk.questions()
        assert (run_.path, question.interrupt_id) == ("wf@1/pay@1", PAY)
        assert question.payload == {"tool_name": "pay", "args": {"node_input": 5}}
        assert question.response_schema is not None
        assert set(question.response_schema["properties"]) == {"hint", "confirmed", "payload"}
        assert question.response_schema["required"] == ["confirmed"]
        assert [call.name for call in asked.get_function_calls()] == ["adk_request_input"]

    run(test)


@pytest.mark.parametrize(
    "answer",
    [
        {"confirmed": True},
        {"confirmed": "yes"},
        {"response": '{"confirmed": true}'},
        {"response": {"confirmed": True}},
        '{"confirmed": true}',
        True,
        {"confirmed": True, "payload": {"limit": 3}, "hint": "ok"},
    ],
    ids=repr,
)
def test_approved_calls_run(answer: Any) -> None:
    """A decision is read in each form that clients send it in, the wrapper of ADK's web client included."""

    async def test() -> None:
        talk = Conversation(paying())
        await talk.say()
        assert outputs(await talk.answer({PAY: answer}))["wf@1/pay@1"] == "paid 5"
        assert (await talk.root()).status is Status.COMPLETED

    run(test)


@pytest.mark.parametrize("answer", [{"confirmed": False}, False, {"response": '{"confirmed": false}'}], ids=repr)
def test_refused_calls_do_not_run_and_the_flow_goes_on(answer: Any) -> None:
    """A refused call hands on what says so, and its successors run with that."""

    async def test() -> None:
        talk = Conversation(paying())
        await talk.say()
        assert outputs(await talk.answer({PAY: answer})) == {"wf@1/pay@1": REFUSED, "wf@1/show@1": repr(REFUSED)}

    run(test)


@pytest.mark.parametrize(
    "answer",
    [{}, {"response": "{}"}, {"confirmed": "perhaps"}, {"confirmed": None}, {"payload": 1}, "yes", 1, None, [True]],
    ids=repr,
)
def test_an_unclear_answer_is_neither_yes_nor_no(answer: Any) -> None:
    """An answer without a clear `confirmed` is refused before it is stored, and the question stays open."""

    async def test() -> None:
        talk = Conversation(paying())
        await talk.say()
        before = len(await talk.stored())
        await talk.fail(AnswerError, talk.answer({PAY: answer}))
        assert len(await talk.stored()) == before
        assert [question.interrupt_id for _, question in await talk.questions()] == [PAY]
        assert outputs(await talk.answer({PAY: {"confirmed": True}}))["wf@1/pay@1"] == "paid 5"

    run(test)


def test_unknown_keys_of_a_decision_are_refused() -> None:
    """A key that a decision doesn't have may be a slip for one that it has."""

    async def test() -> None:
        talk = Conversation(paying())
        await talk.say()
        error = await talk.fail(AnswerError, talk.answer({PAY: {"confirmed": True, "paylod": 1}}))
        assert "paylod" in str(error)

    run(test)


def test_the_decision_is_given_to_the_body() -> None:
    """The body sees the decision with the data that came with it, typed, in `ctx.tool_confirmation`."""

    async def test() -> None:
        seen: list[Any] = []

        def look(ctx: Context) -> None:
            seen.append(ctx.tool_confirmation)

        talk = Conversation(node(look, require_confirmation=True))
        await talk.say()
        await talk.answer({"wf_tool_confirmation:look@1": {"confirmed": True, "payload": [1]}})
        assert seen == [ToolConfirmation(confirmed=True, payload=[1])]

    run(test)


def test_a_predicate_decides_whether_to_ask() -> None:
    """A predicate gets by name the bound arguments, the input, the context and the state; it may be async."""

    async def test() -> None:
        seen: list[Any] = []

        async def is_dear(amount: int, ctx: Context, node_input: Any, currency: str, missing: int = 7) -> bool:
            seen.append((amount, ctx.node_path, node_input, currency, missing))
            return amount > 10

        def put(ctx: Context) -> str:
            ctx.state["amount"], ctx.state["currency"] = "5", "EUR"
            return "in"

        def spend(ctx: Context, amount: int) -> int:
            ctx.state["amount"] = 50
            return amount

        cheap = node(spend, name="cheap", require_confirmation=is_dear)
        dear = node(spend, name="dear", require_confirmation=is_dear)
        talk = Conversation(Workflow(name="wf", edges=[("START", put, cheap, dear)]))
        assert lines(await talk.say())[-1] == ("wf@1/dear@1", "?wf_tool_confirmation:wf@1/dear@1")
        assert seen == [(5, "wf@1/cheap@1", "in", "EUR", 7), (50, "wf@1/dear@1", 5, "EUR", 7)]
        await talk.answer({"wf_tool_confirmation:wf@1/dear@1": True})
        assert len(seen) == 2  # what was answered isn't asked for again

    run(test)


def test_a_predicate_that_wants_what_is_not_there() -> None:
    """The error names node and parameter, and what there is."""

    async def test() -> None:
        def is_dear(amuont: int) -> bool:
            return True

        def spend(amount: int = 3) -> int:
            return amount

        talk = Conversation(node(spend, require_confirmation=is_dear))
        error = await talk.fail(WorkflowDataError, talk.say())
        assert "'spend'" in str(error)
        assert "'amuont'" in str(error)

    run(test)


def test_bad_arguments_fail_before_anybody_is_asked() -> None:
    """A call that can't be made isn't put before a person."""

    async def test() -> None:
        def spend(node_input: int) -> int:
            return node_input

        word = node(lambda: "word", name="word")
        spender = node(spend, require_confirmation=True)
        talk = Conversation(Workflow(name="wf", edges=[("START", word, spender)]))
        await talk.fail(ValueError, talk.say())
        assert await talk.questions() == []

    run(test)


def test_what_cannot_be_stored_is_shown_by_its_type() -> None:
    """Messages are shown as text, and an argument that can't be stored by its type: neither is a reason to fail."""

    async def test() -> None:
        class Client:
            """Something that can't be stored."""

        default = Client()

        def call(node_input: types.Content, client: Any = default) -> str:
            return "called"

        talk = Conversation(node(call, require_confirmation=True))
        await talk.say("hello")
        [(_, question)] = await talk.questions()
        args = question.payload["args"]
        assert args["node_input"] == "hello"
        assert args["client"].endswith("Client>")

    run(test)


def test_a_refusal_is_not_checked_against_the_output_schema() -> None:
    """The schema says what the function returns; a refused call isn't made."""

    async def test() -> None:
        class Receipt(BaseModel):
            """What paying gives."""

            number: int

        def spend(node_input: int) -> Receipt:
            return Receipt(number=node_input)

        spender = node(spend, require_confirmation=True)
        talk = Conversation(Workflow(name="wf", edges=[("START", five, spender, show)]))
        await talk.say()
        question = "wf_tool_confirmation:wf@1/spend@1"
        assert outputs(await talk.answer({question: False}))["wf@1/spend@1"] == REFUSED

    run(test)


def test_generators_ask_first() -> None:
    """A generator yields nothing before the approval, and all of it after."""

    async def test() -> None:
        async def work(node_input: int) -> AsyncGenerator[Any, None]:
            yield Event(message="working")
            yield node_input + 1

        worker = node(work, require_confirmation=True)
        talk = Conversation(Workflow(name="wf", edges=[("START", five, worker)]))
        assert lines(await talk.say())[1:] == [("wf@1/work@1", "?wf_tool_confirmation:wf@1/work@1")]
        assert lines(await talk.answer({"wf_tool_confirmation:wf@1/work@1": True})) == [
            ("wf@1/work@1", None),
            ("wf@1/work@1", 6),
        ]

    run(test)


def test_a_loop_asks_in_each_round() -> None:
    """Each run of a node has a question of its own, and an answer to one is none to the next."""

    async def test() -> None:
        def count(node_input: Any) -> Event:
            number = node_input + 1 if isinstance(node_input, int) else 1
            return Event(output=number, route="again" if number < 3 else "done")

        counter = node(count, require_confirmation=True)
        talk = Conversation(Workflow(name="wf", edges=[("START", counter, {"again": counter, "done": show})]))
        await talk.say()
        for number in (1, 2, 3):
            question = f"wf_tool_confirmation:wf@1/count@{number}"
            assert [one.interrupt_id for _, one in await talk.questions()] == [question]
            events = await talk.answer({question: True})
        assert outputs(events)["wf@1/show@1"] == "3"

    run(test)


@given(st.permutations(["a", "b", "c"]), st.lists(st.booleans(), min_size=3, max_size=3), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_parallel_confirmations_are_answered_in_any_order(order: list[str], decided: list[bool], at_once: int) -> None:
    """Several open confirmations are answered together or one by one in any order; each decides its own node only."""
    decisions = dict(zip("abc", decided, strict=True))

    async def test() -> None:
        nodes = [node(lambda name=name: name.upper(), name=name, require_confirmation=True) for name in "abc"]
        inner = Workflow(name="inner", edges=[("START", tuple(nodes), JoinNode(name="j"))])
        talk = Conversation(Workflow(name="wf", edges=[("START", inner)]))
        await talk.say()
        for start in range(0, 3, at_once):
            names = order[start : start + at_once]
            answers = {f"wf_tool_confirmation:wf@1/inner@1/{name}@1": decisions[name] for name in names}
            await talk.answer(answers)
        expected = {name: name.upper() if decisions[name] else REFUSED for name in "abc"}
        assert (await talk.root()).output == expected

    run(test)


def test_children_and_items_ask_for_themselves() -> None:
    """Dynamic children and the items of a parallel worker each ask at their own path; finished ones don't run again."""

    async def test() -> None:
        ran: list[Any] = []

        def work(node_input: Any) -> Any:
            ran.append(node_input)
            return node_input * 10 if isinstance(node_input, int) else node_input

        worker = node(work, require_confirmation=True)
        spread = node(work, name="spread", require_confirmation=True, parallel_worker=True)

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> list[Any]:
            return [await ctx.run_node(worker, 1), await ctx.run_node(worker, 2)]

        talk = Conversation(Workflow(name="wf", edges=[("START", parent, spread)]))
        await talk.say()
        asked = []
        while (await talk.root()).status is Status.WAITING:
            open_ids = [question.interrupt_id.rpartition("wf@1/")[2] for _, question in await talk.questions()]
            asked.append(sorted(open_ids))
            await talk.answer({f"wf_tool_confirmation:wf@1/{one}": not one.endswith("2") for one in open_ids})
        assert asked == [["parent@1/work@1"], ["parent@1/work@2"], ["spread@1/spread@1", "spread@1/spread@2"]]
        assert (await talk.root()).output == [100, REFUSED]
        assert ran == [1, 10]

    run(test)


def test_a_restart_keeps_questions_and_decisions(tmp_path: Path) -> None:
    """Questions and decisions are read from the file by a process that knows only the workflow."""
    ran: list[str] = []

    def flow() -> Workflow:
        def work(name: str) -> Any:
            def body() -> str:
                ran.append(name)
                return name

            return node(body, name=name, require_confirmation=True)

        inner = Workflow(name="inner", edges=[("START", (work("a"), work("b")), JoinNode(name="j"))])
        return Workflow(name="wf", edges=[("START", inner, work("last"))])

    async def turn(answers: dict[str, Any] | None) -> Any:
        async with SqliteSessionService(str(tmp_path / "s.db")) as service:
            talk = Conversation(flow(), service)
            await (talk.say() if answers is None else talk.answer(answers))
            return await talk.root()

    async def test() -> None:
        inner = "wf_tool_confirmation:wf@1/inner@1"
        await turn(None)
        await turn({f"{inner}/b@1": False})
        assert ran == []
        await turn({f"{inner}/a@1": True})
        root = await turn({"wf_tool_confirmation:wf@1/last@1": {"response": '{"confirmed": true}'}})
        assert (root.status, root.output, ran) == (Status.COMPLETED, "last", ["a", "last"])

    run(test)


def test_an_approved_call_that_fails_is_tried_again_without_asking() -> None:
    """The approval is for the call, and a retry or a later continuation is the same call."""

    async def test() -> None:
        tries: list[int] = []

        def flaky(ctx: Context) -> str:
            tries.append(ctx.attempt_count)
            if len(tries) < 4:
                raise ConnectionError("no line")
            return "done"

        retry = RetryConfig(max_attempts=3, initial_delay=0.001, jitter=0)
        talk = Conversation(node(flaky, require_confirmation=True, retry_config=retry))
        await talk.say()
        await talk.fail(ConnectionError, talk.answer({"wf_tool_confirmation:flaky@1": True}))
        await talk.go_on()
        assert (await talk.root()).output == "done"
        assert tries == [1, 2, 3, 1]

    run(test)


def test_a_body_may_ask_on_its_own_as_well() -> None:
    """An approved node that yields a question of its own waits again, and isn't asked for its approval again."""

    async def test() -> None:
        def talkative(ctx: Context) -> Any:
            if "more" not in ctx.resume_inputs:
                return RequestInput(interrupt_id="more")
            return ctx.resume_inputs["more"]

        talk = Conversation(node(talkative, require_confirmation=True))
        await talk.say()
        assert lines(await talk.answer({"wf_tool_confirmation:talkative@1": True})) == [("talkative@1", "?more")]
        assert outputs(await talk.answer(more="text")) == {"talkative@1": "text"}

    run(test)


@pytest.mark.parametrize("as_tool", [False, True])
def test_an_approval_is_for_the_call_that_was_shown(as_tool: bool, tmp_path: Path) -> None:
    """A call whose arguments have changed since it was approved is asked for again, also after a restart."""
    calls: list[Any] = []

    def refund(amount: int, tags: Any) -> str:
        calls.append(amount)
        return f"{amount}"

    def flow() -> Workflow:
        gated = FunctionTool(refund, require_confirmation=True) if as_tool else node(refund, require_confirmation=True)
        source = node(lambda: {}, name="src")  # noqa: PIE807  # as a function: `dict` has other parameters
        return Workflow(name="wf", edges=[("START", source, gated)])

    async def test() -> None:
        talk = Conversation(flow(), SqliteSessionService(tmp_path / "s.db"))
        gate = "wf_tool_confirmation:wf@1/refund@1"
        await talk.say(state_delta={"amount": 5, "tags": ({"a"}, 1.5, None)})
        again = Conversation(flow(), SqliteSessionService(tmp_path / "s.db"))
        await again._collect(answers={gate: True}, state_delta={"amount": 5000})
        [(_, question)] = await again.questions()
        assert (calls, question.payload["args"]["amount"]) == ([], 5000)
        await again.answer(**{gate: True})
        assert calls == [5000]
        record = (await again.records())["wf@1/refund@1"]
        assert [one.payload["args"]["amount"] for one in record.questions] == [5, 5000]

    run(test)


def test_a_plugin_that_hides_arguments_does_not_make_it_ask_for_ever() -> None:
    """Where what is shown isn't what is called with, the second answer in a row to the same holds."""

    class Hide(BasePlugin):
        async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
            for call in event.get_function_calls():
                call.args["payload"]["args"] = {"node_input": "***"}

    async def test() -> None:
        talk = Conversation(paying(), plugins=[Hide(name="hide")])
        await talk.say()
        await talk.answer(**{PAY: True})
        await talk.answer(**{PAY: True})
        assert (await talk.root()).output == "'paid 5'"

    run(test)


def test_options_are_checked_where_they_are_written() -> None:
    """An approval needs a node that runs after the answer; `node` sees to it, and refuses the opposite."""
    assert node(pay, require_confirmation=True).rerun_on_resume is True
    assert node(pay, require_confirmation=False).rerun_on_resume is False
    plain = FunctionNode(pay)
    gated = node(plain, require_confirmation=True)
    assert (gated.rerun_on_resume, plain.require_confirmation) == (True, False)
    assert node(gated, name="other").require_confirmation is True  # type: ignore[attr-defined]
    assert node(gated, require_confirmation=False).require_confirmation is False  # type: ignore[attr-defined]
    needs_rerun = "require_confirmation requires rerun_on_resume=True"
    with pytest.raises(WorkflowConfigurationError, match=needs_rerun):
        FunctionNode(pay, require_confirmation=True)
    with pytest.raises(WorkflowConfigurationError, match=needs_rerun):
        node(pay, require_confirmation=True, rerun_on_resume=False)
    with pytest.raises(WorkflowConfigurationError, match=needs_rerun):
        node(gated, rerun_on_resume=False)
    with pytest.raises(WorkflowConfigurationError, match="require_confirmation=True is an option of functions"):
        node(JoinNode(name="j"), require_confirmation=True)
    with pytest.raises(WorkflowConfigurationError, match="require_confirmation='yes'"):
        node(pay, require_confirmation="yes")  # type: ignore[call-overload]


def test_a_gated_function_is_drawn_as_human_input() -> None:
    """A drawing shows where a person is asked."""
    [_, _, gated, _] = paying().describe().nodes
    assert gated.kind == "human"
