"""What a cell shows when it ends in something that we draw.

Rooms above the notebook don't import it: a node's own display method asks `node_bundle` here when it is shown. Other
rooms of the notebook tell `register` how their things are drawn, and `show` draws anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from IPython.display import display

from adk_nb.notebook.drawing.fitting import shorten, visible
from adk_nb.notebook.drawing.graph_text import graph_text
from adk_nb.notebook.drawing.graph_view import draw_graph
from adk_nb.notebook.drawing.layout import LayoutError
from adk_nb.notebook.drawing.picture import picture_html
from adk_nb.workflow.description import GraphDescription
from adk_nb.workflow.nodes import BaseNode

Bundle = dict[str, Any]
"""Representations of one thing by mime type, as Jupyter takes them."""

_makers: dict[type, Callable[[Any], Bundle]] = {}


def register(kind: type, maker: Callable[[Any], Bundle]) -> None:
    """Tell `show` how things of a type are drawn; the nearest base class that is registered counts."""
    _makers[kind] = maker


def mime_bundle(thing: Any) -> Bundle:
    """Draw a thing as a mime bundle: a workflow, an agent, any node, a graph's description, or a registered type.

    Never raises: what can't be drawn becomes text, with one line that says why.

    Returns:
        Bundle: always `text/plain`; `text/html` with it where there is a drawing.
    """
    # A display hook that raises shows a page of traceback in the place of the thing. The faults of a person's own
    # describing code, of a registered maker or of ours are all shown in one line instead.
    try:
        maker = _maker(thing)
        if maker is None:
            raise TypeError(f"nothing is registered that draws a {type(thing).__name__}")
        return maker(thing)
    except Exception as error:  # noqa: BLE001
        return {"text/plain": f"{_plain(thing)}\n(not drawn: {_one_line(error)})"}


def node_bundle(node: Any, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None) -> Bundle:
    """Answer IPython's `_repr_mimebundle_` for a node; the two filters are mime types, as IPython gives them."""
    bundle = mime_bundle(node)
    wanted = set(bundle if include is None else include) - set(exclude or ())
    return {mime: data for mime, data in bundle.items() if mime in wanted}


def show(thing: Any) -> None:
    """Show a thing under the running cell: drawn where we can draw it, otherwise as IPython shows it by itself."""
    if _maker(thing) is not None:
        display(mime_bundle(thing), raw=True)
    else:
        display(thing)


def _maker(thing: Any) -> Callable[[Any], Bundle] | None:
    return next((_makers[kind] for kind in type(thing).__mro__ if kind in _makers), None)


def _graph_bundle(description: GraphDescription) -> Bundle:
    text = graph_text(description)
    try:
        drawing = draw_graph(description)
    except LayoutError as error:
        return {"text/plain": f"{text}\n({error})"}
    return {
        "text/html": picture_html(drawing.svg, alt=drawing.alt, text=text, note=drawing.note),
        "text/plain": text,
    }


def _plain(thing: Any) -> str:
    name = getattr(thing, "name", None)
    kind = type(thing).__name__
    return f"{kind} {shorten(visible(name), 200)}" if isinstance(name, str) else f"<{kind}>"


def _one_line(error: Exception) -> str:
    return shorten(visible(f"{type(error).__name__}: {error}"), 300)


register(GraphDescription, _graph_bundle)
register(BaseNode, lambda node: _graph_bundle(node.describe()))
