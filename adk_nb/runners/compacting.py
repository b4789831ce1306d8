"""Summaries while a session is used: when one is due it is written and stored, and a failure is told in a warning."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from adk_nb.apps.compaction import (
    EventsCompactionConfig,
    oldest_to_summarise,
    turns_to_summarise,
    without_split_pairs,
)
from adk_nb.apps.llm_event_summarizer import LlmEventSummarizer
from adk_nb.errors import DataError
from adk_nb.events.compactions import Lane, lane_of
from adk_nb.events.event import Event
from adk_nb.events.record import ENDED, NodeRun, Status
from adk_nb.events.rewinds import visible_events
from adk_nb.models.call_log import Caller
from adk_nb.models.secrets import without_secrets

if TYPE_CHECKING:
    from adk_nb.apps.app import App
    from adk_nb.runners.call import Call
    from adk_nb.workflow.invocation import InvocationContext

_CLOSED = {*ENDED, Status.FAILED, Status.CANCELLED}
Store = Callable[[Event | None, list[NodeRun]], Awaitable[None]]


def compacting(app: App, call: Call, invocation: InvocationContext, store: Store) -> Compacting | None:
    """Return what summarises for an app's runs, `None` where it wants no summaries.

    Args:
        app: The app.
        call: The call of the runner.
        invocation: What its nodes share.
        store: Writes an event.
    """
    config = app.events_compaction_config
    return None if config is None else Compacting(app, config, call, invocation, store)


class Compacting:
    """Summaries of one session during one call of a runner."""

    def __init__(
        self, app: App, config: EventsCompactionConfig, call: Call, invocation: InvocationContext, store: Store
    ) -> None:
        """Take what `compacting` is given."""
        self._app = app
        self._config = config
        self._call = call
        self._invocation = invocation
        self._store = store
        self._lock = asyncio.Lock()

    async def shorten(self, branch: str | None, scope: str | None) -> None:
        """Summarise what a model would read of a lane before it is asked, once that has become too long."""
        if self._config.token_threshold is None:
            return
        async with self._lock:
            await self._if_too_long((branch, scope), visible_events(self._invocation.session.events))

    async def after_run(self) -> None:
        """Summarise what is due now that a run has ended."""
        async with self._lock:
            events = visible_events(await self._invocation.all_events())
            config = self._config
            if config.compaction_interval is not None:
                open_turns = await self._open_turns(events)
                due = turns_to_summarise(events, config.compaction_interval, config.overlap_size or 0, open_turns)
                for lane in _lanes(due):
                    chosen = [event for event in due if lane_of(event) == lane]
                    await self._write(lane, chosen, events, open_turns)
                if due:
                    return
            if config.token_threshold is not None:
                for lane in _lanes(events):
                    await self._if_too_long(lane, events)

    async def _if_too_long(self, lane: Lane, events: list[Event]) -> None:
        config, own = self._config, [event for event in events if lane_of(event) == lane]
        chosen = oldest_to_summarise(own, config.token_threshold or 0, config.event_retention_size or 0)
        if chosen:
            await self._write(lane, chosen, events, await self._open_turns(own))

    async def _write(self, lane: Lane, chosen: list[Event], events: list[Event], open_turns: set[str]) -> None:
        """Let a summary of these events be written, and store it; what fails there must not end the run."""
        chosen = without_split_pairs(chosen, [event for event in events if lane_of(event) == lane], open_turns)
        if not any(event.content for event in chosen if event.author != "summary"):
            return
        summarizer = self._app.summarizer()
        assert summarizer is not None  # the app wants summaries
        if isinstance(summarizer, LlmEventSummarizer):
            summarizer.caller = Caller("summary", "", self._invocation.invocation_id)
        try:
            event = await summarizer.maybe_summarize_events(events=chosen)
            if event is None:
                return
            if event.actions.compaction is None:
                raise DataError("the summarizer's event has no actions.compaction")
        except Exception as error:  # noqa: BLE001  # whatever it fails with, the conversation goes on without
            warnings.warn(
                f"Older events of session {self._call.session_id!r} couldn't be summarised, so models go on reading "
                f"them in full: {type(error).__name__}: {without_secrets(str(error))}",
                RuntimeWarning,
                stacklevel=2,
            )
            return
        span = event.actions.compaction.model_copy(
            update={"start_timestamp": chosen[0].timestamp, "end_timestamp": chosen[-1].timestamp}
        )
        told = Event(
            author="user",
            invocation_id=self._invocation.invocation_id,
            branch=lane[0],
            isolation_scope=lane[1],
            usage_metadata=event.usage_metadata,
            model_version=event.model_version,
            actions=event.actions.model_copy(update={"compaction": span}),
        )
        self._invocation.run_config.mark(told)
        await self._store(told, [])

    async def _open_turns(self, events: list[Event]) -> set[str]:
        """Return the turns that still wait for what a call of theirs gives."""
        answered = {response.id for event in events for response in event.get_function_responses()}
        asking = {
            event.invocation_id
            for event in events
            if any(call.id not in answered for call in event.get_function_calls())
        }
        found = [await self._call.log.root_run(turn) for turn in asking]
        return {run.invocation_id for run in found if run is not None and run.status not in _CLOSED}


def _lanes(events: list[Event]) -> list[Lane]:
    """Return the lanes that later turns read: the trunk and branches of nodes, not those of agents that were called."""
    called = {str(call.id) for event in events for call in event.get_function_calls() if call.id}
    return [
        lane
        for lane in dict.fromkeys(map(lane_of, events))
        if lane[1] is None and not (lane[0] and any(one.partition("@")[2] in called for one in lane[0].split(".")))
    ]
