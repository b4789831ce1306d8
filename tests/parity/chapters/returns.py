"""Returns and yields: what becomes an event, and what is handed on."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterator
from typing import Any

from google.genai import types

from tests.parity.pieces import Ticket, answers, flow, gives, shows
from tests.parity.side import Side


async def nothing_returned_gives_no_event(adk: Side) -> None:
    """A node that returns nothing gives no event, and hands on `None`."""
    await adk.play(flow(adk, gives(adk, "a"), shows(adk)))


async def falsy_values_are_outputs(adk: Side) -> None:
    """Zero, false, an empty text and an empty list are outputs."""
    await adk.play(
        flow(
            adk,
            gives(adk, "a", 0),
            shows(adk, "s1"),
            gives(adk, "b", False),
            shows(adk, "s2"),
            gives(adk, "c", ""),
            shows(adk, "s3"),
            gives(adk, "d", []),
            shows(adk, "s4"),
        )
    )


async def a_state_change_alone_is_an_event(adk: Side) -> None:
    """A node that only writes state gives one event with the change."""

    def a(ctx: Any) -> None:
        ctx.state["k"] = 1

    await adk.play(flow(adk, a, shows(adk)))


async def a_content_is_said_not_handed_on(adk: Side) -> None:
    """A returned content becomes a message; the next node gets `None`."""
    content = types.Content(role="model", parts=[types.Part(text="x")])
    await adk.play(flow(adk, gives(adk, "a", content), shows(adk)))


async def a_model_is_handed_on_as_a_dictionary(adk: Side) -> None:
    """A pydantic model that is returned is handed on as a dictionary, empty fields included."""
    await adk.play(flow(adk, gives(adk, "a", Ticket(title="x")), shows(adk)))


async def a_declared_model_leaves_out_empty_fields(adk: Side) -> None:
    """With a model as return hint, the output is checked and fields that are `None` are left out."""

    def a() -> Ticket:
        return Ticket(title="x")

    await adk.play(flow(adk, a, shows(adk)))


async def a_dictionary_is_checked_against_the_hint(adk: Side) -> None:
    """With a model as return hint, a dictionary is checked and completed."""

    def a() -> Any:
        return {"title": "x", "count": "3"}

    a.__annotations__["return"] = Ticket
    await adk.play(flow(adk, a, shows(adk)))


async def an_output_that_doesnt_fit_fails(adk: Side) -> None:
    """With a model as return hint, an output that doesn't fit fails the node."""

    def a() -> Any:
        return {"count": "many"}

    a.__annotations__["return"] = Ticket
    adk.listen("title", "count")
    await adk.play(flow(adk, a, shows(adk)))


async def simple_return_hints_arent_checked(adk: Side) -> None:
    """A return hint that is no model isn't checked."""

    def a() -> Any:
        return "x"

    a.__annotations__["return"] = int
    await adk.play(flow(adk, a, shows(adk)))


async def a_model_in_an_event_is_handed_on(adk: Side) -> None:
    """A model in `Event(output=...)` reaches the next node."""

    def a() -> Any:
        return adk.Event(output=Ticket(title="x"))

    await adk.play(flow(adk, adk.node(a), shows(adk)))


async def a_list_of_events_is_a_value(adk: Side) -> None:
    """A list with models in it is one output, each model as a dictionary for whoever reads it."""

    def titles(node_input: list[Ticket]) -> list[str]:
        return [ticket.title for ticket in node_input]

    await adk.play(flow(adk, gives(adk, "a", [{"title": "x"}, {"title": "y"}]), titles))


async def a_generator_speaks_as_it_goes(adk: Side) -> None:
    """A generator's messages, state and one output become events in order."""

    def a(ctx: Any) -> Iterator[Any]:
        ctx.state["before"] = 1
        yield adk.Event(message="working")
        yield adk.Event(state={"during": [1]}, output="o")
        ctx.state["after"] = 3

    await adk.play(flow(adk, adk.node(a), shows(adk)))


async def a_second_output_fails(adk: Side) -> None:
    """A node hands on at most one output; the first is out when the second is refused."""

    async def a() -> AsyncIterator[int]:
        yield 1
        yield 2

    adk.listen("at most one output")
    await adk.play(flow(adk, adk.node(a), shows(adk)))


async def output_may_be_set_on_the_context(adk: Side) -> None:
    """`ctx.output` and `ctx.route` are sent when the node ends."""

    def a(ctx: Any) -> None:
        ctx.output = 5
        ctx.route = "x"

    await adk.play(flow(adk, a, {"x": shows(adk), "y": gives(adk, "y")}))


async def output_set_and_returned_fails(adk: Side) -> None:
    """Setting `ctx.output` and returning a value is a second output."""

    def a(ctx: Any) -> int:
        ctx.output = 5
        return 6

    adk.listen("at most one output")
    await adk.play(flow(adk, a, shows(adk)))


async def output_is_set_once(adk: Side) -> None:
    """`ctx.output` can be set once."""

    def a(ctx: Any) -> None:
        ctx.output = 5
        ctx.output = 6

    await adk.play(flow(adk, a, shows(adk)))


async def own_state_outdoes_the_events(adk: Side) -> None:
    """Writes to `ctx.state` go onto the next event, and win against the same key in it."""

    def a(ctx: Any) -> Any:
        ctx.state["k"] = "context"
        return adk.Event(output=1, state={"k": "event", "other": 2})

    await adk.play(flow(adk, adk.node(a), shows(adk)))


async def presets_of_an_event_are_replaced(adk: Side) -> None:
    """Author, path and invocation of an event are the engine's; what a node sets itself is overwritten."""

    def a() -> Any:
        return adk.Event(
            author="somebody", output=1, invocation_id="mine", node_path="elsewhere", custom_metadata={"k": 1}
        )

    await adk.play(flow(adk, adk.node(a), shows(adk)))


async def an_author_may_be_set_on_the_context(adk: Side) -> None:
    """`ctx.event_author` is the author of the node's events."""

    def a(ctx: Any) -> int:
        ctx.event_author = "narrator"
        return 1

    await adk.play(flow(adk, a, shows(adk)))


async def a_branch_may_be_set_on_an_event(adk: Side) -> None:
    """A branch on an event becomes the node's own and is inherited; an empty one leads back to the trunk."""

    def a() -> Any:
        return adk.Event(output=1, branch="mine")

    def b() -> Iterator[Any]:
        yield adk.Event(message="still there")
        yield adk.Event(output=2, branch="")

    await adk.play(flow(adk, adk.node(a), shows(adk), adk.node(b), shows(adk, "last")))


async def a_message_may_be_the_output(adk: Side) -> None:
    """A message marked as the output is what the next node gets."""

    def a() -> Any:
        event = adk.Event(message="text")
        event.node_info.message_as_output = True
        return event

    def b(node_input: str) -> str:
        return node_input

    await adk.play(flow(adk, adk.node(a), b))


async def partial_events_are_shown_not_kept(adk: Side) -> None:
    """A partial event is shown, but isn't stored."""

    def a() -> Iterator[Any]:
        yield adk.Event(message="so far", partial=True)
        yield adk.Event(message="all of it")
        yield 1

    await adk.play(flow(adk, adk.node(a)))


async def messages_take_many_forms(adk: Side) -> None:
    """`message` takes a text, a part, a list and a content."""

    def a() -> Iterator[Any]:
        yield adk.Event(message="text")
        yield adk.Event(message=types.Part(text="part"))
        yield adk.Event(message=["one", types.Part(text="two")])
        yield adk.Event(message=types.Content(role="model", parts=[types.Part(text="content")]))

    adk.refused("both", lambda: adk.Event(message="x", content=types.Content()), "mutually exclusive")
    await adk.play(flow(adk, adk.node(a)))


async def events_are_read_back(adk: Side) -> None:
    """An event has its shortcuts, says what is final, and speaks JSON in camel case."""
    event = adk.Event(output=1, state={"k": 1}, route="x", node_path="wf@1/a@2", message="m")
    adk.note("names", [event.node_info.name, event.node_info.run_id, event.node_info.parent_run_id, event.node_name])
    adk.note(
        "final",
        [
            event.is_final_response(),
            adk.Event(partial=True, message="x").is_final_response(),
            adk.Event(error_code="X").is_final_response(),
        ],
    )
    adk.note("json", event.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"id", "timestamp"}))
    adk.note("back", adk.Event.model_validate(event.model_dump(mode="json", by_alias=True)).output)
    adk.note("route", adk.EventActions(route=["x", 1, True]).route)
    adk.refused("float", lambda: adk.EventActions(route=1.5))
    adk.refused("unknown action", lambda: adk.EventActions(jump=1))
    adk.note("unknown field", hasattr(adk.Event(nonsense=1), "nonsense"))


async def dataclasses_are_outputs(adk: Side) -> None:
    """A dataclass as output, and how a receiver that names it gets it."""

    @dataclasses.dataclass
    class Point:
        x: int

    def b(node_input: Any) -> Any:
        return [type(node_input).__name__, node_input if isinstance(node_input, dict) else vars(node_input)]

    await adk.play(flow(adk, gives(adk, "a", Point(1)), adk.node(lambda node_input: str(b(node_input)), name="b")))


async def tuples_and_sets_pass_in_memory(adk: Side) -> None:
    """Values that JSON lacks reach the next node unchanged, with a store in memory also after a pause."""

    def b(node_input: Any, ctx: Any) -> Any:
        return str(type(node_input).__name__) if ctx.resume_inputs else adk.RequestInput(interrupt_id="q")

    values = {"tuple": (1, 2), "bytes": b"x", "keys": {1: "x"}}
    for kind, value in values.items():
        await adk.play(
            flow(adk, gives(adk, "a", value), adk.node(b, rerun_on_resume=True)), "hi", answers(q=1), session_id=kind
        )


async def a_partial_output(adk: Side) -> None:
    """An output on a partial event."""

    def a() -> Iterator[Any]:
        yield adk.Event(output=1, partial=True)

    await adk.play(flow(adk, adk.node(a), shows(adk)))
