"""`BaseMemoryService`: what a service that remembers does, and `SearchMemoryResponse`: what it finds."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from adk_nb.memory.memory_entry import MemoryEntry

if TYPE_CHECKING:
    from adk_nb.events.event import Event


class SearchMemoryResponse(BaseModel):
    """What a search found."""

    memories: list[MemoryEntry] = Field(default_factory=list)
    """The best first."""


class BaseMemoryService(abc.ABC):
    """Remembers what was said, by app and user; nothing is remembered unless someone asks for it.

    A service must take in sessions and find things; the rest is refused until it is overridden.
    """

    @abc.abstractmethod
    async def add_session_to_memory(self, session: Any) -> None:
        """Take in a session; one that was taken in before is replaced."""

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Take in some events, beside what is remembered of their session already.

        Args:
            app_name: The app.
            user_id: Whose memories they become.
            events: What was said.
            session_id: The session that they belong to.
            custom_metadata: Kept with each entry.
        Raises:
            NotImplementedError: this service can't.
        """
        raise NotImplementedError(
            f"{type(self).__name__} doesn't take in single events: call add_session_to_memory(session)."
        )

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Take in memories as they are.

        Args:
            app_name: The app.
            user_id: Whose memories they become.
            memories: What to remember.
            custom_metadata: Kept with each entry, besides its own.
        Raises:
            NotImplementedError: this service can't.
        """
        raise NotImplementedError(
            f"{type(self).__name__} doesn't support direct memory writes: call add_session_to_memory(session)."
        )

    @abc.abstractmethod
    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what fits a query.

        Args:
            app_name: The app.
            user_id: Whose memories are searched.
            query: What to look for, in words.
        """

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget a memory, or all of the user's; in silence when there is none.

        Args:
            app_name: The app.
            user_id: Whose memories.
            memory_id: Which one; `None` forgets all.
        Raises:
            NotImplementedError: this service can't.
        """
        raise NotImplementedError(f"{type(self).__name__} can't delete memories.")
