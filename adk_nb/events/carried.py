"""Records of node runs that travel in events, for stores that keep nothing but events.

Such a store takes one event at a time, all or nothing. So what a step changed in the records goes into the event of the
same step, under the key `adk_nb` of its `custom_metadata`; a step without an event gets one that says nothing else.
google-adk and other readers pass over both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pydantic_core import from_json

from adk_nb.events.event import Event
from adk_nb.events.paths import node_names
from adk_nb.events.record import NodeRun, Status, run_from_dict, run_to_dict
from adk_nb.events.stored import event_from_json, event_to_json, text_of, unpacked_event

CARRIED = "adk_nb"
"""The key of `custom_metadata` under which an event carries records."""
_VERSION = 1


class Writer:
    """Puts records into the events of one session, in the order in which they are stored.

    A value that stands in the history already isn't written again: an output that is the event's own, an input that is
    the output of the run before or was written with an earlier form of the record.
    """

    def __init__(self) -> None:
        self._inputs: dict[tuple[str, str], Any] = {}
        self._outputs: dict[tuple[str, str], Any] = {}

    def forget(self) -> None:
        """Count on nothing that was written so far, since the last event may not have been stored."""
        self._inputs.clear()
        self._outputs.clear()

    def loaded(self, event: Event | None, runs: Iterable[NodeRun]) -> Event:
        """Return a plain copy of an event, or a new one that says nothing, with records in it; any store may keep it.

        Args:
            event: The event of the step; it isn't changed.
            runs: The records that changed with it, as they are now; values that are history already share their
                objects with it.
        """
        runs = list(runs)
        # As one text: stores copy events deeply, and a text is copied for nothing.
        carried: dict[str, Any] = {"v": _VERSION, "runs": text_of([self._form(run, event) for run in runs])}
        if event is None:
            copied, carried["alone"] = _silent_event(runs), True
        else:
            copied = Event.model_validate_json(event_to_json(event))
        copied.custom_metadata = {**(copied.custom_metadata or {}), CARRIED: carried}
        return copied

    def _form(self, run: NodeRun, event: Event | None) -> dict[str, Any]:
        same: dict[str, str] = {}
        key = run.invocation_id, run.path
        # Frozen values are shared, so identity finds what is the same, and never takes 1 for True.
        if event is not None and run.output is not None and run.output is event.output:
            same["output"] = ""
        if run.input is not None:
            source = (run.invocation_id, run.sources[0]) if len(run.sources) == 1 else None
            if self._inputs.get(key) is run.input:
                same["input"] = run.path
            elif source is not None and self._outputs.get(source) is run.input:
                same["input"] = run.sources[0]
            self._inputs[key] = run.input
        self._outputs[key] = run.output
        if not same:
            return run_to_dict(run)
        left = replace(
            run, input=None if "input" in same else run.input, output=None if "output" in same else run.output
        )
        return {**run_to_dict(left), "same": same}


class Reader:
    """Takes records out of the events of one session, oldest first."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], NodeRun] = {}

    def runs_in(self, event: Event) -> list[NodeRun] | None:
        """Return the records that an event carries, `None` when adk_nb didn't write it; they are only for reading."""
        forms = _forms(event)
        return None if forms is None else [self._run(form, event) for form in forms]

    def _run(self, form: dict[str, Any], event: Event) -> NodeRun:
        fields = dict(form)
        same = fields.pop("same", {})
        run = run_from_dict(fields)
        if "output" in same:
            run.output = event.output
        if "input" in same:
            other = self._runs.get((run.invocation_id, same["input"]))
            if other is not None:
                run.input = other.input if other.path == run.path else other.output
        self._runs[run.invocation_id, run.path] = run
        return run


def without_records(event: Event) -> Event | None:
    """Return an event as its node wrote it, `None` for one that was made only to carry records."""
    if _forms(event) is None:
        return event
    metadata = dict(event.custom_metadata or {})
    is_alone = metadata.pop(CARRIED).get("alone")
    return None if is_alone else event.model_copy(update={"custom_metadata": metadata or None})


def own_event(event: Any) -> Event:
    """Return an event of any store as ours, its values as they were when it was stored; google-adk's events, too.

    A sealed event is ours already.
    """
    if not isinstance(event, Event):
        return event_from_json(event.model_dump_json(exclude_none=True, fallback=repr))
    return event if event.is_sealed else unpacked_event(event)


def _forms(event: Event) -> list[dict[str, Any]] | None:
    carried = (event.custom_metadata or {}).get(CARRIED)
    if not isinstance(carried, dict) or carried.get("v") != _VERSION or not isinstance(carried.get("runs"), str):
        return None
    forms: list[dict[str, Any]] = from_json(carried["runs"])
    return forms


def _silent_event(runs: list[NodeRun]) -> Event:
    """Return an event for the end of a run that said nothing.

    It stands at the run's path only when the run is completed: google-adk takes a run with a plain event as finished.
    """
    run = next((one for one in runs if one.status is Status.COMPLETED), runs[0])
    names = node_names(run.path)
    path = run.path if run.status is Status.COMPLETED else ""
    return Event(author=names[-2] if len(names) > 1 else names[-1], invocation_id=run.invocation_id, node_path=path)
