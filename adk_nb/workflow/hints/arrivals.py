"""Ordinary nodes that several nodes of one fan-out lead to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adk_nb.workflow.hints.hint import Hint, listed
from adk_nb.workflow.hints.ways import outcomes, reached
from adk_nb.workflow.nodes import JoinNode

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph


def repeated_nodes(graph: Graph) -> Iterator[Hint]:
    """Tell nodes that run several times in one pass, where once may be meant."""
    many = {node.name for node in graph.nodes if len(graph.predecessors(node.name)) > 1}
    many -= {node.name for node in graph.nodes if isinstance(node, JoinNode)}
    for node in graph.nodes if many else ():
        for _, targets in outcomes(graph, node):
            runs = reached(graph, (one.name for one in targets), {node.name: ()}, always=True) - {node.name}
            for name in sorted(many):
                arrivals = [node.name] if any(one.name == name for one in targets) else []
                arrivals += [
                    before
                    for before in graph.predecessors(name)
                    if before in runs and any(one.name == name for one in graph.outgoing(before).always)
                ]
                if len(arrivals) > 1:
                    many.discard(name)
                    yield Hint(
                        name,
                        f"It runs once for each of {listed(arrivals)}, one after the other; put a JoinNode before it "
                        f"to run it once with all of them.",
                    )
