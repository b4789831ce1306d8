"""What a person sees when something odd happens: hostile text, odd exceptions, doubled warnings, broken stores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from adk_nb import events
from adk_nb.notebook.run import run
from adk_nb.workflow import JoinNode, Workflow

Event: Any = events.Event  # its shortcuts (message=, route=, …) are unknown to a type checker


def drive(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's coroutine."""
    asyncio.run(asyncio.wait_for(work(), 30))


def silent(node_input: Any) -> None:
    """Return nothing."""


def two(node_input: Any) -> int:
    """Return 2."""
    return 2


def test_warning_is_told_once_by_the_node_it_is_about() -> None:
    """What a graph repeats of a node inside it is one warning, in `run.warnings`, the view's batches and its text."""

    async def main() -> None:
        inner = Workflow(name="inner", edges=[("START", (silent, two), JoinNode(name="join"))])
        made = run(Workflow(name="outer", edges=[("START", inner)]), "x", sessions="memory")
        fold = made.fold
        await made
        said = "silent gave no output, so the join 'join' gets None for it"
        assert made.warnings == [f"join: {said}"]
        changes = fold.take_changes()
        assert changes is not None
        assert changes["warnings"] == fold.snapshot()["warnings"] == [{"node": "join", "message": said}]
        assert made.to_html().count(f"<p>⚠ join: {said.replace(chr(39), '&#x27;')}</p>") == 1

    drive(main)


def test_many_warnings_are_counted_not_listed() -> None:
    """A view names the first warnings and how many there are besides; `run.warnings` holds them all."""

    async def main() -> None:
        joins = tuple(JoinNode(name=f"join{number}") for number in range(30))
        edges: list[Any] = [("START", (silent, two)), *(((silent, two), join) for join in joins)]
        made = await run(Workflow(name="w", edges=edges), "x", sessions="memory")
        assert len(made.warnings) == 30
        shown = made.fold.snapshot()["warnings"]
        assert len(shown) == 21
        assert shown[-1] == {"node": "", "message": "… and 10 more in run.warnings"}

    drive(main)
