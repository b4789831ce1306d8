"""`OpenedSession`: one session of a store that offers only ADK's interface, from when it was loaded on."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, TypeVar, get_args

from adk_nb.errors import AlreadyExistsError
from adk_nb.events.carried import Writer, own_event, without_records
from adk_nb.events.event import Event
from adk_nb.events.record import NodeRun
from adk_nb.events.stored import event_to_json
from adk_nb.sessions.refusals import event_exists
from adk_nb.sessions.session import key_of

T = TypeVar("T")


class OpenedSession:
    """One loaded session: the store's own object, to append with, and its events as ours."""

    def __init__(self, service: Any, theirs: Any) -> None:
        """Take over what a store returned.

        Args:
            service: The store.
            theirs: The session that it returned; nobody else gets this object.
        """
        self.theirs = theirs
        self.lock = asyncio.Lock()
        """Held while an event is appended, as a store may take only one at a time from one session object."""
        self._service = service
        self._writer = Writer()
        self._loaded: list[Any] = list(theirs.events)
        self._recorded: list[Event] | None = None
        self._added: list[Event] = []
        self._by_id: dict[str, Event] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> OpenedSession:
        return self

    def recorded_events(self) -> list[Event]:
        """Return the events that the session had when it was loaded, with the records in them."""
        if self._recorded is None:
            self._recorded = [own_event(event) for event in self._loaded]
            self._loaded = []
            for event in self._recorded:
                event.seal()  # read as ours from now on: to unpack values twice would change them
        return self._recorded

    def load_events(self) -> list[Event]:
        """Return all events as their nodes wrote them, sealed; those that only carry records are left out."""
        shown = [event for event in map(without_records, self.recorded_events()) if event is not None]
        for event in shown:
            event.seal()
        return [*shown, *self._added]

    async def append(self, event: Event | None, runs: Sequence[NodeRun]) -> bool:
        """Append a sealed event with records, or records alone; `False` when the event is stored already.

        Only for the holder of the lock.

        Raises:
            AlreadyExistsError: another event has this id.
        """
        if event is not None and self._is_stored(event):
            event = None
            if not runs:
                return False
        is_new = event is not None
        try:
            await settled(self._service.append_event(self.theirs, self._as_theirs(self._writer.loaded(event, runs))))
        except BaseException:  # whether it is stored can't be known
            self._writer.forget()
            raise
        if event is not None:
            self._added.append(event)
            self._ids()[event.id] = event
        return is_new

    def _is_stored(self, event: Event) -> bool:
        known = self._ids().get(event.id)
        if known is not None and known is not event and known != event:
            raise AlreadyExistsError(event_exists(event.id, key_of(self.theirs)))
        return known is not None

    def _ids(self) -> dict[str, Event]:
        if self._by_id is None:
            self._by_id = {event.id: event for event in self.load_events()}
        return self._by_id

    def _as_theirs(self, event: Event) -> Any:
        """Return an event as the class of which the store's sessions hold a list, which may be google-adk's."""
        field = getattr(type(self.theirs), "model_fields", {}).get("events")
        kinds = get_args(field.annotation) if field is not None else ()
        if not kinds or not hasattr(kinds[0], "model_validate_json") or isinstance(event, kinds[0]):
            return event
        return kinds[0].model_validate_json(event_to_json(event))


async def settled(result: Awaitable[T] | T) -> T:
    """Return what a method of a store returns, whether it is a coroutine or not."""
    return await result if inspect.isawaitable(result) else result


async def unbroken(work: Coroutine[Any, Any, T], at_work: set[asyncio.Task[Any]] | None = None) -> T:
    """Do something to its end, also when the caller is cancelled meanwhile.

    Args:
        work: What is done.
        at_work: Holds the task of it until it is done.
    """
    task = asyncio.ensure_future(work)
    if at_work is not None:
        at_work.add(task)
        task.add_done_callback(at_work.discard)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise
