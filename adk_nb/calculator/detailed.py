"""Both designs in detail: contexts, caching, money, mistakes and their price, worked out from one set of inputs."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

from adk_nb.calculator.assumptions import Assumptions
from adk_nb.calculator.caching import Cache, input_equivalent
from adk_nb.calculator.contexts import Context, break_even_nodes
from adk_nb.calculator.inputs import (
    checked_judgment_share,
    checked_process_length,
    checked_routing_accuracy,
    checked_tokens_per_step,
)
from adk_nb.calculator.mistakes import attempts, dependent_horizon, path_success, policies
from adk_nb.calculator.money import cost_in_dollars
from adk_nb.calculator.tokens import judgment_nodes, ratio, saving
from adk_nb.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Design:
    """What one of the two designs costs and how often it is right. Tokens, unless said otherwise."""

    calls: float
    """κ, or the sum over all nodes: model calls, on average."""
    prompt_tokens: float
    """Sent, cached or not."""
    output_tokens: float
    """Written, reasoning included."""
    tokens: float
    """T: sent and written."""
    input_equivalent: float
    """Sent, with cached tokens counted at their price."""
    money: float | None
    """US dollars for one run; `None` when the prices aren't known."""
    success: float
    """P: chance that a run takes no wrong turn."""
    attempts: float
    """A: runs on average, when a wrong one is noticed with chance δ."""
    tokens_with_attempts: float
    """A·T."""
    money_with_attempts: float | None
    """A times the money of a run, in US dollars."""
    right: float
    """Chance that the task ends right."""
    shipped_wrong: float
    """Chance that it ends wrong and nobody notices."""
    given_up: float
    """Chance that it is given up after the last allowed run."""
    restart_at_end: float
    """Tokens until it is right, when a mistake is noticed at the end: `T / P`."""
    restart_at_once: float
    """The same when it is noticed at once and the run starts again: `Σ c_k P_(k−1) / P_n`."""
    resume_there: float
    """The same when the run goes on from there: `Σ c_k / p_k`."""
    abort_at_once: float
    """Tokens of one run that is given up at its first mistake: `Σ c_k P_(k−1)`."""


@dataclass(frozen=True, slots=True)
class DetailedComparison:
    """One process built two ways, in the extended model. Made by `compare_in_detail`."""

    process_length: int
    """n, steps."""
    judgment_share: float
    """j, 0 to 1."""
    routing_accuracy: float
    """p, 0 to 1."""
    tokens_per_step: int | float
    """t, tokens."""
    assumptions: Assumptions
    """Everything else that was asked."""

    judgment_nodes: int
    """m: nodes that call a model."""
    routing_nodes: int
    """m_r: nodes among them that pick a route."""
    loop: Design
    graph: Design
    graph_success_exact: float
    """Chance that the graph takes no wrong turn when no judgment picks a route: 1."""
    saving: float
    """Share of the loop's tokens that the graph doesn't use: 1 − T_graph/T_loop. Below 0 when it uses more."""
    ratio: float
    """T_loop / T_graph; infinite when the graph calls no model."""
    input_saving: float
    """The same share of the input-equivalent tokens, so with caching."""
    money_saving: float | None
    """The same share of the money; `None` when the prices aren't known."""
    break_even_nodes: float
    """Judgment nodes at which the graph would cost as much as the loop; infinite when a node costs nothing."""
    horizon: float
    """Steps up to which the loop is right at least half the time."""


def compare_in_detail(
    process_length: int = 6,
    judgment_share: float = 0.5,
    routing_accuracy: float = 0.97,
    tokens_per_step: float = 500,
    **assumptions: Any,
) -> DetailedComparison:
    """Compare an agent loop with a graph in the extended model; without assumptions it is the simple one.

    The loop is one context of `calls_per_step·n` calls, and one more with a closing call; the graph is one context for
    each of its m judgment nodes. The formulas stand at `Context`, `input_equivalent`, `cost_in_dollars`,
    `path_success`, `attempts` and `policies`. The nodes that pick a route are taken as the last ones, which is the
    dearest order for a new start.

    Args:
        process_length: n, steps: an integer, 0 or more.
        judgment_share: j, share of steps that need a model: 0 to 1.
        routing_accuracy: p, chance that one choice of the next step is right: 0 to 1.
        tokens_per_step: t, tokens: what `loop_base`, `loop_result`, `graph_base` and `graph_result` are by default.
        **assumptions: The fields of `Assumptions`.

    Raises:
        ConfigurationError: an input is outside its range, or the totals are too large to count.

    Example:
        >>> refund = compare_in_detail(
        ...     6, 0.3, loop_base=400, loop_visible=28, loop_result=49, shared_reasoning=1429,
        ...     graph_base=146, node_calls=2, graph_visible=24, graph_result=54,
        ... )
        >>> refund.loop.tokens, refund.graph.tokens, round(refund.saving, 6)
        (5152.0, 2265.0, 0.560365)
    """
    n, j = checked_process_length(process_length), checked_judgment_share(judgment_share)
    p, t = checked_routing_accuracy(routing_accuracy), checked_tokens_per_step(tokens_per_step)
    given = Assumptions(**assumptions)
    m = judgment_nodes(n, j)
    routing = judgment_nodes(m, given.route_share)
    q = p if given.judge_accuracy is None else given.judge_accuracy
    context, node = loop_context(n, t, given), node_context(t, given)
    loop = _design(context, 1, _loop_course(n, context, given), p, given)
    graph = _design(node, m, _graph_course(m, routing), q, given)
    priced = loop.money is not None and graph.money is not None
    return DetailedComparison(
        process_length=n,
        judgment_share=j,
        routing_accuracy=p,
        tokens_per_step=t,
        assumptions=given,
        judgment_nodes=m,
        routing_nodes=routing,
        loop=loop,
        graph=graph,
        graph_success_exact=1.0,
        saving=saving(loop.tokens, graph.tokens),
        ratio=ratio(loop.tokens, graph.tokens),
        input_saving=saving(loop.input_equivalent, graph.input_equivalent),
        money_saving=saving(loop.money or 0.0, graph.money or 0.0) if priced else None,
        break_even_nodes=break_even_nodes(context, node),
        horizon=dependent_horizon(p, given.dependence),
    )


def loop_context(process_length: int, tokens_per_step: float, assumptions: Assumptions) -> Context:
    """Give the loop's one context.

    Example:
        >>> loop_context(6, 500, Assumptions(closing_call=True)).calls
        7.0
    """
    if process_length == 0:
        return Context(0, 0)
    return Context(
        calls=assumptions.calls_per_step * process_length + assumptions.closing_call,
        base=_or(assumptions.loop_base, tokens_per_step),
        visible=assumptions.loop_visible,
        result=_or(assumptions.loop_result, tokens_per_step),
        hidden=assumptions.loop_hidden,
        variance=assumptions.length_variance,
    )


def node_context(tokens_per_step: float, assumptions: Assumptions) -> Context:
    """Give the context of one judgment node.

    Example:
        >>> node_context(500, Assumptions(node_calls=2)).prompt_tokens
        1500.0
    """
    return Context(
        calls=assumptions.node_calls,
        base=_or(assumptions.graph_base, tokens_per_step),
        visible=assumptions.graph_visible,
        result=_or(assumptions.graph_result, tokens_per_step),
        hidden=assumptions.graph_hidden,
    )


def _or(value: float | None, otherwise: float) -> float:
    return float(otherwise) if value is None else value


@dataclass(frozen=True, slots=True)
class _Course:
    """How the tokens of a run lie along its choices: in shares of the whole, which add up to 1."""

    before: float
    """What comes before the first choice."""
    choices: list[float]
    """What belongs to each choice, in order."""
    after: float
    """What comes after the last one."""


def _loop_course(steps: int, context: Context, given: Assumptions) -> _Course:
    """Every step of a loop chooses the next one; a closing call comes after all of them."""
    reached = [_first_calls(given.calls_per_step * step, context) for step in range(steps + 1)]
    whole = _first_calls(context.calls, context)
    if whole == 0:
        return _Course(0.0, [1 / steps] * steps, 0.0) if steps else _Course(0.0, [], 0.0)
    choices = [(then - now) / whole for now, then in itertools.pairwise(reached)]
    return _Course(0.0, choices, (whole - reached[-1]) / whole)


def _graph_course(nodes: int, routing: int) -> _Course:
    """The nodes that pick a route come last, so that a new start pays for all the others again."""
    if nodes == 0:
        return _Course(0.0, [], 0.0)
    return _Course((nodes - routing) / nodes, [1 / nodes] * routing, 0.0)


def _first_calls(calls: float, context: Context) -> float:
    """Tokens of the first so many calls of a context; between two calls, in proportion."""
    whole = math.floor(calls)
    return calls * (context.base + context.visible + context.hidden) + context.growth * (
        whole * (whole - 1) / 2 + (calls - whole) * whole
    )


def _design(context: Context, contexts: int, course: _Course, accuracy: float, given: Assumptions) -> Design:
    """Work out a design that is so many equal contexts and chooses along its course with this accuracy."""
    calls = contexts * context.calls
    sent = contexts * context.prompt_tokens
    written = contexts * context.output_tokens + (given.shared_reasoning if calls > 0 else 0.0)
    total = sent + written
    if not total < math.inf:
        raise ConfigurationError("These amounts make totals that are too large to count: use fewer steps or tokens.")
    cache = Cache(given.cache_read, given.cache_write, given.cache_minimum, given.cache_hit)
    counted = contexts * input_equivalent(context, cache)
    paid = None
    if given.price_input is not None and given.price_output is not None:
        paid = cost_in_dollars(counted, written, given.price_input, given.price_output)
    right = path_success(len(course.choices), accuracy, given.dependence)
    tries = attempts(right, given.detection, given.most_attempts)
    costs = [total * share for share in course.choices]
    price = policies(costs, accuracy, given.dependence, total * course.before, total * course.after)
    return Design(
        calls=calls,
        prompt_tokens=sent,
        output_tokens=written,
        tokens=total,
        input_equivalent=counted,
        money=paid,
        success=right,
        attempts=tries.attempts,
        tokens_with_attempts=_times(tries.attempts, total),
        money_with_attempts=None if paid is None else _times(tries.attempts, paid),
        right=tries.right,
        shipped_wrong=tries.shipped_wrong,
        given_up=tries.given_up,
        restart_at_end=price.restart_at_end,
        restart_at_once=price.restart_at_once,
        resume_there=price.resume_there,
        abort_at_once=price.abort_at_once,
    )


def _times(attempts: float, amount: float) -> float:
    return 0.0 if amount == 0 else attempts * amount
