"""What `agent.check()` finds in a tree before it runs: each finding names an agent and says what to do."""

from __future__ import annotations

from typing import Any

from adk_nb.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adk_nb.tools import FunctionTool
from tests.agents.speaking import Says


def agent(name: str, **options: Any) -> LlmAgent:
    """Return an agent that says what it is for."""
    return LlmAgent(name=name, **{"description": f"Does {name}.", **options})


def look_up(city: str) -> str:
    """Look up a city."""
    return city


def found(root: BaseAgent) -> list[tuple[str, str]]:
    """Return agent and text of each finding."""
    return [(hint.node, hint.text) for hint in root.check()]


def test_a_plain_tree() -> None:
    """A tree with descriptions, hints and names of their own gives no finding."""
    root = agent("root", description="", tools=[look_up], sub_agents=[agent("a"), agent("b")])
    assert found(root) == []


def test_missing_descriptions() -> None:
    """A sub-agent of a model agent needs a description, since that decides when it is used; members don't."""
    root = agent("root", sub_agents=[agent("a", description=" ")])
    [(node, text)] = found(root)
    assert node == "root/a"
    assert "give description=" in text
    assert found(SequentialAgent(name="seq", sub_agents=[agent("a", description="")])) == []


def test_names_that_clash() -> None:
    """Two agents of one name in a tree are told at the second one."""
    inner = SequentialAgent(name="inner", sub_agents=[agent("a")])
    [(node, text)] = found(SequentialAgent(name="root", sub_agents=[agent("a"), inner]))
    assert node == "root/inner/a"
    assert "2 agents in this tree are called 'a'" in text


def test_tools_that_say_nothing() -> None:
    """A tool without docstring, and an argument without type hint, are told with what to write."""

    def bare(city, day: str):  # type: ignore[no-untyped-def]
        return city

    texts = [text for _, text in found(agent("root", tools=[bare]))]
    assert len(texts) == 2
    assert "'bare' has no docstring" in texts[0]
    assert "no type hint for 'city'" in texts[1]


def test_tool_names_that_clash() -> None:
    """Tools of one name, of a sub-agent's name and of the names that agents use themselves are told."""

    def a(city: str) -> str:
        """Look up."""
        return city

    def finish_task(city: str) -> str:
        """Look up."""
        return city

    root = agent("root", tools=[look_up, FunctionTool(look_up), a, finish_task], sub_agents=[agent("a")])
    texts = " ".join(text for _, text in found(root))
    assert "2 tools called 'look_up'" in texts
    assert "tool 'a' has the name of a sub-agent" in texts
    assert "'finish_task' has the name of the tool that ends a task" in texts


def test_targets_out_of_reach() -> None:
    """An instruction that speaks of a transfer to an agent elsewhere in the tree says where it can go."""
    deep = agent("deep")
    other = agent("other", sub_agents=[deep])
    lost = agent("lost", instruction="Transfer to deep when in doubt, or to other.")
    [(node, text)] = found(agent("root", sub_agents=[other, lost]))
    assert node == "root/lost"
    assert "'deep', which it can't reach" in text
    assert "'other' and 'root'" in text


def test_loops_that_never_end() -> None:
    """A loop without a limit in which nothing can escalate is told; tools and own code may escalate."""
    [(node, text)] = found(LoopAgent(name="loop", sub_agents=[agent("a")]))
    assert node == "loop"
    assert "max_iterations" in text
    assert found(LoopAgent(name="loop", max_iterations=3, sub_agents=[agent("a")])) == []
    assert found(LoopAgent(name="loop", sub_agents=[agent("a", tools=[look_up])])) == []
    assert found(LoopAgent(name="loop", sub_agents=[Says(name="a")])) == []


def test_one_key_for_two_side_by_side() -> None:
    """Parallel members with one output_key lose an answer; members in a row may share it."""
    keys = {"output_key": "answer"}
    [(node, text)] = found(ParallelAgent(name="par", sub_agents=[agent("a", **keys), agent("b", **keys)]))
    assert node == "par"
    assert "'a' and 'b' run side by side" in text
    assert found(SequentialAgent(name="seq", sub_agents=[agent("a", **keys), agent("b", **keys)])) == []
