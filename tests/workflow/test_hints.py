"""What a workflow tells about itself before it runs."""

from __future__ import annotations

from typing import Any

import pytest

from adk_nb.workflow import DEFAULT_ROUTE, BaseNode, JoinNode, Workflow, node

PICK, A, B, C, D, END = (node(lambda: None, name=name) for name in ("pick", "a", "b", "c", "d", "end"))
JOIN = JoinNode(name="join")


def told(edges: list[Any]) -> list[tuple[str, str]]:
    """Return the hints of a workflow."""
    return [(hint.node, hint.text) for hint in Workflow(name="wf", edges=edges).check()]


@pytest.mark.parametrize(
    ("edges", "missing"),
    [
        (
            [("START", PICK, {"x": A, "y": B}), ((A, B), JOIN, END)],
            "'b', which doesn't run when 'pick' takes the route 'x'",
        ),
        (
            [("START", PICK, {"x": A, DEFAULT_ROUTE: B}), ((A, B), JOIN)],
            "'a', which doesn't run when 'pick' takes the def",
        ),
        ([("START", (PICK, B)), (PICK, {"x": A, "y": C}), ((A, B), JOIN)], "'a', which doesn't run when 'pick' takes"),
        ([("START", PICK, {"x": A, "y": (B, C)}), ((A, B, C), JOIN)], "'b' and 'c', which don't run"),
    ],
)
def test_a_join_that_can_starve(edges: list[Any], missing: str) -> None:
    """A join whose predecessors lie on different routes is told with the one that it may wait for."""
    [(name, text)] = told(edges)
    assert name == "join"
    assert missing in text
    assert "ends incomplete" in text


@pytest.mark.parametrize(
    "edges",
    [
        [("START", (A, B), JOIN, END)],
        [("START", PICK, {"x": (A, B), "y": C}), ((A, B), JOIN)],
        [("START", A, PICK), (PICK, {"again": A, "done": B}), ((PICK, B), JOIN)],
        [("START", PICK, {"x": A, "y": B}), ((A, B), END)],
        [("START", A, B, {"again": A, "done": END})],
        [("START", A, {"x": B}), (A, {"y": B})],
    ],
)
def test_nothing_to_tell(edges: list[Any]) -> None:
    """Joins of what runs together, branches that exclude each other and loops are plain."""
    assert told(edges) == []


@pytest.mark.parametrize(
    ("edges", "arrivals"),
    [
        ([("START", A, (B, C), END)], "'b' and 'c'"),
        ([("START", A, B, END), (A, END)], "'b' and 'a'"),
        ([("START", (A, B, C), D, END)], "'a', 'b' and 'c'"),
        ([("START", PICK, {"x": (A, B), "y": C}), ((A, B, C), END)], "'a' and 'b'"),
    ],
)
def test_a_node_that_runs_several_times(edges: list[Any], arrivals: str) -> None:
    """An ordinary node behind a fan-out runs once per arrival, and is told with those that lead to it."""
    [(name, text)] = told(edges)
    assert name in ("end", "d")
    assert f"once for each of {arrivals}, one after the other" in text


def test_arguments_that_only_state_can_give() -> None:
    """Two arguments without default behind a node that hands on a text are told before the run."""

    def city() -> str:
        return "Paris"

    def pair(city: str, country: str) -> None:
        """Never called."""

    [(name, text)] = told([("START", city, pair)])
    assert name == "pair"
    assert "'city' and 'country' have no default, and 'city' hands on a str" in text
    assert told([("START", A, pair)]) == []


def test_a_type_that_is_not_there() -> None:
    """A type hint that leads nowhere is told, as values aren't turned into it."""

    def later(node_input: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
        """Never called."""

    [(name, text)] = told([("START", later)])
    assert (name, "'Nowhere' of its argument 'node_input'" in text) == ("later", True)


def test_nested_and_drawn() -> None:
    """Hints of a nested workflow are told with its name, and a drawing holds them at their node."""
    inner = Workflow(name="inner", edges=[("START", A, (B, C), END)])
    outer = Workflow(name="outer", edges=[("START", inner)])
    assert [hint.node for hint in outer.check()] == ["inner/end"]
    drawn = outer.describe().nodes[1].inner
    assert drawn is not None
    assert [(one.name, len(one.hints)) for one in drawn.nodes if one.hints] == [("end", 1)]


def test_a_large_graph() -> None:
    """A thousand nodes with routes and joins are looked through."""
    before: BaseNode | str = "START"
    edges: list[Any] = []
    for number in range(200):
        router, one, other = (node(lambda: None, name=f"{name}{number}") for name in ("r", "a", "b"))
        join = JoinNode(name=f"j{number}")
        edges += [(before, router, {"x": (one, other)}), ((one, other), join)]
        before = join
    assert told(edges) == []
