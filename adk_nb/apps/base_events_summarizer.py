"""`BaseEventsSummarizer`: the contract of what turns events into a summary."""

from __future__ import annotations

import abc

from adk_nb.events.event import Event


class BaseEventsSummarizer(abc.ABC):
    """Turns events into a summary; derive from it to say what a summary of yours is."""

    @abc.abstractmethod
    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        """Return an event whose `actions.compaction` holds the summary, `None` for no summary.

        Args:
            events: What is to be summarised, oldest first; an earlier summary comes as what an agent said.
        """
