"""The graph-versus-loop calculator under a cell: four sliders, both designs in words, bars and curves.

`calculator()` makes one; the numbers come from `adk_nb.calculator`. What is displayed, and therefore saved, is HTML
that needs no kernel and names no widget, so a reopened notebook shows the calculator instead of a missing-model error.
The widget behind it links that HTML with the Python object as long as the kernel lives.

What it looks like: live, the sliders move the drawing at once and the object with it; after reopening a trusted
notebook or in a page from `to_html()`, the sliders still work, on their own; where scripts don't run (an untrusted
notebook, a preview), a table and two sentences; as plain text, the same table.

Limits: the saved copy is renewed when a value is set from code and once focus has left the calculator, so a save with
a slider still focused keeps the values before. In Colab and VS Code the output names the widget as well, since only a
widget's view reaches the kernel there, and reopening falls to what those hosts do with it. The same holds for a
calculator put into an ipywidgets box.
"""

from __future__ import annotations

import html
import json
import os
import pathlib
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets
from IPython.display import display, update_display

from adk_nb.calculator import (
    Comparison,
    Phrase,
    checked_judgment_share,
    checked_process_length,
    checked_routing_accuracy,
    checked_tokens_per_step,
    compare_designs,
    format_count,
    format_percent,
    success_phrases,
    summary,
    token_phrases,
)
from adk_nb.errors import ConfigurationError
from adk_nb.notebook.assets import page, script, style_sheet
from adk_nb.notebook.front_end import isolates_outputs

_SCRIPT = script("calculator")
_STYLE = style_sheet("theme", "calculator")
_INPUTS = ("process_length", "judgment_share", "routing_accuracy", "tokens_per_step")

_LONGEST_DRAWN = 1_000
_MOST_TOKENS_DRAWN = 1_000_000_000


class _Checked(traitlets.TraitType[Any, Any]):
    """A trait whose values pass a check at once, even while notifications are held, or leave it as it was."""

    def __init__(self, check: Callable[[object], float], default: float) -> None:
        super().__init__(default_value=default)
        self._check = check
        self.tag(sync=True)

    def validate(self, obj: object, value: object) -> float:
        return self._check(value)


def _drawable_length(value: object) -> int:
    length = checked_process_length(value)
    if length > _LONGEST_DRAWN:
        raise ConfigurationError(
            f"process_length can be drawn up to {_LONGEST_DRAWN:,} steps; found {value!r}; "
            "adk_nb.calculator.compare_designs counts any length."
        )
    return length


def _drawable_tokens(value: object) -> int | float:
    tokens = checked_tokens_per_step(value)
    if tokens > _MOST_TOKENS_DRAWN:
        raise ConfigurationError(
            f"tokens_per_step can be drawn up to {_MOST_TOKENS_DRAWN:,}; found {value!r}; "
            "adk_nb.calculator.compare_designs counts any amount."
        )
    return tokens


class Calculator(anywidget.AnyWidget):
    """A live comparison of an agent loop with a graph. Made by `calculator()`.

    Shown at the end of a cell or with `display`; every copy on the page follows the same values. Set a value from code
    and the sliders move; move a slider and `comparison` follows. A value out of range is refused with a
    `ConfigurationError` and changes nothing.

    Example:
        >>> calc = Calculator(process_length=15)
        >>> calc.judgment_share = 1.0
        >>> calc.comparison.graph_tokens
        7500
    """

    _esm = _SCRIPT
    _css = _STYLE

    process_length = _Checked(_drawable_length, 6)
    """Steps from start to end: 0 to 1,000. The slider offers 1 to 15 and reaches further when a longer one is set."""
    judgment_share = _Checked(checked_judgment_share, 0.5)
    """Share of the steps that need a model: 0 to 1."""
    routing_accuracy = _Checked(checked_routing_accuracy, 0.97)
    """Chance that one choice of the next step is right: 0 to 1. The slider starts at 0.8, or lower when that is set."""
    tokens_per_step = _Checked(_drawable_tokens, 500)
    """Tokens that a step adds to a context: 0 to 1,000,000,000. It moves both bars alike and never the share saved."""

    _key = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        process_length: int = 6,
        judgment_share: float = 0.5,
        routing_accuracy: float = 0.97,
        tokens_per_step: float = 500,
    ) -> None:
        super().__init__(
            process_length=process_length,
            judgment_share=judgment_share,
            routing_accuracy=routing_accuracy,
            tokens_per_step=tokens_per_step,
            _key=uuid.uuid4().hex,
        )
        self._shown: dict[str, float] | None = None
        self.on_msg(self._on_message)

    @property
    def comparison(self) -> Comparison:
        """Both designs at the present values, with every number that is drawn."""
        return compare_designs(**self._values())

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Give a page of its own with the calculator at the present values; its sliders work without a kernel.

        Args:
            path: Where to write the page as well; `None` writes nothing.

        Returns:
            str: the whole page, with styles and script in it; it fetches nothing.
        """
        whole = page("Graph or agent loop?", self._fragment())
        if path is not None:
            pathlib.Path(path).write_text(whole, encoding="utf-8")
        return whole

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _INPUTS}

    def _fragment(self) -> str:
        """HTML for an output: readable as it is, interactive once its script runs."""
        start = f"mountCopies({json.dumps(self._key)}, {json.dumps(self._values())});"
        return (
            f"<style>{_STYLE}</style>"
            f'<div class="adknb adknb-calc" data-adknb-calculator="{self._key}">{_static(self.comparison)}</div>'
            f'<script type="module">{_SCRIPT}\n{start}</script>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data: dict[str, Any] = {"text/plain": summary(self.comparison), "text/html": self._fragment()}
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
        values = ", ".join(f"{name}={value!r}" for name, value in self._values().items())
        return f"Calculator({values})"


def calculator(
    process_length: int = 6,
    judgment_share: float = 0.5,
    routing_accuracy: float = 0.97,
    tokens_per_step: float = 500,
) -> Calculator:
    """Show what it saves to put code in charge: an agent loop against a graph, with sliders.

    Args:
        process_length: Steps from start to end: a whole number from 0 to 1,000.
        judgment_share: Share of the steps that need a model: 0 to 1.
        routing_accuracy: Chance that one choice of the next step is right: 0 to 1; a measured one, for instance.
        tokens_per_step: Tokens that a step adds to a context: 0 or more.

    Returns:
        Calculator: shown at the end of a cell. The four values can be read and set, `comparison` holds the results,
        and `to_html()` gives a page.

    Raises:
        ConfigurationError: a value is out of range; the message says which one and what is allowed.

    Example:
        >>> calculator(process_length=15).comparison.loop_tokens
        60000
    """
    return Calculator(process_length, judgment_share, routing_accuracy, tokens_per_step)


def _static(comparison: Comparison) -> str:
    """The results as a table and two sentences, for places where no script runs."""
    rows = (
        ("model calls", f"{comparison.process_length:,}", f"{comparison.judgment_nodes:,}"),
        ("tokens", format_count(comparison.loop_tokens), format_count(comparison.graph_tokens)),
        (
            "intended path",
            format_percent(comparison.loop_success),
            f"{format_percent(comparison.graph_success)} to {format_percent(comparison.graph_success_exact)}",
        ),
    )
    body = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(loop)}</td><td>{html.escape(graph)}</td></tr>"
        for name, loop, graph in rows
    )
    head = html.escape(summary(comparison).splitlines()[0])
    sentences = "".join(f"<p>{_marked_up(say(comparison))}</p>" for say in (token_phrases, success_phrases))
    return (
        f'<div class="adknb-calc-static"><p><strong>{head}</strong></p>'
        f"<table><thead><tr><th></th><th>agent loop</th><th>graph</th></tr></thead><tbody>{body}</tbody></table>"
        f"{sentences}<p>A picture of the mechanism, not a benchmark: it ignores prompt caching and takes mistakes as "
        "independent.</p></div>"
    )


def _marked_up(phrases: list[Phrase]) -> str:
    return "".join(
        f"<strong>{html.escape(phrase.text)}</strong>" if phrase.is_strong else html.escape(phrase.text)
        for phrase in phrases
    )
