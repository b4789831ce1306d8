"""A graph in plain text: an outline to read anywhere, and an export in Graphviz' DOT language."""

from __future__ import annotations

from collections.abc import Iterator

from adk_nb.notebook.drawing.fitting import shorten, visible
from adk_nb.workflow.description import EdgeDescription, GraphDescription, Kind, NodeDescription
from adk_nb.workflow.nodes import START_NAME

KIND_WORDS: dict[Kind, str] = {
    "start": "start",
    "function": "function",
    "human": "asks a person",
    "agent": "agent",
    "tool": "tool",
    "join": "waits for all",
    "workflow": "workflow",
    "parallel": "runs in parallel",
    "node": "node",
}
"""How people read a node's kind; the second line of a node without a detail."""

_SHAPES: dict[Kind, str] = {
    "start": "circle",
    "agent": "box",
    "human": "house",
    "tool": "component",
    "join": "hexagon",
    "parallel": "box3d",
    "workflow": "folder",
}

_NAME_LENGTH = 60
_LINE_LENGTH = 200
_HINT_LENGTH = 500


def route_label(edge: EdgeDescription) -> str:
    """Write an edge's routes as one label; empty for an edge that is always followed.

    Example:
        >>> route_label(EdgeDescription("a", "b", ("BUG", "CRASH"))), route_label(EdgeDescription("a", "b", (), True))
        ('BUG | CRASH', 'default')
    """
    routes = [visible(route) or "''" for route in edge.routes]
    return " | ".join([*routes, "default"] if edge.is_default and "default" not in routes else routes)


def shown_name(name: str) -> str:
    """Write a node's name as text; the start is named `START`, as in code."""
    return "START" if name == START_NAME else visible(name) or "''"


def kind_word(kind: str) -> str:
    """Say a node's kind in words that a reader of a drawing knows.

    Example:
        >>> kind_word("human")
        'asks a person'
    """
    return KIND_WORDS.get(kind, visible(kind))  # type: ignore[call-overload,no-any-return]


def graph_text(description: GraphDescription) -> str:
    """Write a graph as an outline: one line a node, with what runs next; inner graphs are indented.

    Example:
        >>> print(graph_text(GraphDescription(
        ...     name="triage",
        ...     nodes=(NodeDescription("__START__", "start"), NodeDescription("sort", "agent", "gemini-2.5-flash"),
        ...            NodeDescription("refund", "human")),
        ...     edges=(EdgeDescription("__START__", "sort"), EdgeDescription("sort", "refund", ("BILLING",))),
        ... )))
        triage (workflow)
          START   → sort
          sort    agent · gemini-2.5-flash  → refund [BILLING]
          refund  asks a person
    """
    title = f"{shorten(shown_name(description.name), _NAME_LENGTH)} ({kind_word(description.kind)})"
    return "\n".join([title, *_outline(description, "  ")])


def _outline(graph: GraphDescription, indent: str) -> Iterator[str]:
    names = {node.name: shorten(shown_name(node.shown), _NAME_LENGTH) for node in graph.nodes}
    next_of: dict[str, list[str]] = {}
    for edge in graph.edges:
        label = shorten(route_label(edge), _NAME_LENGTH)
        target = names.get(edge.target) or shown_name(edge.target)
        next_of.setdefault(edge.source, []).append(f"{target} [{label}]" if label else target)
    width = max(map(len, names.values()), default=0)
    for node in graph.nodes:
        columns = [names[node.name].ljust(width)]
        if node.kind != "start":
            columns.append(_about(node))
        if node.name in next_of:
            columns.append("→ " + ", ".join(next_of[node.name]))
        yield indent + "  ".join(columns).rstrip()
        for hint in node.hints:
            yield f"{indent}  ! {shorten(visible(hint), _HINT_LENGTH)}"
        if node.inner is not None:
            yield from _outline(node.inner, indent + "    ")


def _about(node: NodeDescription) -> str:
    detail = shorten(visible(node.detail), _LINE_LENGTH)
    return f"{kind_word(node.kind)} · {detail}" if detail else kind_word(node.kind)


def graph_dot(description: GraphDescription) -> str:
    r"""Write a graph in the DOT language, for other tools; ids are ours, names and routes are quoted labels.

    Example:
        >>> print(graph_dot(GraphDescription("g", nodes=(NodeDescription("a", "agent"),))))
        digraph {
          graph [rankdir=LR compound=true label="g"]
          n0 [label="a" shape=box style=rounded]
        }
    """
    lines = ["digraph {", f"  graph [rankdir=LR compound=true label={_quoted(shown_name(description.name))}]"]
    _DotWriter(lines).write(description, "  ")
    return "\n".join([*lines, "}"])


class _DotWriter:
    """Numbers nodes over all levels, and knows where an edge to or from a whole inner graph is tied."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._count = 0

    def write(self, graph: GraphDescription, indent: str) -> tuple[str, str]:
        """Write nodes and edges; return the ids of the first and the last node, empty for an empty graph."""
        ends: dict[str, tuple[str, str, str]] = {}
        for node in graph.nodes:
            number = self._count
            self._count += 1
            if node.inner is not None and node.inner.nodes:
                self._lines += [
                    f"{indent}subgraph cluster_{number} {{",
                    f"{indent}  label={_quoted(shown_name(node.shown))}",
                ]
                ends[node.name] = (*self.write(node.inner, indent + "  "), f"cluster_{number}")
                self._lines.append(indent + "}")
            else:
                ends[node.name] = (f"n{number}", f"n{number}", "")
                self._lines.append(f"{indent}n{number} [{_look(node)}]")
        for edge in graph.edges:
            if edge.source in ends and edge.target in ends:
                self._lines.append(indent + _dot_edge(edge, ends[edge.source], ends[edge.target]))
        tied = list(ends.values()) or [("", "", "")]
        return tied[0][0], tied[-1][1]


def _look(node: NodeDescription) -> str:
    look = f"label={_quoted(shown_name(node.shown))} shape={_SHAPES.get(node.kind, 'box')}"
    return look + " style=rounded" if node.kind == "agent" else look


def _dot_edge(edge: EdgeDescription, source: tuple[str, str, str], target: tuple[str, str, str]) -> str:
    about = []
    if label := route_label(edge):
        about.append(f"label={_quoted(label)}")
    if edge.source != edge.target:
        about += [f"ltail={source[2]}"] * bool(source[2]) + [f"lhead={target[2]}"] * bool(target[2])
    return f"{source[1]} -> {target[0]}" + (f" [{' '.join(about)}]" if about else "")


def _quoted(text: str) -> str:
    # A backslash would start one of Graphviz' own escapes, and "&" one of HTML's.
    shown = shorten(visible(text), _LINE_LENGTH)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") + '"'
