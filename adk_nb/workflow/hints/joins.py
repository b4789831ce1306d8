"""Joins whose predecessors don't all run together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adk_nb.workflow.hints.hint import Hint, listed
from adk_nb.workflow.hints.ways import outcomes, reached
from adk_nb.workflow.nodes import START_NAME, JoinNode

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph


def starving_joins(graph: Graph) -> Iterator[Hint]:
    """Tell joins that starve on some route, each with the route and what to do."""
    joins: dict[str, tuple[tuple[str, ...], int]] = {}
    for node in graph.nodes:
        before = graph.predecessors(node.name)
        if isinstance(node, JoinNode) and node.wait_for != "started" and node.needed(len(before)) > 1:
            joins[node.name] = (before, node.needed(len(before)))
    routers = [node for node in graph.nodes if graph.outgoing(node.name).labels] if joins else []
    for router in routers:
        for label, targets in outcomes(graph, router):
            behind = reached(graph, (one.name for one in targets), {}, always=False)
            if router.name in behind:  # it decides again, and may take another route then
                continue
            runs = reached(graph, (START_NAME,), {router.name: targets}, always=False)
            for join, (before, needed) in list(joins.items()):
                missing = [name for name in before if name not in runs]
                if len(before) - needed < len(missing) < len(before):
                    del joins[join]
                    route = "the default route" if label is None else f"the route {label!r}"
                    yield Hint(
                        join,
                        f"It waits for {listed(missing)}, which {'does' if len(missing) == 1 else 'do'}n't run when "
                        f"{router.name!r} takes {route}, and then the run ends incomplete: lead there on every route, "
                        f"or write JoinNode(name={join!r}, wait_for='started').",
                    )
