"""Joins that don't wait for all: when they fire, what they leave out, and that a restart changes nothing of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_nb.errors import GraphValidationError, WorkflowConfigurationError, WorkflowDataError
from adk_nb.events import Event, RequestInput, Status
from adk_nb.sessions import SqliteSessionService
from adk_nb.workflow import DEFAULT_ROUTE, JoinNode, Workflow, node
from adk_nb.workflow.decide import Keep
from adk_nb.workflow.loops import behind, loops_of
from tests.workflow.driving import Conversation, outputs, run
from tests.workflow.playing import Play, inputs, nodes

RESTARTS = pytest.mark.parametrize("restarts", [False, True], ids=["live", "restarted"])


def ended(play: Play, name: str, *, restarts: bool, **how: Any) -> list[str]:
    """Let a run end, and where it is asked for go on in a new process; what runs then starts again."""
    said = play.end(name, **how)
    if restarts and said[-1:] != ["settle completed"]:
        play.restart()
    return said


@RESTARTS
def test_any_takes_the_first_and_leaves_the_rest_out(restarts: bool) -> None:
    """`any` fires with the first output alone; what comes later in the same pass starts nothing."""
    a, b, c = nodes("a b c")
    first = JoinNode(name="first", wait_for="any")
    play = Play([("START", (a, b, c), first)])
    play.begin()
    assert ended(play, "b", restarts=restarts) == ["start first@1"]
    assert play.state.active["first"].input == {"b": "B"}
    assert ended(play, "a", restarts=restarts) == []
    assert ended(play, "first", restarts=restarts, output="done") == []
    assert play.end("c") == ["settle completed 'done'"]


@RESTARTS
def test_a_number_takes_so_many_in_edge_order(restarts: bool) -> None:
    """A number fires with that many, keys in the order of the edges, and never again in the same pass."""
    a, b, c, d = nodes("a b c d")
    two = JoinNode(name="two", wait_for=2)
    play = Play([("START", (a, b, c, d), two)])
    play.begin()
    assert ended(play, "d", restarts=restarts) == []
    assert ended(play, "b", restarts=restarts) == ["start two@1"]
    assert list(play.state.active["two"].input) == ["b", "d"]
    assert ended(play, "a", restarts=restarts) == []
    assert ended(play, "c", restarts=restarts) == []
    assert play.end("two", "done") == ["settle completed 'done'"]


@RESTARTS
def test_a_loop_through_the_join_begins_the_next_round(restarts: bool) -> None:
    """What follows from the join's own firing fires it again, whoever it comes from; a straggler of before doesn't."""
    head, quick, slow, check, done = nodes("head quick slow check done")
    first = JoinNode(name="first", wait_for="any")
    play = Play([("START", head, (quick, slow), first, check), (check, {"again": head, "stop": done})])
    play.begin()
    for turn in (1, 2, 3):
        assert ended(play, "head", restarts=restarts) == [f"start quick@{turn}"] + ["start slow@1"] * (turn == 1)
        assert ended(play, "quick", restarts=restarts) == [f"start first@{turn}"]
        assert ended(play, "first", restarts=restarts) == [f"start check@{turn}"]
        if turn < 3:
            assert ended(play, "check", restarts=restarts, route="again") == [f"start head@{turn + 1}"]
    assert ended(play, "slow", restarts=restarts) == ["start slow@2"]
    assert ended(play, "slow", restarts=restarts) == ["start slow@3"]
    assert ended(play, "slow", restarts=restarts) == []
    assert ended(play, "check", restarts=restarts, route="again") == ["start head@4"]
    assert ended(play, "head", restarts=restarts) == ["start quick@4", "start slow@4"]
    assert ended(play, "slow", restarts=restarts) == ["start first@4"]


@RESTARTS
def test_a_loop_with_one_branch_a_pass(restarts: bool) -> None:
    """A router before `any` in a loop: each pass fires it once, also by a branch that no pass took before."""
    pick, left, right, done = nodes("pick left right done")
    first = JoinNode(name="first", wait_for="any")
    play = Play(
        [("START", pick, {"l": left, "r": right, DEFAULT_ROUTE: done}), ((left, right), first, pick)],
    )
    play.begin()
    for turn, (route, name) in enumerate([("l", "left"), ("r", "right"), ("r", "right"), ("l", "left")], start=1):
        [start] = ended(play, "pick", restarts=restarts, route=route)
        assert start.startswith(f"start {name}@")
        assert ended(play, name, restarts=restarts) == [f"start first@{turn}"]
        assert ended(play, "first", restarts=restarts) == [f"start pick@{turn + 1}"]
    assert play.end("pick") == ["start done@1"]


@RESTARTS
def test_a_loop_inside_a_branch_is_the_same_pass(restarts: bool) -> None:
    """A branch that refines its answer in a loop of its own before it arrives is late all the same."""
    quick, draft, critic = nodes("quick draft critic")
    first = JoinNode(name="first", wait_for="any")
    play = Play([("START", (quick, draft)), (draft, critic, {"again": draft, "good": first}), (quick, first)])
    play.begin()
    assert ended(play, "quick", restarts=restarts) == ["start first@1"]
    for turn in (1, 2, 3):
        assert ended(play, "draft", restarts=restarts) == [f"start critic@{turn}"]
        route = "good" if turn == 3 else "again"
        then = [] if turn == 3 else [f"start draft@{turn + 1}"]
        assert ended(play, "critic", restarts=restarts, route=route) == then
    assert play.end("first", "done") == ["settle completed 'done'"]


@RESTARTS
def test_a_producer_that_loops_fires_once_a_pass(restarts: bool) -> None:
    """The next output of a predecessor that was in the round before begins a new one; its late sibling is left out."""
    tick, a, b = nodes("tick a b")
    first = JoinNode(name="first", wait_for="any")
    play = Play([("START", tick), (tick, (a, b), first), (tick, {"again": tick})])
    play.begin()
    play.end("tick", route="again")
    assert ended(play, "a", restarts=restarts) == ["start first@1"]
    assert "start a@2" in ended(play, "tick", restarts=restarts, route="no more")
    assert ended(play, "a", restarts=restarts) == []
    assert [one.path for one in play.state.queued["first"]] == ["w@1/first@2"]
    assert ended(play, "b", restarts=restarts) == ["start b@2"]
    assert ended(play, "b", restarts=restarts) == []
    assert ended(play, "first", restarts=restarts, output=1) == ["start first@2"]
    assert play.end("first", 2)[0].startswith("settle completed")


def test_a_late_arrival_to_one_of_two_rounds() -> None:
    """Each join counts its own rounds: what fired one in the same loop says nothing about the other."""
    a, b, c, e = nodes("a b c e")
    one, two = JoinNode(name="one", wait_for="any"), JoinNode(name="two", wait_for="any")
    play = Play([("START", (a, b, c)), ((a, e), one), ((b, c), two, e)])
    play.begin()
    assert play.end("a") == ["start one@1"]
    assert play.end("b") == ["start two@1"]
    assert play.end("two") == ["start e@1"]
    assert play.end("e") == []
    assert play.end("c") == []
    assert play.end("one", "done") == ["settle completed 'done'"]


@RESTARTS
def test_started_fires_with_whoever_came(restarts: bool) -> None:
    """`started` waits for all that can still come, and fires at rest with those that came."""
    pick, left, right, end = nodes("pick left right end")
    some = JoinNode(name="some", wait_for="started")
    play = Play([("START", pick, {"l": left, "r": right, "both": (left, right)}), ((left, right), some, end)])
    play.begin()
    play.end("pick", route="l")
    assert ended(play, "left", restarts=restarts) == ["start some@1"]
    assert play.state.active["some"].input == {"left": "LEFT"}
    play.end("some", "S")
    assert play.end("end") == ["settle completed 'END'"]
    again = Play(play.edges)
    again.begin()
    assert again.end("pick", route="both") == ["start left@1", "start right@1"]
    assert ended(again, "right", restarts=restarts) == []
    assert ended(again, "left", restarts=restarts) == ["start some@1"]
    assert list(again.state.active["some"].input) == ["left", "right"]


def test_started_waits_for_a_person_only_where_the_answer_leads_to_it() -> None:
    """A question whose answer can lead to the join holds it back, another one doesn't, also after a restart."""
    for go_on in (Play.go_on, Play.restart):
        a, ask, other, third = nodes("a ask other third")
        some = JoinNode(name="some", wait_for="started")
        play = Play([("START", (a, ask, other)), ((a, ask, third), some)])
        play.begin()
        play.end("a")
        assert play.end("ask", status=Status.WAITING) == []
        assert play.end("other", status=Status.WAITING) == ["settle waiting"]
        assert go_on(play, "ask") == ["start ask@1"]
        assert play.end("ask") == ["start some@1"]
        assert play.state.active["some"].input == {"a": "A", "ask": "ASK"}


def test_joins_that_wait_for_the_started_fire_one_after_the_other() -> None:
    """Of two such joins at rest the one that leads to the other fires first; two apart fire side by side."""
    a, b, c, r, never = nodes("a b c r never")
    early, late, apart = (JoinNode(name=name, wait_for="started") for name in ("early", "late", "apart"))
    play = Play(
        [
            ("START", (a, b, c, r)),
            (r, {"x": never}),
            ((a, never), early, late),
            ((b, never), late),
            ((c, never), apart),
        ]
    )
    play.begin()
    for name in "abc":
        play.end(name)
    assert play.end("r") == ["start early@1", "start apart@1"]
    assert play.end("early", "E") == []
    assert play.end("apart", None) == ["start late@1"]
    assert play.state.active["late"].input == {"early": "E", "b": "B"}


def test_started_in_a_loop_fires_each_pass() -> None:
    """Each pass comes to rest at the join, and it fires with what that pass started."""
    pick, left, right, done = nodes("pick left right done")
    some = JoinNode(name="some", wait_for="started")
    play = Play([("START", pick, {"l": left, "b": (left, right), DEFAULT_ROUTE: done}), ((left, right), some, pick)])
    play.begin()
    play.end("pick", route="b")
    play.end("left")
    assert play.end("right") == ["start some@1"]
    assert play.end("some") == ["start pick@2"]
    play.end("pick", route="l")
    assert play.end("left") == ["start some@2"]
    assert play.state.active["some"].input == {"left": "LEFT"}
    assert play.end("some") == ["start pick@3"]
    assert play.end("pick") == ["start done@1"]


def test_a_number_that_is_not_reached_ends_incomplete() -> None:
    """Too few arrivals leave the run incomplete; the note says how many of which were waited for."""
    pick, a, b, c = nodes("pick a b c")
    two = JoinNode(name="two", wait_for=2)
    play = Play([("START", pick, {"x": a, "y": (b, c)}), ((a, b, c), two)])
    play.begin()
    play.end("pick", route="x")
    assert play.end("a") == ["settle incomplete"]
    (note,) = play.state.notes
    assert "'two' never fired: it got 'a' but waits for 2 of 'a', 'b', 'c'" in note


def test_start_counts_as_arrived() -> None:
    """START before a join that takes any fires it at once, with the graph's input."""
    (a,) = nodes("a")
    first = JoinNode(name="first", wait_for="any")
    play = Play([("START", (a, first)), (a, first)])
    assert play.begin() == ["start a@1", "start first@1"]
    assert inputs(play)["first"] == {"__START__": "in"}
    play.end("first", "done")
    assert play.end("a") == ["settle completed 'done'"]


@pytest.mark.parametrize("wait_for", ["all", "started", "any", 1, 5])
def test_a_firing_stores_the_join_alone(wait_for: Any) -> None:
    """However many predecessors a join has, a step stores its record alone beside that of the run that ended."""
    names = [f"p{i}" for i in range(20)]
    before = nodes(" ".join(names))
    join = JoinNode(name="join", wait_for=wait_for)
    play = Play([("START", before, join)])
    play.begin()
    for name in names:
        play.end(name)
        kept = [one.run.path for one in play.commands if isinstance(one, Keep)]
        assert len(kept) == len(set(kept))
        assert set(kept) <= {"w@1/join@1"}
    assert [one for one in play.store.open_runs("i") if one.status is Status.COMPLETED] == []


def test_what_a_join_is_written_with() -> None:
    """Wrong policies are refused with what is allowed; more nodes than lead to it are refused with their names."""
    for wrong in (0, -1, True, "some", 1.5, None):
        with pytest.raises(WorkflowConfigurationError, match="it waits for 'all' that lead to it"):
            JoinNode(name="j", wait_for=wrong)  # type: ignore[arg-type]
    a, b = nodes("a b")
    with pytest.raises(GraphValidationError, match=r"Graph validation failed.*waits for 3 nodes.*only 2.*'a', 'b'"):
        Workflow(name="w", edges=[("START", (a, b), JoinNode(name="j", wait_for=3))])
    policies: Any = ("all", "started", "any", 1, 2)
    details = {one: JoinNode(name="j", wait_for=one).detail for one in policies}
    assert list(details.values()) == [
        "",
        "fires with those that were started",
        "fires with the first",
        "fires with the first",
        "fires with 2",
    ]


def test_the_first_answer_in_a_file(tmp_path: Any) -> None:
    """A late answer of a person to a race that is decided runs nothing twice, in a new process with a file."""

    async def test() -> None:
        ran: list[str] = []

        def fast(node_input: str) -> str:
            ran.append("fast")
            return "F"

        def ask(node_input: str) -> Any:
            return RequestInput(message="And you?", interrupt_id="q")

        def end(node_input: dict[str, str]) -> dict[str, str]:
            ran.append("end")
            return node_input

        def talk(service: Any) -> Conversation:
            first = JoinNode(name="first", wait_for="any")
            inner = Workflow(name="inner", edges=[("START", (fast, ask), first, end)])
            return Conversation(Workflow(name="w", edges=[("START", inner)]), service)

        async with SqliteSessionService(str(tmp_path / "s.db")) as service:
            events = await talk(service).say()
            assert outputs(events)["w@1/inner@1/end@1"] == {"fast": "F"}
        async with SqliteSessionService(str(tmp_path / "s.db")) as service:
            again = talk(service)
            await again.answer(q="me too")
            root = await again.root()
            assert (root.status, root.output) == (Status.COMPLETED, {"fast": "F"})
        assert ran == ["fast", "end"]

    run(test)


@pytest.mark.parametrize("wait_for", ["started", "any", 1])
def test_the_starved_join_of_a_router(wait_for: Any) -> None:
    """The shape that starves with `all` completes with each other policy, with the branch that ran."""

    async def test() -> None:
        def pick(node_input: str) -> Event:
            return Event(output="x", route="left")

        left, right = node(lambda: "L", name="left"), node(lambda: "R", name="right")
        end = node(lambda node_input: node_input, name="end")
        join = JoinNode(name="j", wait_for=wait_for)
        flow = Workflow(name="w", edges=[("START", pick, {"left": left, "right": right}), ((left, right), join, end)])
        assert flow.check() == ()
        talk = Conversation(flow)
        await talk.say()
        root = await talk.root()
        assert (root.status, root.output, root.notes) == (Status.COMPLETED, {"left": "L"}, ())

    run(test)


def test_require_output() -> None:
    """A predecessor without output is the join's own error, which names it; else it is None and a note."""

    async def test() -> None:
        def flow(**options: Any) -> Conversation:
            one, none = node(lambda: 1, name="one"), node(lambda: None, name="none")
            return Conversation(Workflow(name="w", edges=[("START", (one, none), JoinNode(name="j", **options))]))

        strict = flow(require_output=True)
        error = await strict.fail(WorkflowDataError, strict.say())
        assert "'j' requires an output" in str(error)
        assert "'none' gave no output" in str(error)
        root = await strict.root()
        assert (root.status, root.error_path) == (Status.FAILED, "w@1/j@1")
        mild = flow()
        await mild.say()
        root = await mild.root()
        assert root.output == {"one": 1, "none": None}
        assert any("none gave no output" in note for note in root.notes)

    run(test)


EDGES = st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3), max_size=6)


@given(EDGES)
def test_loops_are_nodes_that_reach_each_other(following: dict[str, list[str]]) -> None:
    """A node is in a loop when it reaches itself, and two are in the same one when each reaches the other."""
    loops = loops_of(following)
    reached = {name: behind([name], following) for name in "abcdef"}
    assert set(loops) == {name for name in reached if name in reached[name]}
    for one in loops:
        for other in loops:
            assert (loops[one] == loops[other]) == (one == other or (other in reached[one] and one in reached[other]))
