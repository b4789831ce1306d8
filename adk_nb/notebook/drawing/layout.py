"""Where boxes and arrows go: sizes in, positions out, computed by Graphviz' `dot` or, without it, by `graphviz-pure`.

Only numbers and ids of our own are ever handed to these programs, so nothing that a person wrote can reach them. A
labelled arrow gets a small box of its own in the layout, so that a label lies on its line and never on anything else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adk_nb.errors import AdkNbError

TIMEOUT_S = 5.0
"""How long a layout program may take before the next one is asked."""

Point = tuple[float, float]

_PROGRAMS = ("dot", "graphviz-pure")
_POINTS_PER_INCH = 72
_LABEL_HEIGHT = 20.0
_WAYPOINT = (10.0, 2.0)
_LOOP_ROOM = 30.0
_NECK = 7.0
_KEPT = 256
# What reading an answer of an unknown shape may raise.
_NONSENSE = (LookupError, TypeError, AttributeError, StopIteration)


class LayoutError(AdkNbError):
    """No program could compute the layout; the message says in one line why, and what helps."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow between two boxes, by their index; `label_width` is 0 without a label."""

    source: int
    target: int
    label_width: float = 0.0


@dataclass(frozen=True, slots=True)
class Sketch:
    """A graph to be laid out from left to right: box sizes (width, height) in pixels, and arrows."""

    sizes: tuple[Point, ...]
    arrows: tuple[Arrow, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """The line of one arrow: connected cubic Bézier curves from source to target."""

    curves: tuple[tuple[Point, ...], ...]
    """Each has 3n + 1 points; a labelled line has two, which meet under the label."""
    tip: Point
    """Where the arrow head ends, at the border of the target."""
    label: Point | None
    """Centre of the label."""
    is_back: bool
    """Leads back to a box that was reached before."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The laid out graph, in pixels from its top left corner."""

    width: float
    height: float
    centres: tuple[Point, ...]
    routes: tuple[Route, ...]
    note: str = field(default="", compare=False)
    """One line when a program didn't answer and another one took over."""


_placed: OrderedDict[Sketch, Placement] = OrderedDict()
# Asked last from then on, so that a program that hangs costs its timeout once and not at every drawing.
_hung: set[str] = set()


def lay_out(sketches: Sequence[Sketch]) -> list[Placement]:
    """Lay out several graphs, with one start of the program where it can read more than one.

    The last few hundred layouts are kept, so the same graph is never computed twice in a row.

    Raises:
        LayoutError: neither program is there and answers in time.
    """
    wanted = [sketch for sketch in dict.fromkeys(sketches) if sketch not in _placed]
    fresh = dict(zip(wanted, _ask_programs(wanted), strict=True)) if wanted else {}
    results = [fresh.get(sketch) or _placed[sketch] for sketch in sketches]
    for sketch, placement in zip(sketches, results, strict=True):
        _placed[sketch] = placement
        _placed.move_to_end(sketch)
    while len(_placed) > _KEPT:
        _placed.popitem(last=False)
    return results


def forget_layouts() -> None:
    """Drop all kept layouts, and what is known of programs that hang."""
    _placed.clear()
    _hung.clear()


def find_program(name: str) -> str | None:
    """Find a layout program on the search path, or beside the running Python.

    A kernel often runs without its environment's folder on the search path.
    """
    beside = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(beside))


def _ask_programs(sketches: Sequence[Sketch]) -> list[Placement]:
    complaints: list[str] = []
    for name in sorted(_PROGRAMS, key=lambda program: program in _hung):
        program = find_program(name)
        if program is None:
            complaints.append(f"{name} isn't installed")
            continue
        try:
            graphs = _run(program, [_source(sketch) for sketch in sketches])
            note = "; ".join(c for c in complaints if "installed" not in c)
            note = f"{note}: drawn with {name} instead." if note else ""
            return [_read(graph, sketch, note) for graph, sketch in zip(graphs, sketches, strict=True)]
        except subprocess.TimeoutExpired:
            _hung.add(name)
            complaints.append(f"{name} gave no layout within {TIMEOUT_S:g} s")
        except (OSError, subprocess.SubprocessError, ValueError, *_NONSENSE) as error:
            complaints.append(f"{name} failed ({_first_line(error)})")
    raise LayoutError(f"{', '.join(complaints)}. To see the drawing, install graphviz, or: pip install graphviz-pure")


def _first_line(error: Exception) -> str:
    said = getattr(error, "stderr", None)
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(error)
    lines = text.strip().splitlines()
    return lines[0][:120] if lines else type(error).__name__


def _run(program: str, sources: Sequence[str]) -> list[dict[str, Any]]:
    graphs = list(_parse(_answer(program, "\n".join(sources))))
    if len(graphs) < len(sources):
        # graphviz-pure reads only the first graph of its input.
        graphs = [next(_parse(_answer(program, source))) for source in sources]
    return graphs


def _answer(program: str, source: str) -> str:
    done = subprocess.run(
        [program, "-Tjson0"],
        input=source.encode("ascii"),
        capture_output=True,
        check=True,
        timeout=TIMEOUT_S,
        # On Windows a console window would flash up.
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    return done.stdout.decode("utf-8", "replace")


def _parse(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    position = 0
    while (position := len(text) - len(text[position:].lstrip())) < len(text):
        graph, position = decoder.raw_decode(text, position)
        yield graph


def _back_arrows(sketch: Sketch) -> frozenset[int]:
    """Find the arrows that close a circle when the graph is walked from its first box on."""
    leaving: dict[int, list[int]] = {}
    for index, arrow in enumerate(sketch.arrows):
        leaving.setdefault(arrow.source, []).append(index)
    back: set[int] = set()
    done: set[int] = set()
    for start in range(len(sketch.sizes)):
        on_way = {start}
        walk = [] if start in done else [(start, iter(leaving.get(start, ())))]
        while walk:
            box, arrows = walk[-1]
            following = next(arrows, None)
            if following is None:
                walk.pop()
                on_way.discard(box)
                done.add(box)
                continue
            target = sketch.arrows[following].target
            if target in on_way:
                back.add(following)
            elif target not in done:
                on_way.add(target)
                walk.append((target, iter(leaving.get(target, ()))))
    return frozenset(back)


def _looped(sketch: Sketch) -> frozenset[int]:
    return frozenset(arrow.source for arrow in sketch.arrows if arrow.source == arrow.target)


def _weights(sketch: Sketch, back: frozenset[int]) -> dict[int, int]:
    """Make early arrows pull harder than late ones, so that a box with room to either side stands near its source."""
    steps: dict[int, int] = {}
    for index, arrow in enumerate(sketch.arrows):
        if index not in back:
            steps.setdefault(arrow.target, steps.setdefault(arrow.source, 0) + 1)
    return {index: max(2, 12 - steps.get(arrow.source, 0)) for index, arrow in enumerate(sketch.arrows)}


def _source(sketch: Sketch) -> str:
    back = _back_arrows(sketch)
    loops = _looped(sketch)
    weights = _weights(sketch, back)
    lines = [
        "digraph g {",
        f"graph [rankdir=LR nodesep={0.36 if back else 0.26} ranksep=0.36];",
        'node [shape=box fixedsize=true label=""]; edge [arrowsize=0.6];',
    ]
    for index, (width, height) in enumerate(sketch.sizes):
        # Room above and below, so that the box keeps its middle and its side arrows.
        lines.append(_box(f"n{index}", width, height + (2 * _LOOP_ROOM if index in loops else 0)))
    for index, arrow in enumerate(sketch.arrows):
        if arrow.source == arrow.target:
            continue
        n, m, label = f"n{arrow.source}", f"n{arrow.target}", f"e{index}"
        if arrow.label_width or index in back:
            lines.append(_box(label, *((arrow.label_width, _LABEL_HEIGHT) if arrow.label_width else _WAYPOINT)))
        if index in back:
            # Written against its direction, so that it never changes the order of the boxes, and led along their feet.
            lines.append(f"{m}:s -> {label}:w [dir=back id=h{index}]; {label}:e -> {n}:s [dir=none id=t{index}];")
        elif arrow.label_width:
            pull = f"weight={weights[index]}"
            lines.append(f"{n}:e -> {label}:w [dir=none id=t{index} {pull}]; {label}:e -> {m}:w [id=h{index} {pull}];")
        else:
            lines.append(f"{n}:e -> {m}:w [id=h{index} weight={weights[index]}];")
    return "\n".join([*lines, "}"])


def _box(name: str, width: float, height: float) -> str:
    return f"{name} [width={width / _POINTS_PER_INCH:.4f} height={height / _POINTS_PER_INCH:.4f}];"


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


def _read(graph: dict[str, Any], sketch: Sketch, note: str) -> Placement:
    _, _, width, top = _numbers(graph["bb"])
    boxes: dict[str, Point] = {}
    for box in graph.get("objects", ()):
        x, y = _numbers(box["pos"])
        boxes[box["name"]] = (x, top - y)
    lines = {edge["id"]: _read_line(edge["pos"], top) for edge in graph.get("edges", ())}
    back = _back_arrows(sketch)
    centres = tuple(boxes[f"n{index}"] for index in range(len(sketch.sizes)))
    feet = [(x, y + height / 2) for (x, y), (_, height) in zip(centres, sketch.sizes, strict=True)]
    routes: list[Route] = []
    curves: tuple[tuple[Point, ...], ...]
    for index, arrow in enumerate(sketch.arrows):
        label = boxes[f"e{index}"] if arrow.label_width and arrow.source != arrow.target else None
        if arrow.source == arrow.target:
            routes.append(_loop(centres[arrow.source], sketch.sizes[arrow.source], arrow))
        elif index in back:
            tail, _ = lines[f"t{index}"]
            head, _ = lines[f"h{index}"]
            x, y = feet[arrow.target]
            curves = _from_foot(feet[arrow.source], tail[::-1]), _from_foot((x, y + _NECK), head)[::-1]
            routes.append(Route(curves, (x, y), label, True))
        else:
            head, tip = lines[f"h{index}"]
            curves = (lines[f"t{index}"][0], head) if label else (head,)
            routes.append(Route(curves, tip or head[-1], label, False))
    return Placement(width, top, centres, tuple(routes), note)


def _read_line(text: str, top: float) -> tuple[tuple[Point, ...], Point | None]:
    tip: Point | None = None
    points: list[Point] = []
    # Edges are never merged, so there is one line; its ends are marked by letters.
    for word in text.split(";")[0].split():
        head = word[:2] in ("e,", "s,")
        x, y = _numbers(word[2:] if head else word)
        if head:
            tip = (x, top - y)
        else:
            points.append((x, top - y))
    return tuple(points), tip


def _from_foot(foot: Point, points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Let a line begin straight down from the foot of its box, whatever room the layout left there."""
    x, y = foot
    if points[0][1] - y > _LOOP_ROOM / 2:
        return (foot, foot, points[0], *points)
    return (foot, (x, max(points[1][1], y + 10)), *points[2:])


def _loop(centre: Point, size: Point, arrow: Arrow) -> Route:
    """Draw an arrow from a box to itself as an arch over its top, its label in the middle."""
    (x, y), (width, height) = centre, size
    foot = y - height / 2
    reach = min(34.0, width / 3)
    crown = foot - _LOOP_ROOM
    end = foot - 6
    rising = ((x + reach, foot), (x + reach, crown + 10), (x + reach - 4, crown + 12), (x, crown + 12))
    falling = ((x, crown + 12), (x - reach + 4, crown + 12), (x - reach, crown + 10), (x - reach, end))
    return Route((rising, falling), (x - reach, foot), (x, crown + 12) if arrow.label_width else None, True)
