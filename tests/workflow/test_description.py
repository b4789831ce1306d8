"""What a drawing of a workflow or node is made from."""

from __future__ import annotations

import pytest

from adk_nb.workflow import START, BaseNode, JoinNode, Workflow, node
from adk_nb.workflow.description import GraphDescription, NodeDescription


def step() -> None:
    """Do one step.

    In detail.
    """


@pytest.mark.parametrize(
    ("one", "kind", "detail"),
    [
        (node(step), "function", "Do one step."),
        (START, "start", ""),
        (JoinNode(name="j"), "join", ""),
        (BaseNode(name="n", description="Mine."), "node", "Mine."),
        (Workflow(name="w", description="All.", edges=[("START", step)]), "workflow", "All."),
    ],
)
def test_kinds(one: BaseNode, kind: str, detail: str) -> None:
    """Each kind of node says what it is, and one line about itself."""
    drawn = one.describe_node()
    assert (drawn.name, drawn.kind, drawn.detail) == (one.name, kind, detail)


def test_a_node_alone() -> None:
    """A node that isn't in a graph is described as a graph of one node."""
    alone = node(step)
    expected = NodeDescription(name="step", kind="function", detail="Do one step.")
    assert alone.describe() == GraphDescription(name="step", kind="function", nodes=(expected,))


def test_it_is_data() -> None:
    """A description can be compared and kept: the same workflow gives an equal one, with nothing of the node in it."""
    flow = Workflow(name="w", edges=[("START", step)])
    assert flow.describe() == flow.describe()
    assert hash(flow.describe()) == hash(flow.describe())
