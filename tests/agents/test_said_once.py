"""An agent of one's own that is cut off after a word, or waits, and runs from its start again says nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from adk_nb.agents import BaseAgent, InvocationContext, SequentialAgent
from adk_nb.events import Event, EventActions
from tests.agents.speaking import Asks, spoken, text
from tests.workflow.driving import Conversation
from tests.workflow.mortal_stores import OnlyEvents, SqliteStore, Store

STORES = pytest.mark.parametrize("made", [Store, SqliteStore, OnlyEvents])


class Counts(BaseAgent):
    """Says one word after the other, the same one twice among them."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for word in ("one", "two", "two", "three"):
            yield Event(author=self.name, content=text(word), actions=EventActions(state_delta={"last": word}))


class Leads(BaseAgent):
    """Says what it does, runs its sub-agents, and hands on what they say."""

    heard: list[str] = []  # noqa: RUF012  # a field of a model: each agent has its own

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author=self.name, content=text("first"))
        for agent in self.sub_agents:
            async for event in agent.run_async(ctx):
                self.heard += [part.text or "" for part in (event.content and event.content.parts) or () if part.text]
                yield event
        yield Event(author=self.name, content=text("last"))


@STORES
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_cut_off_after_a_word(made: type[Store], count: int) -> None:
    """Wherever it is cut off, what it said is stored once, in order, also in a new process."""

    async def main() -> None:
        store = made()
        await Conversation(Counts(name="c"), await store.open()).cut_after(count)
        talk = Conversation(Counts(name="c"), await store.open())
        await talk.go_on()
        assert [said for who, said in spoken(await talk.stored()) if who == "c"] == ["one", "two", "two", "three"]
        assert (await talk.state())["last"] == "three"
        assert (await talk.root()).output == "three"
        await store.close()

    asyncio.run(main())


@STORES
def test_cut_off_inside_of_another(made: type[Store]) -> None:
    """Who listens to it hears each word once a run, too."""

    async def main() -> None:
        store = made()
        await Conversation(Leads(name="l", sub_agents=[Counts(name="c")]), await store.open()).cut_after(3)
        root = Leads(name="l", sub_agents=[Counts(name="c")])
        talk = Conversation(root, await store.open())
        await talk.go_on()
        assert root.heard == ["one", "two", "two", "three"]
        said = [words for who, words in spoken(await talk.stored()) if who != "user"]
        assert said == ["first", "one", "two", "two", "three", "last"]
        await store.close()

    asyncio.run(main())


@STORES
def test_what_was_said_before_a_question(made: type[Store]) -> None:
    """After an answer the agents above it run from their start, and don't repeat what they said before."""

    async def main() -> None:
        store = made()

        def root() -> Any:
            return SequentialAgent(name="s", sub_agents=[Leads(name="l", sub_agents=[Asks(name="q")])])

        await Conversation(root(), await store.open()).say()
        talk = Conversation(root(), await store.open())
        await talk.answer(q="yes")
        assert [words for who, words in spoken(await talk.stored()) if who in "lq"] == ["first", "q heard yes", "last"]
        await store.close()

    asyncio.run(main())


def test_what_differs_is_said() -> None:
    """What it says otherwise this time is said, and so is all that follows."""

    async def main() -> None:
        store, words = Store(), ["one", "two"]

        class Changes(BaseAgent):
            async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
                for word in list(words):
                    yield Event(author=self.name, content=text(word))

        await Conversation(Changes(name="c"), await store.open()).cut_after(2)
        words[:] = ["one", "other", "two"]
        talk = Conversation(Changes(name="c"), await store.open())
        await talk.go_on()
        said = [said for who, said in spoken(await talk.stored()) if who == "c"]
        assert said == ["one", "two", "other", "two"]

    asyncio.run(main())
