"""Events that a node puts into the session by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from adk_nb.workflow.hints.hint import Hint
from adk_nb.workflow.hints.source import body_of, functions_of, last_name, mentions

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph


def appended_events(graph: Graph) -> Iterator[Hint]:
    """Tell nodes that append events to the session instead of yielding them."""
    for node in graph.nodes:
        for func in functions_of(node):
            if not mentions(func.__code__, "append_event", "events"):
                continue
            body = body_of(func)
            found = next((part for part in body.parts if _appends(part)), None) if body else None
            if body is not None and found is not None:
                yield Hint(
                    node.name,
                    f"Line {body.line(found)} appends an event to the session by itself, so that it isn't part of the "
                    f"run and comes twice after a pause: yield the event instead.",
                )
                break


def _appends(part: ast.AST) -> bool:
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
        return False
    if part.func.attr == "append_event":
        return True
    events = part.func.value
    return (
        part.func.attr in ("append", "extend", "insert")
        and isinstance(events, ast.Attribute)
        and events.attr == "events"
        and last_name(events.value) == "session"
    )
