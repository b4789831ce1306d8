"""Fit the calculator to runs that happened: what each model call sent and wrote becomes the inputs of both designs.

The fit comes with its error, so that nobody takes it for more than it is: how far the fitted prompts lie from those
that were sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from adk_nb.calculator.contexts import Context
from adk_nb.calculator.detailed import compare_in_detail
from adk_nb.calculator.detailed_words import format_amount
from adk_nb.calculator.inputs import checked_amount
from adk_nb.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Conversation:
    """The model calls of one context in order, as tokens that were counted."""

    prompts: Sequence[float]
    """Tokens that each call sent, cached ones included."""
    outputs: Sequence[float]
    """Tokens that each call wrote, reasoning included; as long as `prompts`."""
    hidden: Sequence[float] = ()
    """Reasoning tokens in each output; empty when there is none."""

    def __post_init__(self) -> None:
        for name in ("prompts", "outputs", "hidden"):
            object.__setattr__(self, name, tuple(checked_amount(name, value) for value in getattr(self, name)))
        if len(self.outputs) != len(self.prompts) or len(self.hidden) not in (0, len(self.prompts)):
            raise ConfigurationError(
                f"A conversation needs one output for each prompt, and one hidden count or none at all; found "
                f"{len(self.prompts)} prompts, {len(self.outputs)} outputs and {len(self.hidden)} hidden counts."
            )


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """What a run's model calls used, one conversation for each node run that called a model."""

    conversations: Sequence[Conversation]
    steps: int | None = None
    """Steps of the process: tools that a loop called, nodes that a graph ran; `None` when nobody counted."""
    has_closing_call: bool = False
    """The last call only gave the answer."""


@dataclass(frozen=True, slots=True)
class ContextFit:
    """A context fitted to conversations, and how well it fits them."""

    context: Context
    """The fitted context; its calls and variance are those of the conversations."""
    prompt_measured: float
    """Tokens that a conversation sent, on average."""
    prompt_predicted: float
    """What the fitted context says to that."""
    output_measured: float
    """Tokens that a conversation wrote, on average; the fit gives the same."""
    typical_miss: float
    """Root mean square of what the fit misses a prompt by, in tokens."""
    r_squared: float | None
    """Share of the variation between prompts that the fit explains; `None` when they don't vary."""

    @property
    def error(self) -> float:
        """How far the predicted prompt total lies from the measured one, as a share of it; 0 when nothing was sent.

        Example:
            >>> found = fit_context([Conversation([400, 480, 560], [20, 20, 20])])
            >>> found.context.growth, found.error
            (80.0, 0.0)
        """
        if self.prompt_measured == 0:
            return 0.0
        return self.prompt_predicted / self.prompt_measured - 1


def fit_context(conversations: Iterable[Conversation]) -> ContextFit:
    """Fit one context to conversations: `prompt_k = b + (k−1)·g`.

    b is the mean first prompt and g the least-squares slope over all later ones, never below the visible output that
    they carry. v and h are means a call, r = g − v. Tokens of all.

    Raises:
        ConfigurationError: there is no call in them.

    Example:
        >>> found = fit_context([Conversation([400, 477, 554], [28, 28, 28])])
        >>> found.context.base, found.context.growth, found.context.result, found.r_squared
        (400.0, 77.0, 49.0, 1.0)
    """
    talks = [talk for talk in conversations if talk.prompts]
    if not talks:
        raise ConfigurationError("A fit needs at least one model call with its tokens; found none.")
    lengths = [len(talk.prompts) for talk in talks]
    calls = sum(lengths)
    mean = calls / len(talks)
    base = sum(talk.prompts[0] for talk in talks) / len(talks)
    hidden = sum(sum(talk.hidden) for talk in talks) / calls
    written = sum(sum(talk.outputs) for talk in talks)
    visible = max(written / calls - hidden, 0.0)
    growth = max(_slope(talks, base), visible) if max(lengths) > 1 else visible
    context = Context(
        calls=mean,
        base=base,
        visible=visible,
        result=max(growth - visible, 0.0),
        hidden=hidden,
        variance=sum((length - mean) ** 2 for length in lengths) / len(talks),
    )
    misses = [prompt - base - k * growth for talk in talks for k, prompt in enumerate(talk.prompts)]
    return ContextFit(
        context=context,
        prompt_measured=sum(sum(talk.prompts) for talk in talks) / len(talks),
        prompt_predicted=context.prompt_tokens,
        output_measured=written / len(talks),
        typical_miss=(sum(miss * miss for miss in misses) / calls) ** 0.5,
        r_squared=_explained(talks, misses),
    )


def _slope(talks: Sequence[Conversation], base: float) -> float:
    """Least-squares growth a call, with the first prompt as given."""
    above = sum(k * (prompt - base) for talk in talks for k, prompt in enumerate(talk.prompts))
    below = sum(k * k for talk in talks for k in range(len(talk.prompts)))
    return above / below


def _explained(talks: Sequence[Conversation], misses: Sequence[float]) -> float | None:
    prompts = [prompt for talk in talks for prompt in talk.prompts]
    mean = sum(prompts) / len(prompts)
    varies = sum((prompt - mean) ** 2 for prompt in prompts)
    return 1 - sum(miss * miss for miss in misses) / varies if varies > 0 else None


@dataclass(frozen=True, slots=True)
class DesignsFit:
    """The calculator's inputs as fitted to runs; what no run tells isn't in `values`."""

    values: dict[str, Any]
    """Names of `compare_in_detail` with their fitted values."""
    loop: ContextFit | None
    """How the loop's one context fits; `None` when no loop was measured."""
    graph: ContextFit | None
    """How the contexts of the graph's nodes fit; `None` when no graph was measured, or it called no model."""
    loop_tokens: float | None
    """Tokens that a loop run used, sent and written, on average; `None` when none was measured."""
    graph_tokens: float | None
    """The same of a graph run."""

    @property
    def loop_error(self) -> float | None:
        """How far the calculator's total at `values` lies from the measured one, as a share; `None` without either.

        Example:
            >>> run = MeasuredRun([Conversation([400, 477, 554], [28, 28, 28])])
            >>> fit_designs([run]).loop_error
            0.0
        """
        return _error(compare_in_detail(**self.values).loop.tokens, self.loop_tokens)

    @property
    def graph_error(self) -> float | None:
        """The same for the graph."""
        return _error(compare_in_detail(**self.values).graph.tokens, self.graph_tokens)


def fit_designs(loop_runs: Sequence[MeasuredRun] = (), graph_runs: Sequence[MeasuredRun] = ()) -> DesignsFit:
    """Fit both designs to measured runs, or one of them.

    All calls of a loop's run are taken as one context, whoever made them. The process length is what the graph ran,
    else what the loop stepped through: rounded means over runs. The judgment share gives the mean number of
    conversations of a graph run. A graph that called no model has a share of 0.

    Raises:
        ConfigurationError: no run at all, or a loop without a model call.

    Example:
        >>> loop = MeasuredRun([Conversation([400, 477, 554], [28, 28, 28])])
        >>> graph = MeasuredRun([Conversation([300], [20])], steps=4)
        >>> found = fit_designs([loop], [graph]).values
        >>> found["process_length"], found["judgment_share"], found["calls_per_step"], found["graph_base"]
        (4, 0.25, 0.75, 300.0)
    """
    if not loop_runs and not graph_runs:
        raise ConfigurationError("A fit needs a run of a loop or of a graph; found neither.")
    values: dict[str, Any] = {}
    loop = fit_context(_as_one(run) for run in loop_runs) if loop_runs else None
    talks = [talk for run in graph_runs for talk in run.conversations if talk.prompts]
    graph = fit_context(talks) if talks else None
    if graph_runs:
        nodes = max(_rounded(len(talks) / len(graph_runs)), 1 if talks else 0)
        length = max(_mean_steps(graph_runs) or nodes, nodes)
        values |= {"process_length": length, "judgment_share": nodes / length if length else 0.0}
    if graph is not None:
        node = graph.context
        values |= {"node_calls": node.calls, "graph_base": node.base, "graph_visible": node.visible}
        values |= {"graph_result": node.result, "graph_hidden": node.hidden}
    if loop is not None:
        values = _loop_values(loop.context, loop_runs, values) | values
    return DesignsFit(values, loop, graph, _mean_tokens(loop_runs), _mean_tokens(graph_runs))


def _loop_values(context: Context, runs: Sequence[MeasuredRun], known: dict[str, Any]) -> dict[str, Any]:
    # Beside a graph the steps are the graph's, and its answer is one of them.
    closes = "process_length" not in known and all(run.has_closing_call for run in runs) and context.calls > 1
    length = known.get("process_length") or _mean_steps(runs) or max(_rounded(context.calls - closes), 1)
    return {
        "process_length": length,
        "closing_call": closes,
        "calls_per_step": (context.calls - closes) / length,
        "length_variance": context.variance,
        "loop_base": context.base,
        "loop_visible": context.visible,
        "loop_result": context.result,
        "loop_hidden": context.hidden,
    }


def _as_one(run: MeasuredRun) -> Conversation:
    talks = run.conversations
    return Conversation(
        prompts=[tokens for talk in talks for tokens in talk.prompts],
        outputs=[tokens for talk in talks for tokens in talk.outputs],
        hidden=[tokens for talk in talks for tokens in talk.hidden or (0,) * len(talk.prompts)],
    )


def _mean_tokens(runs: Sequence[MeasuredRun]) -> float | None:
    used = [sum(sum(talk.prompts) + sum(talk.outputs) for talk in run.conversations) for run in runs]
    return sum(used) / len(used) if used else None


def _error(predicted: float, measured: float | None) -> float | None:
    return None if not measured else predicted / measured - 1


def _mean_steps(runs: Sequence[MeasuredRun]) -> int | None:
    counted = [run.steps for run in runs if run.steps is not None]
    return _rounded(sum(counted) / len(counted)) if counted else None


def fit_sentences(fit: DesignsFit) -> list[str]:
    """Say what was measured, what the calculator makes of it, and how well that fits.

    Example:
        >>> fit_sentences(fit_designs([MeasuredRun([Conversation([400, 477, 554], [28, 28, 28])])]))[0]
        'Loop: 1,515 tokens measured, 1,515 by the calculator (+0.0 %); prompts fit within 0 tokens a call, R² 1.000.'
    """
    detailed = compare_in_detail(**fit.values)
    said = []
    for name, found, measured, predicted in (
        ("Loop", fit.loop, fit.loop_tokens, detailed.loop.tokens),
        ("Graph", fit.graph, fit.graph_tokens, detailed.graph.tokens),
    ):
        if measured is None:
            said.append(f"{name}: not measured, so what the fields say.")
        elif found is None:
            said.append(f"{name}: no model calls.")
        else:
            error = _error(predicted, measured) or 0.0
            explained = "" if found.r_squared is None else f", R² {found.r_squared:.3f}"
            said.append(
                f"{name}: {format_amount(measured)} tokens measured, {format_amount(predicted)} by the calculator "
                f"({error * 100:+.1f} %); prompts fit within {format_amount(found.typical_miss)} tokens a call"
                f"{explained}."
            )
    return said


def _rounded(mean: float) -> int:
    return int(mean + 0.5)
