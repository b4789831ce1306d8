"""Arguments of functions that nothing in the graph can give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.hints.hint import Hint, listed
from adk_nb.workflow.state_schema import scalar_source

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph


def open_arguments(graph: Graph) -> Iterator[Hint]:
    """Tell arguments whose type is not there yet, or whose value only the state can give."""
    for node in graph.nodes:
        if not isinstance(node, FunctionNode):
            continue
        signature = node.signature
        parameters = (*([signature.whole] if signature.whole else ()), *signature.named)
        for parameter in parameters:
            if isinstance(parameter.hint, str):
                yield Hint(
                    node.name,
                    f"The type {parameter.hint!r} of its argument {parameter.name!r} isn't defined yet, and until it "
                    f"is, values are handed over as they come.",
                )
                break
        scalar = scalar_source(graph, node)
        free = [parameter.name for parameter in signature.free]
        if scalar and len(free) > 1 and node.parameter_binding == "state":
            yield Hint(
                node.name,
                f"Its arguments {listed(free)} have no default, and {scalar}, which has no keys: they have to be in "
                f"the session's state.",
            )
