"""Shapes of a graph that can run and may not do what was meant; `Workflow.check` and drawings tell them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_nb.workflow.functions import FunctionNode
from adk_nb.workflow.nodes import START_NAME, BaseNode, JoinNode
from adk_nb.workflow.state_schema import scalar_source

if TYPE_CHECKING:
    from adk_nb.workflow.graph import Graph


@dataclass(frozen=True, slots=True)
class Hint:
    """One thing about one node that is worth a look before the workflow runs."""

    node: str
    """Name of the node; `inner/name` for a node of a nested workflow."""
    text: str
    """One sentence."""


def hints(graph: Graph) -> tuple[Hint, ...]:
    """Return what is worth a look, at most one hint of a kind for each node."""
    return (*_starving_joins(graph), *_repeated_nodes(graph), *_arguments(graph))


def _outcomes(graph: Graph, node: BaseNode) -> Iterator[tuple[Any, tuple[BaseNode, ...]]]:
    """Yield each route that a node can take with the targets it triggers; `None` is the route without a label."""
    outgoing = graph.outgoing(node.name)
    if outgoing.otherwise or not outgoing.labels:
        yield None, outgoing.targets(None)
    for label in outgoing.labels:
        yield label, outgoing.targets(label)


def _reached(graph: Graph, start: Iterable[str], chosen: dict[str, tuple[BaseNode, ...]], *, always: bool) -> set[str]:
    """Return the names that lie behind `start`, itself included.

    Args:
        graph: The graph.
        start: Where to begin.
        chosen: Targets of the nodes whose route is settled; the others take every edge.
        always: Follow only edges without a route.
    """
    seen = set(start)
    todo = list(seen)
    while todo:
        name = todo.pop()
        outgoing = graph.outgoing(name)
        targets = [one.name for one in outgoing.always] if always else outgoing.ranked
        for target in [one.name for one in chosen[name]] if name in chosen else targets:
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen


def _starving_joins(graph: Graph) -> Iterator[Hint]:
    joins = {node.name: graph.predecessors(node.name) for node in graph.nodes if isinstance(node, JoinNode)}
    joins = {name: before for name, before in joins.items() if len(before) > 1}
    routers = [node for node in graph.nodes if graph.outgoing(node.name).labels] if joins else []
    for router in routers:
        for label, targets in _outcomes(graph, router):
            behind = _reached(graph, (one.name for one in targets), {}, always=False)
            if router.name in behind:  # it decides again, and may take another route then
                continue
            runs = _reached(graph, (START_NAME,), {router.name: targets}, always=False)
            for join, before in list(joins.items()):
                missing = [name for name in before if name not in runs]
                if missing and len(missing) < len(before):
                    del joins[join]
                    route = "the default route" if label is None else f"the route {label!r}"
                    yield Hint(
                        join,
                        f"It waits for {_listed(missing)}, which {'does' if len(missing) == 1 else 'do'}n't run when "
                        f"{router.name!r} takes {route}, and then the run ends incomplete.",
                    )


def _repeated_nodes(graph: Graph) -> Iterator[Hint]:
    many = {node.name for node in graph.nodes if len(graph.predecessors(node.name)) > 1}
    many -= {node.name for node in graph.nodes if isinstance(node, JoinNode)}
    for node in graph.nodes if many else ():
        for _, targets in _outcomes(graph, node):
            runs = _reached(graph, (one.name for one in targets), {node.name: ()}, always=True) - {node.name}
            for name in sorted(many):
                arrivals = [node.name] if any(one.name == name for one in targets) else []
                arrivals += [
                    before
                    for before in graph.predecessors(name)
                    if before in runs and any(one.name == name for one in graph.outgoing(before).always)
                ]
                if len(arrivals) > 1:
                    many.discard(name)
                    yield Hint(
                        name,
                        f"It runs once for each of {_listed(arrivals)}, one after the other; put a JoinNode before it "
                        f"to run it once with all of them.",
                    )


def _arguments(graph: Graph) -> Iterator[Hint]:
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
                f"Its arguments {_listed(free)} have no default, and {scalar}, which has no keys: they have to be in "
                f"the session's state.",
            )


def _listed(names: list[str]) -> str:
    shown = [repr(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
