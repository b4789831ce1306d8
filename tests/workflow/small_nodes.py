"""Small nodes that tests put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.genai import types

from adk_nb.workflow import BaseNode, node

AT_ONCE: dict[str, Any] = {"initial_delay": 0, "jitter": 0}
"""Options of a `RetryConfig` that tries again without waiting."""


def letter(name: str) -> BaseNode:
    """Return a node `a` that turns `x` into `A(x)`, so that an output tells the way it came."""
    return node(lambda node_input: f"{name.upper()}({said(node_input)})", name=name)


def said(value: Any) -> Any:
    """Return the text of a message, other values as they are."""
    return value.parts[0].text if isinstance(value, types.Content) and value.parts else value


def failing(times: int, name: str = "flaky", error: Callable[[], BaseException] = lambda: ValueError("no")) -> BaseNode:
    """Return a node that fails so many times and then returns how often it ran."""
    calls = [0]

    def flaky() -> int:
        calls[0] += 1
        if calls[0] <= times:
            raise error()
        return calls[0]

    return node(flaky, name=name)
