"""Memories in memory: what is taken in, what a search finds, and what is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import pytest
from google.genai import types

from adk_nb.events import Event
from adk_nb.memory import BaseMemoryService, InMemoryMemoryService, MemoryEntry, SearchMemoryResponse
from adk_nb.sessions import Session
from adk_nb.workflow import Workflow
from adk_nb.workflow.context import Context
from tests.workflow.driving import Conversation, run

ADA: dict[str, Any] = {"app_name": "app", "user_id": "ada"}


def content(text: str, **more: Any) -> types.Content:
    """Something said."""
    return types.Content(role="user", parts=[types.Part(text=text, **more)])


def said(*texts: str, **more: Any) -> list[Event]:
    """One event a text."""
    return [Event(author="user", content=content(text), timestamp=1.5, **more) for text in texts]


def session(*events: Event, session_id: str = "s") -> Session:
    """A session with events."""
    return Session(id=session_id, app_name="app", user_id="ada", events=list(events))


async def found(service: BaseMemoryService, query: str, **whose: str) -> list[str]:
    """The texts that a search finds."""
    response = await service.search_memory(**{**ADA, **whose}, query=query)
    return list(texts_of(response))


def texts_of(response: SearchMemoryResponse) -> Iterable[str]:
    """The texts of memories."""
    return (part.text or "" for one in response.memories for part in one.content.parts or ())


def test_search_by_whole_words() -> None:
    """A memory is found by a whole word that it shares with the query, whatever case and signs stand around it."""

    async def test() -> None:
        service = InMemoryMemoryService()
        await service.add_session_to_memory(session(*said("I like Tea, and coffee", "teatime", "Über Straßen")))
        assert await found(service, "TEA!") == ["I like Tea, and coffee"]
        assert await found(service, "te") == []
        assert await found(service, "über") == ["Über Straßen"]
        assert await found(service, "") == await found(service, " ?! ") == []
        assert await found(service, "tea", user_id="bob") == await found(service, "tea", app_name="x") == []

    run(test)


def test_best_come_first() -> None:
    """Those that share most words come first, equal ones in the order they were taken in, ten at most."""

    async def test() -> None:
        service = InMemoryMemoryService()
        texts = [f"note {number} red" if number % 2 else f"note {number}" for number in range(30)]
        await service.add_session_to_memory(session(*said(*texts)))
        assert await found(service, "red note note") == [f"note {number} red" for number in range(1, 21, 2)]
        assert await found(service, "note 28") == ["note 28", *texts[:9]]

    run(test)


def test_an_entry_says_who_and_when() -> None:
    """An entry has the event's id, author and time, and the metadata that was given."""

    async def test() -> None:
        service = InMemoryMemoryService()
        (event,) = said("tea")
        await service.add_events_to_memory(**ADA, events=[event], session_id="s", custom_metadata={"topic": "food"})
        (entry,) = (await service.search_memory(**ADA, query="tea")).memories
        assert (entry.id, entry.author, entry.custom_metadata) == (event.id, "user", {"topic": "food"})
        assert datetime.fromisoformat(entry.timestamp or "").timestamp() == 1.5
        entry.content.parts = []
        assert await found(service, "tea") == ["tea"]

    run(test)


def test_what_is_not_remembered() -> None:
    """Thoughts, pieces of streamed messages, events without words and what a rewind took back aren't taken in."""
    kept = said("tea one", invocation_id="e-1")
    taken_back = said("tea two", invocation_id="e-2")
    rewind = Event(author="user", invocation_id="e-3", actions={"rewind_before_invocation_id": "e-2"})
    thought = Event(author="bot", content=content("tea three", thought=True))
    piece = Event(author="bot", content=content("tea four"), partial=True)
    blank = Event(author="bot", content=content(" "))

    async def test() -> None:
        service = InMemoryMemoryService()
        given = session(*kept, *taken_back, rewind, thought, piece, blank, Event(author="bot"))
        await service.add_session_to_memory(given)
        assert await found(service, "tea") == ["tea one"]

    run(test)


def test_a_session_is_taken_in_again() -> None:
    """A session that grew is remembered once, with what is new; other sessions stay."""
    first, second = said("tea one"), said("tea two")

    async def test() -> None:
        service = InMemoryMemoryService()
        await service.add_session_to_memory(session(*said("tea elsewhere"), session_id="other"))
        await service.add_session_to_memory(session(*first))
        await service.add_events_to_memory(**ADA, events=first, session_id="s")
        await service.add_session_to_memory(session(*first, *second))
        assert sorted(await found(service, "tea")) == ["tea elsewhere", "tea one", "tea two"]

    run(test)


def test_memories_as_they_are() -> None:
    """Memories can be written directly: they get an id, keep their own metadata, and one with a known id replaces."""

    async def test() -> None:
        service = InMemoryMemoryService()
        tea = MemoryEntry(content=content("tea"), custom_metadata={"a": 1})
        await service.add_memory(**ADA, memories=[tea], custom_metadata={"a": 0, "b": 2})
        (entry,) = (await service.search_memory(**ADA, query="tea")).memories
        assert entry.id
        assert entry.custom_metadata == {"a": 1, "b": 2}
        assert tea.id is None
        await service.add_memory(**ADA, memories=[MemoryEntry(id=entry.id, content=content("green tea"))])
        assert await found(service, "tea") == ["green tea"]

    run(test)


def test_forgetting() -> None:
    """One memory is forgotten by its id, all of a user's without one, others' never; what isn't there is no error."""

    async def test() -> None:
        service = InMemoryMemoryService()
        one, two = said("tea one", "tea two")
        await service.add_events_to_memory(**ADA, events=[one, two])
        await service.add_events_to_memory(app_name="app", user_id="bob", events=[one])
        await service.delete_memory(**ADA, memory_id=one.id)
        await service.delete_memory(**ADA, memory_id="no such id")
        assert await found(service, "tea") == ["tea two"]
        await service.delete_memory(**ADA)
        await service.delete_memory(app_name="app", user_id="nobody")
        assert await found(service, "tea") == []
        assert await found(service, "tea", user_id="bob") == ["tea one"]

    run(test)


def test_a_service_of_ones_own() -> None:
    """A service must take in sessions and search; the rest is refused with the class's name until it is written."""

    class Mine(BaseMemoryService):
        async def add_session_to_memory(self, session: Any) -> None:
            return

        async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
            return SearchMemoryResponse()

    for asked in (
        Mine().add_events_to_memory(**ADA, events=[]),
        Mine().add_memory(**ADA, memories=[]),
        Mine().delete_memory(**ADA),
    ):
        with pytest.raises(NotImplementedError, match="Mine "):
            asyncio.run(asked)


def test_nodes_reach_it() -> None:
    """A node takes its session in and finds it in another session, through the context."""

    async def keep(ctx: Context) -> None:
        await ctx.add_session_to_memory()
        await ctx.add_memory(memories=[MemoryEntry(content=content("Ada drinks tea."))])

    async def recall(ctx: Context) -> list[str]:
        return sorted(texts_of(await ctx.search_memory("tea")))

    async def test() -> None:
        memory = InMemoryMemoryService()
        await Conversation(Workflow(name="keeping", edges=[("START", keep)]), memory_service=memory).say("More tea!")
        talk = Conversation(Workflow(name="asking", edges=[("START", recall)]), session_id="2", memory_service=memory)
        assert (await talk.say("hi"))[-1].output == ["Ada drinks tea.", "More tea!"]

    run(test)
