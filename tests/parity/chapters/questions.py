"""Questions to a person: asking and answering."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.parity.pieces import answers, asks, flow, gives, routes, shows
from tests.parity.side import Side, said


class Decision(BaseModel):
    """What an answer may have to be."""

    approved: bool
    note: str | None = None


async def a_question_pauses_and_its_answer_goes_on(adk: Side) -> None:
    """A question ends the turn; its answer is the asking node's output, without an event of it."""
    await adk.play(
        flow(adk, gives(adk, "a", 1), asks(adk, "q", message="Sure?", payload={"a": 1}), shows(adk)),
        "hi",
        answers(q="yes"),
    )


async def a_question_has_a_schema(adk: Side) -> None:
    """A question's schema goes along as JSON schema: of a type, a model, a list, or as written."""
    for number, schema in enumerate([int, Decision, list[str], {"type": "string", "enum": ["a", "b"]}, None]):
        await adk.play(flow(adk, asks(adk, "q", response_schema=schema)), session_id=f"s{number}")


async def answers_are_read_as_json(adk: Side) -> None:
    """An answer that is text is read as JSON when it is, and other dictionaries are taken whole."""
    for number, answer in enumerate(
        ["5", '{"a": 1}', "text", "true", {"k": 1}, {"result": "x"}, {"result": [1]}, 7, None]
    ):
        await adk.play(flow(adk, asks(adk, "q"), shows(adk)), "hi", answers(q=answer), session_id=f"s{number}")


async def answers_are_converted_by_the_schema(adk: Side) -> None:
    """An answer becomes what the schema says."""
    for number, (schema, answer) in enumerate(
        [
            (int, "5"),
            (float, 1),
            (bool, "true"),
            (list, "[1]"),
            (Decision, '{"approved": true}'),
            (Decision, {"approved": False, "note": "x"}),
        ]
    ):
        await adk.play(
            flow(adk, asks(adk, "q", response_schema=schema), shows(adk)),
            "hi",
            answers(q=answer),
            session_id=f"s{number}",
        )


async def an_answer_that_doesnt_fit_is_refused(adk: Side) -> None:
    """An answer that isn't what the schema says raises an error that names the question, and stores no error event."""
    adk.listen("Validation failed for interrupt", "q")
    talk = await adk.play(flow(adk, asks(adk, "q", response_schema=int), shows(adk)), "hi", answers(q="abc"))
    adk.check_words()
    adk.note("by the user", sum(event.author == "user" for event in (await talk.session()).events))


async def a_bad_answer_can_be_mended(adk: Side) -> None:
    """After an answer that didn't fit, a good one."""
    await adk.play(flow(adk, asks(adk, "q", response_schema=int), shows(adk)), "hi", answers(q="abc"), answers(q="5"))


async def a_text_answer_may_look_like_a_number(adk: Side) -> None:
    """Where the schema is text, "5" is text."""
    await adk.play(flow(adk, asks(adk, "q", response_schema=str), shows(adk)), "hi", answers(q="5"))


async def an_answer_is_checked_in_depth(adk: Side) -> None:
    """Items of lists, declared defaults and unknown keys of an answer."""

    class Parcel(BaseModel):
        tags: list[int]
        unit: str = "kg"

    await adk.play(flow(adk, asks(adk, "q", response_schema=Parcel), shows(adk)), "hi", answers(q={"tags": ["zz"]}))
    await adk.play(
        flow(adk, asks(adk, "q", response_schema=Parcel), shows(adk)), "hi", answers(q={"tags": [1]}), session_id="s2"
    )


async def an_answers_fields_are_attributes(adk: Side) -> None:
    """What a successor can do with an answer that has fields."""

    def after(node_input: Any) -> list[Any]:
        return [isinstance(node_input, dict), getattr(node_input, "approved", "no attribute")]

    await adk.play(flow(adk, asks(adk, "q", response_schema=Decision), after), "hi", answers(q={"approved": True}))


async def an_unknown_question_is_refused(adk: Side) -> None:
    """An answer to a question that nobody asked is an error, and isn't stored."""
    adk.listen("Function call not found for function response ids", "nope")
    await adk.play(flow(adk, gives(adk, "a", 1)), "hi", answers(nope="x"))


async def answers_come_alone(adk: Side) -> None:
    """Text beside an answer, or a function call from the user, is an error, and isn't stored."""
    talk = await adk.play(flow(adk, asks(adk, "q"), shows(adk)))
    adk.listen("cannot contain both")
    await talk.turn(types.Content(role="user", parts=[*(answers(q=1).parts or []), types.Part(text="and this")]))
    adk.check_words()
    adk.listen("cannot contain function calls")
    call = types.FunctionCall(id="c", name="f", args={})
    await talk.turn(types.Content(role="user", parts=[types.Part(function_call=call)]))


async def an_answer_without_an_id_is_a_message(adk: Side) -> None:
    """A function response without an id starts a new run, like any message."""
    response = types.FunctionResponse(name="f", response={"result": 1})
    await adk.play(
        flow(adk, asks(adk, "q"), shows(adk)),
        "hi",
        types.Content(role="user", parts=[types.Part(function_response=response)]),
    )


async def an_answer_is_given_once(adk: Side) -> None:
    """A second answer to a question that is answered."""
    await adk.play(flow(adk, asks(adk, "q"), shows(adk)), "hi", answers(q=1), answers(q=2))


async def messages_may_surround_a_question(adk: Side) -> None:
    """A node may speak before and after its question."""

    def ask() -> Iterator[Any]:
        yield adk.Event(message="now")
        yield adk.RequestInput(interrupt_id="q")
        yield adk.Event(message="and then")

    await adk.play(flow(adk, adk.node(ask), shows(adk)), "hi", answers(q="x"))


async def any_long_running_call_is_a_question(adk: Side) -> None:
    """An event with a function call whose id is long running pauses like a question."""

    def ask() -> Any:
        call = types.FunctionCall(id="c1", name="approve", args={"a": 1})
        content = types.Content(role="model", parts=[types.Part(function_call=call)])
        return adk.Event(content=content, long_running_tool_ids={"c1"})

    await adk.play(flow(adk, adk.node(ask), shows(adk)), "hi", answers(c1={"ok": True}))


async def an_answer_may_choose_the_route(adk: Side) -> None:
    """A node after a question routes by the answer."""

    def decide(node_input: Any) -> Any:
        return adk.Event(route="yes" if node_input else "no")

    await adk.play(
        flow(
            adk,
            asks(adk, "q", response_schema=bool),
            adk.node(decide),
            {"yes": gives(adk, "y", "Y"), "no": gives(adk, "n", "N")},
        ),
        "hi",
        answers(q="true"),
    )


async def a_question_in_a_route(adk: Side) -> None:
    """A question behind a route: the route is remembered, the other side doesn't run."""
    await adk.play(
        flow(adk, routes(adk, "r", "x"), {"x": asks(adk, "q"), "y": gives(adk, "y")}, shows(adk)), "hi", answers(q=1)
    )


async def a_questions_text_is_optional(adk: Side) -> None:
    """A question without an id gets one of its own; camel-case names work as well."""
    adk.note("random", len(adk.RequestInput().interrupt_id) == 36)
    question = adk.RequestInput(interruptId="q", responseSchema=int)
    adk.note("fields", [question.interrupt_id, question.response_schema is int, question.message, question.payload])


async def an_answer_carries_state(adk: Side) -> None:
    """A call that answers may bring state, which the nodes see."""

    def b(city: str, node_input: Any) -> list[Any]:
        return [city, node_input]

    talk = await adk.play(flow(adk, asks(adk, "q"), b))
    await talk.turn(answers(q=1), state_delta={"city": "Oslo"})


async def the_answers_event_lies_on_the_lane(adk: Side) -> None:
    """The user's answer lies on the branch of the question."""
    talk = adk.talk(flow(adk, (asks(adk, "k1"), asks(adk, "k2")), adk.JoinNode(name="j")))
    await talk.turn(said("hi"), yield_user_message=True)
    await talk.turn(answers(k2=1), yield_user_message=True)


async def an_own_class_asks(adk: Side) -> None:
    """A node class of one's own asks, and isn't run again by default."""
    BaseNode: Any = adk.BaseNode

    class Own(BaseNode):
        async def _run_impl(self, *, ctx: Any, node_input: Any) -> AsyncIterator[Any]:
            yield adk.RequestInput(interrupt_id="q", message=f"for {node_input}?")

    await adk.play(flow(adk, gives(adk, "a", 1), Own(name="own"), shows(adk)), "hi", answers(q="x"))
