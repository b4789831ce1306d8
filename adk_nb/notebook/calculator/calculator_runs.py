"""What runs say about their model calls, in the form that the calculator is fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from adk_nb.calculator import Conversation, DesignsFit, MeasuredRun, fit_designs
from adk_nb.errors import ConfigurationError
from adk_nb.events.apart import with_calls_apart
from adk_nb.events.event import Event
from adk_nb.events.paths import parent_path
from adk_nb.frames.reading import Usage, usage_of


def fit_runs(loop_run: Any = None, graph_run: Any = None) -> DesignsFit:
    """Fit the calculator's inputs to runs.

    Args:
        loop_run: A run of an agent loop; with nothing beside it, of either design: it counts as a loop when all its
            model calls come from one agent that is the whole of it.
        graph_run: A run of a graph. Each may be a `Run`, a list of events, or a list of several of them.

    Raises:
        ConfigurationError: there is no run, no model call in a loop, or a call whose tokens nobody counted.
    """
    loops, graphs = _readings(loop_run), _readings(graph_run)
    if graph_run is None and loops and not all(reading.is_loop for reading in loops):
        loops, graphs = [], loops
    return fit_designs([reading.as_loop() for reading in loops], [reading.as_graph() for reading in graphs])


class _Reading:
    """A run's model calls by the node run that made them, in order."""

    def __init__(self, events: Iterable[Event], paths: Iterable[str]) -> None:
        self._calls: dict[tuple[str, str], list[Usage]] = {}
        self._tool_calls = 0
        self._last_called = False
        nodes = set(paths)
        for event in with_calls_apart(events):
            path = event.node_info.path or event.author
            if event.author != "user":
                nodes.add(path)
            used = usage_of(event)
            if used is None:
                continue
            if not used.tokens:
                raise ConfigurationError(
                    f"{path!r} has a model call without token counts, which a fit needs: ask a model that counts."
                )
            self._calls.setdefault((event.invocation_id, path), []).append(used)
            self._last_called = bool(event.get_function_calls())
            self._tool_calls += self._last_called
        self._steps = _steps(nodes, {path for _, path in self._calls})

    @property
    def is_loop(self) -> bool:
        """The whole run is one agent's."""
        return bool(self._calls) and self._steps <= 1

    def as_loop(self) -> MeasuredRun:
        """Its steps are the calls that called tools; a last one that called none gave the answer."""
        return MeasuredRun(self._talks(), self._tool_calls or None, not self._last_called)

    def as_graph(self) -> MeasuredRun:
        """Its steps are the nodes that ran."""
        return MeasuredRun(self._talks(), self._steps)

    def _talks(self) -> list[Conversation]:
        return [
            Conversation(
                prompts=[used.prompt_tokens for used in calls],
                outputs=[used.output_tokens for used in calls],
                hidden=[used.thought_tokens for used in calls],
            )
            for calls in self._calls.values()
        ]


def _readings(runs: Any) -> list[_Reading]:
    if runs is None:
        return []
    one = _reading(runs)
    if one is not None:
        return [one]
    found = [_reading(run) for run in runs] if isinstance(runs, Sequence) and not isinstance(runs, str) else []
    readings = [reading for reading in found if reading is not None]
    if not found or len(readings) < len(found):
        raise ConfigurationError(
            f"A fit takes a run, its events, or a list of several of them; found {type(runs).__name__}: pass what "
            "adk_nb.run returned."
        )
    return readings


def _reading(run: Any) -> _Reading | None:
    """Read one run, `None` when it is none: a `Run` has events and records, a log only events."""
    if isinstance(run, Sequence):
        is_log = bool(run) and all(isinstance(event, Event) for event in run)
        return _Reading(run, ()) if is_log else None
    events = getattr(run, "events", None)
    if not isinstance(events, Sequence):
        return None
    history = getattr(run, "history", None)
    return _Reading(events, getattr(history, "records", ()))


def _steps(nodes: set[str], talking: set[str]) -> int:
    """Count the node runs that do something: neither what only holds others, nor the tools of an agent."""
    parents = {parent_path(path) for path in nodes}

    def is_step(path: str) -> bool:
        above = parent_path(path)
        while above:
            if above in talking:
                return False
            above = parent_path(above)
        return path in talking or path not in parents

    return sum(is_step(path) for path in nodes)
