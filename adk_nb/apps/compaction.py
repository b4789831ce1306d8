"""`EventsCompactionConfig`, and which events are to be summarised when: decided from the events alone."""

from __future__ import annotations

import math
from collections.abc import Set
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from adk_nb.apps.base_events_summarizer import BaseEventsSummarizer
from adk_nb.errors import ConfigurationError
from adk_nb.events.compactions import compaction_of
from adk_nb.events.event import Event, content_text

_CHARACTERS_PER_TOKEN = 4


class EventsCompactionConfig(BaseModel):
    """When models are to read a summary in place of older events: every few turns, or once prompts get long.

    Give `compaction_interval` and `overlap_size`, or `token_threshold` and `event_retention_size`, or all four.

    Example:
        >>> EventsCompactionConfig(compaction_interval=5, overlap_size=1).compaction_interval
        5
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    summarizer: BaseEventsSummarizer | None = None
    """Who writes summaries; `None` asks the root agent's model."""
    compaction_interval: int | None = Field(default=None, gt=0)
    """A summary is written once so many turns have ended since the last one."""
    overlap_size: int | None = Field(default=None, ge=0)
    """So many turns before those are read for it again."""
    token_threshold: int | None = Field(default=None, gt=0)
    """A summary is written once a prompt has so many tokens."""
    event_retention_size: int | None = Field(default=None, ge=0)
    """So many of the newest events stay as they are then."""

    @field_validator("summarizer", mode="before")
    @classmethod
    def _check_summarizer(cls, summarizer: Any) -> Any:
        if summarizer is not None and not isinstance(summarizer, BaseEventsSummarizer):
            raise ConfigurationError(
                f"summarizer={summarizer!r:.60} is no summarizer: give an LlmEventSummarizer(llm=...) or an object of "
                f"a class derived from BaseEventsSummarizer."
            )
        return summarizer

    @model_validator(mode="after")
    def _check_pairs(self) -> Self:
        for one, other in (("compaction_interval", "overlap_size"), ("token_threshold", "event_retention_size")):
            if (getattr(self, one) is None) != (getattr(self, other) is None):
                raise ConfigurationError(f"{one} and {other} must be set together: give both, or none of them.")
        if self.compaction_interval is None and self.token_threshold is None:
            raise ConfigurationError(
                "At least one compaction trigger must be configured: give compaction_interval= and overlap_size=, or "
                "token_threshold= and event_retention_size=."
            )
        return self


def turns_to_summarise(events: list[Event], interval: int, overlap: int, open_turns: Set[str]) -> list[Event]:
    """Return the events of turns that are due for a summary, `[]` while too few have ended.

    Args:
        events: What wasn't taken back, oldest first.
        interval: How many new turns make a summary due.
        overlap: How many turns before them are read again.
        open_turns: Turns that may still go on; neither they nor later ones are summarised.
    """
    ended = max((found.end_timestamp for event in events if (found := compaction_of(event))), default=-math.inf)
    spans: dict[str, list[int]] = {}
    for index, event in enumerate(events):
        if event.invocation_id and compaction_of(event) is None:
            spans.setdefault(event.invocation_id, [index, index])[1] = index
    turns = list(spans)
    closed = next((at for at, turn in enumerate(turns) if turn in open_turns), len(turns))
    new = [at for at, turn in enumerate(turns[:closed]) if events[spans[turn][1]].timestamp > ended]
    if len(new) < interval:
        return []
    first, last = turns[max(0, new[0] - overlap)], max(spans[turns[at]][1] for at in new)
    return [event for event in events[spans[first][0] : last + 1] if compaction_of(event) is None]


def oldest_to_summarise(events: list[Event], threshold: int, retention: int) -> list[Event]:
    """Return the older events of one lane once a prompt has become too long, `[]` before.

    An earlier summary stands first among them, as a word that an agent said.

    Args:
        events: The lane's events that weren't taken back, oldest first.
        threshold: How many tokens are too long.
        retention: How many of the newest events are left out.
    """
    at = next((index for index in reversed(range(len(events))) if compaction_of(events[index])), None)
    raw, earlier = events, []
    if at is not None:
        found = compaction_of(events[at])
        assert found is not None  # it was looked for
        raw = [one for one in events if compaction_of(one) is None and one.timestamp > found.end_timestamp]
        earlier = [Event(author="summary", timestamp=found.start_timestamp, content=found.compacted_content)]
    if _prompt_tokens(events[at + 1 :] if at is not None else events, [*earlier, *raw]) < threshold:
        return []
    cut = raw[: len(raw) - retention] if retention else raw
    return [*earlier, *cut] if cut else []


def without_split_pairs(chosen: list[Event], events: list[Event], answerable: Set[str]) -> list[Event]:
    """Return the chosen events up to the last one at which no call stands apart from its response.

    Args:
        chosen: The events to be summarised.
        events: All of their lane, oldest first.
        answerable: Turns in which a call without a response may still get one.
    """
    if not chosen:
        return []
    last = next(at for at in reversed(range(len(events))) if events[at].id == chosen[-1].id)
    later = [event for event in events[last + 1 :] if compaction_of(event) is None]
    coming = {response.id for event in later for response in event.get_function_responses()}
    given = {response.id for event in chosen for response in event.get_function_responses()}
    end = len(chosen)
    for index, event in enumerate(chosen):
        calls = [call.id for call in event.get_function_calls()]
        if any(one in coming or (one not in given and event.invocation_id in answerable) for one in calls):
            end = index
            break
    begins = min((event.timestamp for event in (*chosen[end:], *later)), default=math.inf)
    while end and chosen[end - 1].timestamp >= begins:
        end -= 1
    return chosen[:end]


def _prompt_tokens(since: list[Event], shown: list[Event]) -> int:
    """Return how many tokens a prompt last had, guessed from what would be shown where no model has told since."""
    for event in reversed(since):
        usage = event.usage_metadata
        if usage is not None and usage.prompt_token_count and compaction_of(event) is None:
            return int(usage.prompt_token_count)
    return sum(len(content_text(event.content)) for event in shown if event.content) // _CHARACTERS_PER_TOKEN
