"""Functions as nodes: which argument gets what, how the function is called, and what comes out."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncGenerator, Generator
from typing import TYPE_CHECKING, Annotated, Any, Optional

import pytest
from google.genai import types
from pydantic import BaseModel, TypeAdapter, ValidationError

from adk_nb import Context, Event
from adk_nb.errors import StateSchemaError, WorkflowConfigurationError, WorkflowDataError
from adk_nb.events import RequestInput
from adk_nb.workflow import FunctionNode, Workflow, node
from tests.workflow.calling import refused, result
from tests.workflow.driving import Conversation

if TYPE_CHECKING:
    from collections.abc import Mapping


class Item(BaseModel):
    """One of several."""

    v: int


class City(BaseModel):
    """Where."""

    name: str
    zip: int = 0


@pytest.mark.parametrize(
    "func",
    [
        lambda ctx, node_input: (ctx.run_id, node_input),
        lambda node_input, *, ctx: (ctx.run_id, node_input),
    ],
)
def test_the_context_by_name(func: Any) -> None:
    """An argument named `ctx` gets the context."""
    assert result(func, 1) == ("1", 1)


def test_the_context_by_type() -> None:
    """The first argument annotated as a context gets it, optional or as text too; `ctx` is then a name like others."""

    def plain(c: Context, node_input: int) -> Any:
        return c.run_id, node_input

    def optional(node_input: int, c: Optional[Context] = None) -> Any:  # noqa: UP045  # the old spelling is tested
        return c.run_id if c else None, node_input

    def union(node_input: int, c: Annotated[Context | None, "note"] = None) -> Any:
        return c.run_id if c else None, node_input

    def both(ctx: int, c: Context) -> Any:
        return c.run_id, ctx

    for func in (plain, optional, union, both):
        assert result(func, 1) == ("1", 1)


def test_a_context_that_only_type_checkers_know() -> None:
    """A hint that can't be looked up and reads as a context is one."""
    func: Any = lambda c, node_input: (c.run_id, node_input)  # noqa: E731  # a lambda takes annotations one by one
    func.__annotations__ = {"c": "adk.Context | None"}
    assert result(func, 1) == ("1", 1)


def test_node_input_takes_all() -> None:
    """`node_input` gets what was handed on as it is, `None` included, whatever its default."""
    assert result(lambda node_input: node_input, {"a": [1]}) == {"a": [1]}
    assert result(lambda node_input="default": [node_input], None) == [None]


def test_others_come_from_state() -> None:
    """Other arguments take the state's value of their name before their default."""

    def func(node_input: int, city: str, n: int = 3, *, m: int = 4) -> Any:
        return node_input, city, n, m

    assert result(func, 1, state={"city": "Paris", "m": "5"}) == (1, "Paris", 3, 5)


def test_one_free_argument() -> None:
    """One argument that is neither in state nor has a default takes the whole input, whatever its name."""

    def city_time(city: str, zone: str = "UTC") -> str:
        return f"10:10 in {city} {zone}"

    assert result(city_time, "Paris") == "10:10 in Paris UTC"
    assert result(city_time, text="Paris") == "10:10 in Paris UTC"
    assert result(city_time, "ignored", state={"city": "Rome"}) == "10:10 in Rome UTC"

    def whole(order: dict[str, int]) -> Any:
        return order

    assert result(whole, {"order": 1}) == {"order": 1}


def test_a_child_takes_the_input_too() -> None:
    """A function run with `ctx.run_node` binds like one in a graph."""

    def city_time(city: str) -> str:
        return f"10:10 in {city}"

    async def flow(ctx: Context) -> Any:
        return await ctx.run_node(city_time, "Paris")

    assert result(flow, rerun_on_resume=True) == "10:10 in Paris"


def test_several_free_arguments() -> None:
    """Two or more take the values of their names, from a dictionary, a model or a JSON message."""

    def pair(name: str, zip: int) -> Any:
        return name, zip

    assert result(pair, {"name": "Paris", "zip": "75", "more": 1}) == ("Paris", 75)
    assert result(pair, City(name="Rome", zip=1)) == ("Rome", 1)
    assert result(pair, text='{"name": "Rome", "zip": 1}') == ("Rome", 1)


def pair(city: str, country: str) -> str:
    """Return both."""
    return city + country


def test_what_is_missing() -> None:
    """An argument without a value is told with the node, the three places searched, what is there and what to do."""
    message = refused(WorkflowDataError, pair, "Paris", state={"citi": 1, "other": 2})
    for words in (
        "Missing value for parameter 'city' of function 'f'",
        "not found in state, which has 'citi' (did you mean this?), 'other'",
        "not found in the input, which is a str without keys",
        "it has no default",
        "name the parameter node_input to take the whole input",
        "state['city']",
    ):
        assert words in message
    message = refused(WorkflowDataError, pair, {"city": "Paris", "contry": "F"})
    assert "'country'" in message
    assert "the input, which has 'contry' (did you mean this?), 'city'" in message


def test_what_is_missing_beside_node_input() -> None:
    """Beside `node_input`, other arguments don't come from the input, and the message says so."""

    def func(node_input: Any, city: str) -> None:
        """Never called."""

    message = refused(WorkflowDataError, func, {"city": "Paris"})
    assert "'city'" in message
    assert "the input goes to node_input" in message
    assert "node_input['city']" in message


def test_a_message_stays_short() -> None:
    """However many keys there are, a message names some and counts the rest."""
    message = refused(WorkflowDataError, pair, {f"key{i}": "x" * 999 for i in range(1000)})
    assert "and 980 more" in message
    assert len(message) < 1000


def test_binding_to_the_input() -> None:
    """With `parameter_binding="node_input"`, arguments are the input's keys and the rest goes to `**kwargs`."""

    def func(ctx: Context, city: str, n: int = 3, **rest: Any) -> Any:
        return city, n, rest

    options: Any = {"parameter_binding": "node_input", "state": {"city": "from state"}}
    assert result(func, {"city": "Paris", "n": "4", "x": 1}, **options) == ("Paris", 4, {"x": 1})
    message = refused(WorkflowDataError, func, {"citi": "Paris"}, **options)
    assert "Missing value for parameter 'city' of function 'f': not found in node_input" in message
    assert "'citi' (did you mean this?)" in message
    assert "a str without keys" in refused(WorkflowDataError, func, "Paris", **options)


def test_a_key_named_like_the_context() -> None:
    """A key of the input never replaces the context."""

    def func(ctx: Context, **rest: Any) -> Any:
        return ctx.run_id, rest

    assert result(func, {"ctx": "evil", "x": 1}, parameter_binding="node_input") == ("1", {"x": 1})


def test_odd_parameters() -> None:
    """`*args` and `**kwargs` stay empty, and arguments that take no name are given by position."""

    def func(first: str, /, *args: Any, n: int = 2, **kwargs: Any) -> Any:
        return first, args, n, kwargs

    assert result(func, "x", state={"args": 1, "kwargs": 2}) == ("x", (), 2, {})
    assert result(node(str.upper, name="upper"), "x") == "X"
    assert result(node(len, name="count"), [1, 2]) == 2


class Desk:
    """Has a method and can be called."""

    def __init__(self) -> None:
        """Stand open."""
        self.open = True

    def file(self, node_input: int) -> Any:
        """Say what was filed."""
        return self.open, node_input

    def __call__(self, node_input: int) -> Any:
        """Say what was asked."""
        return node_input


async def waited(node_input: int) -> int:
    """Return later."""
    await asyncio.sleep(0)
    return node_input


def generated(node_input: int) -> Generator[Any, None, None]:
    """Yield an output."""
    yield Event(state={"seen": node_input})
    yield node_input


async def streamed(node_input: int) -> AsyncGenerator[Any, None]:
    """Yield an output later."""
    yield None
    yield node_input


def added(n: int, node_input: int) -> int:
    """Return the sum."""
    return n + node_input


@pytest.mark.parametrize(
    ("func", "expected"),
    [
        (lambda node_input: node_input, 7),
        (waited, 7),
        (generated, 7),
        (streamed, 7),
        (lambda node_input: waited(node_input), 7),
        (functools.partial(waited), 7),
        (functools.partial(added, 1), 8),
        (functools.partial(added, n=1), 8),
        (functools.partial(functools.partial(lambda n, node_input: n + node_input, n=1)), 8),
        (Desk().file, (True, 7)),
        (Desk(), 7),
        (Item, {"v": 7}),
    ],
)
def test_what_can_be_a_function(func: Any, expected: Any) -> None:
    """Functions, coroutines, generators, lambdas, partials, methods, callable objects and classes run as nodes."""
    assert result(func, 7) == expected


@pytest.mark.parametrize(
    ("func", "name"),
    [
        (added, "added"),
        (functools.partial(added, 1), "added"),
        (functools.partial(functools.partial(added, 1)), "added"),
        (Desk().file, "file"),
        (Desk(), "__call__"),
        (Item, "Item"),
    ],
)
def test_names(func: Any, name: str) -> None:
    """A node without `name` is called like what it wraps."""
    assert FunctionNode(func=func).name == name
    assert FunctionNode(func, name="own").name == "own"


@pytest.mark.parametrize(
    ("func", "words"),
    [
        (3, "3 is a int, which can't be called"),
        (lambda: 1, "node(lambda ..., name='lookup')"),
        (functools.partial(lambda: 1), "node(lambda ..., name='lookup')"),
        (min, "built in and doesn't say what arguments it wants"),
    ],
)
def test_what_cannot_be_a_function(func: Any, words: str) -> None:
    """What can't be called, has no name or hides its arguments is refused when the node is built."""
    with pytest.raises(WorkflowConfigurationError) as caught:
        FunctionNode(func=func)
    assert words in str(caught.value)


def test_plain_functions_run_on_the_loop() -> None:
    """A function that isn't a coroutine runs where the run was started."""
    assert result(lambda: threading.current_thread() is threading.main_thread()) is True


def test_returned_values() -> None:
    """`None` hands on nothing, a model its fields, a list of events is a value like any other."""
    assert result(lambda: None) is None
    assert result(lambda: City(name="Paris")) == {"name": "Paris", "zip": 0}
    assert result(lambda: [1, (2, {3})]) == [1, (2, {3})]


def test_an_output_schema_is_inferred() -> None:
    """A returned model is checked against the return hint, also where it is yielded, and loses its `None` fields."""

    class Note(BaseModel):
        text: str
        by: str | None = None

    def returns() -> Note:
        return {"text": "x"}  # type: ignore[return-value]

    def yields() -> Generator[Note, None, None]:
        yield Note(text="x")

    def wrong() -> Note:
        return {"text": 3}  # type: ignore[return-value]

    def untyped() -> Any:
        return Note(text="x")

    assert result(returns) == result(yields) == {"text": "x"}
    assert "output of node 'f'" in refused(ValidationError, wrong)
    assert result(untyped) == {"text": "x", "by": None}


@pytest.mark.parametrize("hint", [Event, RequestInput, types.Content, int, list[Item], None])
def test_what_is_no_schema(hint: Any) -> None:
    """Events, questions, messages and plain types don't make a schema."""

    def func(node_input: Any) -> Any:
        """Never called."""

    func.__annotations__ = {"node_input": hint, "return": hint}
    built = FunctionNode(func)
    assert (built.input_schema, built.output_schema) == (None, None)


def test_one_event_for_many_runs() -> None:
    """An event object that a function returns every time isn't changed, and each run has its own event."""
    done = Event(output=1, route="again", state={"x": 1})
    before = done.model_dump()

    async def run() -> None:
        flow = Workflow(
            name="wf", edges=[("START", node(lambda: done, name="a"), {"again": node(lambda: done, name="b")})]
        )
        talk = Conversation(flow)
        events = await talk.say()
        assert [event.node_info.path for event in events] == ["wf@1/a@1", "wf@1/b@1"]
        await talk.say()
        assert [event.node_info.path for event in await talk.stored()][1:3] == ["wf@1/a@1", "wf@1/b@1"]

    asyncio.run(run())
    assert done.model_dump() == before
    assert not done.is_sealed


def test_state_schema_and_arguments() -> None:
    """With a `state_schema`, an argument that could come from state only has to be one of its fields."""

    class Keys(BaseModel):
        city: str = ""

    def typo(node_input: Any, citi: str) -> None:
        """Never called."""

    def default(citi: str = "x") -> None:
        """Never called."""

    for func in (typo, default):
        with pytest.raises(StateSchemaError) as caught:
            Workflow(name="wf", edges=[("START", func)], state_schema=Keys)
        for words in (
            repr(func.__name__),
            "'citi'",
            "not declared in state_schema Keys",
            "'city' (did you mean this?)",
        ):
            assert words in str(caught.value)

    def free(whole: str) -> None:
        """Takes the input."""

    def known(node_input: Any, city: str) -> None:
        """Takes the state's value."""

    for fine in (free, known, pair):
        Workflow(name="wf", edges=[("START", fine)], state_schema=Keys)

    def scalar() -> str:
        return "Paris"

    def two(one: str, other: str) -> None:
        """Finds its arguments nowhere."""

    with pytest.raises(StateSchemaError) as caught:
        Workflow(name="wf", edges=[("START", scalar, two)], state_schema=Keys)
    assert "'scalar' hands on a str, which has no keys" in str(caught.value)
    Workflow(name="wf", edges=[("START", scalar, two)])


def test_drawn_kinds() -> None:
    """A function that asks a person is drawn as human input, any other as a function with its first line."""

    def ask() -> Any:
        """Ask for a number.

        More about it.
        """
        return RequestInput(message="?")

    assert (FunctionNode(ask).describe_node().kind, FunctionNode(ask).describe_node().detail) == (
        "human",
        "Ask for a number.",
    )
    assert FunctionNode(added).describe_node().kind == "function"
    assert FunctionNode(functools.partial(ask)).describe_node().kind == "human"


def test_adapters_are_the_types_own() -> None:
    """Coercion is pydantic's: what `TypeAdapter` makes of a value is what the function gets."""

    def func(node_input: dict[str, tuple[int, ...]]) -> Any:
        return node_input

    value: Mapping[str, Any] = {"a": ["1", 2]}
    assert result(func, value) == TypeAdapter(dict[str, tuple[int, ...]]).validate_python(value)
