"""What a node is: what its body gives becomes events, and its options are checked where they are written."""

from __future__ import annotations

import asyncio
import datetime as dt
import decimal
import enum
import math
import uuid
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from adk_nb import Context, Event
from adk_nb.errors import AdkNbError, ConfigurationError, WorkflowConfigurationError, WorkflowDataError
from adk_nb.events import RequestInput
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.workflow import START, BaseNode, FunctionNode, JoinNode, RetryConfig, Workflow, node
from tests.workflow.driving import Conversation


class Giving(BaseNode):
    """Yields what it was made with."""

    items: list[Any]

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        for item in self.items:
            yield item


def run(root: Any, service: Any = None) -> Conversation:
    """Run a root once and return the session."""

    async def whole() -> Conversation:
        talk = Conversation(root, service)
        await talk.say()
        return talk

    return asyncio.run(whole())


def output_of(root: Any) -> Any:
    """Run a root and return what it hands on."""

    async def whole() -> Any:
        talk = Conversation(root)
        await talk.say()
        return (await talk.root()).output

    return asyncio.run(whole())


class Point(BaseModel):
    """Two numbers."""

    x: int
    y: int | None = None


def test_what_a_body_yields() -> None:
    """`None` says nothing, an Event is taken as it is, a message is said, and any other value is the output."""
    said = types.Content(role="model", parts=[types.Part(text="hello")])
    events = run(Giving(name="n", items=[None, Event(state={"a": 1}), said, {"x": 1}])).last
    assert [event.output for event in events] == [None, None, {"x": 1}]
    assert events[0].actions.state_delta == {"a": 1}
    assert events[1].content is not None
    assert events[1].content.parts is not None
    assert events[1].content.parts[0].text == "hello"


def test_one_output_a_run() -> None:
    """A second output is refused."""
    with pytest.raises(WorkflowDataError, match="at most one output"):
        run(Giving(name="n", items=[1, 2]))


def test_a_node_without_a_body() -> None:
    """A node that overrides nothing can be written and says what to override when it runs."""
    with pytest.raises(NotImplementedError, match="BaseNode has no _run_impl"):
        run(BaseNode(name="n"))


def test_returned_events_keep_their_own_id() -> None:
    """An id that a body gave to its event is kept, any other is fresh for each run."""
    one, other = Event(output=1, id="mine"), Event(output=1)
    built = BaseNode(name="n")
    made = [built.as_event(one), built.as_event(other), built.as_event(other)]
    ids = [event.id for event in made if event is not None]
    assert ids[0] == "mine"
    assert len(set(ids)) == 3


# Values


class Color(enum.Enum):
    """A choice."""

    RED = "red"


class Bill(BaseModel):
    """Values that JSON has no form for."""

    total: decimal.Decimal
    due: dt.date
    color: Color
    number: uuid.UUID
    data: bytes


def test_values_survive_a_store(tmp_path: Any) -> None:
    """What a successor gets is typed as declared, in memory and in a database alike."""

    def bill() -> Bill:
        return Bill(total="9.90", due="2026-01-31", color="red", number=uuid.UUID(int=1), data=b"\xff")  # type: ignore[arg-type]

    def use(node_input: Bill) -> Any:
        return node_input.total + 1, node_input.due, node_input.color is Color.RED, node_input.number, node_input.data

    def odd() -> Any:
        return {"tuple": (1, 2), "set": {1}, "keys": {1: "x"}, "bytes": b"\xff"}

    async def whole(service: Any) -> list[Any]:
        found = []
        for chain in ((bill, use), (odd,)):
            talk = Conversation(Workflow(name="wf", edges=[("START", *chain)]), service, session_id=chain[0].__name__)
            await talk.say()
            found += [(await talk.root()).output, [event.output for event in await talk.stored()][-1]]
        return found

    services = [InMemorySessionService(), SqliteSessionService(str(tmp_path / "s.db"))]
    in_memory, in_file = (asyncio.run(whole(service)) for service in services)
    assert in_memory[0] == (decimal.Decimal("10.90"), dt.date(2026, 1, 31), True, uuid.UUID(int=1), b"\xff")
    assert in_memory[2] == {"tuple": (1, 2), "set": {1}, "keys": {1: "x"}, "bytes": b"\xff"}
    assert in_file == in_memory


def test_what_cannot_be_stored() -> None:
    """A value without a stored form is refused at the node that returned it, with the place in the value."""

    def handle() -> Any:
        return {"files": [object()]}

    with pytest.raises(WorkflowDataError) as caught:
        run(Workflow(name="wf", edges=[("START", handle)]))
    assert "output of node 'handle'" in str(caught.value)
    assert "files" in str(caught.value)


def test_schemas_of_a_custom_node() -> None:
    """`input_schema` and `output_schema` turn values into the shape; what doesn't fit names the node and the side."""

    class Echo(BaseNode):
        async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
            yield node_input

    def flow(**fields: Any) -> Workflow:
        return Workflow(name="wf", edges=[("START", node(lambda: {"x": "1"}, name="src"), Echo(name="echo", **fields))])

    assert output_of(flow()) == {"x": "1"}
    assert output_of(flow(input_schema=Point)) == {"x": 1}
    assert output_of(flow(output_schema=Point)) == {"x": 1}
    assert output_of(flow(output_schema={"type": "integer"})) == {"x": "1"}
    for side, words in (("input_schema", "input of node 'echo'"), ("output_schema", "output of node 'echo'")):
        with pytest.raises(ValidationError, match=words):
            output_of(flow(**{side: list[int]}))


def test_wrong_input_is_the_nodes_own_failure() -> None:
    """Input that doesn't fit fails the node that wanted it, and is tried again under its rule."""
    tries: list[int] = []

    def src() -> Any:
        return {"x": "q"}

    @node(retry_config=RetryConfig(max_attempts=3, initial_delay=0, jitter=0))
    def wanting(node_input: Point) -> None:
        tries.append(1)

    async def whole() -> None:
        talk = Conversation(Workflow(name="wf", edges=[("START", src, wanting)]))
        await talk.fail(ValidationError, talk.say())
        assert [event.node_info.path for event in talk.last if event.error_code] == ["wf@1/wanting@1"] * 3
        assert len((await talk.records())["wf@1/wanting@1"].attempts) == 3

    asyncio.run(whole())
    assert tries == []


def test_errors_of_a_types_own() -> None:
    """An error that a type made up itself is titled with the node, too, its text as it was."""

    class Picky(BaseModel):
        x: int

        @field_validator("x")
        @classmethod
        def _refuse(cls, value: int) -> int:
            if value == 1:
                raise PydanticCustomError("picky", "not {that} one, {x}", {"that": "this"})
            raise ValueError("never {this}")

    for given, words in ((1, "not this one, {x}"), (2, "never {this}")):
        with pytest.raises(ValidationError) as caught:
            BaseNode(name="n", input_schema=Picky).checked_input({"x": given})
        assert caught.value.title == "input of node 'n'"
        assert words in str(caught.value)


# Joins


def test_a_join_in_the_order_of_its_edges() -> None:
    """A join hands on one key a predecessor, in the order of the edges, whatever the order they came in."""

    async def late() -> str:
        await asyncio.sleep(0.01)
        return "late"

    names = ["gamma", "alpha", "beta"]
    first = tuple(node(late if name == "gamma" else (lambda: 1), name=name) for name in names)
    output = output_of(Workflow(name="wf", edges=[("START", first, JoinNode(name="join"))]))
    assert list(output.items()) == [("gamma", "late"), ("alpha", 1), ("beta", 1)]


def test_a_join_checks_each() -> None:
    """A join's `input_schema` is for each value; `None` passes, and what doesn't fit names predecessor and join."""

    def flow(value: Any) -> Workflow:
        first = (node(lambda: value, name="a"), node(lambda: None, name="b"))
        return Workflow(name="wf", edges=[("START", first, JoinNode(name="join", input_schema=Point))])

    assert output_of(flow({"x": "1"})) == {"a": {"x": 1}, "b": None}
    with pytest.raises(ValidationError, match="output of 'a' at join 'join'"):
        output_of(flow({"x": "q"}))


def test_a_join_alone() -> None:
    """A join that isn't in a graph hands on its input."""

    @node(rerun_on_resume=True)
    async def parent(ctx: Context) -> Any:
        return [await ctx.run_node(JoinNode(name="j", input_schema=schema), 5) for schema in (None, int)]

    assert output_of(Workflow(name="wf", edges=[("START", parent)])) == [5, 5]


# Questions


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (5, "response_schema=5"),
        ("number", "response_schema='number'"),
        ({"type": "nubmer"}, "'nubmer' is not valid"),
        ({"type": "string", "pattern": "("}, "must be a regex"),
        ({"$ref": "#/$defs/nowhere"}, "leads nowhere"),
        ({"$ref": "https://example.org/s.json"}, "leads out of the schema"),
        ({"$ref": "#"}, "leads back to itself"),
        ({"enum": {1, 2}}, "isn't a schema"),
    ],
)
def test_a_question_with_a_wrong_schema(schema: Any, words: str) -> None:
    """A schema that no answer can be checked against is refused when the question is asked, naming the node."""

    def ask() -> Any:
        return RequestInput(message="?", response_schema=schema)

    with pytest.raises(WorkflowConfigurationError) as caught:
        run(Workflow(name="wf", edges=[("START", ask)]))
    assert "Node 'ask' asks with response_schema=" in str(caught.value)
    assert words in str(caught.value)
    assert "give a type, a pydantic model or a JSON schema dictionary" in str(caught.value)


def test_a_payload_that_cannot_be_stored() -> None:
    """The payload of a question has to be storable like an output, and the message names the node."""

    def ask() -> Any:
        return RequestInput(payload={"file": object()})

    with pytest.raises(WorkflowDataError, match="payload of the question of node 'ask'"):
        run(Workflow(name="wf", edges=[("START", ask)]))


# Options


def f() -> None:
    """A function."""


W, J, B, F = Workflow, JoinNode, BaseNode, {"func": f}


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        (
            W,
            {"name": "w", "max_concurency": 2},
            "Workflow 'w' has no argument 'max_concurency': it has 'max_concurrency'",
        ),
        (W, {"name": "w", "nodes": [f]}, "Workflow 'w' has no argument 'nodes'"),
        (W, {"edges": [("START", f)]}, "Workflow needs name=: write Workflow(name=...)."),
        (W, {"name": 3}, "Workflow can't have name=3: it must be a valid string."),
        (
            W,
            {"name": "a b"},
            "'a b' must be a valid Python identifier: use letters, digits and '_', for instance 'a_b'",
        ),
        (W, {"name": ""}, "for instance 'node'"),
        (W, {"name": "1a"}, "for instance 'node_1a'"),
        (W, {"name": "x" * 999 + "-"}, "must be a valid Python identifier"),
        (W, {"name": "w", "edges": None}, "Workflow 'w' can't have edges=None: it must be a valid list."),
        (W, {"name": "w", "edges": {"START": f}}, "it must be a valid list"),
        (W, {"name": "w", "max_concurrency": "x"}, "can't have max_concurrency='x': it must be a valid integer."),
        (W, {"name": "w", "state_schema": 3}, "state_schema=3: it must be a subclass of BaseModel"),
        (W, {"name": "w", "graph": 3}, "Workflow 'w' can't have graph=3"),
        (
            J,
            {"name": "j", "tiemout": 3},
            "JoinNode 'j' has no argument 'tiemout': it has 'timeout' (did you mean this?)",
        ),
        (B, {"name": "__START__"}, "kept for START"),
        (B, {"name": "n", "timeout": "x"}, "BaseNode 'n' can't have timeout='x': it must be a valid number."),
        (B, {"name": "n", "timeout": 0}, "it must be greater than 0"),
        (B, {"name": "n", "timeout": -1}, "it must be greater than 0"),
        (B, {"name": "n", "timeout": math.nan}, "it must be"),
        (B, {"name": "n", "timeout": math.inf}, "it must be a finite number"),
        (
            B,
            {"name": "n", "retry_config": 3},
            "retry_config=3: it must be a valid dictionary or instance of RetryConfig",
        ),
        (B, {"name": "n", "retry_config": {"max_attempts": -1}}, "max_attempts=-1"),
        (B, {"name": "n", "timeout": "x", "rerun_on_resume": "maybe"}, "BaseNode 'n' can't have rerun_on_resume="),
        (FunctionNode, {**F, "timeout": "soon"}, "FunctionNode 'f' can't have timeout='soon'"),
        (FunctionNode, {**F, "parameter_binding": "stat"}, "it must be 'state' or 'node_input'"),
        (FunctionNode, {**F, "name": "a-b"}, "must be a valid Python identifier"),
    ],
)
def test_mistakes_in_options(kind: Any, fields: dict[str, Any], words: str) -> None:
    """A wrong, unknown or missing option is one short sentence of ours that names class, node and option."""
    with pytest.raises(WorkflowConfigurationError) as caught:
        kind(**fields)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "pydantic" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert isinstance(caught.value, ValueError)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_own_options_are_checked_alike() -> None:
    """A custom node's own fields are told in the same way, and an error of ours in its checks comes out unchanged."""

    class Own(BaseNode):
        size: int = 1

        @field_validator("size")
        @classmethod
        def _small(cls, size: int) -> int:
            if size > 9:
                raise ConfigurationError("Too big: make it smaller.")
            if size < 0:
                raise ValueError("less than nothing")
            return size

    assert Own(name="o", size=3).size == 3
    for fields, words in (
        ({"size": "x"}, "Own 'o' can't have size='x': it must be a valid integer."),
        ({"size": 10}, "Too big: make it smaller."),
        ({"size": -1}, "Own 'o' can't have size=-1: less than nothing."),
        ({"sise": 1}, "it has 'size' (did you mean this?)"),
    ):
        with pytest.raises(AdkNbError) as caught:
            Own(name="o", **fields)
        assert words in str(caught.value)


def test_names_that_are_identifiers() -> None:
    """Every Python identifier is a name, keywords and other alphabets included."""
    for name in ("class", "_", "größe", "名前"):
        assert BaseNode(name=name).name == name
    assert START.name == "__START__"


def test_a_node_prints_as_one_line() -> None:
    """A printed node names itself, a workflow its nodes, and neither dumps its fields."""

    def shout(node_input: str) -> str:
        return node_input.upper()

    flow = Workflow(name="flow", edges=[("START", shout)])
    assert (repr(flow), str(flow)) == ("Workflow(name='flow', nodes=['shout'])",) * 2
    assert repr(node(shout)) == "FunctionNode(name='shout')"
