"""Handlers that take errors which the engine has to see: to retry, to pause or to stop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from adk_nb.workflow.hints.hint import Hint
from adk_nb.workflow.hints.source import Body, body_of, functions_of, inner_node, last_name, own_parts
from adk_nb.workflow.nodes import BaseNode

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph


def taken_errors(graph: Graph) -> Iterator[Hint]:
    """Tell broad handlers under a `RetryConfig`, and those that take the signal of a pause or a stop."""
    for node in graph.nodes:
        for func in functions_of(node):
            body = body_of(func) if func.__code__.co_exceptiontable else None
            text = _told(node, body) if body is not None else None
            if text is not None:
                yield Hint(node.name, text)
                break


def _told(node: BaseNode, body: Body) -> str | None:
    is_retried = node.retry_config is not None or inner_node(node).retry_config is not None
    for caught, guarded, place in _handlers(body):
        line = body.line(place)
        if not caught.endswith(("except Exception", "(Exception)")) and any(
            isinstance(part, _WAITS) for part in own_parts(*guarded)
        ):
            return (
                f"The `{caught}` in line {line} also takes the signals of a pause and of a stop: write `except "
                f"Exception`, or raise again."
            )
        if is_retried:
            return (
                f"Its retry_config never sees what the `{caught}` in line {line} takes: catch only what can be handled "
                f"there, or raise again."
            )
    return None


_WAITS = (ast.Await, ast.Yield, ast.YieldFrom)


def _handlers(body: Body) -> Iterator[tuple[str, list[ast.stmt], ast.AST]]:
    """Yield broad handlers that don't raise again: how they are written, what they guard, where they stand."""
    for part in body.parts:
        if isinstance(part, ast.Try):
            for handler in part.handlers:
                caught = _broad(handler.type)
                if caught is not None and not any(isinstance(one, ast.Raise) for one in own_parts(*handler.body)):
                    yield caught, part.body, handler
        elif isinstance(part, (ast.With, ast.AsyncWith)):
            for item in part.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and last_name(call.func) == "suppress":
                    names = {last_name(one) for one in call.args}
                    for name in ("BaseException", "Exception"):
                        if name in names:
                            yield f"suppress({name})", part.body, part
                            break


def _broad(caught: ast.expr | None) -> str | None:
    if caught is None:
        return "except:"
    names = {last_name(one) for one in (caught.elts if isinstance(caught, ast.Tuple) else [caught])}
    for name in ("BaseException", "Exception"):
        if name in names:
            return f"except {name}"
    return None
