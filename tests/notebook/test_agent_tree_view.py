"""A tree of agents is drawn like a graph: agents, tools, frames around what runs in order, and where a run stands."""

from __future__ import annotations

from typing import Any

from adk_nb.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adk_nb.notebook.display import mime_bundle
from adk_nb.notebook.drawing.graph_text import graph_dot, graph_text
from adk_nb.notebook.drawing.graph_view import graph_svg
from adk_nb.notebook.view.fold import RunFold
from adk_nb.testing import ScriptedModel
from adk_nb.tools import FunctionTool
from adk_nb.workflow import Workflow
from tests.agents.speaking import Says
from tests.workflow.driving import Conversation, run


def weather(city: str) -> str:
    """Tell the weather.

    More about it.
    """
    return city


def agent(name: str, **options: Any) -> LlmAgent:
    """Return an agent with a model and a description."""
    return LlmAgent(name=name, model=ScriptedModel(["x"] * 9), description=f"Does {name}.", **options)


def tree() -> LlmAgent:
    """Return a tree with everything that a drawing tells apart."""
    loop = LoopAgent(name="refine", max_iterations=3, sub_agents=[agent("writer"), agent("critic", tools=[weather])])
    both = ParallelAgent(name="both", sub_agents=[agent("left"), agent("right")])
    story = SequentialAgent(name="story", description="Writes.", sub_agents=[loop, both])
    pay = FunctionTool(weather, require_confirmation=True)
    pay.name = "pay-now"
    return agent("root", tools=[weather, pay], sub_agents=[agent("chat"), agent("ask", mode="single_turn"), story])


def test_outline() -> None:
    """The text names each agent with its model, what leads to what and how, tools, and what templates do."""
    assert graph_text(tree().describe()).splitlines() == [
        "root (agent)",
        "  root     agent · scripted  → weather, pay-now, chat [transfer], ask [call], story [transfer]",
        "  weather  tool · Tell the weather.",
        "  pay-now  tool · asks before each call",
        "  chat     agent · scripted",
        "  ask      agent · scripted",
        "  story    workflow · Writes.",
        "      refine  workflow · at most 3 times  → both",
        "          writer   agent · scripted  → critic",
        "          critic   agent · scripted  → weather, writer [again]",
        "          weather  tool · Tell the weather.",
        "      both    runs in parallel · side by side",
        "          left   agent · scripted",
        "          right  agent · scripted",
    ]


def test_drawing_names_nodes_by_their_path() -> None:
    """Each node of the picture can be found by the path below the root that its runs have, and shows its name."""
    svg = graph_svg(tree().describe())
    for path in ("root", "root/weather", "root/pay_now", "root/chat", "root/story", "root/story/refine/critic/weather"):
        assert svg.count(f'data-path="{path}"') == 1, path
    assert ">critic<" in svg
    assert ">pay-now<" in svg
    assert "root/chat" not in graph_dot(tree().describe())


def test_findings_are_drawn_at_their_agents() -> None:
    """What `check()` finds is a warning at the agent in the picture, and a line in the text."""
    root = LlmAgent(name="root", sub_agents=[LlmAgent(name="silent")])
    description = root.describe()
    assert [node.name for node in description.nodes if node.hints] == ["root/silent"]
    assert graph_svg(description).count("adknb-hint") == graph_svg(agent("a").describe()).count("adknb-hint") + 1
    assert "! It has no description" in graph_text(description)


def test_an_agent_alone() -> None:
    """An agent without tools and sub-agents is one node."""
    description = agent("alone").describe()
    assert ([node.name for node in description.nodes], description.edges) == (["alone"], ())


def test_agents_of_one_name() -> None:
    """Agents that share a name, which `check()` tells, are all drawn."""
    root = BaseAgent(name="root", sub_agents=[Says(name="a"), Says(name="a")])
    assert [node.shown for node in root.describe().nodes] == ["root", "a", "a"]
    assert graph_svg(root.describe()).count(">a<") == 2


def test_a_tree_in_a_workflow() -> None:
    """In a workflow a tree is a frame with its members inside, and an agent says how many tools it has."""
    seq = SequentialAgent(name="seq", sub_agents=[agent("one"), agent("two")])
    flow = Workflow(name="wf", edges=[("START", seq, agent("last", tools=[weather]))])
    text = graph_text(flow.describe())
    assert "one  agent · scripted  → two" in text
    assert "scripted · 1 tool" in text
    assert 'data-path="seq/one"' in graph_svg(flow.describe())


def test_a_cell_that_ends_in_a_tree() -> None:
    """A notebook draws a tree at the end of a cell, and what people wrote in it is text."""
    bundle = mime_bundle(agent("root", sub_agents=[LlmAgent(name="sub", description="<script>alert(1)</script>")]))
    assert "<svg" in bundle["text/html"]
    assert "<script>alert" not in bundle["text/html"]
    assert bundle["text/plain"].startswith("root (agent)")


def test_a_run_lights_the_tree() -> None:
    """While a tree runs, the states of its members and the edges between them are those of the drawing."""

    async def test() -> None:
        members: list[BaseAgent] = [Says(name="a"), Says(name="b", escalates_at=2)]
        root = SequentialAgent(name="seq", sub_agents=[LoopAgent(name="loop", sub_agents=members), Says(name="c")])
        fold = RunFold(root.describe())
        talk = Conversation(root)
        talk.on_run = fold.run
        for event in await talk.say():
            fold.event(event)
        shown = fold.snapshot()
        assert {path: node["status"] for path, node in shown["nodes"].items()} == dict.fromkeys(
            ["seq", "seq/loop", "seq/loop/a", "seq/loop/b", "seq/c"], "completed"
        )
        assert shown["nodes"]["seq/loop/a"]["passes"] == 2
        assert sorted(map(tuple, shown["edges"])) == [
            ("seq/loop", "seq/c"),
            ("seq/loop/a", "seq/loop/b"),
            ("seq/loop/b", "seq/loop/a"),
        ]

    run(test)


def test_a_run_lights_what_an_agent_starts() -> None:
    """The edge from an agent to a sub-agent that it runs is followed."""

    async def test() -> None:
        class Starts(BaseAgent):
            async def _run_async_impl(self, ctx: Any) -> Any:
                async for event in self.sub_agents[0].run_async(ctx):
                    yield event

        root = Starts(name="root", sub_agents=[Says(name="a"), Says(name="b")])
        fold = RunFold(root.describe())
        talk = Conversation(root)
        talk.on_run = fold.run
        await talk.say()
        assert fold.snapshot()["edges"] == [["root", "root/a"]]

    run(test)
