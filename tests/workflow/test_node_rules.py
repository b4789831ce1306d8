"""What holds for every node: how it is written, copied and changed, and what its body gives becomes."""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel, ValidationError

from adk_nb import Context, Event
from adk_nb.errors import WorkflowConfigurationError, WorkflowDataError
from adk_nb.workflow import START, BaseNode, FunctionNode, JoinNode, Node, RetryConfig, Workflow, node
from adk_nb.workflow.build import build_node
from tests.workflow.driving import Conversation, lines, outputs, run


class Bill(BaseModel):
    """What is owed."""

    total: int
    note: str | None = None


def flow(*chain: Any) -> Workflow:
    """Return a workflow of one chain."""
    return Workflow(name="wf", edges=[("START", *chain)])


def source(value: Any) -> BaseNode:
    """Return a node that hands on `value`."""
    return node(lambda: value, name="source")


def show(node_input: Any) -> str:
    """Say what came in."""
    return repr(node_input)


async def last_output(root: Any) -> Any:
    """Run a root and return the output of its last event."""
    return (await Conversation(root).say())[-1].output


@pytest.mark.parametrize("name", ["", "1a", "a-b", "<lambda>", "a b", "a.b"])
def test_names_that_are_no_identifiers(name: str) -> None:
    """A name is a Python identifier, for every class of node."""
    kinds: list[Any] = [BaseNode, JoinNode, Node, Workflow]
    for build in (*kinds, functools.partial(FunctionNode, show), functools.partial(node, show)):
        with pytest.raises(WorkflowConfigurationError, match="must be a valid Python identifier"):
            build(name=name)


def test_keywords_are_names() -> None:
    """Python's keywords are identifiers, too."""
    assert BaseNode(name="class").name == "class"


def test_what_every_node_can_be_given() -> None:
    """All nodes of one's own take the same options, whose defaults leave everything off."""
    plain = BaseNode(name="n")
    options: dict[str, Any] = {
        "description": "says",
        "rerun_on_resume": True,
        "wait_for_output": True,
        "retry_config": RetryConfig(max_attempts=2),
        "timeout": 3.0,
        "input_schema": Bill,
        "output_schema": Bill,
        "state_schema": Bill,
    }
    for name, value in options.items():
        assert not getattr(plain, name)
        for kind in (BaseNode, Node, JoinNode, Workflow):
            assert getattr(kind(name="n", **{name: value}), name) == value
    assert Workflow(name="wf").rerun_on_resume is True


def test_a_node_without_a_body() -> None:
    """A node whose class overrides nothing can be made and fails with its class's name when it runs."""

    class Empty(BaseNode):
        """Says nothing."""

    async def test() -> None:
        for root, words in ((Empty(name="n"), "Empty has no _run_impl"), (Node(name="n"), "run_node_impl must be")):
            talk = Conversation(root)
            assert words in str(await talk.fail(NotImplementedError, talk.say()))

    run(test)


def test_options_assigned_to_a_function_node() -> None:
    """`wait_for_output`, schemas and description may be set on a function node afterwards, and count from then on."""

    async def test() -> None:
        quiet = FunctionNode(lambda node_input: None, name="quiet")
        quiet.wait_for_output = True
        quiet.description = "Waits."
        assert quiet.describe_node().detail == "Waits."
        talk = Conversation(flow(source(1), quiet, show))
        assert outputs(await talk.say()) == {"wf@1/source@1": 1}
        checked = FunctionNode(lambda node_input: node_input, name="checked")
        checked.input_schema = checked.output_schema = Bill
        assert await last_output(flow(source({"total": "3"}), checked)) == {"total": 3}
        talk = Conversation(flow(source({"total": "many"}), checked))
        error = await talk.fail(ValidationError, talk.say())
        assert "node 'checked'" in str(error)

    run(test)
    with pytest.raises(ValueError, match="wait_for_outputs"):
        FunctionNode(show).wait_for_outputs = True  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        FunctionNode(show, wait_for_output=True)  # type: ignore[call-arg]


@pytest.mark.parametrize("original", [FunctionNode(show), JoinNode(name="j"), Node(name="n"), flow(show)])
def test_copies_with_options(original: BaseNode) -> None:
    """`node` without options gives a node back as it is, with options a copy with everything else the same."""
    assert node(original) is original
    assert build_node(original) is original
    before = repr(vars(original))
    other = node(original, name="other", retry_config=RetryConfig(max_attempts=2), timeout=2, rerun_on_resume=True)
    assert type(other) is type(original)
    assert (other.name, other.timeout, other.rerun_on_resume) == ("other", 2, True)
    assert repr(vars(original)) == before


def test_start_is_never_changed() -> None:
    """START is one object, whatever is asked of it."""
    assert node("START") is START  # type: ignore[call-overload]
    assert build_node("__START__") is START


def test_state_without_output() -> None:
    """A node that returns nothing and wrote state gives one event with the change alone; without state, no event."""

    async def test() -> None:
        def writes(ctx: Context) -> None:
            ctx.state["k"] = 1

        events = await Conversation(flow(writes, show)).say()
        assert [(event.node_name, event.output, event.actions.state_delta) for event in events] == [
            ("writes", None, {"k": 1}),
            ("show", "None", {}),
        ]
        assert [event.node_name for event in await Conversation(flow(lambda_of(None), show)).say()] == ["show"]

    run(test)


def lambda_of(value: Any) -> BaseNode:
    """Return a node that hands on `value`."""
    return node(lambda: value, name="nothing")


def test_a_message_is_no_output() -> None:
    """A returned `Content` is a message: the next node gets `None`, also when the hint promises a model."""

    async def test() -> None:
        def says() -> Bill:
            return types.Content(role="model", parts=[types.Part(text="x")])  # type: ignore[return-value]

        events = await Conversation(flow(says, show)).say()
        assert events[0].content is not None
        assert (events[0].output, events[1].output) == (None, "None")

    run(test)


def test_state_of_the_context_wins() -> None:
    """Where an event and the context write the same key, the context's value is kept."""

    async def test() -> None:
        def both(ctx: Context) -> Event:
            ctx.state["k"] = "context"
            return Event(output=1, state={"k": "event", "other": 2})

        def end(k: str, other: int) -> list[Any]:
            return [k, other]

        assert await last_output(flow(both, end)) == ["context", 2]

    run(test)


def test_none_fields_of_models() -> None:
    """A model without a declared schema keeps its `None` fields, one that the return hint declares loses them."""

    async def test() -> None:
        def declared() -> Bill:
            return Bill(total=1)

        def undeclared():  # type: ignore[no-untyped-def]
            return Bill(total=1)

        assert await last_output(flow(declared)) == {"total": 1}
        assert await last_output(flow(undeclared)) == {"total": 1, "note": None}

    run(test)


def test_bytes() -> None:
    """Bytes are handed on unchanged, and an event's JSON holds them in base64."""

    async def test() -> None:
        data = b"\xff\xfe"
        event = (await Conversation(source(data)).say())[0]
        assert event.output == data
        assert base64.urlsafe_b64decode(json.loads(event.model_dump_json())["output"]) == data
        assert await last_output(flow(source(data), show)) == repr(data)

    run(test)


def test_items_of_a_body() -> None:
    """What a body yields becomes events one by one; a second output is an error, and what was out before stays out."""

    class Two(BaseNode):
        async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
            yield None
            yield Event(message="working")
            yield 1
            yield 2

    async def test() -> None:
        talk = Conversation(flow(Two(name="two")))
        error = await talk.fail(WorkflowDataError, talk.say())
        assert "at most one output" in str(error)
        assert [said for _, said in lines(talk.last)] == [None, 1, "!WorkflowDataError"]

    run(test)


def test_what_a_text_argument_leaves_out() -> None:
    """A message taken as text loses its pictures and files, which is said once with the node's name."""

    async def test() -> None:
        picture = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))
        said = types.Content(role="user", parts=[types.Part(text="look"), picture])
        talk = Conversation(flow(takes_text))
        with pytest.warns(RuntimeWarning, match=r"Node 'takes_text' takes the text of a message .* \(inline_data\)"):
            events = [one async for one in talk.runner.run_async(**talk.where, new_message=said)]
        assert events[-1].output == "look"

    def takes_text(node_input: str) -> str:
        return node_input

    run(test)


def test_schemas_of_keys() -> None:
    """With `parameter_binding="node_input"` the schemas describe the arguments and the result, and enforce nothing."""

    def book(seats: int, ctx: Context, row: str = "A", **more: Any) -> list[Bill]:
        return []

    built = FunctionNode(book, parameter_binding="node_input")
    assert built.input_schema["required"] == ["seats"]
    assert list(built.input_schema["properties"]) == ["seats", "row"]
    assert built.input_schema["properties"]["row"] == {"default": "A", "title": "Row", "type": "string"}
    assert built.output_schema["type"] == "array"
    copied = node(FunctionNode(book), parameter_binding="node_input")
    assert copied.input_schema == built.input_schema


def test_every_name_of_an_argument_is_described() -> None:
    """Names that a pydantic field can't have are described, too, and a default without a JSON form stays unsaid."""

    def call(schema: int, _quiet: bool = False, marker: object = object()) -> None:
        """A function with names of pydantic's own."""

    described = FunctionNode(call, parameter_binding="node_input").input_schema
    assert (list(described["properties"]), described["required"]) == (["schema", "_quiet", "marker"], ["schema"])
    assert described["properties"]["marker"] == {"title": "Marker"}


def test_keys_from_a_model() -> None:
    """A function that takes keys can follow one that returns a model, which it needn't have declared."""

    async def test() -> None:
        def bill() -> Bill:
            return Bill(total=3, note="n")

        def pay(total: int, note: str = "none") -> list[Any]:
            return [total, note]

        assert await last_output(flow(bill, node(pay, parameter_binding="node_input"))) == [3, "n"]
        returns_model = FunctionNode(bill, name="keyed", parameter_binding="node_input")
        assert await last_output(flow(returns_model, takes_bill)) == 3

    def takes_bill(node_input: Bill) -> int:
        return node_input.total

    run(test)


def test_a_value_without_keys() -> None:
    """A value without keys counts as empty: defaults apply, and an argument without one is named."""

    async def test() -> None:
        @node(parameter_binding="node_input")
        def plain(a: int = 1, **more: Any) -> list[Any]:
            return [a, more]

        @node(parameter_binding="node_input")
        def wanting(a: int) -> int:
            return a

        assert await last_output(flow(source(5), plain)) == [1, {}]
        assert await last_output(flow(source({"a": "7", "z": 2}), plain)) == [7, {"z": 2}]
        talk = Conversation(flow(source(5), wanting))
        error = await talk.fail(WorkflowDataError, talk.say())
        assert "Missing value for parameter 'a' of function 'wanting': not found in node_input" in str(error)

    run(test)
