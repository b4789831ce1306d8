"""Those inside a run who have the events of a part of it as they come, for instance an agent that runs others."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from adk_nb.events.event import Event

if TYPE_CHECKING:
    from adk_nb.workflow.engine import Engine

Listener = Callable[[Event], Awaitable[None]]
"""Is awaited with each event once it is stored and the caller has it."""


class Listening:
    """The listeners of one engine, by the path of the run that they listen to."""

    def __init__(self, engine: Engine) -> None:
        """Begin without listeners; the engine is used only while there are some."""
        self._engine = engine
        self._to_caller = engine.deliver
        self._listeners: dict[str, Listener] = {}

    @contextlib.contextmanager
    def to(self, path: str, listener: Listener) -> Iterator[None]:
        """Meanwhile, let a listener have the events of the run at a path and of those below it."""
        if not self._listeners:
            self._engine.deliver = self._deliver
        self._listeners[path] = listener
        try:
            yield
        finally:
            del self._listeners[path]
            if not self._listeners:
                self._engine.deliver = self._to_caller

    def told_before(self, invocation_id: str, path: str) -> list[Event]:
        """Return what the run at a path, and those below it, have said so far."""
        return [
            event
            for event in self._engine.invocation.session.events
            if event.invocation_id == invocation_id and f"{event.node_info.path}/".startswith(f"{path}/")
        ]

    async def _deliver(self, event: Event) -> None:
        await self._to_caller(event)
        path = event.node_info.path
        for above, listener in list(self._listeners.items()):
            if path == above or path.startswith(f"{above}/"):
                await listener(event)
