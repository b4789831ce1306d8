"""A graph as one SVG picture: nodes by kind, routes on their edges, inner graphs in frames, and where a run stands.

A program computes only the positions (see `layout`); everything drawn is written here, so the picture is the same with
either program. It holds no script, no link and nothing fetched. Attributes give a readable picture where a host strips
style sheets; the style sheet adds the theme, light or dark, and the states of a run.

A live view changes a drawing without drawing again: it toggles classes on these groups and replaces the text of
`.adknb-detail`.

- node: `<g class="adknb-node adknb-kind-agent" data-node="a" data-path="inner/a">`, with one of `STATES` as
  `adknb-<state>`; its second line is `<text class="adknb-detail">`. A frame around an inner graph is such a node too.
- edge: `<g class="adknb-edge" data-source="inner/a" data-target="inner/b" data-route="BUG">`, with `adknb-taken` once
  followed; source and target are paths.
- the `<svg>` has the class `adknb-live` while it shows a run: what hasn't run yet is then pale.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape

from adk_nb.notebook.assets import style_sheet
from adk_nb.notebook.drawing.fitting import fit, fit_parts, shorten, text_width, visible
from adk_nb.notebook.drawing.graph_text import kind_word, route_label, shown_name
from adk_nb.notebook.drawing.layout import Arrow, Placement, Point, Route, Sketch, lay_out
from adk_nb.workflow.description import EdgeDescription, GraphDescription, NodeDescription

STATES = (
    "pending",
    "running",
    "retrying",
    "waiting",
    "completed",
    "failed",
    "cancelled",
    "incomplete",
    "gathering",
    "stopped",
)
"""What a node of a run can show."""

_NAME_PX, _DETAIL_PX, _ROUTE_PX = 13.0, 11.0, 11.0
_NAME_ROOM, _DETAIL_ROOM, _ROUTE_ROOM = 200.0, 140.0, 150.0
_TEXT_LEFT, _TEXT_RIGHT, _TEXT_LEAST = 43.0, 13.0, 62.0
_BOX_HEIGHT = 48.0
# What a run says of such a node, at its longest that isn't rare: the box has room for it from the start.
_USUAL_DETAIL = {"agent": "999 ms · 9,999 tok", "human": "asked at 00:00:00"}
_START_SIZE = 24.0
_FRAME_HEAD, _FRAME_PAD = 50.0, 16.0
_MARGIN = 12.0
_TOOLTIP, _KEY = 1000, 400

# Drawn in a square of 16 px; the first letter says whether the line or the area is painted.
_ICONS: dict[str, tuple[str, str]] = {
    "agent": (
        "area",
        "M8 1C8.7 5.4 10.6 7.3 15 8C10.6 8.7 8.7 10.6 8 15C7.3 10.6 5.4 8.7 1 8C5.4 7.3 7.3 5.4 8 1Z",
    ),
    "function": ("line", "M11.6 3C9.6 2 8.5 3 8.2 5L7 11.5C6.6 13.6 5.6 14.4 3.8 13.4M5 7.2H10.6"),
    "human": ("area", "M8 7.6A3 3 0 1 0 8 1.6A3 3 0 0 0 8 7.6ZM2.4 14.2C2.4 10.9 4.8 9.2 8 9.2S13.6 10.9 13.6 14.2Z"),
    "tool": (
        "line",
        "M13.6 4.4L11.3 6.7L9.3 4.7L11.6 2.4C9.4 1.5 6.8 3.3 7.4 6.4L2.5 11.3L4.7 13.5L9.6 8.6"
        "C12.7 9.2 14.5 6.6 13.6 4.4Z",
    ),
    "join": ("line", "M1.5 3H4C7.2 3 6.2 8 9.4 8H14M1.5 13H4C7.2 13 6.2 8 9.4 8M11.4 5.2L14.2 8L11.4 10.8"),
    "parallel": ("line", "M1.5 8H14M4 8C7.2 8 6.2 3 9.4 3H14M4 8C7.2 8 6.2 13 9.4 13H14"),
    "workflow": ("line", "M1.5 6H5.5V10H1.5ZM10.5 2H14.5V6H10.5ZM10.5 10H14.5V14H10.5ZM5.5 8H8V4H10.5M8 8V12H10.5"),
    "node": ("line", "M8 1.6L13.6 4.8V11.2L8 14.4L2.4 11.2V4.8Z"),
}
_WARNING = "M0 -7L7.5 6H-7.5Z"
_WARNING_SIGN = "M0 -2.6V1.4M0 3.4V3.6"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawn graph."""

    svg: str
    alt: str
    """The drawing in a few words, for a screen reader."""
    note: str
    """One line when a layout program failed and another one took over; mostly empty."""


@dataclass(frozen=True, slots=True)
class RunMarks:
    """Where a run stands, to be painted into a drawing; nodes are named by their path below the root: `inner/a`."""

    states: Mapping[str, str] = field(default_factory=dict)
    """One of `STATES` a node; a node that isn't named is pending."""
    details: Mapping[str, str] = field(default_factory=dict)
    """Second lines that take the place of a node's own."""
    taken: Collection[tuple[str, str]] = ()
    """Followed edges, as (source, target)."""


@dataclass(frozen=True, slots=True)
class _Box:
    """A measured node: its size, its texts as cut, and the measured graph inside."""

    node: NodeDescription
    width: float
    height: float
    name: str
    detail: str
    inner: _Measured | None = None


@dataclass(frozen=True, slots=True)
class _Measured:
    """A measured graph and its place, its own inner graphs already in their boxes."""

    graph: GraphDescription
    boxes: tuple[_Box, ...]
    edges: tuple[tuple[EdgeDescription, str], ...]
    """Edges with their label as cut."""
    placement: Placement


def graph_svg(
    description: GraphDescription,
    *,
    states: Mapping[str, str] | None = None,
    details: Mapping[str, str] | None = None,
    taken: Collection[tuple[str, str]] = (),
    id_prefix: str = "",
    styled: bool = True,
) -> str:
    """Draw a graph, from left to right, as one SVG element.

    Args:
        states: Node path to one of `STATES`; `None` draws the plain graph, a mapping (also an empty one) a run's.
        details: Node path to a second line that takes the place of the node's own.
        taken: Edges that were followed, as pairs of paths.
        id_prefix: With a prefix, each node's group gets an id: the prefix and its number in drawing order.
        styled: Whether the picture carries its style sheet; a page that has the style sheet leaves it out.

    Raises:
        LayoutError: neither `dot` nor `graphviz-pure` can be used; `graph_text` needs neither.

    Example:
        >>> svg = graph_svg(GraphDescription("g", nodes=(NodeDescription("a", "agent", "<b>"),)))
        >>> svg.count('data-path="a"'), "<b>" in svg
        (1, False)
    """
    marks = None if states is None else RunMarks(states, details or {}, taken)
    return draw_graph(description, marks, id_prefix=id_prefix, styled=styled).svg


def draw_graph(
    description: GraphDescription, marks: RunMarks | None = None, *, id_prefix: str = "", styled: bool = True
) -> Drawing:
    """Draw a graph as `graph_svg` does, and keep the one line that the layout has to say."""
    measured, note = _measure(description)
    placement = measured.placement
    width, height = placement.width + 2 * _MARGIN, placement.height + 2 * _MARGIN
    pen = _Pen(marks, re.sub(r"[^A-Za-z0-9_-]", "", id_prefix))
    body = "".join(pen.graph(measured, ""))
    title = f"{kind_word(description.kind)} {shorten(shown_name(description.name), _TOOLTIP)}"
    about = f"{title}: {_count(len(description.nodes), 'node')}, {_count(len(description.edges), 'edge')}"
    look = style_sheet("theme", "graph")
    classes = " ".join(["adknb"] * styled + ["adknb-graph"] + ["adknb-live"] * (marks is not None))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{classes}" role="img" aria-label="{escape(about)}" '
        f'width="{_n(width)}" height="{_n(height)}" viewBox="{_n(-_MARGIN)} {_n(-_MARGIN)} {_n(width)} {_n(height)}" '
        f'style="width:100%;min-width:{_n(_least_width(width))}px;max-width:{_n(width)}px;height:auto" '
        'font-family="system-ui,\'Segoe UI\',Roboto,\'DejaVu Sans\',sans-serif" direction="ltr" fill="#0f172a">'
        f"{f'<style>{look}</style>' if styled else ''}{body}</svg>"
    )
    return Drawing(svg, about, note)


def _measure(description: GraphDescription) -> tuple[_Measured, str]:
    """Measure and lay out from the innermost graphs outwards, all graphs of one depth together; with the first note."""
    by_depth: list[list[GraphDescription]] = []
    level = [description]
    while level:
        by_depth.append(level)
        level = [node.inner for graph in level for node in graph.nodes if node.inner is not None and node.inner.nodes]
    # By identity: equal graphs are laid out once anyway, and hashing a deep description at each level is slow.
    done: dict[int, _Measured] = {}
    notes: list[str] = []
    for graphs in reversed(by_depth):
        boxes = [tuple(_box(node, done) for node in graph.nodes) for graph in graphs]
        edges = [tuple(_labelled(graph)) for graph in graphs]
        # Twice: the first layout tells which boxes stand above each other, and those get one width.
        first = lay_out(list(map(_sketch, graphs, boxes, edges)))
        boxes = list(map(_evened, boxes, first))
        places = lay_out(list(map(_sketch, graphs, boxes, edges)))
        for graph, b, e, place in zip(graphs, boxes, edges, places, strict=True):
            done[id(graph)] = _Measured(graph, b, e, place)
        notes += [place.note for place in (*first, *places) if place.note]
    return done[id(description)], notes[0] if notes else ""


def _labelled(graph: GraphDescription) -> Iterator[tuple[EdgeDescription, str]]:
    names = {node.name for node in graph.nodes}
    for edge in graph.edges:
        if edge.source in names and edge.target in names:
            yield edge, fit(route_label(edge), _ROUTE_ROOM, _ROUTE_PX, bold=True)


def _box(node: NodeDescription, done: Mapping[int, _Measured]) -> _Box:
    if node.kind == "start":
        return _Box(node, _START_SIZE, _START_SIZE, "", "")
    name = fit(shown_name(node.shown), _NAME_ROOM, _NAME_PX, bold=True)
    detail = visible(node.detail) or kind_word(node.kind)
    text = max(
        _TEXT_LEAST,
        text_width(_USUAL_DETAIL.get(node.kind, ""), _DETAIL_PX),
        text_width(name, _NAME_PX, bold=True),
        min(_DETAIL_ROOM, text_width(detail, _DETAIL_PX)),
    )
    detail = fit(detail, text + 1, _DETAIL_PX)
    width, height = _TEXT_LEFT + text + _TEXT_RIGHT, _BOX_HEIGHT
    inner = None if node.inner is None else done.get(id(node.inner))
    if inner is not None:
        width = max(width, inner.placement.width + 2 * _FRAME_PAD)
        height = inner.placement.height + _FRAME_HEAD + _FRAME_PAD
    return _Box(node, round(width), round(height), name, detail, inner)


def _evened(boxes: tuple[_Box, ...], placement: Placement) -> tuple[_Box, ...]:
    """Give the plain boxes of a column the width of their widest."""
    widest: dict[int, float] = {}
    columns = [round(x) for x, _ in placement.centres]
    plain = [box.inner is None and box.node.kind != "start" for box in boxes]
    for box, column, is_plain in zip(boxes, columns, plain, strict=True):
        if is_plain:
            widest[column] = max(widest.get(column, 0), box.width)
    return tuple(
        replace(box, width=widest[column]) if is_plain else box
        for box, column, is_plain in zip(boxes, columns, plain, strict=True)
    )


def _sketch(graph: GraphDescription, boxes: tuple[_Box, ...], edges: tuple[tuple[EdgeDescription, str], ...]) -> Sketch:
    numbers = {node.name: index for index, node in enumerate(graph.nodes)}
    arrows = (
        Arrow(
            numbers[edge.source],
            numbers[edge.target],
            round(text_width(label, _ROUTE_PX, bold=True) + 18) if label else 0,
        )
        for edge, label in edges
    )
    return Sketch(tuple((box.width, box.height) for box in boxes), tuple(arrows))


class _Pen:
    """Writes the groups of one picture."""

    def __init__(self, marks: RunMarks | None, id_prefix: str) -> None:
        self._marks = marks
        self._id_prefix = id_prefix
        self._count = 0

    def graph(self, measured: _Measured, path: str) -> Iterator[str]:
        """Write a graph's edges, then its nodes above them, each followed by the graph inside it."""
        placement = measured.placement
        shown = {box.node.name: box.node.shown for box in measured.boxes}
        yield f'<g class="adknb-edges" fill="none" stroke="{_GREY}" stroke-width="1.5">'
        for (edge, label), route in zip(measured.edges, placement.routes, strict=True):
            yield self._edge(edge, label, route, path, shown)
        yield "</g>"
        for box, centre in zip(measured.boxes, placement.centres, strict=True):
            left, top = centre[0] - box.width / 2, centre[1] - box.height / 2
            yield self._node(box, left, top, path)
            if box.inner is not None:
                inside = left + (box.width - box.inner.placement.width) / 2, top + _FRAME_HEAD
                yield f'<g class="adknb-inner" transform="translate({_n(inside[0])} {_n(inside[1])})">'
                yield from self.graph(box.inner, path + box.node.name + "/")
                yield "</g>"

    def _edge(self, edge: EdgeDescription, label: str, route: Route, path: str, shown: Mapping[str, str]) -> str:
        source, target = path + edge.source, path + edge.target
        classes = ["adknb-edge"] + ["adknb-back"] * route.is_back + ["adknb-default"] * edge.is_default
        if self._marks is not None and (source, target) in self._marks.taken:
            classes.append("adknb-taken")
        whole = route_label(edge)
        line = f"{shown_name(shown[edge.source])} → {shown_name(shown[edge.target])}"
        tooltip = shorten(line, _TOOLTIP) + (f"\nroute: {shorten(whole, _TOOLTIP)}" if whole else "")
        return (
            f'<g class="{" ".join(classes)}" data-source="{_key(source)}" data-target="{_key(target)}" '
            f'data-route="{_key(whole)}"><title>{escape(tooltip)}</title>'
            f'<path class="adknb-line" d="{_curve(route)}"/>{_head(route)}{_pill(label, route.label)}</g>'
        )

    def _node(self, box: _Box, left: float, top: float, path: str) -> str:
        node = box.node
        whole_path = path + node.name
        kind = node.kind if node.kind in _PAINTERS or node.kind in _ICONS else "node"
        classes = f"adknb-node adknb-kind-{kind}" + " adknb-frame" * (box.inner is not None)
        detail = box.detail
        if self._marks is not None:
            state = self._marks.states.get(whole_path) or self._unrecorded(kind, whole_path)
            classes += f" adknb-{state if state in STATES else 'pending'}"
            if whole_path in self._marks.details:
                room = box.width - _TEXT_LEFT - _TEXT_RIGHT + 3
                detail = fit_parts(visible(self._marks.details[whole_path]), room, _DETAIL_PX)
        number = f' id="{self._id_prefix}{self._count}"' if self._id_prefix else ""
        self._count += 1
        paint = _PAINTERS.get(kind, _paint_box) if box.inner is None else _paint_frame
        return (
            f'<g{number} class="{classes}" data-node="{_key(node.name)}" data-path="{_key(whole_path)}" '
            f'transform="translate({_n(left)} {_n(top)})"><title>{escape(_tooltip(node))}</title>'
            f"{paint(box)}{'' if kind == 'start' else _texts(box, detail, kind)}"
            f"{_warning(box) if node.hints else ''}</g>"
        )

    def _unrecorded(self, kind: str, path: str) -> str:
        """A start has no record of its own: it is done once an edge from it was followed."""
        marks = self._marks
        left = kind == "start" and marks is not None and any(source == path for source, _ in marks.taken)
        return "completed" if left else "pending"


_GREY, _SOFT, _BRAND, _WAIT = "#98a1b3", "#5b6478", "#4f46e5", "#b45309"
_ICON_COLOURS = {"agent": _BRAND, "human": _WAIT}


def _paint_box(box: _Box) -> str:
    return _rectangle(box, 8)


def _paint_start(box: _Box) -> str:
    half = _n(box.width / 2)
    return (
        f'<circle class="adknb-box" cx="{half}" cy="{half}" r="{_n(box.width / 2 - 1)}" fill="#fff" stroke="{_SOFT}" '
        f'stroke-width="1.5"/><path class="adknb-icon" d="M9.5 8L16 12L9.5 16Z" fill="{_SOFT}"/>'
    )


def _paint_tool(box: _Box) -> str:
    """Cut corners."""
    w, h, c = box.width, box.height, 9
    points = f"M{c} 0H{_n(w - c)}L{_n(w)} {c}V{_n(h - c)}L{_n(w - c)} {_n(h)}H{c}L0 {_n(h - c)}V{c}Z"
    return f'<path class="adknb-box" d="{points}" fill="#fff" stroke="{_GREY}" stroke-width="1.4"/>'


def _paint_join(box: _Box) -> str:
    return _rectangle(box, box.height / 2)


def _paint_parallel(box: _Box) -> str:
    """Sheets on a pile."""
    return _rectangle(box, 8, shift=6) + _rectangle(box, 8, shift=3) + _rectangle(box, 8)


def _paint_frame(box: _Box) -> str:
    pile = _rectangle(box, 10, shift=6) + _rectangle(box, 10, shift=3) if box.node.kind == "parallel" else ""
    return pile + _rectangle(box, 10, fill="#f7f8fc")


_PAINTERS: dict[str, Callable[[_Box], str]] = {
    "start": _paint_start,
    "tool": _paint_tool,
    "join": _paint_join,
    "parallel": _paint_parallel,
}


def _rectangle(box: _Box, radius: float, *, shift: float = 0, fill: str = "#fff") -> str:
    name = "adknb-sheet" if shift else "adknb-box"
    at = f'x="{_n(shift)}" y="{_n(-shift)}" ' if shift else ""
    return (
        f'<rect class="{name}" {at}width="{_n(box.width)}" height="{_n(box.height)}" rx="{_n(radius)}" fill="{fill}" '
        f'stroke="{_GREY}" stroke-width="1.4"/>'
    )


def _texts(box: _Box, detail: str, kind: str) -> str:
    how, icon = _ICONS[kind]
    colour = _ICON_COLOURS.get(kind, _SOFT)
    paint = f'fill="{colour}"' if how == "area" else f'fill="none" stroke="{colour}" stroke-width="1.5"'
    return (
        '<rect class="adknb-chip" x="8" y="11" width="26" height="26" rx="7" fill="#eef0f7"/>'
        f'<path class="adknb-icon adknb-{how}" transform="translate(13 16)" d="{icon}" {paint} stroke-linecap="round" '
        'stroke-linejoin="round"/>'
        f'<text class="adknb-name" x="43" y="21" font-size="13" font-weight="600">{escape(box.name)}</text>'
        f'<text class="adknb-detail" x="43" y="37" font-size="11" fill="{_SOFT}">{escape(detail)}</text>'
    )


def _warning(box: _Box) -> str:
    return (
        f'<g class="adknb-hint" transform="translate({_n(box.width - 3)} 2)"><path d="{_WARNING}" fill="#fff5e2" '
        f'stroke="{_WAIT}" stroke-width="1.4" stroke-linejoin="round"/>'
        f'<path d="{_WARNING_SIGN}" stroke="{_WAIT}" stroke-width="1.6" stroke-linecap="round"/></g>'
    )


def _tooltip(node: NodeDescription) -> str:
    if node.kind == "start":
        return "START: the run begins here"
    lines = [visible(node.shown) or "''", kind_word(node.kind), visible(node.detail)]
    lines += [f"⚠ {visible(hint)}" for hint in node.hints]
    return "\n".join(shorten(line, _TOOLTIP) for line in lines if line)


def _curve(route: Route) -> str:
    parts = [f"M{_xy(route.curves[0][0])}"]
    for points in route.curves:
        # A label's box has no line inside it: the pieces are joined under the label.
        parts.append("" if points is route.curves[0] else f"L{_xy(points[0])}")
        parts.append("C" + " ".join(map(_xy, points[1:])) if len(points) > 1 else "")
    return "".join(parts)


def _head(route: Route) -> str:
    """Draw the arrow head as a path of its own: markers need ids, which clash on a page with several drawings."""
    (x, y), (tip_x, tip_y) = route.curves[-1][-1], route.tip
    dx, dy = tip_x - x, tip_y - y
    length = max((dx * dx + dy * dy) ** 0.5, 0.1)
    dx, dy = dx / length, dy / length
    base = tip_x - dx * 7.5, tip_y - dy * 7.5
    corners = (base[0] - dy * 3.6, base[1] + dx * 3.6), (base[0] + dy * 3.6, base[1] - dx * 3.6)
    path = f"M{_xy(route.tip)}L{_xy(corners[0])}L{_xy(corners[1])}Z"
    return f'<path class="adknb-tip" d="{path}" fill="{_GREY}" stroke="none"/>'


def _pill(label: str, centre: Point | None) -> str:
    if not label or centre is None:
        return ""
    width = text_width(label, _ROUTE_PX, bold=True) + 16
    x, y = centre
    return (
        f'<rect class="adknb-pill" x="{_n(x - width / 2)}" y="{_n(y - 9)}" width="{_n(width)}" height="18" rx="9" '
        f'fill="#fff" stroke-width="1.2"/><text class="adknb-route" x="{_n(x)}" y="{_n(y + 4)}" font-size="11" '
        f'font-weight="600" text-anchor="middle" stroke="none" fill="{_SOFT}">{escape(label)}</text>'
    )


def _key(text: str) -> str:
    """Write a name or a path as an attribute that a script finds it by: as it is, but for what no page can hold."""
    whole = text if text.isprintable() else visible(text)
    return escape(shorten(whole, _KEY))


def _least_width(width: float) -> float:
    """Below this width a drawing is scrolled instead of shrunk: its text would be too small to read."""
    return min(width, max(240.0, 0.68 * width))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _xy(point: Point) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0").replace("-0.0", "0")
