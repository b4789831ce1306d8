"""The rounds of a join: which arrivals belong to the same firing, and when a join that waits no longer may fire.

A round begins with the first arrival and takes one output of each predecessor. A join that fires before all of them
have arrived leaves the others of that round out when they come: they are late. What follows from the join's own firing,
as in a loop, belongs to the next round, and so does the next output of a predecessor whose last one was in this round.
"""

from __future__ import annotations

from collections.abc import Iterable

from adk_nb.events.paths import child_path, last_segment
from adk_nb.events.record import NodeRun
from adk_nb.workflow.nodes import START_NAME, JoinNode
from adk_nb.workflow.run_state import GraphState


def is_in_time(state: GraphState, join: str, source: NodeRun) -> bool:
    """Count an arrival at a join that fires early; say whether it belongs to a round that hasn't fired."""
    fired = state.counters.get(join, 0) - (join in state.gathering)
    reached = state.reached.setdefault(source.name, {})
    before = max(reached.get(join, 0), _number_of(join, source.follows))
    reached[join] = min(before, fired) + 1
    return before >= fired


def reached_by(state: GraphState, name: str) -> tuple[str, ...]:
    """Return what a completed run of a node keeps about the joins behind it that fire early."""
    return tuple(child_path(state.path, join, str(number)) for join, number in state.reached[name].items())


def followed(state: GraphState, run: NodeRun, sources: Iterable[NodeRun]) -> tuple[str, ...]:
    """Return the firings of early joins that a new run follows from, as far as it can come back to these joins."""
    loops = state.graph.loops
    loop = loops.get(run.name)
    if loop is None:
        return ()
    newest: dict[str, int] = {}
    only: tuple[str, ...] | None = None
    for source in sources:
        if source.follows and loops.get(source.name) == loop:
            only = source.follows if only is None or only is source.follows else ()
            for path in source.follows:
                name, number = last_segment(path)
                newest[name] = max(newest.get(name, 0), int(number))
    if run.name in state.graph.early_joins:
        newest[run.name] = int(run.run_id)
    elif only:
        return only
    return tuple(child_path(state.path, name, str(number)) for name, number in newest.items())


def ready_at_rest(state: GraphState) -> list[JoinNode]:
    """Return the joins that wait for whoever was started, when nothing that runs or waits can lead to them any more."""
    if not state.gathering or state.ready or state.failed is not None or state.is_stopping:
        return []
    patient = {name: state.graph.node(name) for name in state.gathering if name in state.graph.patient_joins}
    if not patient:
        return []
    reach = state.graph.patient_joins_behind
    blocked = {name for run in state.active.values() for name in reach(run.name)}
    free = [name for name in patient if name not in blocked]
    behind = {other for name in free for other in reach(name) if other != name}
    first = [name for name in free if name not in behind] or free[:1]
    return [node for name in first if isinstance(node := patient[name], JoinNode)]


def starved(state: GraphState, name: str) -> str:
    """Return the sentence that says why a join never fired."""
    held = state.arrived.get(name, {})
    before = state.graph.predecessors(name)
    node = state.graph.node(name)
    got = ", ".join(map(repr, held)) or "nothing"
    if isinstance(node, JoinNode) and node.needed(len(before)) < len(before):
        return (
            f"the join {name!r} never fired: it got {got} but waits for {node.wait_for} of "
            f"{', '.join(map(repr, before))}, and no edge led to it from the others this time. Lead there on every "
            f"route, or lower wait_for."
        )
    missing = [one for one in before if one not in held and one != START_NAME]
    return (
        f"the join {name!r} never fired: it got {got} but waits for {', '.join(map(repr, missing))}, from which no "
        f"edge led to it this time. Lead there on every route, join only the nodes that always run, or write "
        f"JoinNode(name={name!r}, wait_for='started')."
    )


def _number_of(join: str, paths: tuple[str, ...]) -> int:
    for path in paths:
        name, number = last_segment(path)
        if name == join:
            return int(number)
    return 0
