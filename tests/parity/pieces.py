"""Nodes and messages that many scenarios are made of."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.parity.side import Side
from tests.parity.written import written


class Boom(Exception):
    """What a scenario's own nodes fail with."""


class Ticket(BaseModel):
    """A model with one field of each kind that matters: required, with a default, optional."""

    title: str
    count: int = 1
    note: str | None = None


def gives(adk: Side, name: str, value: Any = None, **options: Any) -> Any:
    """Return a node that hands on a value; it is async, so that lanes of such nodes end in their order on both."""

    async def give() -> Any:
        return value

    return adk.node(give, name=name, **options)


def shows(adk: Side, name: str = "show", **options: Any) -> Any:
    """Return a node whose output says what it was given."""

    def show(node_input: Any) -> str:
        return written(node_input)

    return adk.node(show, name=name, **options)


def asks(adk: Side, interrupt_id: str, *, name: str | None = None, **fields: Any) -> Any:
    """Return a node that asks a question."""

    def ask() -> Any:
        return adk.RequestInput(interrupt_id=interrupt_id, **fields)

    return adk.node(ask, name=name or interrupt_id)


def fails(adk: Side, name: str = "boom", text: str = "no", **options: Any) -> Any:
    """Return a node that fails."""

    def fail() -> None:
        raise Boom(text)

    return adk.node(fail, name=name, **options)


def routes(adk: Side, name: str, route: Any, output: Any = 1) -> Any:
    """Return a node that hands on an output along a route."""

    def choose() -> Any:
        return adk.Event(output=output, route=route)

    return adk.node(choose, name=name)


def counts_to(adk: Side, limit: int, name: str = "count") -> Any:
    """Return a node that says `again` until it ran `limit` times, and then `done`; its output is how often it ran."""
    times = 0

    def count() -> Any:
        nonlocal times
        times += 1
        return adk.Event(output=times, route="again" if times < limit else "done")

    return adk.node(count, name=name)


def runs(adk: Side, body: Any, name: str = "parent", **options: Any) -> Any:
    """Return a node that may run children."""
    return adk.node(body, **{"name": name, "rerun_on_resume": True, **options})


def flow(adk: Side, *nodes: Any, **options: Any) -> Any:
    """Return a workflow that is one chain."""
    return adk.Workflow(name="wf", edges=[("START", *nodes)], **options)


def answers(given: dict[str, Any] | None = None, /, **more: Any) -> types.Content:
    """Return a user message that answers questions, by id."""
    return types.Content(
        role="user",
        parts=[
            types.Part(
                function_response=types.FunctionResponse(
                    id=key, name="adk_request_input", response=value if isinstance(value, dict) else {"result": value}
                )
            )
            for key, value in {**(given or {}), **more}.items()
        ],
    )


async def plays(adk: Side, root: Any, *messages: str | types.Content, **options: Any) -> Any:
    """Play turns, and write down what is said without saying by which run: members of our agents have their own."""
    adk.hides_paths = True
    return await adk.play(root, *messages, **options)
