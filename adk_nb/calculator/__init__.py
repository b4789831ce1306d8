"""Graph against agent loop: the arithmetic of what it saves to put code in charge.

Pure functions of four numbers (process length, judgment share, routing accuracy, tokens per step) and one record of
all results. Nothing here draws, asks a model or touches Jupyter; the notebook's calculator calls it.

>>> comparison = compare_designs(process_length=15)
>>> comparison.loop_tokens, comparison.graph_tokens, format_percent(comparison.saving)
(60000, 4000, '93.3 %')
"""

import sys
import types
from typing import Any

from adk_nb.calculator.comparison import Comparison, compare_designs
from adk_nb.calculator.inputs import (
    checked_judgment_share,
    checked_process_length,
    checked_routing_accuracy,
    checked_tokens_per_step,
)
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
    "Comparison",
    "Phrase",
    "checked_judgment_share",
    "checked_process_length",
    "checked_routing_accuracy",
    "checked_tokens_per_step",
    "compare_designs",
    "format_count",
    "format_percent",
    "format_ratio",
    "format_share",
    "graph_success_judged",
    "graph_tokens",
    "horizon",
    "horizon_phrases",
    "judgment_nodes",
    "loop_success",
    "loop_tokens",
    "ratio",
    "saving",
    "success_phrases",
    "summary",
    "token_phrases",
]


class _Room(types.ModuleType):
    """`adk_nb.calculator` names this room, and `adk_nb.calculator(...)` opens the calculator in a notebook."""

    def __call__(self, **values: Any) -> Any:
        """Return the calculator with its sliders; see `adk_nb.notebook.calculator_view.calculator`."""
        # The one look upwards of this room, taken when somebody opens the calculator.
        from adk_nb.notebook.calculator_view import calculator

        return calculator(**values)


sys.modules[__name__].__class__ = _Room
