"""`InMemoryMemoryService`: memories that live as long as the process, found by their words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from adk_nb.events.event import content_text, new_id
from adk_nb.events.rewinds import visible_events
from adk_nb.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from adk_nb.memory.memory_entry import MemoryEntry

if TYPE_CHECKING:
    from adk_nb.events.event import Event

MOST = 10
"""How many memories a search gives at most."""

_WORD = re.compile(r"\w+")


class _Kept(NamedTuple):
    entry: MemoryEntry
    words: frozenset[str]
    session_id: str | None


class InMemoryMemoryService(BaseMemoryService):
    """Keeps memories in memory, for notebooks and tests.

    A search gives the memories that share a whole word with the query, whatever the case: those with most of its words
    first, at most ten.

    Example:
        >>> import asyncio
        >>> from google.genai import types
        >>> service, ada = InMemoryMemoryService(), {"app_name": "app", "user_id": "ada"}
        >>> said = [MemoryEntry(content=types.Content(parts=[types.Part(text="I drink tea, no coffee.")]))]
        >>> asyncio.run(service.add_memory(**ada, memories=said))
        >>> [entry.content.parts[0].text for entry in asyncio.run(service.search_memory(**ada, query="Tea?")).memories]
        ['I drink tea, no coffee.']
    """

    def __init__(self) -> None:
        """Begin without memories."""
        self._kept: dict[tuple[str, str], dict[str, _Kept]] = {}

    async def add_session_to_memory(self, session: Any) -> None:
        """Take in what was said in a session; what was taken back by a rewind, or is remembered of it, makes way."""
        kept = self._kept.setdefault((session.app_name, session.user_id), {})
        for gone in [one for one, found in kept.items() if found.session_id == session.id]:
            del kept[gone]
        kept.update(_entries(visible_events(session.events), session.id, {}))

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Take in some events, each of them once."""
        self._kept.setdefault((app_name, user_id), {}).update(_entries(events, session_id, custom_metadata or {}))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Take in memories; one with the id of another takes its place."""
        kept = self._kept.setdefault((app_name, user_id), {})
        for one in memories:
            entry = one.model_copy(deep=True)
            entry.id = entry.id or new_id()
            entry.custom_metadata = {**(custom_metadata or {}), **entry.custom_metadata}
            kept[entry.id] = _Kept(entry, _words(content_text(entry.content)), None)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the memories that share words with a query, the best first."""
        wanted = _words(query)
        found = [(len(wanted & kept.words), kept) for kept in self._kept.get((app_name, user_id), {}).values()]
        best = sorted((pair for pair in found if pair[0]), key=lambda pair: -pair[0])[:MOST]
        return SearchMemoryResponse(memories=[kept.entry.model_copy(deep=True) for _, kept in best])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget a memory, or all of the user's."""
        kept = self._kept.get((app_name, user_id), {})
        if memory_id is None:
            kept.clear()
        else:
            kept.pop(memory_id, None)


def _entries(
    events: Iterable[Event], session_id: str | None, about: Mapping[str, object]
) -> Iterable[tuple[str, _Kept]]:
    """Yield what of some events can be remembered: what was said in words, thoughts and pieces left out."""
    for event in events:
        text = content_text(event.content)
        if event.partial or event.content is None or not text.strip():
            continue
        entry = MemoryEntry(
            id=event.id,
            content=event.content.model_copy(deep=True),
            custom_metadata=dict(about),
            author=event.author,
            timestamp=datetime.fromtimestamp(event.timestamp, UTC).isoformat(),
        )
        yield event.id, _Kept(entry, _words(text), session_id)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
