"""Methods of a user's node class that nothing calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adk_nb.workflow.hints.hint import Hint
from adk_nb.workflow.hints.source import inner_node, user_classes
from adk_nb.workflow.nodes import BaseNode

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph

_OF_OLD = ("_run_async_impl", "_run_live_impl", "run_async", "run_live")
"""Where agents had their body before they were nodes."""


def ignored_overrides(graph: Graph) -> Iterator[Hint]:
    """Tell methods that were written to run a node and that the engine never calls."""
    for node in graph.nodes:
        name = _ignored(inner_node(node))
        if name is None:
            continue
        kind = type(inner_node(node)).__name__
        yield Hint(
            node.name,
            f"Its class {kind} overrides {name}, which is never called: put what it does into {_instead(node)}.",
        )


def _ignored(node: BaseNode) -> str | None:
    written = {name for kind in user_classes(node) for name in vars(kind)}
    runs = "call" if node.returns_once else "_run_impl"
    for name in ("run", "_run_impl") if node.returns_once else ("call",):
        if name in written and runs not in written:
            return name
    called = {used for used in (runs, "run") for used in _names_in(getattr(type(node), used, None))}
    for name in _OF_OLD:
        if name in written and name not in called:
            return name
    return None


def _names_in(func: object) -> tuple[str, ...]:
    code = getattr(func, "__code__", None)
    return code.co_names if code is not None else ()


def _instead(node: BaseNode) -> str:
    inner = inner_node(node)
    if inner.kind == "agent":
        return "before_agent_callback or after_agent_callback, or into a function node beside the agent"
    return "call" if inner.returns_once else "_run_impl"
