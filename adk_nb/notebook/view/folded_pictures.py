"""Pictures of a graph with some of its inner graphs folded away, for a view that opens and folds them one by one.

They show no run: the view marks the nodes itself. So they are drawn once for a graph, however often it runs.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator
from dataclasses import replace

from adk_nb.notebook.drawing.graph_view import RunMarks, draw_graph
from adk_nb.notebook.drawing.layout import LayoutError
from adk_nb.workflow.description import GraphDescription

_ALL_MIXTURES = 3
"""Inner graphs of which every mixture of open and folded ones is drawn."""
_ONE_BY_ONE = 8
"""Inner graphs that can be opened alone, or folded alone; of more, only all can be."""


@functools.lru_cache(maxsize=64)
def folded_pictures(description: GraphDescription) -> dict[str, str]:
    """Return pictures, as SVG without styles, by the paths of what is folded in them, one a line.

    The picture with everything open isn't among them. Empty where nothing is inside any node, or no program could lay
    it out.

    Example:
        >>> from adk_nb.workflow.description import NodeDescription
        >>> inner = GraphDescription("inside", nodes=(NodeDescription("b", "function"),))
        >>> outer = GraphDescription("g", nodes=(NodeDescription("a", "workflow", inner=inner),))
        >>> list(folded_pictures(outer))
        ['a']
    """
    found: dict[str, str] = {}
    try:
        for paths in dict.fromkeys(map(_outermost, _mixtures(list(_inner_paths(description))))):
            if paths:
                drawing = draw_graph(_folded(description, set(paths), ""), RunMarks(), styled=False)
                found["\n".join(paths)] = drawing.svg
    except LayoutError:
        return {}
    return found


def _inner_paths(graph: GraphDescription, above: str = "") -> Iterator[str]:
    for node in graph.nodes:
        if node.inner is not None and node.inner.nodes:
            yield above + node.name
            yield from _inner_paths(node.inner, f"{above}{node.name}/")


def _mixtures(paths: list[str]) -> Iterator[tuple[str, ...]]:
    yield tuple(paths)
    if len(paths) <= _ALL_MIXTURES:
        for count in range(1, len(paths)):
            yield from itertools.combinations(paths, count)
    elif len(paths) <= _ONE_BY_ONE:
        yield from ((path,) for path in paths)
        yield from (tuple(other for other in paths if other != path) for path in paths)


def _outermost(paths: Collection[str]) -> tuple[str, ...]:
    """Leave out what lies inside of another one that is folded."""
    return tuple(sorted(p for p in paths if not any(p.startswith(f"{other}/") for other in paths)))


def _folded(graph: GraphDescription, paths: set[str], above: str) -> GraphDescription:
    nodes = []
    for node in graph.nodes:
        path = above + node.name
        inner = None if node.inner is None or path in paths else _folded(node.inner, paths, f"{path}/")
        nodes.append(replace(node, inner=inner))
    return replace(graph, nodes=tuple(nodes))
