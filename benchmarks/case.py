"""The contract between an engine file and the harness: what a case is and what one run of it hands back.

An engine file defines `CASES`, a dict from case name to a case. A case is an async context manager that builds
its graph, yields a function, and closes what it opened; only the yielded function is measured. This file imports
next to nothing, because the import row counts all that an engine pulls in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """What one run gave back."""

    output: Any
    """The workflow's result; every case is built so that it equals the number of nodes."""
    held: Any = None
    """What keeps the run's history alive (a session service, a saver, an application); the memory row holds it."""


Run = Callable[[], Awaitable[Outcome]]
"""Runs the built graph once, in a session of its own."""

Case = Callable[[int, Path], AbstractAsyncContextManager[Run]]
"""Takes the number of nodes and an empty directory for its files."""

SLEEP_S = 0.05
"""How long each node of the `sleep_fan_out` case sleeps."""
