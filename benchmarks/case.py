"""The contract between an engine file and the harness: what a case is and what one run of it hands back.

An engine file defines `CASES`, a dict from case name to a case. A case is an async context manager that builds its
graph and closes what it opened. It yields a function, and only that one is measured; or, where something has to run
first that isn't to be measured, a `Resumable`. This file imports next to nothing, because the import row counts all
that an engine pulls in.
"""

from __future__ import annotations

import asyncio
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


class Resumable(NamedTuple):
    """A run in two parts, of which the second is measured; it may take place in another process."""

    begin: Callable[[], Awaitable[str]]
    """Runs to where it waits for a person, and returns the id of the session or thread that waits."""
    go_on: Callable[[str], Awaitable[Outcome]]
    """Answers, and runs to the end. What had run before must not run again: that is an error."""


Case = Callable[[int, Path], AbstractAsyncContextManager[Run | Resumable]]
"""Takes the number of nodes and an empty directory for its files."""

SLEEP_S = 0.05
"""How long each node of the `sleep_fan_out` case sleeps."""
CONCURRENT_NODES = 10
"""How many nodes each run of the `concurrent` case has."""


class Meeting:
    """Where the runs of the `concurrent` case wait for each other, so that all are open at once."""

    def __init__(self, size: int) -> None:
        """Expect `size` runs, again and again."""
        self.size = size
        self._here = 0
        self._all = asyncio.Event()

    async def all_here(self) -> None:
        """Come, and wait until everybody has come."""
        everybody = self._all
        self._here += 1
        if self._here == self.size:
            self._here, self._all = 0, asyncio.Event()
            everybody.set()
        await everybody.wait()
