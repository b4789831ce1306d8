"""Both designs side by side: the four inputs and everything that follows from them, as one frozen record."""

from __future__ import annotations

from dataclasses import dataclass

from adk_nb.calculator.inputs import (
    checked_judgment_share,
    checked_process_length,
    checked_routing_accuracy,
    checked_tokens_per_step,
)
from adk_nb.calculator.success import graph_success_judged, horizon, loop_success
from adk_nb.calculator.tokens import graph_tokens, judgment_nodes, loop_tokens, ratio, saving


@dataclass(frozen=True, slots=True)
class Comparison:
    """One process built two ways. Made by `compare_designs`, which checks the inputs."""

    process_length: int
    """n: steps from start to end."""
    judgment_share: float
    """j: share of the steps that need a model, 0 to 1."""
    routing_accuracy: float
    """p: chance that a model's choice of the next step is right, 0 to 1."""
    tokens_per_step: int | float
    """t: tokens that one step adds to a context."""

    judgment_nodes: int
    """m: steps that call a model in the graph."""
    loop_tokens: int | float
    """L: tokens the agent loop sends, all its calls together."""
    graph_tokens: int | float
    """G: tokens the graph sends."""
    saving: float
    """1 − G/L; the same for every `tokens_per_step` above 0."""
    ratio: float
    """L/G; infinite when the graph calls no model."""
    loop_success: float
    """Chance that the loop takes no wrong turn."""
    graph_success: float
    """Chance that the graph takes none when each of its judgments picks a route."""
    graph_success_exact: float
    """The same when none of them does: edges are code, so always 1."""
    horizon: float
    """Steps up to which the loop is right at least half the time; infinite at accuracy 1."""


def compare_designs(
    process_length: int = 6,
    judgment_share: float = 0.5,
    routing_accuracy: float = 0.97,
    tokens_per_step: float = 500,
) -> Comparison:
    """Compare an agent loop with a graph for one process.

    Args:
        process_length: n, steps: an integer, 0 or more.
        judgment_share: j, share of steps that need a model: 0 to 1.
        routing_accuracy: p, chance that one choice of the next step is right: 0 to 1.
        tokens_per_step: t, tokens one step adds to a context: finite, 0 or more.

    Raises:
        ConfigurationError: an input is outside its range; the message names it and says what is allowed.

    Example:
        >>> comparison = compare_designs(process_length=6)
        >>> comparison.judgment_nodes, comparison.loop_tokens, comparison.graph_tokens
        (3, 10500, 1500)
    """
    n, j = checked_process_length(process_length), checked_judgment_share(judgment_share)
    p, t = checked_routing_accuracy(routing_accuracy), checked_tokens_per_step(tokens_per_step)
    m = judgment_nodes(n, j)
    loop, graph = loop_tokens(n, t), graph_tokens(m, t)
    return Comparison(
        process_length=n,
        judgment_share=j,
        routing_accuracy=p,
        tokens_per_step=t,
        judgment_nodes=m,
        loop_tokens=loop,
        graph_tokens=graph,
        saving=saving(loop, graph),
        ratio=ratio(loop, graph),
        loop_success=loop_success(n, p),
        graph_success=graph_success_judged(m, p),
        graph_success_exact=1.0,
        horizon=horizon(p),
    )
