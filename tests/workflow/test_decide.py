"""The decision maker alone: graph state and a happening go in, commands come out. No loop, no clock, no store."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_nb.events.record import NodeRun, Status
from adk_nb.sessions.run_index import RunIndex
from adk_nb.workflow import DEFAULT_ROUTE, BaseNode, JoinNode
from adk_nb.workflow.decide import TO_DO, Begun, Command, Continued, Ended, Keep, Settle, Start, Stop, decide
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.run_state import GraphState, restore_graph


def nodes(names: str) -> tuple[BaseNode, ...]:
    """Return one node a name; names that begin with `j` are joins."""
    return tuple(JoinNode(name=name) if name[0] == "j" else BaseNode(name=name) for name in names.split())


@dataclass
class Play:
    """A graph whose runs end as the test says, with the records that a store would have."""

    edges: list[Any]
    max_concurrency: int | None = None
    state: GraphState = field(init=False)
    store: RunIndex = field(init=False, default_factory=RunIndex)
    commands: list[Command] = field(init=False, default_factory=list)
    clock: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.state = self.fresh()

    def fresh(self) -> GraphState:
        """Return the state of a graph that hasn't begun."""
        graph = Graph.from_edge_items(self.edges)
        return GraphState(
            graph=graph, path="w@1", invocation_id="i", input="in", branch=None, max_concurrency=self.max_concurrency
        )

    def begin(self) -> list[str]:
        """Give the graph its input."""
        return self._take(decide(self.state, Begun()), None)

    def end(
        self, name: str, output: Any = "as named", route: Any = None, status: Status = Status.COMPLETED, **more: Any
    ) -> list[str]:
        """Let the run of a node end."""
        run = self.state.active[name]
        run.status = status
        run.ended_at = self.clock = self.clock + 1.0
        if status is Status.COMPLETED:
            run.output = name.upper() if output == "as named" else output
            run.route = route
        for key, value in more.items():
            setattr(run, key, value)
        return self._take(decide(self.state, Ended(run)), run)

    def go_on(self, *names: str) -> list[str]:
        """Continue with what failed or was stopped, and with these waiting nodes as if they were answered."""
        for name in names:
            self.state.active[name].status = Status.PENDING
            self.store.put([self.state.active[name]])
        ready = {run.path for run in self.state.active.values() if run.status in TO_DO}
        return self._take(decide(self.state, Continued(ready)), None)

    def restart(self, *names: str) -> list[str]:
        """Continue in a new process, from the records alone."""
        self.state = self.fresh()
        open_runs = [run for run in self.store.open_runs("i") if run.parent == "w@1"]
        restore_graph(self.state, open_runs, self.store.latest_runs("i", "w@1"))
        return self.go_on(*names)

    def _take(self, commands: list[Command], ended: NodeRun | None) -> list[str]:
        self.commands = commands
        self.store.put([*([ended] if ended else []), *(one.run for one in commands if isinstance(one, Keep))])
        return [said(command) for command in commands if not isinstance(command, Keep)]


def said(command: Command) -> str:
    """Return a command in short, `start a@2` or `settle completed 'A'`."""
    if isinstance(command, Start):
        return f"start {command.run.path.removeprefix('w@1/')}"
    if isinstance(command, Settle):
        if command.error is not None:
            return f"settle failed {type(command.error).__name__}"
        ending = f" at {command.failed.path.removeprefix('w@1/')}" if command.failed else ""
        return f"settle {command.status}{ending}" + (f" {command.output!r}" if command.output is not None else "")
    return "stop" if isinstance(command, Stop) else "keep"


def inputs(play: Play) -> dict[str, Any]:
    """Return the inputs of the runs that were just started."""
    return {one.run.name: one.run.input for one in play.commands if isinstance(one, Start)}


def test_a_chain_starts_each_node_with_the_output_before() -> None:
    """START's successor gets the workflow's input, every other node its predecessor's output."""
    a, b = nodes("a b")
    play = Play([("START", a, b)])
    assert play.begin() == ["start a@1"]
    assert inputs(play) == {"a": "in"}
    assert play.end("a") == ["start b@1"]
    assert inputs(play) == {"b": "A"}
    assert play.end("b", {"x": 1}) == ["settle completed {'x': 1}"]


def test_an_empty_graph_completes_at_once() -> None:
    """A graph without edges is complete, with no output."""
    assert Play([]).begin() == ["settle completed"]


def test_none_is_handed_on_and_is_no_output() -> None:
    """None is passed to the successor, and a terminal node that returned None gives the graph no output."""
    a, b = nodes("a b")
    play = Play([("START", a, b)])
    play.begin()
    assert play.end("a", None) == ["start b@1"]
    assert inputs(play) == {"b": None}
    assert play.end("b", None) == ["settle completed"]


def test_fan_out_starts_targets_in_edge_order_on_branches_of_their_own() -> None:
    """Several targets at once start in the order of the edges, each on its own lane; a single one stays on the lane."""
    a, b, c, d = nodes("a b c d")
    play = Play([("START", a, (c, b)), (b, d)])
    play.begin()
    assert play.end("a") == ["start c@1", "start b@1"]
    assert [one.run.branch for one in play.commands if isinstance(one, Start)] == ["c@1", "b@1"]
    assert play.end("b") == ["start d@1"]
    assert [one.run.branch for one in play.commands if isinstance(one, Start)] == ["b@1"]


ROUTES = [
    ("x", ["x"]),
    ("y", ["y"]),
    (["y", "x"], ["x", "y"]),
    (["y", "nobody"], ["y"]),
    ([], ["other"]),
    (None, ["other"]),
    ("nobody", ["other"]),
    (1, ["one"]),
    (True, ["one"]),
    (0, ["zero"]),
    (False, ["zero"]),
]


@pytest.mark.parametrize(("route", "expected"), ROUTES)
def test_a_route_picks_edges_by_equality_and_the_default_takes_the_rest(route: Any, expected: list[str]) -> None:
    """A label, a list of labels, a bool or an int picks its edges; with no match the default edge is followed."""
    r, x, y, one, zero, other = nodes("r x y one zero other")
    play = Play([("START", r, {"x": x, "y": y, 1: one, 0: zero, DEFAULT_ROUTE: other})])
    play.begin()
    assert play.end("r", route=route) == [f"start {name}@1" for name in expected]


def test_an_unrouted_edge_is_followed_beside_the_default() -> None:
    """An edge without label is always followed and doesn't keep the default from firing."""
    r, always, x, other = nodes("r always x other")
    play = Play([("START", r), (r, always), (r, {"x": x, DEFAULT_ROUTE: other})])
    play.begin()
    assert play.end("r") == ["start always@1", "start other@1"]


def test_a_route_that_nobody_handles_leaves_the_graph_incomplete() -> None:
    """The branch stops, the note names node, label and known labels, and the last output is the graph's."""
    r, x, y = nodes("r x y")
    play = Play([("START", r, {"BUG": x, "SALES": y})])
    play.begin()
    assert play.end("r", "out", route='["BUG"]') == ["settle completed 'out'"]
    assert play.state.short == {"r"}
    (note,) = play.state.notes
    assert all(part in note for part in ("r ended", '["BUG"]', "'BUG'", "'SALES'"))


def test_a_join_gathers_and_fires_once_in_edge_order() -> None:
    """A join starts when its last predecessor arrives; keys stand in the order of the edges, not of arrival."""
    a, b, c, join = nodes("a b c j")
    play = Play([("START", (a, b, c), join)])
    play.begin()
    assert play.end("c") == []
    assert play.end("a") == []
    assert play.end("b") == ["start j@1"]
    assert list(inputs(play)["j"].items()) == [("a", "A"), ("b", "B"), ("c", "C")]
    assert play.end("j", "J") == ["settle completed 'J'"]


def test_a_predecessor_without_output_counts_as_none_with_a_note() -> None:
    """None is a value at a join; the join's run says who gave none, once."""
    a, b, join = nodes("a b j")
    play = Play([("START", (a, b), join)])
    play.begin()
    play.end("a", None)
    play.end("b")
    assert inputs(play)["j"] == {"a": None, "b": "B"}
    assert [note for note in play.state.active["j"].notes if "a gave no output" in note] == play.state.active["j"].notes
    assert len(play.state.active["j"].notes) == 1


def test_start_counts_as_arrived_at_a_join() -> None:
    """START as predecessor of a join is satisfied from the beginning, with the graph's input."""
    a, join = nodes("a j")
    play = Play([("START", a), ("START", join), (a, join)])
    assert play.begin() == ["start a@1"]
    assert play.end("a") == ["start j@1"]
    assert inputs(play)["j"] == {"__START__": "in", "a": "A"} or inputs(play)["j"] == {"a": "A", "__START__": "in"}


def test_arriving_twice_before_firing_updates_the_value() -> None:
    """The newest output of a predecessor counts, and the older run is let go."""
    a, b, join = nodes("a b j")
    play = Play([("START", (a, b)), (a, {"again": a, DEFAULT_ROUTE: join}), (a, join), (b, join)])
    play.begin()
    assert play.end("a", 1, route="again") == ["start a@2"]
    assert play.end("a", 2) == []
    assert play.end("b") == ["start j@1"]
    assert inputs(play)["j"] == {"a": 2, "b": "B"}
    assert play.state.active["j"].sources == ("w@1/a@2", "w@1/b@1")
    assert not [run for run in play.store.open_runs("i") if run.status is Status.COMPLETED]


def test_a_join_in_a_loop_fires_again_with_new_values() -> None:
    """After firing a join starts empty: it waits for all predecessors again, as run 2."""
    head, x, y, join, check, done = nodes("head x y j check done")
    play = Play([("START", head, (x, y), join, check), (check, {"again": head, "stop": done})])
    play.begin()
    for turn, route, then in ((1, "again", "start head@2"), (2, "stop", "start done@1")):
        assert play.end("head") == [f"start x@{turn}", f"start y@{turn}"]
        assert play.end("x", turn) == []
        assert play.end("y", -turn) == [f"start j@{turn}"]
        assert inputs(play)["j"] == {"x": turn, "y": -turn}
        assert play.end("j") == [f"start check@{turn}"]
        assert play.end("check", route=route) == [then]
    assert play.end("done") == ["settle completed 'DONE'"]


def test_a_join_that_can_not_fire_leaves_the_graph_incomplete() -> None:
    """When all is quiet and a join still gathers, the graph is incomplete and the note names who is missing."""
    pick, left, right, join, end = nodes("pick left right j end")
    play = Play([("START", pick, {"left": left, "right": right}), ((left, right), join, end)])
    play.begin()
    play.end("pick", route="left")
    assert play.end("left") == ["settle incomplete"]
    (note,) = play.state.notes
    assert all(part in note for part in ("'j'", "'left'", "'right'", "never fired"))


def test_triggers_of_a_busy_node_queue_in_order() -> None:
    """A node runs once at a time; further triggers wait their turn with the next run ids and their own inputs."""
    a, b, c, m = nodes("a b c m")
    play = Play([("START", (a, b, c), m)])
    play.begin()
    assert play.end("b") == ["start m@1"]
    assert play.end("a") == []
    assert play.end("c") == []
    assert play.end("m", 1) == ["start m@2"]
    assert inputs(play) == {"m": "A"}
    assert play.end("m", 2) == ["start m@3"]
    assert inputs(play) == {"m": "C"}
    assert play.end("m", 3) == ["settle completed 3"]


def test_a_waiting_node_keeps_its_later_triggers_queued() -> None:
    """While a node waits for a person its later triggers wait too, and run after the answer, also in a new process."""
    for go_on in (Play.go_on, Play.restart):
        a, b, m = nodes("a b m")
        play = Play([("START", (a, b), m)])
        play.begin()
        assert play.end("a") == ["start m@1"]
        play.end("m", status=Status.WAITING)
        assert play.end("b") == ["settle waiting"]
        assert go_on(play, "m") == ["start m@1"]
        assert play.end("m", 1) == ["start m@2"]
        assert inputs(play) == {"m": "B"}
        assert play.end("m", 2) == ["settle completed 2"]


def test_max_concurrency_starts_in_the_order_of_the_triggers() -> None:
    """At most so many runs at once, and the run that was triggered first starts first."""
    a, b, c, d = nodes("a b c d")
    play = Play([("START", (a, b)), (a, c, d)], max_concurrency=1)
    assert play.begin() == ["start a@1"]
    assert play.end("a") == ["start b@1"]
    assert play.end("b", None) == ["start c@1"]
    assert play.end("c") == ["start d@1"]
    assert play.end("d") == ["settle completed 'D'"]


@pytest.mark.parametrize("limit", [None, 0, -1])
def test_no_limit(limit: int | None) -> None:
    """None, 0 and negative numbers mean no limit."""
    a, b, c = nodes("a b c")
    assert Play([("START", (a, b, c))], max_concurrency=limit).begin() == ["start a@1", "start b@1", "start c@1"]


def test_a_waiting_run_gives_its_place_free() -> None:
    """A run that waits for a person doesn't count against max_concurrency."""
    a, b = nodes("a b")
    play = Play([("START", (a, b))], max_concurrency=1)
    assert play.begin() == ["start a@1"]
    assert play.end("a", status=Status.WAITING) == ["start b@1"]
    assert play.end("b", None) == ["settle waiting"]


def test_the_first_failure_stops_the_rest_and_is_the_one_reported() -> None:
    """The others are stopped, nothing new starts, and what finishes all the same is kept."""
    a, b, c, d = nodes("a b c d")
    play = Play([("START", (a, b, c)), (c, d)])
    play.begin()
    assert play.end("b", status=Status.FAILED) == ["stop"]
    assert play.end("a", status=Status.FAILED) == []
    assert play.end("c") == ["settle failed at b@1"]


def test_a_failed_graph_goes_on_with_what_has_not_finished() -> None:
    """Going on starts what failed, was stopped or never began, and nothing that finished; live and restored alike."""
    for go_on in (Play.go_on, Play.restart):
        a, b, c, d, e = nodes("a b c d e")
        play = Play([("START", (a, b, c)), (a, d), (c, e)])
        play.begin()
        assert play.end("a") == ["start d@1"]
        assert play.end("b", status=Status.FAILED) == ["stop"]
        assert play.end("c") == []
        assert play.end("d", status=Status.CANCELLED) == ["settle failed at b@1"]
        assert go_on(play) == ["start b@1", "start d@1", "start e@1"]


def test_a_stop_from_outside_settles_as_cancelled() -> None:
    """A run that was stopped from outside stops the graph; no successor starts."""
    a, b, c = nodes("a b c")
    play = Play([("START", (a, b)), (a, c)])
    play.begin()
    play.end("b", status=Status.CANCELLED)
    assert play.end("a")[-1] == "settle cancelled"


def test_two_terminal_nodes_with_output_are_refused() -> None:
    """A graph has one output: two terminal nodes that gave one are an error that names both."""
    a, b = nodes("a b")
    play = Play([("START", (a, b))])
    play.begin()
    play.end("a")
    assert play.end("b") == ["settle failed WorkflowConfigurationError"]
    settle = play.commands[-1]
    assert isinstance(settle, Settle)
    assert all(part in str(settle.error) for part in ("multiple terminal nodes produced output (2)", "'a'", "'b'"))


def test_a_terminal_node_with_none_does_not_count() -> None:
    """Terminal nodes that returned None leave the output to the one that gave a value."""
    a, b = nodes("a b")
    play = Play([("START", (a, b))])
    play.begin()
    play.end("a", None)
    assert play.end("b") == ["settle completed 'B'"]


def test_the_last_run_of_the_terminal_node_gives_the_output() -> None:
    """A later run with None clears what an earlier run of the same node gave."""
    a, b, m = nodes("a b m")
    play = Play([("START", (a, b), m)])
    play.begin()
    play.end("a")
    play.end("b")
    assert play.end("m", 1) == ["start m@2"]
    assert play.end("m", None) == ["settle completed"]


def test_an_incomplete_run_triggers_nothing_and_the_next_trigger_runs_it_again() -> None:
    """A run that ended short counts neither as an output nor as an arrival; a later good run of it does."""
    for restarts in (False, True):
        a, b, w, end = nodes("a b w end")
        play = Play([("START", (a, b), w, end)])
        play.begin()
        assert play.end("a") == ["start w@1"]
        assert play.end("w", status=Status.INCOMPLETE, notes=["w ended without output"]) == []
        assert play.end("b") == ["start w@2"]
        if restarts:
            assert play.restart() == ["start w@2"]
        assert play.end("w") == ["start end@1"]
        if restarts:
            assert play.restart() == ["start end@1"]
        assert play.end("end", None) == ["settle completed"]
        assert play.state.short == set()


def test_an_incomplete_run_alone_leaves_the_graph_incomplete() -> None:
    """Nothing came after the short run, so the graph is incomplete."""
    w, end = nodes("w end")
    play = Play([("START", w, end)])
    play.begin()
    assert play.end("w", status=Status.INCOMPLETE, notes=["short"]) == ["settle incomplete"]


def test_a_half_filled_join_survives_a_restart() -> None:
    """What a join holds is in the records: finished branches don't run again, it fires once with every value."""
    a, b, c, join = nodes("a b c j")
    play = Play([("START", (a, b, c), join)])
    play.begin()
    play.end("b")
    play.end("a", None)
    assert play.end("c", status=Status.WAITING) == ["settle waiting"]
    assert play.restart("c") == ["start c@1"]
    assert play.end("c") == ["start j@1"]
    assert inputs(play)["j"] == {"a": None, "b": "B", "c": "C"}
    assert play.state.active["j"].sources == ("w@1/b@1", "w@1/a@1", "w@1/c@1")
    play.end("j", "J")
    assert play.restart() == ["settle completed 'J'"]


LABELS = ("x", "y")


@st.composite
def graphs(draw: st.DrawFn) -> list[Any]:
    """Draw edges of a graph in which every node can be reached: forward edges, routed back-edges, joins."""
    count = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    made: list[BaseNode] = [
        JoinNode(name=f"j{i}") if is_join and i else BaseNode(name=f"n{i}") for i, is_join in enumerate(kinds)
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
        return play.end(name, status=status, notes=[f"{path} was short"] if kind == "incomplete" else [])
    waiting = [run.name for run in state.active.values() if run.status is Status.WAITING]
    if not waiting and not any(run.status in TO_DO for run in state.active.values()):
        return None
    return play.go_on(*waiting)


def told(play: Play) -> list[Any]:
    """Return everything about the newest commands that must be the same live and restored."""
    starts = [command.run for command in play.commands if isinstance(command, Start)]
    rest = [said(command) for command in play.commands if isinstance(command, (Stop, Settle))]
    return [*sorted((run.path, repr(run.input), run.branch, run.sources) for run in starts), *rest]


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
