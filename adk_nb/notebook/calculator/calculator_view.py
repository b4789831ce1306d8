"""The graph-versus-loop calculator under a cell: sliders, both designs in words, bars and curves, more on a click.

`calculator()` makes one; the numbers come from `adk_nb.calculator`. What is displayed, and therefore saved, is HTML
that needs no kernel and names no widget, so a reopened notebook shows the calculator instead of a missing-model error.
The widget behind it links that HTML with the Python object as long as the kernel lives.

What it looks like: live, the sliders move the drawing at once and the object with it; after reopening a trusted
notebook or in a page from `to_html()`, the sliders still work, on their own; where scripts don't run (an untrusted
notebook, a preview), tables and sentences; as plain text, the same table. While `is_extended` is set, all of these show
the extended model; a preset or a fit tells above the results where its values come from.

Limits: the saved copy is renewed when a value is set from code and once focus has left the calculator, so a save with
a slider still focused keeps the values before. In Colab and VS Code the output names the widget as well, since only a
widget's view reaches the kernel there, and reopening falls to what those hosts do with it. The same holds for a
calculator put into an ipywidgets box.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets
from IPython.display import display, update_display

from adk_nb.calculator import (
    PRESETS,
    Comparison,
    DesignsFit,
    DetailedComparison,
    Preset,
    checked_judgment_share,
    checked_routing_accuracy,
    compare_designs,
    compare_in_detail,
    detailed_summary,
    fit_sentences,
    summary,
)
from adk_nb.errors import ConfigurationError
from adk_nb.frames.whole_file import write_page
from adk_nb.notebook.assets import page, script, style_sheet
from adk_nb.notebook.calculator.calculator_runs import fit_runs
from adk_nb.notebook.calculator.calculator_static import static_detailed, static_simple
from adk_nb.notebook.calculator.calculator_values import (
    ASSUMPTIONS,
    CHANGED,
    FITTED,
    INPUTS,
    SHOWN,
    SIMPLE,
    TABLES,
    CheckedTrait,
    assumption_trait,
    drawable_length,
    drawable_tokens,
)
from adk_nb.notebook.front_end import isolates_outputs

_SCRIPT = script("calculator")
_STYLE = style_sheet("theme", "calculator")


class Calculator(anywidget.AnyWidget):
    """A live comparison of an agent loop with a graph. Made by `calculator()`.

    Shown at the end of a cell or with `display`; every copy on the page follows the same values. Set a value from code
    and the sliders move; move a slider and `comparison` follows. A value out of range is refused with a
    `ConfigurationError` and changes nothing. The fields of `adk_nb.calculator.Assumptions` are values as well; they
    count while `is_extended` is set.

    Example:
        >>> calc = Calculator(process_length=15)
        >>> calc.judgment_share = 1.0
        >>> calc.comparison.graph_tokens
        7500
        >>> calc.loop_base = 2000
        >>> calc.details.loop.prompt_tokens
        82500.0
    """

    _esm = _SCRIPT
    _css = _STYLE

    process_length = CheckedTrait(drawable_length, 6)
    """Steps from start to end: 0 to 1,000. The slider offers 1 to 15 and reaches further when a longer one is set."""
    judgment_share = CheckedTrait(checked_judgment_share, 0.5)
    """Share of the steps that need a model: 0 to 1."""
    routing_accuracy = CheckedTrait(checked_routing_accuracy, 0.97)
    """Chance that one choice of the next step is right: 0 to 1. The slider starts at 0.8, or lower when that is set."""
    tokens_per_step = CheckedTrait(drawable_tokens, 500)
    """Tokens that a step adds to a context: 0 to 1,000,000,000. It moves both bars alike and never the share saved."""

    # The extended model's inputs, as `adk_nb.calculator.Assumptions` tells them.
    calls_per_step = assumption_trait("calls_per_step")
    closing_call = assumption_trait("closing_call")
    length_variance = assumption_trait("length_variance")
    loop_base = assumption_trait("loop_base")
    loop_visible = assumption_trait("loop_visible")
    loop_result = assumption_trait("loop_result")
    loop_hidden = assumption_trait("loop_hidden")
    node_calls = assumption_trait("node_calls")
    graph_base = assumption_trait("graph_base")
    graph_visible = assumption_trait("graph_visible")
    graph_result = assumption_trait("graph_result")
    graph_hidden = assumption_trait("graph_hidden")
    shared_reasoning = assumption_trait("shared_reasoning")
    cache_read = assumption_trait("cache_read")
    cache_write = assumption_trait("cache_write")
    cache_minimum = assumption_trait("cache_minimum")
    cache_hit = assumption_trait("cache_hit")
    price_input = assumption_trait("price_input")
    price_output = assumption_trait("price_output")
    judge_accuracy = assumption_trait("judge_accuracy")
    route_share = assumption_trait("route_share")
    dependence = assumption_trait("dependence")
    detection = assumption_trait("detection")
    most_attempts = assumption_trait("most_attempts")

    is_extended = traitlets.Bool(False).tag(sync=True)
    """The extended model is open, and what is drawn and said."""
    fit_note = traitlets.Unicode().tag(sync=True)
    """What the last fit found, shown above the results; empty hides it."""

    _key = traitlets.Unicode().tag(sync=True)
    _tables = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        process_length: int = 6,
        judgment_share: float = 0.5,
        routing_accuracy: float = 0.97,
        tokens_per_step: float = 500,
        *,
        is_extended: bool | None = None,
        **assumptions: Any,
    ) -> None:
        unknown = [name for name in assumptions if name not in ASSUMPTIONS]
        if unknown:
            raise ConfigurationError(
                f"The calculator has no value {unknown[0]!r}; it has {', '.join((*INPUTS, 'is_extended'))}."
            )
        super().__init__(
            process_length=process_length,
            judgment_share=judgment_share,
            routing_accuracy=routing_accuracy,
            tokens_per_step=tokens_per_step,
            is_extended=bool(assumptions) if is_extended is None else is_extended,
            **assumptions,
            _key=uuid.uuid4().hex,
            _tables=TABLES,
        )
        self._shown: dict[str, Any] | None = None
        self._fitted: DesignsFit | None = None
        self._is_setting = False
        self.on_msg(self._on_message)
        self.observe(self._note_change, FITTED)

    @property
    def comparison(self) -> Comparison:
        """Both designs at the present four values, in the simple model."""
        return compare_designs(**{name: getattr(self, name) for name in SIMPLE})

    @property
    def details(self) -> DetailedComparison:
        """Both designs at all present values, in the extended model, whether it is open or not.

        Raises:
            ConfigurationError: the totals are too large to count.
        """
        return compare_in_detail(**{name: getattr(self, name) for name in INPUTS})

    @property
    def fitted(self) -> DesignsFit | None:
        """What the last `fit` found, with its errors; `None` before one."""
        return self._fitted

    def use(self, preset: str) -> Calculator:
        """Set all values to those of a preset, and open the extended model.

        Args:
            preset: A key of `adk_nb.calculator.PRESETS`.

        Returns:
            Calculator: itself.

        Raises:
            ConfigurationError: there is no such preset; the message lists them.

        Example:
            >>> Calculator().use("refund").details.loop.tokens
            5152.0
        """
        found = PRESETS.get(preset)
        if found is None:
            raise ConfigurationError(f"There is no preset {preset!r}; there are {', '.join(PRESETS)}.")
        self._set({**SIMPLE, **ASSUMPTIONS, **found.values, "is_extended": True, "fit_note": ""})
        return self

    def fit(self, loop_run: Any = None, graph_run: Any = None) -> Calculator:
        """Set what runs tell (contexts, steps, judgments), open the extended model, and show the error.

        What no run tells (accuracy, caching, prices, and the design that wasn't measured) stays as it is.

        Args:
            loop_run: A run of an agent loop. Alone it may be a graph's: it is one when more than an agent ran.
            graph_run: A run of a graph for the same task. Each is what `adk_nb.run` returned, a list of events, or a
                list of several of these.

        Returns:
            Calculator: itself; `fitted` has the numbers, `fit_note` the sentences.

        Raises:
            ConfigurationError: there is nothing to fit to; nothing has changed then.

        Example:
            >>> import adk_nb as adk
            >>> from adk_nb.testing import ScriptedModel
            >>> agent = adk.Agent(name="agent", instruction="Answer in one word.")
            >>> run = adk.run_sync(agent, "Hello?", model=ScriptedModel(["Hello!"]), sessions="memory")
            >>> calc = Calculator().fit(run)
            >>> calc.process_length, calc.fitted.loop.error
            (1, 0.0)
        """
        found = fit_runs(loop_run, graph_run)
        self._set({**found.values, "is_extended": True, "fit_note": " ".join(fit_sentences(found))})
        self._fitted = found
        return self

    def _note_change(self, _change: object) -> None:
        """A value that was fitted and then changed is told as such."""
        if self.fit_note and not self._is_setting and not self.fit_note.endswith(CHANGED):
            self.fit_note += CHANGED

    def _set(self, values: Mapping[str, Any]) -> None:
        """Set several values as one change: all of them, or none when one is refused."""
        for name, value in values.items():
            self.class_traits()[name].validate(self, value)
        self._is_setting = True
        try:
            with self.hold_sync():
                for name, value in values.items():
                    setattr(self, name, value)
        finally:
            self._is_setting = False

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Give a page of its own with the calculator at the present values; its sliders work without a kernel.

        Args:
            path: Where to write the page as well; `None` writes nothing.

        Returns:
            str: the whole page, with styles and script in it; it fetches nothing.

        Example:
            >>> Calculator(process_length=15).to_html().startswith("<!doctype html>")
            True
        """
        whole = page("Graph or agent loop?", self._fragment())
        if path is not None:
            write_page(path, whole)
        return whole

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SHOWN}

    def _text(self) -> str:
        return detailed_summary(self.details) if self.is_extended else summary(self.comparison)

    def _static(self) -> str:
        if not self.is_extended:
            return static_simple(self.comparison)
        preset = self._preset()
        notes = [] if preset is None else [f"{preset.title}. {preset.source} {preset.caveat}"]
        return static_detailed(self.details, [*notes, *([f"Fitted. {self.fit_note}"] if self.fit_note else [])])

    def _preset(self) -> Preset | None:
        """The preset that all present values are those of."""
        values = {name: getattr(self, name) for name in INPUTS}
        return next((one for one in PRESETS.values() if {**SIMPLE, **ASSUMPTIONS, **one.values} == values), None)

    def _fragment(self) -> str:
        """HTML for an output: readable as it is, interactive once its script runs."""
        given = (json.dumps(value).replace("<", "\\u003c") for value in (self._key, self._values(), TABLES))
        start = f"mountCopies({', '.join(given)});"
        return (
            f"<style>{_STYLE}</style>"
            f'<div class="adknb adknb-calc mathjax_ignore" data-adknb-calculator="{self._key}">{self._static()}</div>'
            f'<script type="module">{_SCRIPT}\n{start}</script>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data: dict[str, Any] = {"text/plain": self._text(), "text/html": self._fragment()}
        if not isolates_outputs():
            return data, {}
        live = super()._repr_mimebundle_(**kwargs)
        widget, metadata = live if live is not None else ({}, {})
        return {**widget, **data}, metadata

    def _ipython_display_(self, **kwargs: Any) -> None:
        data, metadata = self._repr_mimebundle_(**kwargs)
        self._shown = self._values()
        display(data, metadata=metadata, raw=True, display_id=self._key)

    def _on_message(self, _widget: object, content: Mapping[str, Any], _buffers: object) -> None:
        if content.get("kind") == "settled":
            self._renew_saved_copy()

    def _renew_saved_copy(self) -> None:
        """Put the present values into the outputs that a save of the notebook would keep."""
        if self._shown in (None, self._values()) or isolates_outputs():
            return
        data, metadata = self._repr_mimebundle_()
        self._shown = self._values()
        update_display(data, metadata=metadata, raw=True, display_id=self._key)

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name in SIMPLE}
        given |= {name: getattr(self, name) for name, value in ASSUMPTIONS.items() if getattr(self, name) != value}
        if self.is_extended != (len(given) > len(SIMPLE)):
            given["is_extended"] = self.is_extended
        return f"Calculator({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def calculator(
    process_length: int = 6,
    judgment_share: float = 0.5,
    routing_accuracy: float = 0.97,
    tokens_per_step: float = 500,
    *,
    preset: str | None = None,
    is_extended: bool | None = None,
    **assumptions: Any,
) -> Calculator:
    """Show what it saves to put code in charge: an agent loop against a graph, with sliders.

    Args:
        process_length: Steps from start to end: a whole number from 0 to 1,000.
        judgment_share: Share of the steps that need a model: 0 to 1.
        routing_accuracy: Chance that one choice of the next step is right: 0 to 1; a measured one, for instance.
        tokens_per_step: Tokens that a step adds to a context: 0 or more.
        preset: A key of `adk_nb.calculator.PRESETS`, whose values stand instead of all others.
        is_extended: Whether the extended model is open; by default when a preset or an assumption is given.
        **assumptions: The extended model's inputs, the fields of `adk_nb.calculator.Assumptions`: tokens, prices,
            shares.

    Returns:
        Calculator: shown at the end of a cell. All values can be read and set, `comparison` and `details` hold the
        results, `fit(run)` sets what a run tells, and `to_html()` gives a page.

    Raises:
        ConfigurationError: a value is out of range; the message says which one and what is allowed.

    Example:
        >>> calculator(process_length=15).comparison.loop_tokens
        60000
        >>> calculator(preset="refund").details.graph.tokens
        2265.0
    """
    made = Calculator(
        process_length, judgment_share, routing_accuracy, tokens_per_step, is_extended=is_extended, **assumptions
    )
    return made if preset is None else made.use(preset)
