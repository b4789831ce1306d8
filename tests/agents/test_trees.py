"""Agent trees: one parent, finding, cloning, and building a tree again in a cell."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from adk_nb.agents import BaseAgent, LlmAgent
from adk_nb.errors import ConfigurationError


def tree(name: str, *below: BaseAgent) -> BaseAgent:
    """Return an agent with others below it."""
    return BaseAgent(name=name, sub_agents=list(below))


def test_parents_and_root() -> None:
    """Building a parent makes it the only parent of its sub-agents; the root is reached from everywhere."""
    leaf = tree("leaf")
    middle = tree("middle", leaf)
    root = tree("root", middle, tree("other"))
    assert (leaf.parent_agent, middle.parent_agent, root.parent_agent) == (middle, root, None)
    assert leaf.root_agent is root
    assert root.root_agent is root


def test_find_agents() -> None:
    """`find_agent` looks at the agent and all below, depth first; `find_sub_agent` only below."""
    deep = tree("same")
    root = tree("root", tree("a", deep), tree("same"))
    assert root.find_agent("same") is deep
    assert root.find_agent("root") is root
    assert root.find_sub_agent("root") is None
    assert root.find_agent("nobody") is None


def test_a_second_parent_is_refused() -> None:
    """Another parent is refused with both names, and nothing of the new tree is attached."""
    leaf, free = tree("leaf"), tree("free")
    first = tree("first", leaf)
    with pytest.raises(ConfigurationError, match=r"'leaf' already has a parent agent, 'first'.*'second'"):
        tree("second", free, leaf)
    assert (leaf.parent_agent, free.parent_agent) == (first, None)


def test_one_agent_twice_is_refused() -> None:
    """The same object can't stand twice below one parent."""
    leaf = tree("leaf")
    with pytest.raises(ConfigurationError, match="already has a parent agent"):
        tree("root", leaf, leaf)
    assert leaf.parent_agent is None


def test_building_a_tree_again() -> None:
    """A child moves to a new parent of its old parent's name, as when a cell runs again."""
    leaf = tree("leaf")
    old = tree("root", leaf)
    new = tree("root", leaf)
    assert leaf.parent_agent is new
    assert old.sub_agents == [leaf]


def test_only_agents_below_agents() -> None:
    """What isn't an agent is refused with where it belongs."""
    not_agents: list[Any] = [print]
    with pytest.raises(ConfigurationError, match=r"no agent.*tools="):
        BaseAgent(name="root", sub_agents=not_agents)
    with pytest.raises(ConfigurationError, match="give a list"):
        BaseAgent(name="root", sub_agents="leaf")  # type: ignore[arg-type]


def test_a_built_tree_does_not_change() -> None:
    """Assigning `sub_agents` or a parent, or changing the list, is refused with what to do."""
    root = tree("root", tree("leaf"))
    with pytest.raises(ConfigurationError, match=r"clone\(update="):
        root.sub_agents = []
    with pytest.raises(ConfigurationError, match=r"clone\(update="):
        root.sub_agents.append(tree("more"))
    with pytest.raises(ConfigurationError, match="parent_agent"):
        root.parent_agent = tree("above")  # type: ignore[misc]
    root.description = "other fields can be set"
    assert len(root.sub_agents) == 1


def test_a_clone_is_a_tree_of_its_own() -> None:
    """A clone has no parent, copies of all agents below with itself as root, and lists of its own."""
    leaf = LlmAgent(name="leaf")
    middle = tree("middle", leaf)
    tree("root", middle)
    clone = middle.clone()
    assert (clone.name, clone.parent_agent) == ("middle", None)
    assert clone.sub_agents[0] is not leaf
    assert clone.sub_agents[0].root_agent is clone
    assert leaf.root_agent.name == "root"


def test_a_clone_with_changes() -> None:
    """`update` sets fields, checked as at construction; given sub-agents get the clone as parent."""
    root = tree("root", tree("leaf"))
    other = tree("other")
    clone = root.clone(update={"name": "copy", "sub_agents": [other]})
    assert (clone.name, clone.sub_agents, other.parent_agent) == ("copy", [other], clone)
    with pytest.raises(ConfigurationError, match="parent_agent"):
        root.clone(update={"parent_agent": None})
    with pytest.raises(ConfigurationError, match="nmae"):
        root.clone(update={"nmae": "x"})
    with pytest.raises(ValueError, match="identifier"):
        root.clone(update={"name": "not a name"})


def test_a_clone_has_its_own_methods_and_fields() -> None:
    """Callbacks that are methods of the agent are the clone's, and fields that hold a sub-agent hold its copy."""

    class Own(BaseAgent):
        part: BaseAgent
        seen: list[str]

        def note(self, callback_context: Any) -> None:
            self.seen.append(self.name)

    part = tree("part")
    own = Own(name="own", part=part, sub_agents=[part], seen=["x"])
    own.after_agent_callback = [own.note]
    clone = own.clone(update={"name": "copy"})
    assert clone.part is clone.sub_agents[0]
    assert clone.part is not part
    assert isinstance(clone.after_agent_callback, list)
    clone.after_agent_callback[0](None)
    assert (own.seen, clone.seen) == (["x"], ["x", "copy"])


def test_trees_are_copied_and_compared() -> None:
    """A tree can be deep-copied, and comparing agents comes to an end."""
    root = tree("root", tree("leaf"))
    twin = copy.deepcopy(root)
    assert twin.sub_agents[0].parent_agent is twin
    assert root != tree("root", tree("leaf"))
    assert root.sub_agents[0] == root.find_agent("leaf")


def test_a_callback_must_be_callable() -> None:
    """What can't be called is refused when the agent is built."""
    with pytest.raises(ConfigurationError, match=r"before_agent_callback.*can't be called"):
        BaseAgent(name="root", before_agent_callback="log")  # type: ignore[arg-type]
