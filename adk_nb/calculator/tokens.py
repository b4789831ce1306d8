"""How many tokens each design sends, in the simple model: every step adds the same amount, nothing is cached.

An agent loop makes a call at every step, and each call resends a context grown by every earlier result; a graph makes a
call only where judgment is needed, and that call sees only its own input.
"""

from __future__ import annotations

import math

from adk_nb.calculator.inputs import (
    checked_judgment_nodes,
    checked_judgment_share,
    checked_process_length,
    checked_tokens_per_step,
    checked_total,
)
from adk_nb.errors import ConfigurationError

# A share written in decimals can lie just below the half it stands for (0.7 × 45 is 31.499999999999996).
_COUNT_SLACK = 1e-12


def judgment_nodes(process_length: int, judgment_share: float) -> int:
    """Say how many of the steps call a model in a graph: `m = ⌊j·n + ½⌋`.

    Halves go up. At least one node judges when both the share and the length are above zero, and never more than there
    are steps.

    Example:
        >>> [judgment_nodes(n, 0.5) for n in (0, 1, 5, 6, 15)]
        [0, 1, 3, 3, 8]
    """
    n, j = checked_process_length(process_length), checked_judgment_share(judgment_share)
    if n == 0 or j == 0:
        return 0
    return min(max(math.floor(j * n * (1 + _COUNT_SLACK) + 0.5), 1), n)


def loop_tokens(process_length: int, tokens_per_step: float) -> int | float:
    """Count what an agent loop sends: `L = t·n(n+1)/2`.

    Call k resends the k steps so far, so it costs k·t, and 1 + 2 + … + n is n(n+1)/2.

    Example:
        >>> loop_tokens(6, 500)
        10500
    """
    n, t = checked_process_length(process_length), checked_tokens_per_step(tokens_per_step)
    return _finite(n * (n + 1) // 2, t)


def graph_tokens(judgment_nodes: int, tokens_per_step: float) -> int | float:
    """Count what a graph sends: `G = t·m`, one focused call a judgment node.

    Example:
        >>> graph_tokens(3, 500)
        1500
    """
    m, t = checked_judgment_nodes(judgment_nodes), checked_tokens_per_step(tokens_per_step)
    return _finite(m, t)


def saving(loop: float, graph: float) -> float:
    """Give the share of the loop's tokens that the graph doesn't send: `1 − G/L`, and 0 when the loop sends none.

    It is below 1 as long as the graph sends anything at all.

    Example:
        >>> round(saving(10500, 1500), 6), saving(10500, 0), saving(0, 0)
        (0.857143, 1.0, 0.0)
    """
    loop, graph = checked_total("loop", loop), checked_total("graph", graph)
    if loop == 0:
        return 0.0
    share = 1 - graph / loop
    return min(share, math.nextafter(1.0, 0.0)) if graph > 0 else share


def ratio(loop: float, graph: float) -> float:
    """Say how many times the graph's tokens the loop sends: `L/G`, in steps and nodes n(n+1)/(2m).

    Infinite when only the graph sends none, 1 when neither sends any.

    Example:
        >>> ratio(60000, 4000), ratio(500, 0), ratio(0, 0)
        (15.0, inf, 1.0)
    """
    loop, graph = checked_total("loop", loop), checked_total("graph", graph)
    if graph == 0:
        return math.inf if loop > 0 else 1.0
    return loop / graph


def _finite(calls: int, tokens_per_step: int | float) -> int | float:
    """Multiply, and refuse a product that no display and no browser could hold."""
    try:
        total = calls * tokens_per_step
        if float(total) < math.inf:
            return total
    except OverflowError:
        pass
    raise ConfigurationError(
        f"tokens_per_step={tokens_per_step!r} over {calls!r} steps' worth of context is too large to count; use fewer."
    )
