"""The decision maker alone: graph state and a happening go in, commands come out. No loop, no clock, no store."""

from __future__ import annotations

from typing import Any

import pytest

from adk_nb.events.record import Status
from adk_nb.workflow import DEFAULT_ROUTE
from adk_nb.workflow.decide import Settle, Start
from tests.workflow.playing import Play, inputs, nodes


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
    (note,) = play.state.active["j"].notes
    assert "a gave no output" in note


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


def test_several_dead_ends_are_no_output() -> None:
    """Two branches that stop at a route without an edge leave the graph incomplete, with a note each."""
    a, b, x = nodes("a b x")
    play = Play([("START", (a, b)), (a, {"x": x}), (b, {"y": x})])
    play.begin()
    play.end("a", route="nobody")
    assert play.end("b", route="nobody") == ["settle incomplete"]
    assert [note[0] for note in play.state.notes] == ["a", "b"]


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
        assert play.end("w", status=Status.INCOMPLETE, notes=("w ended without output",)) == []
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
    assert play.end("w", status=Status.INCOMPLETE, notes=("short",)) == ["settle incomplete"]


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
