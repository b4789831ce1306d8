"""What the calculator accepts: each check returns the value as a plain number or refuses it in one sentence."""

from __future__ import annotations

import math
from numbers import Integral, Real

from adk_nb.errors import ConfigurationError


def checked_process_length(value: object) -> int:
    """Accept a number of steps: a whole number, 0 or more.

    Raises:
        ConfigurationError: not an integer (`6.0` and `True` aren't), or negative.

    Example:
        >>> checked_process_length(6)
        6
    """
    return _whole("process_length", "a whole number of steps, 0 or more, such as 6", value)


def checked_judgment_share(value: object) -> float:
    """Accept the share of steps that need judgment, from 0 to 1.

    Raises:
        ConfigurationError: not a number, NaN, or outside 0 to 1.

    Example:
        >>> checked_judgment_share(1)
        1.0
    """
    return _fraction("judgment_share", value)


def checked_routing_accuracy(value: object) -> float:
    """Accept the chance that one choice of the next step is right, from 0 to 1.

    Raises:
        ConfigurationError: not a number, NaN, or outside 0 to 1.

    Example:
        >>> checked_routing_accuracy(0.97)
        0.97
    """
    return _fraction("routing_accuracy", value)


def checked_tokens_per_step(value: object) -> int | float:
    """Accept the tokens one step adds to a context: finite, 0 or more; an integer stays one.

    Raises:
        ConfigurationError: not a number, NaN, infinite or negative.

    Example:
        >>> checked_tokens_per_step(500), checked_tokens_per_step(412.5)
        (500, 412.5)
    """
    return _amount("tokens_per_step", value)


def checked_judgment_nodes(value: object) -> int:
    """Accept a number of nodes that call a model: a whole number, 0 or more.

    Example:
        >>> checked_judgment_nodes(3)
        3
    """
    return _whole("judgment_nodes", "a whole number of nodes, 0 or more, such as 3", value)


def checked_target(value: object) -> float:
    """Accept a chance of success to aim for, from 0 to 1.

    Example:
        >>> checked_target(0.5)
        0.5
    """
    return _fraction("target", value)


def checked_total(name: str, value: object) -> int | float:
    """Accept a total of tokens: finite, 0 or more; an integer stays one.

    Example:
        >>> checked_total("loop", 10500)
        10500
    """
    return _amount(name, value)


def checked_amount(name: str, value: object, unit: str = "tokens") -> float:
    """Accept an amount as a float: finite, 0 or more; `unit` is what the refusal calls it.

    Example:
        >>> checked_amount("shared_reasoning", 1429)
        1429.0
    """
    return float(_amount(name, value, unit))


def checked_fraction(name: str, value: object) -> float:
    """Accept a share or a chance, from 0 to 1.

    Example:
        >>> checked_fraction("detection", 1)
        1.0
    """
    return _fraction(name, value)


def checked_count(name: str, value: object) -> int:
    """Accept a whole number of things, 1 or more.

    Example:
        >>> checked_count("most_attempts", 3)
        3
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ConfigurationError(f"{name} must be a whole number, 1 or more, such as 3; found {value!r}.")
    return int(value)


def checked_shape(value: object) -> float:
    """Accept how mistakes depend on each other: 1 for not at all, below 1 when later steps are safer, 0.1 to 3.

    Example:
        >>> checked_shape(0.6)
        0.6
    """
    number = _as_float(value)
    if number is None or not 0.1 <= number <= 3:
        raise ConfigurationError(
            f"dependence must be a number from 0.1 to 3, with 1 for independent mistakes; found {value!r}."
        )
    return number


def checked_flag(name: str, value: object) -> bool:
    """Accept yes or no.

    Example:
        >>> checked_flag("closing_call", True)
        True
    """
    if not isinstance(value, bool):
        raise ConfigurationError(f"{name} must be True or False; found {value!r}.")
    return value


def _whole(name: str, allowed: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ConfigurationError(f"{name} must be {allowed}; found {value!r}.")
    return int(value)


def _fraction(name: str, value: object) -> float:
    number = _as_float(value)
    if number is None or not 0 <= number <= 1:
        raise ConfigurationError(f"{name} must be a number from 0 to 1, such as 0.5 for half; found {value!r}.")
    return number


def _amount(name: str, value: object, unit: str = "tokens") -> int | float:
    number = _as_float(value)
    if number is None or not 0 <= number < math.inf:
        raise ConfigurationError(f"{name} must be a finite number of {unit}, 0 or more; found {value!r}.")
    return int(value) if isinstance(value, Integral) else number


def _as_float(value: object) -> float | None:
    """Give the value as a float, infinite when it is too large for one; `None` when it isn't a real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
