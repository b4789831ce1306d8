"""Questions to people: asked once, answered by id, checked before anything is stored, and only the asker goes on."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel, Field

from adk_nb.errors import AnswerError, DataError
from adk_nb.events import RequestInput
from adk_nb.events.record import Status
from adk_nb.workflow import BaseNode, JoinNode, Workflow, node
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, lines, run, user_text


def asker(name: str, **request: Any) -> BaseNode:
    """Return a node that asks one question; the id is the node's name unless given."""
    return node(lambda: RequestInput(**{"interrupt_id": name, **request}), name=name)


show = node(lambda node_input: repr(node_input), name="show")


async def conversation(*nodes: Any) -> Conversation:
    """Return a conversation with a chain, said hello to."""
    talk = Conversation(Workflow(name="wf", edges=[("START", *nodes)]))
    await talk.say()
    return talk


class Weight(BaseModel):
    """An answer with several fields."""

    tags: list[int]
    unit: str = "kg"
    amount: float = Field(default=1.0, ge=0)


@pytest.mark.parametrize(
    ("schema", "answer", "received"),
    [
        (int, "5", 5),
        (int, 5, 5),
        (str, "5", "5"),
        (str, "true", "true"),
        (bool, "true", True),
        (float, "1.5", 1.5),
        (None, "5", 5),
        (None, '{"a": 1}', {"a": 1}),
        (None, "plain text", "plain text"),
        (Weight, {"tags": [1]}, {"tags": [1], "unit": "kg", "amount": 1.0}),
        (Weight, '{"tags": [], "unit": "g", "amount": 2}', {"tags": [], "unit": "g", "amount": 2}),
        (list[int], [1, 2], [1, 2]),
    ],
)
def test_answers_are_read_by_their_schema(schema: Any, answer: Any, received: Any) -> None:
    """Text stays text where text is wanted, numbers and objects are read, defaults are filled in."""

    async def test() -> None:
        got = []
        talk = await conversation(
            asker("q", response_schema=schema), node(lambda node_input: got.append(node_input), name="get")
        )
        await talk.answer(q=answer)
        assert got == [received]
        assert type(got[0]) is type(received) or isinstance(got[0], dict)

    run(test)


def test_one_bad_answer_of_two_changes_nothing() -> None:
    """Answers sent together are taken together or not at all."""

    async def test() -> None:
        talk = Conversation(
            Workflow(name="wf", edges=[("START", (asker("a"), asker("b", response_schema=int)), JoinNode(name="j"))])
        )
        await talk.say()
        await talk.fail(AnswerError, talk.answer(a=1, b="x"))
        assert sorted(q.interrupt_id for _, q in await talk.questions()) == ["a", "b"]
        await talk.answer(b=2, a=1)
        assert (await talk.root()).output == {"a": 1, "b": 2}

    run(test)


@pytest.mark.parametrize("is_late", [False, True])
def test_answers_to_unknown_and_closed_questions_are_refused(is_late: bool) -> None:
    """The error names the open questions; nothing is stored and nothing runs, also after the run is over."""

    async def test() -> None:
        ran: list[int] = []
        talk = await conversation(
            asker("q"), node(lambda: ran.append(1), name="after"), *(() if is_late else (asker("r"),))
        )
        await talk.answer(q=1)
        before = len(await talk.stored())
        for wrong in ("q", "nobody"):
            error = await talk.fail(AnswerError, talk.answer({wrong: 2}))
            assert repr(wrong) in str(error)
            assert ("none" if is_late else "'r'") in str(error)
        assert len(await talk.stored()) == before
        assert ran == [1]

    run(test)


def test_messages_that_are_not_answers_nor_text() -> None:
    """A call from the user, and text mixed with answers, are refused before anything is stored."""

    async def test() -> None:
        talk = await conversation(asker("q"), show)
        call = types.Part(function_call=types.FunctionCall(name="f", args={}))
        reply = types.Part(function_response=types.FunctionResponse(id="q", name="x", response={"result": 1}))
        for parts, words in (
            ([call], "cannot contain function calls"),
            ([reply, types.Part(text="t")], "cannot contain both"),
        ):
            error = await talk.fail(DataError, talk._collect(new_message=types.Content(role="user", parts=parts)))
            assert words in str(error)
        assert len(await talk.stored()) == 2

    run(test)


def test_a_rerun_node_gets_its_first_input_again_and_asks_only_what_is_missing() -> None:
    """It runs again only for an answer of its own, with the same input; an open question isn't repeated."""

    async def test() -> None:
        runs: list[Any] = []

        @node(rerun_on_resume=True)
        async def two(ctx: Context, node_input: list[int]) -> AsyncGenerator[Any, None]:
            runs.append((sorted(ctx.resume_inputs), list(node_input)))
            node_input.append(9)
            for k in ("m1", "m2"):
                if k not in ctx.resume_inputs:
                    yield RequestInput(interrupt_id=k)
            if len(ctx.resume_inputs) == 2:
                yield dict(ctx.resume_inputs)

        flow = Workflow(
            name="wf", edges=[("START", node(lambda: [1], name="src"), (two, asker("o")), JoinNode(name="j"))]
        )
        talk = Conversation(flow)
        await talk.say()
        await talk.answer(m1=1)
        await talk.answer(o=3)
        await talk.answer(m2=2)
        assert runs == [([], [1]), (["m1"], [1]), (["m1", "m2"], [1])]
        assert (await talk.root()).output == {"two": {"m1": 1, "m2": 2}, "o": 3}
        asked = [i for event in await talk.stored() for i in event.long_running_tool_ids or ()]
        assert sorted(asked) == ["m1", "m2", "o"]

    run(test)


def test_unnamed_questions_are_matched_by_their_place() -> None:
    """A node whose ids are new at every rerun isn't asked about again what is still open."""

    async def test() -> None:
        @node(rerun_on_resume=True)
        async def two(ctx: Context) -> AsyncGenerator[Any, None]:
            for _ in range(2 - len(ctx.resume_inputs)):
                yield RequestInput(message="?")
            if len(ctx.resume_inputs) == 2:
                yield sorted(ctx.resume_inputs.values())

        talk = await conversation(two)
        for answer in (1, 2):
            _, question = (await talk.questions())[0]
            await talk.answer({question.interrupt_id: answer})
        assert (await talk.root()).output == [1, 2]
        assert len([event for event in await talk.stored() if event.long_running_tool_ids]) == 2

    run(test)


def test_several_answers_of_one_node_are_a_dictionary() -> None:
    """Without rerun, one answer is the output itself, several are `{id: answer}`; it waits for all of them."""

    async def test() -> None:
        @node
        def both() -> Any:
            yield RequestInput(interrupt_id="a")
            yield RequestInput(interrupt_id="b")

        talk = await conversation(both, show)
        assert await talk.answer(b=2) == []
        assert (await talk.root()).status is Status.WAITING
        await talk.answer(a=1)
        assert (await talk.root()).output in ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}")

    run(test)


def test_a_question_deep_below() -> None:
    """Through nested graphs and dynamic callers: the asker alone goes on, everything above follows."""

    async def test() -> None:
        ran: list[str] = []
        inner = Workflow(
            name="inner", edges=[("START", node(lambda: ran.append("first"), name="first"), asker("q"), show)]
        )

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> Any:
            ran.append("parent")
            return await ctx.run_node(inner)

        middle = Workflow(name="middle", edges=[("START", parent)])
        talk = Conversation(
            Workflow(name="wf", edges=[("START", middle, node(lambda node_input: node_input, name="end"))])
        )
        (event,) = await talk.say()
        assert event.node_info.path == "wf@1/middle@1/parent@1/inner@1/q@1"
        await talk.answer(q=1)
        assert (await talk.root()).output == "1"
        assert ran == ["parent", "first", "parent"]

    run(test)


def test_a_bare_root_that_asks() -> None:
    """Without rerun the answer is the root's output and no event is added; with rerun the root runs again."""

    async def test() -> None:
        talk = Conversation(asker("q"))
        await talk.say()
        assert await talk.answer(q=7) == []
        assert (await talk.root()).output == 7

        @node(rerun_on_resume=True)
        def again(ctx: Context) -> Any:
            return ctx.resume_inputs["q"] if ctx.resume_inputs else RequestInput(interrupt_id="q")

        talk = Conversation(again)
        await talk.say()
        assert lines(await talk.answer(q=8)) == [("again@1", 8)]

    run(test)


def test_the_first_message_is_seen_again_after_the_answer() -> None:
    """`ctx.user_content` and START's input stay the message that began the run."""

    async def test() -> None:
        seen: list[Any] = []

        def after(ctx: Context) -> None:
            seen.append(ctx.user_content)

        talk = Conversation(Workflow(name="wf", edges=[("START", asker("q"), after)]))
        await talk.say("the first")
        await talk.answer(q=1)
        assert seen == [user_text("the first")]

    run(test)
