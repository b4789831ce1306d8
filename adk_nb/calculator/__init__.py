"""Graph against agent loop: the arithmetic of what it saves to put code in charge.

The simple model takes four numbers (process length, judgment share, routing accuracy, tokens per step) and makes one
record of all results, `compare_designs`. The extended one, `compare_in_detail`, adds prompts that are there anyway,
output, caching, money and what mistakes cost. `fit_designs` finds its inputs in runs that were measured. Nothing here
draws, asks a model or touches Jupyter; the notebook's calculator calls it.

>>> comparison = compare_designs(process_length=15)
>>> comparison.loop_tokens, comparison.graph_tokens, format_percent(comparison.saving)
(60000, 4000, '93.3 %')
"""

import sys
import types
from typing import Any

from adk_nb.calculator.assumptions import Assumptions, assumption_defaults, checked_assumption
from adk_nb.calculator.caching import NO_CACHE, Cache, input_equivalent
from adk_nb.calculator.comparison import Comparison, compare_designs
from adk_nb.calculator.contexts import Context, break_even_nodes
from adk_nb.calculator.detailed import Design, DetailedComparison, compare_in_detail
from adk_nb.calculator.detailed_words import (
    detailed_rows,
    detailed_success_phrases,
    detailed_summary,
    detailed_token_phrases,
    format_amount,
    format_money,
    format_runs,
    format_saving,
    mistake_phrases,
    policy_rows,
)
from adk_nb.calculator.inputs import (
    checked_judgment_share,
    checked_process_length,
    checked_routing_accuracy,
    checked_tokens_per_step,
)
from adk_nb.calculator.measured import (
    ContextFit,
    Conversation,
    DesignsFit,
    MeasuredRun,
    fit_context,
    fit_designs,
    fit_sentences,
)
from adk_nb.calculator.mistakes import (
    Attempts,
    Policies,
    accuracy_from_success,
    attempts,
    dependent_horizon,
    path_success,
    policies,
    repeated_success,
)
from adk_nb.calculator.money import (
    CACHE_CAVEAT,
    CACHES,
    MODEL_PRICES,
    PRICES_DATE,
    PRICES_SOURCE,
    ModelPrice,
    cost_in_dollars,
    latency,
)
from adk_nb.calculator.presets import FINDINGS, PRESETS, Finding, Preset
from adk_nb.calculator.success import graph_success_judged, horizon, loop_success
from adk_nb.calculator.tokens import graph_tokens, judgment_nodes, loop_tokens, ratio, saving
from adk_nb.calculator.words import (
    Phrase,
    format_count,
    format_percent,
    format_ratio,
    format_share,
    horizon_phrases,
    success_phrases,
    summary,
    token_phrases,
)

__all__ = [
    "CACHES",
    "CACHE_CAVEAT",
    "FINDINGS",
    "MODEL_PRICES",
    "NO_CACHE",
    "PRESETS",
    "PRICES_DATE",
    "PRICES_SOURCE",
    "Assumptions",
    "Attempts",
    "Cache",
    "Comparison",
    "Context",
    "ContextFit",
    "Conversation",
    "Design",
    "DesignsFit",
    "DetailedComparison",
    "Finding",
    "MeasuredRun",
    "ModelPrice",
    "Phrase",
    "Policies",
    "Preset",
    "accuracy_from_success",
    "assumption_defaults",
    "attempts",
    "break_even_nodes",
    "checked_assumption",
    "checked_judgment_share",
    "checked_process_length",
    "checked_routing_accuracy",
    "checked_tokens_per_step",
    "compare_designs",
    "compare_in_detail",
    "cost_in_dollars",
    "dependent_horizon",
    "detailed_rows",
    "detailed_success_phrases",
    "detailed_summary",
    "detailed_token_phrases",
    "fit_context",
    "fit_designs",
    "fit_sentences",
    "format_amount",
    "format_count",
    "format_money",
    "format_percent",
    "format_ratio",
    "format_runs",
    "format_saving",
    "format_share",
    "graph_success_judged",
    "graph_tokens",
    "horizon",
    "horizon_phrases",
    "input_equivalent",
    "judgment_nodes",
    "latency",
    "loop_success",
    "loop_tokens",
    "mistake_phrases",
    "path_success",
    "policies",
    "policy_rows",
    "ratio",
    "repeated_success",
    "saving",
    "success_phrases",
    "summary",
    "token_phrases",
]


class _Room(types.ModuleType):
    """`adk_nb.calculator` names this room, and `adk_nb.calculator(...)` opens the calculator in a notebook."""

    def __call__(self, **values: Any) -> Any:
        """Return the calculator with its sliders; see `adk_nb.notebook.calculator.calculator_view.calculator`."""
        # The one look upwards of this room, taken when somebody opens the calculator.
        from adk_nb.notebook.calculator.calculator_view import calculator

        return calculator(**values)

    def fit(self, loop_run: Any = None, graph_run: Any = None, **values: Any) -> Any:
        """Return the calculator with its inputs fitted to runs; see `Calculator.fit`."""
        return self(**values).fit(loop_run, graph_run)


sys.modules[__name__].__class__ = _Room
