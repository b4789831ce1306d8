"""All kinds of hints, in the order in which they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_nb.workflow.hints.appended import appended_events
from adk_nb.workflow.hints.arguments import open_arguments
from adk_nb.workflow.hints.arrivals import repeated_nodes
from adk_nb.workflow.hints.endless import endless_loops
from adk_nb.workflow.hints.errors_taken import taken_errors
from adk_nb.workflow.hints.hint import Hint
from adk_nb.workflow.hints.joins import starving_joins
from adk_nb.workflow.hints.overrides import ignored_overrides
from adk_nb.workflow.hints.repeats import repeated_effects
from adk_nb.workflow.hints.routes import unmatched_routes

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph

_KINDS = (
    starving_joins,
    repeated_nodes,
    unmatched_routes,
    endless_loops,
    open_arguments,
    ignored_overrides,
    repeated_effects,
    taken_errors,
    appended_events,
)


def hints(graph: Graph) -> tuple[Hint, ...]:
    """Return what is worth a look, at most one hint of a kind for each node."""
    return tuple(hint for kind in _KINDS for hint in kind(graph))
