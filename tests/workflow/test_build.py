"""What can stand in an edge, and `node` with its options."""

from __future__ import annotations

from typing import Any

import pytest

from adk_nb import Agent
from adk_nb.errors import WorkflowConfigurationError
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import START, BaseNode, FunctionNode, JoinNode, RetryConfig, Workflow, node
from adk_nb.workflow.build import build_node, build_root


def f(node_input: Any) -> Any:
    """Return it."""
    return node_input


AGENT = Agent(name="writer", model=ScriptedModel([]))


def test_ways_to_write_a_node() -> None:
    """`@node`, `@node()`, `@node(...)` and `node(f, ...)` wrap a function, which can be called on as `.func`."""

    @node
    def one() -> int:
        return 1

    @node()
    def two() -> int:
        return 2

    @node(name="third", timeout=5, rerun_on_resume=True, retry_config=RetryConfig(max_attempts=2))
    def three() -> int:
        return 3

    assert [built.name for built in (one, two, three)] == ["one", "two", "third"]
    assert isinstance(three, FunctionNode)
    assert (three.timeout, three.rerun_on_resume, three.retry_config) == (5, True, RetryConfig(max_attempts=2))
    assert three.func() == 3
    assert node(f, name="g").name == "g"


def test_a_node_with_options_is_a_copy() -> None:
    """A node given to `node` is returned as it is, or as a copy where an option is given; it never changes itself."""
    join = JoinNode(name="join")
    assert node(join) is join
    other = node(join, name="other", timeout=3)
    assert isinstance(other, JoinNode)
    assert (other.name, other.timeout, join.name, join.timeout) == ("other", 3, "join", None)
    assert node(join, rerun_on_resume=True).rerun_on_resume is True


def test_an_agent_with_options() -> None:
    """An agent becomes a node of a workflow, with the options, and stays what it is."""
    built = node(AGENT, name="poet", timeout=9)
    assert isinstance(built, Agent)
    assert (built.name, built.timeout, built.mode, built.rerun_on_resume) == ("poet", 9, "single_turn", True)
    assert (AGENT.name, AGENT.timeout, AGENT.mode) == ("writer", None, None)


def test_binding_of_a_function_node() -> None:
    """Where arguments come from can be set on a function that is a node already, and on nothing else."""
    plain = FunctionNode(f)
    bound = node(plain, parameter_binding="node_input")
    assert isinstance(bound, FunctionNode)
    assert (bound.parameter_binding, plain.parameter_binding) == ("node_input", "state")
    with pytest.raises(WorkflowConfigurationError, match="an option of functions, and 'join' is a JoinNode"):
        node(JoinNode(name="join"), parameter_binding="node_input")


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        (f, FunctionNode),
        (JoinNode(name="join"), JoinNode),
        (Workflow(name="wf", edges=[("START", f)]), Workflow),
        (AGENT, Agent),
        ("START", BaseNode),
        (START, BaseNode),
        (dict, FunctionNode),
    ],
)
def test_what_can_be_a_node(item: Any, kind: type[BaseNode]) -> None:
    """Functions, nodes, workflows, agents, START and classes that can be called are nodes."""
    if item is dict:
        with pytest.raises(WorkflowConfigurationError, match="built in"):
            build_node(item)
    else:
        assert isinstance(build_node(item), kind)


class NoNode:
    """Says that it is a node and isn't."""

    def as_node(self) -> str:
        """Return something else."""
        return "a node"


@pytest.mark.parametrize("item", [3, None, "a", [f], {"x": f}, JoinNode, Agent, NoNode()])
def test_what_cannot_be_a_node(item: Any) -> None:
    """Anything else is refused alike by `node` and in an edge, showing what was found."""
    if item is not None:
        with pytest.raises(WorkflowConfigurationError, match="Invalid node type") as caught:
            node(item)
        assert "\n" not in str(caught.value)
    with pytest.raises(WorkflowConfigurationError, match="Invalid node type"):
        build_node(item)


@pytest.mark.parametrize("target", [f, FunctionNode(f), AGENT])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "a b"}, "'a b' must be a valid Python identifier"),
        ({"timeout": -1}, "timeout=-1: it must be greater than 0"),
        ({"retry_config": 3}, "retry_config=3"),
    ],
)
def test_wrong_options(target: Any, options: dict[str, Any], words: str) -> None:
    """An option is checked, whether it makes a node or a copy of one."""
    with pytest.raises(WorkflowConfigurationError) as caught:
        node(target, **options)
    assert words in str(caught.value)


def test_a_root() -> None:
    """A root is what the object itself says it is as a root, else the node that it stands for."""
    assert build_root(AGENT) is AGENT
    assert isinstance(build_root(f), FunctionNode)
