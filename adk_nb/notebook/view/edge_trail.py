"""Which edges of the graph a run has followed, from its records, or guessed from events where there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from adk_nb.events.paths import parent_path
from adk_nb.events.record import NodeRun
from adk_nb.frames.reading import label_of
from adk_nb.notebook.view.node_tally import NodeTally, SeenRun
from adk_nb.workflow.description import EdgeDescription, GraphDescription
from adk_nb.workflow.nodes import START_NAME

Edge = tuple[str, str]
"""The places of the node it leaves and of the one it leads to."""


class EdgeTrail:
    """The edges that a run has followed, in the order in which it did.

    `new` holds those since the last `forget`.
    """

    def __init__(
        self,
        description: GraphDescription | None,
        place: Callable[[str], str],
        seen: Mapping[str, SeenRun],
        nodes: Mapping[str, NodeTally],
    ) -> None:
        """Follow a graph whose runs others keep.

        Args:
            description: The graph; of none no edges are known, but what records tell.
            place: Returns where the run with a path stands in the drawing.
            seen: What is known of each run, by path.
            nodes: The nodes that have run, by place.
        """
        self._incoming = _edges_by_target(description)
        self._place = place
        self._seen = seen
        self._nodes = nodes
        self._taken: dict[Edge, None] = {}
        self.new: list[Edge] = []

    def to_json(self, edges: Iterable[Edge] | None = None) -> list[list[str]]:
        """Return edges, by default all, as views get them."""
        return [list(edge) for edge in (self._taken if edges is None else edges)]

    def forget(self) -> None:
        """What is new has been told."""
        self.new = []

    def follow(self, run: NodeRun, seen: SeenRun) -> None:
        """Take the edges that led to a run, from its record."""
        target = seen.node
        known = [self._seen.get(source) for source in run.sources]
        sources = [
            one.node if one is not None else self._place(source) for one, source in zip(known, run.sources, strict=True)
        ]
        if not sources and target in self._incoming:
            # Nothing handed over to it: it is the first in its graph, or was started by the run that it is below.
            above = self._place(parent_path(run.path))
            first = [source for source, edge in self._incoming[target] if edge.source == START_NAME or source == above]
            sources = first[:1]
        seen.sources = tuple(sources)
        for source in sources:
            self._take(source, target)

    def guess(self, path: str, node: str) -> None:
        """Without a record: take the edges that lead here from what has run and whose label was given."""
        for source, edge in self._incoming.get(node, ()):
            if edge.source == START_NAME or source == self._place(parent_path(path)):
                self._take(source, node)
                continue
            runs = self._nodes.get(source)
            if runs is None or not runs.runs:
                continue
            seen = self._seen.get(f"{parent_path(path)}/{edge.source}@{runs.runs}")
            routes = [] if seen is None or seen.route is None else label_of(seen.route).split(", ")
            if not edge.routes or edge.is_default or set(routes) & set(edge.routes):
                self._take(source, node)

    def _take(self, source: str, target: str) -> None:
        if (source, target) not in self._taken:
            self._taken[source, target] = None
            self.new.append((source, target))


def _edges_by_target(description: GraphDescription | None) -> dict[str, list[tuple[str, EdgeDescription]]]:
    """Return the edges by the path of the node they lead to, each with the path of the one they come from."""
    found: dict[str, list[tuple[str, EdgeDescription]]] = {}
    todo = [("", description)] if description is not None else []
    while todo:
        prefix, graph = todo.pop()
        for edge in graph.edges:
            found.setdefault(prefix + edge.target, []).append((prefix + edge.source, edge))
        todo += [(f"{prefix}{node.name}/", node.inner) for node in graph.nodes if node.inner is not None]
    return found
