"""Coercion: how an input becomes what a parameter's hint asks for."""

from __future__ import annotations

from typing import Any, Literal

from google.genai import types

from tests.parity.pieces import Ticket, flow, gives, shows
from tests.parity.side import Side
from tests.parity.written import written


def takes(adk: Side, hint: Any, name: str = "b") -> Any:
    """Return a node whose input has a hint; its output says what it got, and of which type."""

    def take(node_input: Any) -> str:
        return f"{type(node_input).__name__} {written(node_input)}"

    take.__annotations__["node_input"] = hint
    return adk.node(take, name=name)


async def numbers_are_read_from_texts(adk: Side) -> None:
    """Simple hints convert the way pydantic does: "5" becomes 5, 1 becomes true, 5 stays an int among unions."""
    for number, (value, hint) in enumerate(
        [("5", int), (1, bool), ("1.5", float), ("5", int | str), (5, str | int), ("b", Literal["a", "b"])]
    ):
        await adk.play(flow(adk, gives(adk, "a", value), takes(adk, hint)), session_id=f"s{number}")


async def a_value_that_doesnt_fit_fails_the_node(adk: Side) -> None:
    """An input that a simple hint can't be made from fails the node."""
    await adk.play(flow(adk, gives(adk, "a", "zz"), takes(adk, int)))


async def a_number_isnt_made_a_text(adk: Side) -> None:
    """A number for a text is refused, as in pydantic."""
    await adk.play(flow(adk, gives(adk, "a", 5), takes(adk, str)))


async def dictionaries_become_models(adk: Side) -> None:
    """A dictionary becomes the model of the hint, also in lists, in dictionaries and when it is optional."""
    ticket = {"title": "x", "count": "2"}
    for number, (value, hint) in enumerate(
        [
            (ticket, Ticket),
            ([ticket], list[Ticket]),
            ({"k": ticket}, dict[str, Ticket]),
            (ticket, Ticket | None),
            (None, Ticket | None),
        ]
    ):
        await adk.play(flow(adk, gives(adk, "a", value), takes(adk, hint)), session_id=f"s{number}")


async def a_dictionary_that_is_no_model_fails(adk: Side) -> None:
    """An input that doesn't fit the model of the hint fails the run."""
    await adk.play(flow(adk, gives(adk, "a", {"count": 1}), takes(adk, list[Ticket])))


async def a_model_goes_through_unharmed(adk: Side) -> None:
    """What a node with a model as return hint returned, a node with the same hint gets as the model."""

    def a() -> Ticket:
        return Ticket(title="x")

    await adk.play(flow(adk, adk.node(a), takes(adk, Ticket)))


async def the_first_message_is_a_content(adk: Side) -> None:
    """The message that starts the run is a content; a node that wants text gets its text, one without a hint all."""
    for number, hint in enumerate([Any, str, str | None, types.Content, str | types.Content]):
        await adk.play(flow(adk, takes(adk, hint)), session_id=f"s{number}")


async def a_message_is_read_as_json(adk: Side) -> None:
    """The text of a message becomes what another hint asks for, when it is JSON for it."""
    await adk.play(flow(adk, takes(adk, int)), "5")
    await adk.play(flow(adk, takes(adk, Ticket)), '{"title": "x"}', session_id="s2")
    await adk.play(flow(adk, takes(adk, list[int])), "[1, 2]", session_id="s3")


async def a_message_that_is_no_json_fails(adk: Side) -> None:
    """A text that isn't what the hint asks for fails the run."""
    await adk.play(flow(adk, takes(adk, int)), "five")


async def thoughts_arent_part_of_the_text(adk: Side) -> None:
    """Of a message only the text that isn't a thought is taken, joined."""
    parts = [types.Part(text="a"), types.Part(text="hidden", thought=True), types.Part(text="b")]
    await adk.play(flow(adk, takes(adk, str)), types.Content(role="user", parts=parts))


async def state_values_are_converted_too(adk: Side) -> None:
    """Parameters from the state are converted by their hints."""

    def a(ctx: Any) -> None:
        ctx.state["ticket"] = {"title": "x"}
        ctx.state["count"] = "7"

    def b(ticket: Ticket, count: int) -> list[Any]:
        return [ticket.title, count]

    await adk.play(flow(adk, a, b))


async def a_declared_input_is_checked_before_the_node(adk: Side) -> None:
    """An input that doesn't fit a model as hint: who fails, where the error stands, and whether it is tried again."""

    def b(node_input: Ticket) -> str:
        return node_input.title

    retry = adk.RetryConfig(max_attempts=2, initial_delay=0.001)
    await adk.play(flow(adk, gives(adk, "a", {"count": 1}), adk.node(b, retry_config=retry)))


async def schemas_may_be_set_on_a_node(adk: Side) -> None:
    """A node's `output_schema` and `input_schema` are applied to what it gives and gets."""
    BaseNode: Any = adk.BaseNode

    class Own(BaseNode):
        async def _run_impl(self, *, ctx: Any, node_input: Any) -> Any:
            yield {"title": written(node_input), "count": "2"}

    await adk.play(
        flow(
            adk, gives(adk, "a", {"title": "x"}), Own(name="own", input_schema=Ticket, output_schema=Ticket), shows(adk)
        )
    )


async def a_workflow_checks_its_output(adk: Side) -> None:
    """A workflow's `output_schema` is applied to what it hands on."""
    inner = adk.Workflow(
        name="inner", output_schema=Ticket, edges=[("START", gives(adk, "a", {"title": "x", "count": "3"}))]
    )
    await adk.play(flow(adk, inner, shows(adk)))


async def a_workflow_refuses_its_output(adk: Side) -> None:
    """An output that doesn't fit the workflow's `output_schema` fails the run."""
    inner = adk.Workflow(name="inner", output_schema=Ticket, edges=[("START", gives(adk, "a", {"count": "3"}))])
    await adk.play(flow(adk, inner, shows(adk)))


async def a_workflow_checks_its_input(adk: Side) -> None:
    """A workflow's `input_schema` is applied to what it gets."""
    inner = adk.Workflow(name="inner", input_schema=Ticket, edges=[("START", shows(adk))])
    await adk.play(flow(adk, gives(adk, "a", {"title": "x", "count": "3"}), inner))
    await adk.play(flow(adk, gives(adk, "a", {"count": "3"}), inner), session_id="s2")
