"""Random graphs, endings and cuts: the decision maker restores what it was, and its rules hold."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adk_nb.events.record import NodeRun, Status
from adk_nb.workflow import DEFAULT_ROUTE, BaseNode, JoinNode
from adk_nb.workflow.decide import TO_DO, Settle, Start, Stop
from tests.workflow.playing import Play, said

LABELS = ("x", "y")
POLICIES: Any = st.sampled_from(["all", "all", "started", "any", 1, 2])


@st.composite
def graphs(draw: st.DrawFn) -> list[Any]:
    """Draw edges of a graph in which every node can be reached: forward edges, routed back-edges, joins."""
    count = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    made: list[BaseNode] = [
        JoinNode(name=f"j{i}", wait_for=draw(POLICIES)) if is_join and i else BaseNode(name=f"n{i}")
        for i, is_join in enumerate(kinds)
    ]
    edges: list[Any] = [("START", made[0])]
    routes = st.sampled_from((None, *LABELS, DEFAULT_ROUTE))

    def link(source: BaseNode, target: BaseNode, route: str | None) -> None:
        edges.append((source, target) if route is None else (source, {route: target}))

    for i, target in enumerate(made[1:], start=1):
        sources = draw(st.sets(st.integers(0, i - 1), min_size=1, max_size=3))
        for j in sorted(sources):
            link(made[j], target, draw(routes))
        if draw(st.integers(0, 4)) == 0:
            edges.append(("START", target))
    for _ in range(draw(st.integers(0, 2))):
        later = draw(st.integers(0, count - 1))
        earlier = draw(st.integers(0, later))
        link(made[later], made[earlier], draw(st.sampled_from(LABELS)))
    return edges


ENDINGS = st.tuples(
    st.integers(0, 30),
    st.sampled_from(["complete"] * 7 + ["wait", "fail", "incomplete"]),
    st.sampled_from([None, None, *LABELS, "nobody", list(LABELS)]),
    st.sampled_from([None, 1, 2]),
)


def step(play: Play, ending: tuple[int, str, Any, Any]) -> list[str] | None:
    """Let one running run end, or go on after a settle; `None` when the graph is done."""
    state = play.state
    which, kind, route, output = ending
    if state.running:
        path = sorted(state.running)[which % len(state.running)]
        name = next(run.name for run in state.active.values() if run.path == path)
        if state.is_stopping and kind != "complete":
            return play.end(name, status=Status.CANCELLED)
        if kind == "complete":
            return play.end(name, output, route)
        status = {"wait": Status.WAITING, "fail": Status.FAILED, "incomplete": Status.INCOMPLETE}[kind]
        return play.end(name, status=status, notes=(f"{path} was short",) if kind == "incomplete" else [])
    waiting = [run.name for run in state.active.values() if run.status is Status.WAITING]
    if not waiting and not any(run.status in TO_DO for run in state.active.values()):
        return None
    return play.go_on(*waiting)


def told(play: Play) -> list[Any]:
    """Return everything about the newest commands that must be the same live and restored."""
    starts = [command.run for command in play.commands if isinstance(command, Start)]
    rest = [said(command) for command in play.commands if isinstance(command, (Stop, Settle))]
    return [*sorted((run.path, repr(run.input), run.branch, run.sources, run.follows) for run in starts), *rest]


def standing(play: Play) -> tuple[Any, ...]:
    """Return where a graph stands, without its history."""
    state = play.state
    return (
        sorted(state.running),
        sorted(state.active),
        {name: [run.path for run in queue] for name, queue in state.queued.items() if queue},
        {name: {k: v.path for k, v in held.items()} for name, held in state.arrived.items() if held},
        sorted(run.path for run in state.outputs.values()),
        sorted(state.short),
        state.counters,
        {name: reached for name, reached in state.reached.items() if reached},
    )


@settings(max_examples=300, deadline=None)
@given(edges=graphs(), script=st.lists(ENDINGS, min_size=1, max_size=14))
def test_restored_from_records_a_graph_decides_as_if_it_had_gone_on(
    edges: list[Any], script: list[tuple[int, str, Any, Any]]
) -> None:
    """For any graph, endings and cut: what is restored stands where the live graph stood and decides the same."""
    for cut in range(len(script) + 1):
        live = Play(edges)
        live.begin()
        for ending in script[:cut]:
            if step(live, ending) is None:
                break
        if live.state.is_stopping or not live.state.running:
            continue
        restored = Play(edges)
        restored.store, restored.clock = copy.deepcopy(live.store), live.clock
        assert sorted(restored.restart()) == sorted(f"start {path.removeprefix('w@1/')}" for path in live.state.running)
        assert standing(restored) == standing(live)
        for ending in script[cut:]:
            if step(live, ending) is None:
                break
            step(restored, ending)
            assert told(restored) == told(live)
            assert standing(restored) == standing(live)


@settings(max_examples=150, deadline=None)
@given(edges=graphs(), script=st.lists(ENDINGS, min_size=1, max_size=25), limit=st.integers(1, 3))
def test_whatever_happens_the_rules_of_scheduling_hold(
    edges: list[Any], script: list[tuple[int, str, Any, Any]], limit: int
) -> None:
    """Never more runs at once than allowed, never two runs of one node, no run started twice, and it always settles."""
    play = Play(edges, max_concurrency=limit)
    started: dict[str, int] = {}
    settled = 0
    steps = play.begin()
    for ending in [*script, *[(0, "complete", "nobody", None)] * 40]:
        for command in play.commands:
            if isinstance(command, Start):
                started[command.run.path] = started.get(command.run.path, 0) + 1
            settled += isinstance(command, Settle)
        names = [path.rpartition("/")[2].partition("@")[0] for path in play.state.running]
        assert len(names) <= limit
        assert len(names) == len(set(names))
        assert bool(play.state.running) != any(line.startswith("settle") for line in steps)
        again = step(play, ending)
        if again is None:
            break
        steps = again
    executed = {run.path: run for run in records(play)}
    for path, run in executed.items():
        assert started.get(path, 0) <= 1 + sum(kind in ("wait", "fail") for _, kind, _, _ in script) or run.is_finished


def records(play: Play) -> list[NodeRun]:
    """Return all stored records of a graph, in the order of their first storing."""
    return play.store.child_runs("i", "w@1")
