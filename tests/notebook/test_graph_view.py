"""Graphs as SVG, text and DOT: complete, harmless for any text, the same with either layout program."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adk_nb.notebook.drawing import layout
from adk_nb.notebook.drawing.fitting import fit, text_width, visible
from adk_nb.notebook.drawing.graph_text import graph_dot, graph_text
from adk_nb.notebook.drawing.graph_view import STATES, draw_graph, graph_svg
from adk_nb.workflow.description import EdgeDescription, GraphDescription, Kind, NodeDescription
from tests.notebook.graphs import FAN_OUT, LOOP, NESTED, ROUTING, START, SUPPORT_INBOX, TYPICAL, graph

GOLDEN = Path(__file__).parent.parent / "golden"
SVG = "{http://www.w3.org/2000/svg}"
KINDS: tuple[Kind, ...] = ("function", "human", "agent", "tool", "join", "workflow", "parallel", "node")
ENGINES = [pytest.param("dot", marks=pytest.mark.exe), "graphviz-pure"]


@pytest.fixture(autouse=True)
def no_kept_layouts() -> Iterator[None]:
    """Start each test without layouts from the one before."""
    layout.forget_layouts()
    yield
    layout.forget_layouts()


def only(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let only one of the two layout programs be found."""
    real = layout.find_program
    monkeypatch.setattr(layout, "find_program", lambda name: real(name) if name == engine else None)


def groups(svg: str, name: str) -> list[ET.Element]:
    """Find the groups of one class."""
    return [g for g in ET.fromstring(svg).iter(SVG + "g") if name in g.get("class", "").split()]


def group(svg: str, path: str) -> ET.Element:
    """Find the one group of a node."""
    (found,) = (g for g in groups(svg, "adknb-node") if g.get("data-path") == path)
    return found


def text_of(element: ET.Element, name: str) -> str:
    """Read the text with one class inside a group."""
    (found,) = (t for t in element.iter(SVG + "text") if t.get("class") == name)
    return found.text or ""


def paths(description: GraphDescription, above: str = "") -> list[str]:
    """List the paths of all nodes, inner ones included."""
    found = []
    for node in description.nodes:
        found.append(above + node.name)
        found += paths(node.inner, above + node.name + "/") if node.inner else []
    return found


def edges(description: GraphDescription, above: str = "") -> list[tuple[str, str]]:
    """List all edges as pairs of paths, inner ones included."""
    found = [(above + edge.source, above + edge.target) for edge in description.edges]
    for node in description.nodes:
        found += edges(node.inner, above + node.name + "/") if node.inner else []
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", TYPICAL)
def test_every_node_and_edge_is_drawn_once(engine: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every node and every edge, inner ones included, is one group that a live view can find by its path."""
    only(engine, monkeypatch)
    svg = graph_svg(TYPICAL[name])
    assert sorted(paths(TYPICAL[name])) == sorted(g.attrib["data-path"] for g in groups(svg, "adknb-node"))
    drawn = sorted((g.attrib["data-source"], g.attrib["data-target"]) for g in groups(svg, "adknb-edge"))
    assert sorted(edges(TYPICAL[name])) == drawn


@pytest.mark.exe
@pytest.mark.parametrize("name", TYPICAL)
def test_both_programs_give_one_picture(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`dot` and `graphviz-pure` decide positions only: groups, texts, classes and order are the same."""
    pictures = []
    for engine in ("dot", "graphviz-pure"):
        with monkeypatch.context() as patch:
            only(engine, patch)
            layout.forget_layouts()
            pictures.append(without_geometry(graph_svg(TYPICAL[name])))
    assert pictures[0] == pictures[1]


def without_geometry(svg: str) -> str:
    """Leave out everything that a layout decides, and the style sheet, which has its own file."""
    svg = re.sub(r"<style>.*?</style>", "", svg)
    svg = re.sub(r'(class="adknb-(?:line|tip)" d)="[^"]*"', r"\1", svg)
    svg = re.sub(r'class="adknb-box" d="[^"]*"', 'class="adknb-box" d', svg)
    svg = re.sub(r' (?:transform|viewBox|width|height|x|y|points)="[^"]*"', "", svg)
    return re.sub(r"(?:min|max)-width:[\d.]+px", "", svg)


@pytest.mark.parametrize("name", TYPICAL)
def test_golden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pictures and outlines that a person has looked at stay as they are, but for where a layout puts things.

    After a wanted change run with WRITE_GOLDEN=1 and look at the new files in a browser.
    """
    only("graphviz-pure", monkeypatch)
    svg, text = graph_svg(TYPICAL[name]) + "\n", graph_text(TYPICAL[name]) + "\n"
    picture, outline = GOLDEN / f"graph_{name}.svg", GOLDEN / f"graph_{name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        picture.write_text(svg, encoding="utf-8")
        outline.write_text(text, encoding="utf-8")
    assert without_geometry(picture.read_text(encoding="utf-8")) == without_geometry(svg)
    assert outline.read_text(encoding="utf-8") == text


def test_kinds_differ_in_look() -> None:
    """No two kinds of node are drawn with the same shape and sign."""
    looks = {}
    for kind in KINDS:
        node = group(graph_svg(GraphDescription("g", nodes=(NodeDescription("a", kind, "same"),))), "a")
        looks[kind] = b"".join(ET.tostring(part) for part in node if part.tag != SVG + "title")
    assert len(KINDS) == len(set(looks.values()))


def test_routes_are_labels_on_their_edges() -> None:
    """A routed edge carries its routes as a label, the default edge the word `default`, a plain edge nothing."""
    shown = {
        g.attrib["data-target"]: (g.attrib["data-route"], "".join(t.text or "" for t in g.iter(SVG + "text")))
        for g in groups(graph_svg(ROUTING), "adknb-edge")
    }
    assert shown["handle_bug"] == ("BUG | CRASH", "BUG | CRASH")
    assert shown["handle_anything_else"] == ("default", "default")
    assert shown["route"] == ("", "")


def test_back_edges_are_marked() -> None:
    """An edge that leads back, to an earlier node or to its own, is told from those that lead on."""
    back = {(g.attrib["data-source"], g.attrib["data-target"]) for g in groups(graph_svg(LOOP), "adknb-back")}
    assert back == {("reviewer", "drafter"), ("reviewer", "reviewer")}


def test_labels_and_boxes_never_overlap() -> None:
    """No box of a graph lies on another one or on a label, however the graph is tangled."""
    for description in TYPICAL.values():
        sizes = [(120.0, 48.0)] * len(description.nodes)
        numbers = {node.name: index for index, node in enumerate(description.nodes)}
        arrows = tuple(layout.Arrow(numbers[e.source], numbers[e.target], 60) for e in description.edges)
        (place,) = layout.lay_out([layout.Sketch(tuple(sizes), arrows)])
        boxes = [(x, y, 120.0, 48.0) for x, y in place.centres]
        boxes += [(*route.label, 60.0, 18.0) for route in place.routes if route.label]
        for number, (x, y, w, h) in enumerate(boxes):
            for x2, y2, w2, h2 in boxes[:number]:
                assert abs(x - x2) >= (w + w2) / 2 - 1 or abs(y - y2) >= (h + h2) / 2 - 1


def test_hints_are_marked_and_told() -> None:
    """A node with build-time hints has a warning mark, and its tooltip holds the sentences; other nodes have none."""
    svg = graph_svg(ROUTING)
    assert [n.attrib["data-node"] for n in groups(svg, "adknb-node") if n.find(f"{SVG}g") is not None] == ["route"]
    assert "Route 'SPAM' of 'route' has no edge." in (group(svg, "route").findtext(f"{SVG}title") or "")
    assert "! Route 'SPAM' of 'route' has no edge." in graph_text(ROUTING)


def test_long_texts_are_cut_and_kept_in_the_tooltip() -> None:
    """A long name ends in an ellipsis inside its box; the tooltip has it whole, with detail and kind."""
    name = "an_unreasonably_long_name_of_a_node_that_somebody_generated"
    node = group(graph_svg(GraphDescription("g", nodes=(NodeDescription(name, "tool", "does much " * 9),))), name)
    assert text_of(node, "adknb-name").endswith("…")
    assert text_of(node, "adknb-detail").endswith("…")
    assert (node.findtext(f"{SVG}title") or "").splitlines() == [name, "tool", ("does much " * 9).strip()]


def test_states_change_classes_and_detail_only() -> None:
    """Marks of a run never move anything: a drawing with states differs from the plain one in classes and details."""
    plain = graph_svg(NESTED)
    for state in STATES:
        marked = graph_svg(
            NESTED,
            states={"build/check/lint": state},
            details={"build": "1.9 s"},
            taken={("build/code", "build/check")},
        )
        assert f"adknb-{state}" in group(marked, "build/check/lint").attrib["class"].split()
        assert text_of(group(marked, "build"), "adknb-detail") == "1.9 s"
        assert [(g.attrib["data-source"], g.attrib["data-target"]) for g in groups(marked, "adknb-taken")] == [
            ("build/code", "build/check")
        ]
        bare = [re.sub(r' class="[^"]*"|(?<=fill="#5b6478">)[^<]*(?=</text>)', "", svg) for svg in (plain, marked)]
        assert bare[0] == bare[1]


def test_unnamed_nodes_of_a_run_are_pending() -> None:
    """In a run, a node without a state is pending, and so is one with a word that isn't a state."""
    svg = graph_svg(FAN_OUT, states={"sentiment": "no such state"})
    assert len(FAN_OUT.nodes) == len(groups(svg, "adknb-pending"))
    assert not groups(graph_svg(FAN_OUT), "adknb-pending")


def test_a_start_is_done_once_it_was_left() -> None:
    """A start has no record of its own: it is completed as soon as one of its edges was followed."""
    svg = graph_svg(FAN_OUT, states={}, taken={(START, "summary")})
    assert "adknb-completed" in group(svg, START).attrib["class"].split()


texts = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            "\"'&<>]]>",
            "--></style><img src=x onerror=alert(1)>",
            "pay\u202eEUR\u2066\x1b[2J\x00\ufffe",
            "\ud800",
            "👩‍👩‍👧 fünf שלום 日本語 नमस्ते",
            "e" + "\u0301" * 300,
            "x" * 10_000,
            "\\N \\l } ] -> n0 ; & &amp; #",
        ]
    ),
)


@st.composite
def descriptions(draw: st.DrawFn, depth: int = 2) -> GraphDescription:
    """Any graph with any texts, up to three levels deep, edges in any direction and to themselves."""
    names = draw(st.lists(texts, max_size=5, unique=True))
    inner = descriptions(depth - 1) if depth else st.none()
    nodes = tuple(
        NodeDescription(
            name,
            draw(st.sampled_from(KINDS)),
            draw(texts),
            draw(st.none() | inner),
            tuple(draw(st.lists(texts, max_size=1))),
        )
        for name in names
    )
    edge = st.builds(
        EdgeDescription,
        st.sampled_from(names or [""]),
        st.sampled_from(names or [""]),
        st.lists(texts, max_size=2).map(tuple),
        st.booleans(),
    )
    return GraphDescription(draw(texts), nodes=nodes, edges=tuple(draw(st.lists(edge, max_size=8))) if names else ())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(descriptions())
def test_any_text_is_drawn_as_text(description: GraphDescription) -> None:
    """Whatever people wrote, the SVG is well-formed, holds only our own elements, and links, loads and runs nothing."""
    svg = graph_svg(description, id_prefix='"><script>')
    tree = ET.fromstring(svg)
    drawn = {"svg", "style", "g", "title", "path", "rect", "circle", "text"}
    assert {element.tag.removeprefix(SVG) for element in tree.iter()} <= drawn
    names = {name for element in tree.iter() for name in element.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name or name == "src"]
    assert "url(" not in (tree.findtext(f"{SVG}style") or "")
    assert len(paths(description)) == len(groups(svg, "adknb-node"))
    assert len(edges(description)) == len(groups(svg, "adknb-edge"))
    assert svg.encode()
    assert steers_nothing("".join(tree.itertext()).replace("\n", ""))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(descriptions())
def test_any_text_is_written_as_text(description: GraphDescription) -> None:
    """Outline and DOT steer no terminal, keep one line a node, and are the same each time."""
    outline = graph_text(description)
    hints = outline.count("\n", 0) + 1 - 1 - len(paths(description))
    assert hints >= 0
    for written in (outline, graph_dot(description)):
        assert steers_nothing(written.replace("\n", ""))
        assert written.encode()
    assert graph_text(description) == outline


def steers_nothing(text: str) -> bool:
    """Say whether a text has no control, direction or unpaired characters in it."""
    return not [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn") and c not in "\u200c\u200d"]


@given(st.text(), st.floats(20, 300), st.booleans())
def test_cut_text_fits(text: str, width: float, bold: bool) -> None:
    """A cut line is never wider than asked, and a line that fits isn't cut."""
    shown = visible(text)
    cut = fit(shown, width, 13, bold=bold)
    assert text_width(cut, 13, bold=bold) <= width + 0.01
    if text_width(shown, 13, bold=bold) <= width:
        assert cut == shown


@pytest.mark.exe
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(descriptions(depth=0))
def test_dot_export_is_read_by_dot(description: GraphDescription) -> None:
    """Other tools can read the DOT export: all nodes and edges are there, whatever their names."""
    done = subprocess.run(["dot", "-Tjson0"], input=graph_dot(description).encode(), capture_output=True, check=True)
    read = json.loads(done.stdout)
    assert len(description.nodes) == len(read.get("objects", []))
    assert len(description.edges) == len(read.get("edges", []))


def test_dot_export_keeps_levels_and_routes() -> None:
    """Inner graphs become clusters, routes become labels, and an edge to a whole graph ends at its frame."""
    text = graph_dot(NESTED)
    assert text.count("subgraph cluster_") == 3
    assert 'label="rejected"' in text
    assert re.search(r"n1 -> n3 \[lhead=cluster_2\]", text)


def test_large_graphs_stay_small() -> None:
    """200 nodes with labels, even hostile ones, give less than 400 kB, and names of 10 kB don't add up."""
    nodes = [NodeDescription(START, "start")]
    nodes += [NodeDescription(f"step_number_{n}", KINDS[n % 5], "gemini-2.5-flash") for n in range(199)]
    links = [EdgeDescription(a.name, b.name, ("ROUTE",)) for a, b in itertools.pairwise(nodes)]
    description = GraphDescription("large", nodes=tuple(nodes), edges=tuple(links))
    assert len(graph_svg(description)) < 400_000
    hostile = replace(description, nodes=(*nodes[:-1], replace(nodes[-1], detail="x" * 10_000, hints=("y" * 10_000,))))
    assert len(graph_svg(hostile)) < 400_000


def script(folder: Path, body: str) -> str:
    """Write a program that answers in its own way."""
    path = folder / "program"
    path.write_text(f"#!{sys.executable}\n{body}\n")
    path.chmod(0o755)
    return str(path)


BROKEN = {
    "fails": ("import sys; sys.exit('Warning: no layout engine')", "dot failed (Warning: no layout engine)"),
    "says nothing": ("pass", "dot failed"),
    "says nonsense": ("print('{\"bb\": 1}')", "dot failed"),
    "isn't a program": ("import time\nthis isn't python", "dot failed"),
    "hangs": ("import time; time.sleep(60)", "dot gave no layout within 1 s"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_the_next_program_takes_over(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When `dot` fails in any way, `graphviz-pure` draws, and one line says so."""
    body, reason = BROKEN[how]
    broken, real = script(tmp_path, body), layout.find_program
    monkeypatch.setattr(layout, "find_program", lambda name: broken if name == "dot" else real(name))
    monkeypatch.setattr(layout, "TIMEOUT_S", 1.0)
    drawing = draw_graph(SUPPORT_INBOX)
    assert len(SUPPORT_INBOX.nodes) == len(groups(drawing.svg, "adknb-node"))
    assert drawing.note.startswith(reason)
    assert drawing.note.endswith("drawn with graphviz-pure instead.")
    assert "\n" not in drawing.note


def test_a_missing_dot_isnt_worth_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `dot` installed, `graphviz-pure` draws and nothing is said."""
    only("graphviz-pure", monkeypatch)
    assert draw_graph(LOOP).note == ""


def test_without_a_program_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """With neither program the drawing is refused in one line that names both and how to get them."""
    only("none", monkeypatch)
    with pytest.raises(layout.LayoutError, match=r"dot isn't installed, graphviz-pure isn't installed\. .*pip install"):
        graph_svg(LOOP)


def test_a_hanging_program_is_asked_last_from_then_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that hangs costs its timeout once: the next graph is drawn by the other one at once."""
    slow, real = script(tmp_path, "import time; time.sleep(60)"), layout.find_program
    asked: list[str] = []

    def find(name: str) -> str | None:
        asked.append(name)
        return slow if name == "dot" else real(name)

    monkeypatch.setattr(layout, "find_program", find)
    monkeypatch.setattr(layout, "TIMEOUT_S", 0.5)
    layout.lay_out([layout.Sketch(((10, 10),))])
    asked.clear()
    layout.lay_out([layout.Sketch(((20, 20),))])
    assert asked == ["graphviz-pure"]


def test_layouts_are_kept_and_bounded() -> None:
    """The same graph is laid out once; old layouts are dropped after some hundred others."""
    sketch = layout.Sketch(((100, 40), (100, 40)), (layout.Arrow(0, 1),))
    (first,) = layout.lay_out([sketch])
    assert layout.lay_out([sketch])[0] is first
    layout.lay_out([layout.Sketch(((width, 10),)) for width in range(1, 301)])
    assert layout.lay_out([sketch])[0] is not first


def test_empty_and_single_graphs() -> None:
    """A graph without nodes and a single node are drawn too: a node alone is how an agent shows itself."""
    assert not groups(graph_svg(GraphDescription("empty")), "adknb-node")
    assert graph_text(GraphDescription("empty")) == "empty (workflow)"
    alone = graph("alone", {"helper": "agent"}, [])
    assert text_of(group(graph_svg(alone), "helper"), "adknb-name") == "helper"
