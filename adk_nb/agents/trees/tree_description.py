"""An agent tree as plain data for drawings: agents, what leads from one to the other, and tools.

A node's name is its path below the root, as node runs have it (`root/helper`), so that a view lights the one that runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from adk_nb.agents.trees.lint import findings
from adk_nb.tools.tool_node import node_name
from adk_nb.workflow.description import EdgeDescription, GraphDescription, NodeDescription

if TYPE_CHECKING:
    from adk_nb.agents.base_agent import BaseAgent


def describe_tree(root: BaseAgent) -> GraphDescription:
    """Return an agent and all below it as a graph."""
    tree = _Tree()
    tree.add(root, "")
    return _with_findings(GraphDescription(root.name, "agent", tuple(tree.nodes), tuple(tree.edges)), root)


def tool_description(tool: Any) -> NodeDescription:
    """Return a tool, or a toolset, as a part of a drawing."""
    if not hasattr(tool, "is_long_running"):
        return NodeDescription(type(tool).__name__, "tool", "toolset")
    said = (tool.description or "").strip().partition("\n")[0]
    if getattr(tool, "require_confirmation", False):
        said = "asks before each call"
    elif tool.is_long_running:
        said = "answers later"
    return NodeDescription(node_name(tool.name), "tool", said, label=tool.name)


def describe_inside(agent: BaseAgent) -> GraphDescription:
    """Return what is below an agent, for the frame that stands for the agent itself."""
    tree = _Tree()
    last = None
    for one in agent.sub_agents:
        name = tree.add(one, "")
        if agent._runs_in_order and last is not None:
            tree.edges.append(EdgeDescription(last, name))
        last = name
    if agent.ends_on_escalation and last is not None:
        tree.edges.append(EdgeDescription(last, tree.nodes[0].name, ("again",)))
    for tool in agent._described_tools():
        tree.add_node(dataclasses.replace(tool, label=tool.label or tool.name))
    return GraphDescription(agent.name, "agent", tuple(tree.nodes), tuple(tree.edges))


class _Tree:
    """The nodes and edges of one level: frames hold levels of their own."""

    def __init__(self) -> None:
        self.nodes: list[NodeDescription] = []
        self.edges: list[EdgeDescription] = []
        self._names: set[str] = set()

    def add(self, agent: BaseAgent, prefix: str) -> str:
        """Add an agent with its tools and all below it; return the name of its node."""
        if agent._runs_members and agent.sub_agents:
            frame = dataclasses.replace(agent.describe_node(), name=prefix + agent.name, label=agent.name)
            return self.add_node(frame)
        name = self.add_node(
            NodeDescription(prefix + agent.name, agent.kind, agent.detail, label=agent.name if prefix else "")
        )
        for tool in agent._described_tools():
            own = dataclasses.replace(tool, name=f"{name}/{tool.name}", label=tool.label or tool.name)
            self.edges.append(EdgeDescription(name, self.add_node(own)))
        for one in agent.sub_agents:
            target = self.add(one, f"{name}/")
            self.edges.append(EdgeDescription(name, target, (agent._link_to(one),)))
        return name

    def add_node(self, node: NodeDescription) -> str:
        """Add a node under its name, or, where that is taken, under one of its own."""
        name, number = node.name, 1
        while name in self._names:
            number += 1
            name = f"{node.name} ({number})"
        self._names.add(name)
        self.nodes.append(node if name == node.name else dataclasses.replace(node, name=name))
        return name


def _with_findings(graph: GraphDescription, root: BaseAgent) -> GraphDescription:
    """Return the graph with what a check of the tree found, each at its agent."""
    told: dict[str, list[str]] = {}
    for finding in findings(root):
        told.setdefault(finding.node.rpartition("/")[2], []).append(finding.text)
    return dataclasses.replace(graph, nodes=tuple(_marked(graph.nodes, told))) if told else graph


def _marked(nodes: Iterable[NodeDescription], told: dict[str, list[str]]) -> Iterable[NodeDescription]:
    for node in nodes:
        inner = node.inner
        if inner is not None:
            inner = dataclasses.replace(inner, nodes=tuple(_marked(inner.nodes, told)))
        own = () if node.kind == "tool" else tuple(told.get(node.shown, ()))
        yield dataclasses.replace(node, inner=inner, hints=(*node.hints, *own))
