"""What the calculator refuses, and what it says then."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from adk_nb.calculator import compare_designs, graph_success_judged, graph_tokens, horizon, judgment_nodes, saving
from adk_nb.errors import ConfigurationError

NAN = float("nan")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("process_length", value) for value in (-1, 6.0, True, "6", None, NAN, math.inf)],
        *[("judgment_share", value) for value in (-0.01, 1.01, True, "0.5", None, NAN, Decimal("0.5"), 1j)],
        *[("routing_accuracy", value) for value in (-0.01, 97, False, "97 %", None, NAN, math.inf)],
        *[("tokens_per_step", value) for value in (-1, True, "500", None, NAN, math.inf, 10**400)],
    ],
)
def test_refused_in_one_sentence(name: str, value: object) -> None:
    """A value outside its range is refused with its name, what is allowed, and what was found, in one sentence."""
    with pytest.raises(ConfigurationError) as caught:
        compare_designs(**{name: value})  # type: ignore[arg-type]  # the wrong type is the point
    message = str(caught.value)
    assert message.startswith(f"{name} must be ")
    assert message.endswith(f"; found {value!r}.")
    assert "\n" not in message


def test_refusal_is_a_value_error() -> None:
    """Code that expects Python's own error for a bad value catches ours."""
    with pytest.raises(ValueError, match="judgment_nodes must be a whole number of nodes"):
        graph_tokens(2.5, 500)  # type: ignore[arg-type]  # the wrong type is the point
    with pytest.raises(ValueError, match="target must be a number from 0 to 1"):
        horizon(0.9, 1.5)
    with pytest.raises(ValueError, match="loop must be a finite number of tokens"):
        saving(math.inf, 0)
    with pytest.raises(ValueError, match="judgment_nodes"):
        graph_success_judged(-1, 0.9)


def test_numbers_of_other_libraries_are_numbers() -> None:
    """NumPy's and fractions' numbers are taken as what they are and come back as Python's."""
    comparison = compare_designs(np.int64(6), Fraction(1, 2), np.float64(0.97), np.float32(412.5))  # type: ignore[arg-type]  # any real number will do
    assert comparison == compare_designs(6, 0.5, 0.97, 412.5)
    assert [type(getattr(comparison, name)) for name in ("process_length", "routing_accuracy")] == [int, float]
    assert judgment_nodes(np.int64(5), 0.5) == 3  # type: ignore[arg-type]  # as above


def test_comparison_is_frozen() -> None:
    """A comparison can be kept and shared: nobody changes it afterwards."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        compare_designs().saving = 1.0  # type: ignore[misc]  # the refusal is the point
