"""Names that are loaded when they are first used, so that importing a room costs next to nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def loaded_when_used(room: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a room whose names live in other modules.

    Args:
        room: The room's own name, `__name__`.
        homes: The module of each name; a name with `<room>.<name>` as its module is that module itself.

    Example:
        >>> load, names = loaded_when_used(__name__, {"sqrt": "math"})
        >>> load("sqrt")(9), "sqrt" in names()
        (3.0, True)
    """

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module = importlib.import_module(home)
        value = module if home == f"{room}.{name}" else getattr(module, name)
        vars(sys.modules[room])[name] = value
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[room]), *homes})

    return load, names
