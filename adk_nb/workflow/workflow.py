"""`Workflow`: a node that holds a graph."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from adk_nb.workflow.description import GraphDescription, Kind, NodeDescription
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.hints import Hint, hints
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.state_schema import check_parameters

if TYPE_CHECKING:
    from adk_nb.workflow.context import Context


class Workflow(BaseNode):
    """Nodes and the edges that say what runs next; a workflow can be a node of another one.

    Its output is the output of the one node where the graph ends.

    Example:
        >>> def shout(node_input: str) -> str:
        ...     return node_input.upper()
        >>> flow = Workflow(name="flow", edges=[("START", shout)])
        >>> [node.name for node in flow.graph.nodes]
        ['__START__', 'shout']

    Raises:
        GraphValidationError: the edges don't form a graph that can run.
        WorkflowConfigurationError: an edge can't be read, or an argument is unknown or doesn't fit.
        StateSchemaError: a function takes something from state that `state_schema` doesn't declare.
    """

    kind: ClassVar[Kind] = "workflow"

    rerun_on_resume: bool = True
    edges: list[Any] = Field(default_factory=list)
    """Chains such as `("START", a, b)`, `(a, {"yes": b, "no": c})`, `((b, c), join)`, or `Edge` objects."""
    max_concurrency: int | None = None
    """How many of its nodes may run at once; `None` and 0 mean no limit."""
    graph: Graph | None = None
    """The compiled edges; a graph given here is checked like one from edges."""

    def model_post_init(self, context: Any, /) -> None:
        """Compile and check the graph."""
        if self.graph is None:
            self.graph = Graph.from_edge_items(self.edges)
        self.graph.validate_graph()
        if self.state_schema is not None:
            check_parameters(self.graph, self.state_schema)

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        assert self.graph is not None  # set when the model was built
        await ctx.run_graph(self.graph, node_input, self.max_concurrency)
        return
        yield  # makes this an async generator, as the node contract wants

    def check(self) -> tuple[Hint, ...]:
        """Return what is worth a look before this workflow runs, nested workflows included; `()` when all is plain.

        Example:
            >>> def left(node_input): ...
            >>> def right(node_input): ...
            >>> def end(node_input): ...
            >>> flow = Workflow(name="flow", edges=[("START", (left, right), end)])
            >>> flow.check()[0].text
            "It runs once for each of 'left' and 'right', one after the other; put a JoinNode before it ..."
        """
        assert self.graph is not None  # set when the model was built
        found = list(hints(self.graph))
        for node in self.graph.nodes:
            if isinstance(node, Workflow):
                found += [Hint(f"{node.name}/{hint.node}", hint.text) for hint in node.check()]
        return tuple(found)

    def __repr_args__(self) -> Any:
        """Name the workflow and its nodes."""
        yield "name", self.name
        yield "nodes", [] if self.graph is None else [node.name for node in self.graph.nodes if node.kind != "start"]

    def describe(self) -> GraphDescription:
        """Return the graph as plain data for drawings."""
        assert self.graph is not None  # set when the model was built
        return self.graph.describe(self.name)

    def describe_node(self) -> NodeDescription:
        """Return this workflow as a part of a drawing of another one."""
        return NodeDescription(name=self.name, kind=self.kind, detail=self.detail, inner=self.describe())
