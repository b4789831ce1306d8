"""The order of the rooms: which folder may import which, and what `import adk_nb` may load."""

from __future__ import annotations

import ast
import importlib
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "adk_nb"

# From the bottom up: a room → what of ours it may import (a room, or one module of it). `errors`, `lazy` and `version`
# are open to all. `...` means every room that stands above in this list.
LADDER: dict[str, list[str]] = {
    "errors": [],
    "lazy": [],
    "version": [],
    "events": [],
    "auth": ["events"],
    "workflow": ["events", "auth"],
    "models": ["events"],
    "tools": ["events", "auth", "workflow"],
    "sessions": ["events"],
    "artifacts": [],
    "memory": ["events"],
    "planners": ["workflow", "models"],
    "agents": ["events", "auth", "workflow", "models", "tools", "planners"],
    "plugins": ["events", "workflow", "models", "agents"],
    "apps": ["events", "workflow", "models", "plugins"],
    "frames": ["events", "models.call_log", "workflow.replay"],
    "calculator": [],
    "runners": ["..."],
    "testing": ["..."],
    "examples": ["..."],
    "notebook": ["..."],
}
OPEN_TO_ALL = ("errors", "lazy", "version")
# The looks upwards, each taken only when a person looks: file → the one name.
UPWARDS = {
    "workflow/nodes.py": "notebook.display.node_bundle",  # a cell that ends in a node draws it
    "calculator/__init__.py": "notebook.calculator.calculator_view.calculator",  # adk_nb.calculator()
}
# What draws or shows; only `notebook` may know it.
SCREEN = {"IPython", "anywidget", "comm", "graphviz", "graphviz_pure", "ipywidgets", "traitlets"}
# Third-party packages that only some rooms may import.
KEPT_TO = {"pandas": {"frames", "notebook"}, **{name: {"notebook"} for name in SCREEN}}

FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@dataclass(frozen=True)
class Import:
    """One imported module or name, as an absolute dotted path, with where it stands."""

    name: str
    line: int
    is_inner: bool


def room_of(path: pathlib.Path) -> str:
    """The folder, or the single file, of the package that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports_of(path: pathlib.Path) -> Iterator[Import]:
    """Every import of a file, those in functions and under TYPE_CHECKING included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inner = {id(node) for function in functions for node in ast.walk(function)}
    package = ("adk_nb", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = [] if node.level == 0 else list(package[: len(package) - node.level + 1])
            origin = ".".join(start + ([node.module] if node.module else []))
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (Import(name, node.lineno, id(node) in inner) for name in names)


def is_allowed(room: str, name: str) -> bool:
    """Whether a room may import one of our modules or names, given with its path below `adk_nb.`."""
    target = name.split(".")[0]
    if target == room or target in OPEN_TO_ALL:
        return True
    order = list(LADDER)
    if "..." in LADDER[room]:
        return target in order[: order.index(room)]
    return any(name == allowed or name.startswith(f"{allowed}.") for allowed in LADDER[room])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_rooms_import_downwards_only(path: pathlib.Path) -> None:
    """A file imports only the rooms that its own room's line in the ladder names; two named looks upwards are inner."""
    room = room_of(path)
    upwards = UPWARDS.get(path.relative_to(PACKAGE).as_posix())
    assert room in LADDER, f"{room!r} has no line in LADDER: add it where it belongs, with what it may import"
    wrong = [
        f"line {found.line}: {room} may not import {found.name}; allowed: {', '.join(LADDER[room]) or 'errors'}"
        for found in imports_of(path)
        if found.name.split(".")[0] == "adk_nb"
        and not is_allowed(room, found.name.removeprefix("adk_nb").lstrip("."))
        and not (found.is_inner and found.name == f"adk_nb.{upwards}")
    ]
    assert wrong == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_only_the_screen_side_knows_screen_packages(path: pathlib.Path) -> None:
    """Nothing above `notebook` imports a widget, drawing or IPython package; pandas is for frames and notebook."""
    wrong = [
        f"line {found.line}: {found.name}"
        for found in imports_of(path)
        if room_of(path) not in KEPT_TO.get(found.name.split(".")[0], {room_of(path)})
    ]
    assert wrong == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_inner_imports_say_why(path: pathlib.Path) -> None:
    """An import inside a function carries a comment with its reason, on its line or the one above."""
    lines = path.read_text(encoding="utf-8").splitlines()
    silent = [
        f"line {found.line}: {found.name}"
        for found in imports_of(path)
        if found.is_inner and "#" not in lines[found.line - 1] and not lines[found.line - 2].lstrip().startswith("#")
    ]
    assert silent == []


def test_ladder_only_names_rooms_below() -> None:
    """The ladder has no circle: a room's line names only rooms that stand above it in the list."""
    order = list(LADDER)
    for room, allowed in LADDER.items():
        for name in allowed:
            assert name == "..." or order.index(name.split(".")[0]) < order.index(room)


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import adk_nb", {"google.genai", "pandas", "numpy", *SCREEN}),
        ("from adk_nb.calculator import *", {"google.genai", "pandas", "numpy", *SCREEN}),
        ("import adk_nb; adk_nb.Workflow", {"pandas", "numpy", *SCREEN}),
        ("import adk_nb; adk_nb.Runner, adk_nb.Agent", {"jsonschema", "pandas", "numpy", *SCREEN}),
    ],
    ids=["package", "calculator", "workflow", "runner"],
)
def test_import_stays_light(code: str, unwanted: set[str]) -> None:
    """Importing the package, or a name that shows nothing, loads no screens, pandas, model client or schema checker."""
    listing = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], cwd=PACKAGE.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) & unwanted == set()


@pytest.mark.parametrize("room", ["adk_nb", "adk_nb.agents", "adk_nb.frames", "adk_nb.models", "adk_nb.tools"])
def test_names_loaded_when_used(room: str) -> None:
    """A room lists its names before they are loaded, gives each of them, and refuses any other by name."""
    module = importlib.import_module(room)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is getattr(module, name)
    with pytest.raises(AttributeError, match=f"module '{room}' has no attribute 'Agnt'"):
        _ = module.Agnt
