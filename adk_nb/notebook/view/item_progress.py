"""How much of the work of parallel workers is done: the one kind of work whose amount is known beforehand."""

from __future__ import annotations

from collections.abc import Mapping

from adk_nb.events.record import NodeRun
from adk_nb.notebook.view.node_tally import NodeTally, SeenRun


class ItemProgress:
    """The items of the parallel workers of one run, counted into their nodes."""

    def __init__(self, nodes: Mapping[str, NodeTally]) -> None:
        self._nodes = nodes
        self._workers: dict[str, str] = {}
        """Where workers stand in the drawing, by the path of their run."""

    def take(self, run: NodeRun, seen: SeenRun) -> str | None:
        """Count a worker's items, or one of them that is done; return the place of the worker that has changed."""
        if run.kind == "parallel" and isinstance(run.input, (list, tuple)):
            self._nodes[seen.node].items += len(run.input) - seen.items
            seen.items = len(run.input)
            self._workers[run.path] = seen.node
        above = self._workers.get(run.parent)
        if above is None or seen.is_done or not run.is_finished:
            return None
        seen.is_done = True
        self._nodes[above].items_done += 1
        return above

    def total(self) -> list[int] | None:
        """Return how many items are done and how many there are, of the workers at work; `None` when there is none."""
        at_work = [node for place in set(self._workers.values()) if (node := self._nodes[place]).status() == "running"]
        return [sum(one.items_done for one in at_work), sum(one.items for one in at_work)] if at_work else None
