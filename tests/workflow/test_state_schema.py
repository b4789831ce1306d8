"""`state_schema`: what nodes may write to state."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel, Field

from adk_nb import Context, Event
from adk_nb.errors import StateSchemaError
from adk_nb.workflow import BaseNode, FunctionNode, Workflow, node
from tests.workflow.driving import Conversation


class Keys(BaseModel):
    """What may be in state."""

    count: int = Field(default=0, ge=0)
    city: str | None = None


class Others(BaseModel):
    """What may be in state elsewhere."""

    other: int = 0


def write(**written: Any) -> BaseNode:
    """Return a node that writes to the context's state."""

    def writer(ctx: Context) -> None:
        ctx.state.update(written)

    return node(writer)


def state_after(root: Any) -> dict[str, Any]:
    """Run a root and return the stored state."""

    async def run() -> dict[str, Any]:
        talk = Conversation(root)
        await talk.say()
        return await talk.state()

    return asyncio.run(run())


def test_declared_keys() -> None:
    """Declared keys with fitting values are written; values are checked and not changed."""
    flow = Workflow(name="wf", edges=[("START", write(count="5", city=None))], state_schema=Keys)
    assert state_after(flow) == {"count": "5", "city": None}


def test_prefixes_are_free() -> None:
    """Keys with a prefix belong to more than this workflow, and are not checked."""
    flow = Workflow(name="wf", edges=[("START", write(**{"user:x": 1, "app:y": 2, "temp:z": 3}))], state_schema=Keys)
    assert state_after(flow) == {"user:x": 1, "app:y": 2}


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (
            {"conut": 1},
            "state['conut'], which is not declared in state schema Keys: declared are 'count' (did you mean",
        ),
        ({"count": "many"}, "does not satisfy field 'count' of Keys"),
        ({"count": -1}, "does not satisfy field 'count' of Keys: Input should be greater than or equal to 0"),
        ({"city": "x" * 999, "count": None}, "'count'"),
    ],
)
@pytest.mark.parametrize("way", ["context", "event"])
def test_what_is_refused(written: dict[str, Any], words: str, way: str) -> None:
    """An undeclared key or a value that doesn't fit fails the node that wrote it, however it wrote it."""

    def event() -> Any:
        return Event(state=written)

    writer = write(**written) if way == "context" else node(event, name="writer")
    with pytest.raises(StateSchemaError) as caught:
        state_after(Workflow(name="wf", edges=[("START", writer)], state_schema=Keys))
    assert isinstance(caught.value, TypeError)
    assert "Node 'writer' wrote state[" in str(caught.value)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


def test_the_nearest_schema_counts() -> None:
    """A node's own schema comes before its workflow's, and an inner workflow's before the outer one's."""

    def other(ctx: Context) -> None:
        ctx.state["other"] = 1

    own = FunctionNode(other, state_schema=Others)
    inner = Workflow(name="inner", edges=[("START", other)], state_schema=Others)
    for first in (own, inner):
        flow = Workflow(name="wf", edges=[("START", first, write(count=1))], state_schema=Keys)
        assert state_after(flow) == {"other": 1, "count": 1}
    plain = Workflow(name="inner", edges=[("START", other)])
    with pytest.raises(StateSchemaError, match="Keys"):
        state_after(Workflow(name="wf", edges=[("START", plain)], state_schema=Keys))


def test_a_list_changed_in_place() -> None:
    """A value read from state and changed in place is checked like one that is assigned."""

    class Tags(BaseModel):
        tags: list[int] = []

    def start(ctx: Context) -> None:
        ctx.state["tags"] = [1]

    def spoil(ctx: Context) -> None:
        ctx.state["tags"].append("x")

    with pytest.raises(StateSchemaError, match="Node 'spoil' wrote"):
        state_after(Workflow(name="wf", edges=[("START", start, spoil)], state_schema=Tags))
