"""Events pass through the plugins before anything is made of them: what comes out is what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adk_nb.events.event import Event
from adk_nb.events.event_actions import EventActions
from adk_nb.workflow.invocation import InvocationContext

if TYPE_CHECKING:
    from adk_nb.plugins.plugin_manager import PluginManager

_KEPT = frozenset({"id", "invocation_id", "timestamp", "node_info", "partial"})
"""What says which event it is, where it comes from and whether it is finished: a plugin can't change it."""
_MISSING = object()


class Reviewer:
    """Lets plugins change events in place."""

    def __init__(self, plugins: PluginManager, invocation: InvocationContext) -> None:
        """Stand between one call of a runner and its plugins."""
        self._plugins = plugins
        self._invocation = invocation
        self._stored: dict[str, Any] = {}
        """The state as it is stored: what a key falls back to when a plugin takes its change out of an event."""

    def begin(self) -> None:
        """Take note of the state that the nodes begin with."""
        self._stored = dict(self._invocation.session.state)

    async def review(self, event: Event) -> None:
        """Let plugins change an event; it is neither stored nor sealed yet."""
        kept = {name: getattr(event, name) for name in _KEPT}
        info = event.node_info.model_copy()
        written = set(event.actions.state_delta)
        given = await self._plugins.run_on_event_callback(invocation_context=self._invocation, event=event)
        if given is not None and given is not event:
            take_over(event, given)
        for name, value in kept.items():
            if getattr(event, name) is not value:
                setattr(event, name, value)
        if event.node_info != info:
            event.node_info = info
        self._take_back(written - set(event.actions.state_delta))
        if not event.partial:
            self._stored.update(event.actions.state_delta)

    def show(self, event: Event) -> None:
        """Show the state that comes with an event of the runner's own."""
        self._invocation.session.state.update(event.actions.state_delta)

    def _take_back(self, keys: set[str]) -> None:
        live = self._invocation.session.state
        for key in keys:
            value = self._stored.get(key, _MISSING)
            if value is _MISSING:
                live.pop(key, None)
            else:
                live[key] = value


def take_over(event: Event, given: Event) -> None:
    """Write the fields that were set on one event into another; dictionaries in its actions are merged.

    Example:
        >>> event = Event(output=1, state={"a": 1})
        >>> take_over(event, Event(route="x", state={"b": 2}))
        >>> event.output, event.actions.route, event.actions.state_delta
        (1, 'x', {'a': 1, 'b': 2})
    """
    for name in given.model_fields_set - _KEPT - {"actions"}:
        setattr(event, name, getattr(given, name))
    own, new = event.actions, given.actions
    if new is own or "actions" not in given.model_fields_set:
        return
    changes: dict[str, Any] = {}
    for name in new.model_fields_set & set(EventActions.model_fields):
        value, before = getattr(new, name), getattr(own, name)
        changes[name] = {**before, **value} if isinstance(value, dict) and isinstance(before, dict) else value
    event.actions = own.model_copy(update=changes)
