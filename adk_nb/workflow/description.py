"""A graph as plain data: what views draw and exports write, without any node object in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["start", "function", "human", "agent", "tool", "join", "workflow", "parallel", "node"]
"""What a node is, for its look: `human` is a function that asks a person, `node` any other custom node."""


@dataclass(frozen=True, slots=True)
class NodeDescription:
    """One node of a drawn graph."""

    name: str
    """Unique within its graph; `__START__` for the start. In a tree of agents, the path below the root."""
    kind: Kind
    detail: str = ""
    """One line more: a model's name, the first line of a docstring; may be empty."""
    inner: GraphDescription | None = None
    """The graph inside, for a nested workflow."""
    hints: tuple[str, ...] = ()
    """Build-time warnings about this node, one sentence each."""
    label: str = ""
    """What is shown in place of the name; empty for the name itself."""

    @property
    def shown(self) -> str:
        """What a drawing calls the node."""
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class EdgeDescription:
    """One edge of a drawn graph."""

    source: str
    target: str
    routes: tuple[str, ...] = ()
    """Labels of the edge as text, empty for an unconditional edge."""
    is_default: bool = False
    """Followed when no other label of its source matched."""


@dataclass(frozen=True, slots=True)
class GraphDescription:
    """A whole graph, nodes in the order of their first appearance."""

    name: str
    kind: Kind = "workflow"
    nodes: tuple[NodeDescription, ...] = field(default=())
    edges: tuple[EdgeDescription, ...] = field(default=())
