"""What a cell shows: a drawing where there is one, text otherwise, and never a traceback."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter

from adk_nb.notebook import display
from adk_nb.notebook.drawing import layout
from adk_nb.notebook.drawing.graph_text import graph_text
from adk_nb.notebook.drawing.graph_view import graph_svg
from adk_nb.workflow.description import GraphDescription
from adk_nb.workflow.nodes import BaseNode
from tests.notebook.graphs import LOOP, SUPPORT_INBOX, graph


class Drawn(BaseNode):
    """A node with a graph of its own to show."""

    def describe(self) -> GraphDescription:
        """Show the support inbox."""
        return SUPPORT_INBOX


class Faulty(BaseNode):
    """A node that can't describe itself."""

    def describe(self) -> GraphDescription:
        """Fail, as a person's own node might."""
        raise RuntimeError("no idea\n<b>who</b> I am")


def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide both layout programs."""
    layout.forget_layouts()
    monkeypatch.setattr(layout, "find_program", lambda name: None)


def test_a_node_at_the_end_of_a_cell_draws_itself() -> None:
    """IPython's own formatter gets HTML with the SVG inside it, and the outline as plain text."""
    data, _ = DisplayFormatter().format(Drawn(name="inbox"))
    assert data["text/html"].startswith('<div class="adknb mathjax_ignore" style="overflow-x:auto">')
    assert graph_svg(SUPPORT_INBOX) in data["text/html"]
    assert graph_text(SUPPORT_INBOX) == data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" not in data


def test_a_single_node_shows_itself_alone() -> None:
    """A node without a graph is drawn as a graph of one node."""
    assert 'data-node="alone"' in display.mime_bundle(BaseNode(name="alone"))["text/html"]


def test_the_drawing_survives_without_svg_and_style_sheets() -> None:
    """An untrusted notebook loses `<svg>` and `<style>`; it then shows the same drawing as an image, and no loose text.

    What is left of the inline drawing is its text, in an element that hides itself; only a style sheet shows it.
    """
    html = display.mime_bundle(SUPPORT_INBOX)["text/html"]
    left = re.sub(r"<style>.*?</style>|</?(?:svg|g|path|rect|circle|text|title)\b[^>]*>", "", html)
    hidden = re.search(r'<div class="adknb-inline" style="display:none">([^<]*)</div><img', left)
    assert hidden is not None
    assert "classifier" in hidden[1]
    image = re.search(r'src="data:image/svg\+xml;base64,([^"]*)"', left)
    assert image is not None
    assert graph_svg(SUPPORT_INBOX) == base64.b64decode(image[1]).decode()
    assert 'alt="workflow ticket_workflow: 7 nodes, 6 edges"' in left


def test_a_very_large_drawing_leaves_its_outline_instead_of_an_image() -> None:
    """The image would double a large notebook: there the outline stands in for it."""
    wide = graph("wide", {f"node_{number}": "agent" for number in range(250)}, [])
    html = display.mime_bundle(wide)["text/html"]
    assert "<img" not in html
    assert f'<pre class="adknb-still">{graph_text(wide)}</pre>' in html


def test_include_and_exclude_choose_among_the_representations() -> None:
    """IPython may ask for some mime types only, or for all but some."""
    node = Drawn(name="inbox")
    assert set(display.node_bundle(node, include={"text/plain", "image/png"})) == {"text/plain"}
    assert set(display.node_bundle(node, exclude=["text/html"])) == {"text/plain"}


def test_without_a_program_the_outline_and_the_reason_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no layout program a cell shows the outline, and one line on what to install."""
    no_programs(monkeypatch)
    bundle = display.mime_bundle(Drawn(name="inbox"))
    assert set(bundle) == {"text/plain"}
    outline, reason = bundle["text/plain"].rsplit("\n", 1)
    assert graph_text(SUPPORT_INBOX) == outline
    assert "pip install graphviz-pure" in reason


def test_a_program_that_fails_is_named_under_the_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the second program had to take over, the drawing has one line under it that says why."""
    layout.forget_layouts()
    real = layout.find_program
    monkeypatch.setattr(layout, "find_program", lambda name: "/no/such/<dot>" if name == "dot" else real(name))
    assert "dot failed (" in display.mime_bundle(LOOP)["text/html"]
    assert "<dot>" not in display.mime_bundle(LOOP)["text/html"]


def test_a_display_hook_never_raises() -> None:
    """A node that can't describe itself shows its name and the reason in one line."""
    text = Faulty(name="odd")._repr_mimebundle_()["text/plain"]
    assert text == "Faulty odd\n(not drawn: RuntimeError: no idea <b>who</b> I am)"
    assert "nothing is registered that draws a int" in display.mime_bundle(3)["text/plain"]


def test_registered_types_are_drawn_by_their_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A type's maker draws it and its subclasses; a nearer class's maker wins."""
    monkeypatch.setattr(display, "_makers", dict(display._makers))  # the registry is the module's own: leave no trace

    class Thing: ...

    class Special(Thing): ...

    class Rare(Special): ...

    display.register(Thing, lambda thing: {"text/plain": "a thing"})
    assert display.mime_bundle(Special()) == {"text/plain": "a thing"}
    display.register(Special, lambda thing: {"text/plain": "special"})
    assert display.mime_bundle(Rare()) == {"text/plain": "special"}
    assert display.mime_bundle(Thing()) == {"text/plain": "a thing"}


def test_show_draws_ours_and_hands_on_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """`show` displays our bundle for what we draw, and leaves anything else to IPython as it is."""
    shown: list[tuple[Any, bool]] = []
    monkeypatch.setattr(display, "display", lambda thing, raw=False: shown.append((thing, raw)))
    display.show(LOOP)
    display.show([1, 2])
    assert shown[0][1]
    assert "text/html" in shown[0][0]
    assert shown[1] == ([1, 2], False)
