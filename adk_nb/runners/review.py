"""Events pass through the plugins before anything is made of them: what comes out is what happened."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter

from adk_nb.events.event import Event
from adk_nb.events.event_actions import EventActions
from adk_nb.events.values import snapshot
from adk_nb.workflow.invocation import InvocationContext
from adk_nb.workflow.publish import Checks

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

    async def review(self, event: Event, checks: Checks | None = None) -> None:
        """Let plugins change an event; it is neither stored nor sealed yet.

        Args:
            event: It is changed in place.
            checks: What the event's node says of values, if it has one.
        Raises:
            PluginError: a plugin failed, or set what can't be stored or isn't of the right type.
        """
        kept = {name: getattr(event, name) for name in _KEPT}
        info = event.node_info.model_copy()
        failure = (event.error_code, event.error_message)
        written = set(event.actions.state_delta)
        before = _looked_at(event)

        def accept(given: Event | None) -> None:
            nonlocal before
            if given is not None and given is not event:
                take_over(event, given)
            for name, value in kept.items():
                if getattr(event, name) is not value:
                    setattr(event, name, value)
            if event.node_info != info:
                event.node_info = info
            if failure[0] is not None and (event.error_code is None or before["output"] is None):
                _keep_failed(event, *failure, output=before["output"])
            _check(event, before, checks)
            before = _looked_at(event)

        await self._plugins.run_on_event_callback(invocation_context=self._invocation, event=event, accept=accept)
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


def _looked_at(event: Event) -> dict[str, Any]:
    return {**{name: getattr(event, name) for name in Event.model_fields}, "state": dict(event.actions.state_delta)}


def _keep_failed(event: Event, code: str | None, message: str | None, *, output: Any) -> None:
    """Let an event that says that its node failed go on saying so: a failed run has no output."""
    event.output = output
    if event.error_code is None:
        event.error_code, event.error_message = code, event.error_message or message


def _check(event: Event, before: dict[str, Any], checks: Checks | None) -> None:
    """Refuse what a plugin put into an event and nobody could store or read; the rest was checked before."""
    for name, adapter in _types_of_fields().items():
        value = getattr(event, name)
        if value is not before[name]:
            adapter.validate_python(value)
            if name in ("output", "custom_metadata"):
                snapshot(value, name)
    if event.output is not before["output"] and event.output is not None and checks is not None:
        event.output = checks.output(event.output)
    if not isinstance(event.actions.state_delta, dict):
        raise TypeError(f"state_delta is a {type(event.actions.state_delta).__name__}: give a dictionary.")
    for key, value in event.actions.state_delta.items():
        if key not in before["state"] or value is not before["state"][key]:
            snapshot(value, f"state[{key!r}]")
            if checks is not None:
                checks.state(key, value)
    if event.actions is not before["actions"]:
        snapshot(event.actions.route, "route")


@functools.cache
def _types_of_fields() -> dict[str, TypeAdapter[Any]]:
    kinds = {name: cast("Any", field.annotation) for name, field in Event.model_fields.items() if name not in _KEPT}
    return {name: TypeAdapter(kind) for name, kind in kinds.items()}


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
