"""The calculator's values as traits, and the tables that its menus offer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import traitlets

from adk_nb.calculator import (
    CACHE_CAVEAT,
    CACHES,
    FINDINGS,
    MODEL_PRICES,
    PRESETS,
    PRICES_DATE,
    PRICES_SOURCE,
    assumption_defaults,
    checked_assumption,
    checked_process_length,
    checked_tokens_per_step,
)
from adk_nb.errors import ConfigurationError

SIMPLE = {"process_length": 6, "judgment_share": 0.5, "routing_accuracy": 0.97, "tokens_per_step": 500}
ASSUMPTIONS = assumption_defaults()
INPUTS = (*SIMPLE, *ASSUMPTIONS)
SHOWN = (*INPUTS, "is_extended", "fit_note")

# What a fit sets, and what its note says once one of these was changed; the script has the same.
FITTED = (
    "process_length",
    "judgment_share",
    "calls_per_step",
    "node_calls",
    "closing_call",
    "length_variance",
    *(f"{design}_{part}" for design in ("loop", "graph") for part in ("base", "visible", "result", "hidden")),
)
CHANGED = " Values were changed since."

_LONGEST_DRAWN = 1_000
_MOST_DRAWN = 1_000_000_000
_MOST_CALLS_DRAWN = 100


class CheckedTrait(traitlets.TraitType[Any, Any]):
    """A trait whose values pass a check at once, even while notifications are held, or leave it as it was."""

    def __init__(self, check: Callable[[object], Any], default: Any) -> None:
        super().__init__(default_value=default, allow_none=default is None)
        self._check = check
        self.tag(sync=True)

    def validate(self, obj: object, value: object) -> Any:
        """Return the value as the check gives it, or let the check refuse it."""
        return self._check(value)


def drawable_length(value: object) -> int:
    """Accept a process length that charts can show."""
    length = checked_process_length(value)
    if length > _LONGEST_DRAWN:
        raise ConfigurationError(
            f"process_length can be drawn up to {_LONGEST_DRAWN:,} steps; found {value!r}; "
            "adk_nb.calculator.compare_designs counts any length."
        )
    return length


def drawable_tokens(value: object) -> int | float:
    """Accept tokens a step that the browser counts exactly."""
    tokens = checked_tokens_per_step(value)
    if tokens > _MOST_DRAWN:
        raise ConfigurationError(
            f"tokens_per_step can be drawn up to {_MOST_DRAWN:,}; found {value!r}; "
            "adk_nb.calculator.compare_designs counts any amount."
        )
    return tokens


def assumption_trait(name: str) -> CheckedTrait:
    """Make the trait of one of the extended model's inputs."""
    most = _MOST_CALLS_DRAWN if name in ("calls_per_step", "node_calls") else _MOST_DRAWN

    def check(value: object) -> Any:
        checked = checked_assumption(name, value)
        if checked is not None and checked > most:
            raise ConfigurationError(
                f"{name} can be drawn up to {most:,}; found {value!r}; adk_nb.calculator.compare_in_detail counts more."
            )
        return checked

    return CheckedTrait(check, ASSUMPTIONS[name])


def _tables() -> dict[str, Any]:
    """What the menus offer, as the script reads it."""
    return {
        "presets": [
            {"key": "", "title": "defaults", "values": {}},
            *(
                {"key": key, "title": one.title, "values": dict(one.values), "source": one.source, "caveat": one.caveat}
                for key, one in PRESETS.items()
            ),
        ],
        "findings": [list(dataclasses.astuple(finding)) for finding in FINDINGS],
        "caches": {
            name: {"cache_read": cache.read, "cache_write": cache.write, "cache_minimum": cache.minimum, "cache_hit": 1}
            for name, cache in CACHES.items()
        }
        | {"": {"cache_read": 1, "cache_write": 1, "cache_minimum": 0, "cache_hit": 1}},
        "prices": {"": {"price_input": None, "price_output": None}}
        | {
            name: {
                "price_input": price.input,
                "price_output": price.output,
                "read": round(price.cached / price.input, 6),
                "maker": price.maker,
            }
            for name, price in MODEL_PRICES.items()
        },
        "prices_date": PRICES_DATE,
        "prices_source": PRICES_SOURCE,
        "cache_caveat": CACHE_CAVEAT,
    }


TABLES = _tables()
"""Menus and findings: constant, and the same in every calculator."""
