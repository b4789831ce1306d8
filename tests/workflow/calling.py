"""Runs one function as a node."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adk_nb.workflow import FunctionNode, Workflow, node
from tests.workflow.driving import Conversation


def result(
    func: Any, given: Any = None, *, text: str | None = None, state: dict[str, Any] | None = None, **options: Any
) -> Any:
    """Run `func` after a node that hands on `given`, or on what a user says, and return what it hands on."""

    async def run() -> Any:
        wrapped = func if isinstance(func, FunctionNode) and not options else node(func, name="f", **options)
        start: list[Any] = ["START"] if text is not None else ["START", node(lambda: given, name="source")]
        talk = Conversation(Workflow(name="wf", edges=[(*start, wrapped)]))
        await talk.say(text or "hi", state_delta=state)
        root = await talk.root()
        return root.output

    return asyncio.run(run())


def refused(error: type[Exception], func: Any, given: Any = None, **options: Any) -> str:
    """Run `func` and return the message it fails with."""
    with pytest.raises(error) as caught:
        result(func, given, **options)
    return str(caught.value)
