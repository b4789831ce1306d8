"""Arguments of function nodes become their type: hints of all kinds, messages, and classes of other cells."""

from __future__ import annotations

import asyncio
import types as pytypes
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from adk_nb.workflow import FunctionNode, Workflow, node
from tests.workflow.calling import refused, result
from tests.workflow.driving import Conversation


class Item(BaseModel):
    """One of several."""

    v: int


@pytest.mark.parametrize(
    ("hint", "given", "expected"),
    [
        (int, "5", 5),
        (Item, {"v": "5"}, Item(v=5)),
        (list[Item], [{"v": 1}], [Item(v=1)]),
        (dict[str, Item], {"a": {"v": 1}}, {"a": Item(v=1)}),
        (int | str, "5", "5"),
        (Item | None, None, None),
        (Item | None, {"v": 1}, Item(v=1)),
        (Annotated[int, Field(ge=3)], "5", 5),
        (Literal["a", "b"], "a", "a"),
        (tuple[int, str], ["1", "x"], (1, "x")),
        (Callable, "not checked", None),
        (Any, "5", "5"),
    ],
)
def test_arguments_become_their_type(hint: Any, given: Any, expected: Any) -> None:
    """A value is turned into the type that its argument is annotated with."""
    seen: list[Any] = []

    def func(node_input: Any) -> None:
        seen.append(node_input)

    func.__annotations__["node_input"] = hint
    if hint is Callable:
        assert "parameter 'node_input' of node 'f'" in refused(ValidationError, func, given)
    else:
        result(func, given)
        assert seen == [expected]


class Strange:
    """A class that pydantic knows nothing about."""


def test_a_hint_that_cannot_be_checked() -> None:
    """A type that pydantic can't check leaves the value as it is."""

    def func(node_input: Strange, n: undefined = 3) -> Any:  # type: ignore[name-defined]  # noqa: F821
        return node_input, n

    assert result(func, "x") == ("x", 3)


def test_what_does_not_fit() -> None:
    """A value of the wrong type is pydantic's error that names argument and node; it fails the node itself."""

    def func(node_input: Item) -> None:
        """Never called."""

    async def run() -> None:
        flow = Workflow(name="wf", edges=[("START", node(lambda: {"v": "q"}, name="source"), func)])
        talk = Conversation(flow)
        error = await talk.fail(ValidationError, talk.say())
        assert "parameter 'node_input' of node 'func'" in str(error)
        failed = next(event for event in talk.last if event.error_code)
        assert failed.node_info.path == "wf@1/func@1"

    asyncio.run(run())


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.sampled_from(["1", "x", "true"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["v", "w"]), inner, max_size=2)
    ),
    max_leaves=5,
)
HINTS: list[Any] = [
    int,
    str,
    bool,
    float,
    Item,
    list[int],
    dict[str, int],
    int | str,
    Item | None,
    tuple[int, ...],
    Any,
]


@given(st.sampled_from(HINTS), json_values)
def test_coercion_is_idempotent(hint: Any, value: Any) -> None:
    """A value that was turned into a type is of that type: doing it again changes nothing."""

    def func(node_input: Any) -> None:
        """Never called."""

    func.__annotations__["node_input"] = hint
    built = FunctionNode(func)
    ctx: Any = None
    try:
        once = built.arguments(ctx, value)["node_input"]
    except ValidationError:
        return
    assert built.arguments(ctx, once)["node_input"] == once


@pytest.mark.parametrize(
    ("hint", "text", "expected"),
    [
        (str, "5", "5"),
        (str | None, "5", "5"),
        (int | str, "5", "5"),
        (int, "5", 5),
        (dict, '{"a": 1}', {"a": 1}),
        (Item, '{"v": 1}', {"v": 1}),
        (list[int], "[1, 2]", [1, 2]),
    ],
)
def test_messages(hint: Any, text: str, expected: Any) -> None:
    """A message is its text where a text is wanted, and else the JSON that it holds."""

    def func(node_input: Any) -> Any:
        return node_input

    func.__annotations__["node_input"] = hint
    assert result(func, text=text) == expected


def test_messages_as_they_are() -> None:
    """A message stays a message where that or anything is wanted."""

    def plain(node_input: Any) -> Any:
        return type(node_input).__name__

    def content(node_input: types.Content | None) -> Any:
        return type(node_input).__name__

    def bare(node_input):  # type: ignore[no-untyped-def]
        return type(node_input).__name__

    assert [result(func, text="hi") for func in (plain, content, bare)] == ["Content"] * 3


def test_local_classes() -> None:
    """Hints written as text find classes that are local to where the function is defined."""

    class Local(BaseModel):
        v: int

    def func(node_input: Local) -> Local:
        return Local(v=node_input.v + 1)

    assert result(func, {"v": "1"}) == {"v": 2}
    assert FunctionNode(func).output_schema is Local


def test_a_local_class_in_a_closure() -> None:
    """They are found, too, where the node is built after the defining function has returned, if the body uses them."""

    def make() -> Any:
        class Local(BaseModel):
            v: int

        def func(node_input: Local) -> Local:
            return Local(v=node_input.v + 1)

        return func

    assert result(make(), {"v": 1}) == {"v": 2}


def in_a_notebook(*cells: str) -> dict[str, Any]:
    """Run cells one after the other and return their names."""
    module = pytypes.ModuleType("notebook")
    module.__dict__.update(BaseModel=BaseModel, node=node)
    for cell in cells:
        exec(cell, module.__dict__)
    return module.__dict__


def test_a_class_of_a_later_cell() -> None:
    """A class that is defined after the node that names it is found when the node runs."""
    names = in_a_notebook(
        "@node\ndef f(node_input: 'Order', n: 'int' = 3) -> 'Order':\n    return node_input\n",
        "class Order(BaseModel):\n    v: int\n",
    )
    assert names["f"].output_schema is None
    assert result(names["f"], {"v": "5"}) == {"v": 5}
    assert names["f"].output_schema is names["Order"]


def test_other_hints_of_the_same_function() -> None:
    """A hint that leads nowhere leaves the others as they are."""
    names = in_a_notebook("@node\ndef f(node_input: 'Nowhere', n: 'int' = 3):\n    return node_input, n\n")
    assert result(names["f"], "x", state={"n": "4"}) == ("x", 4)
