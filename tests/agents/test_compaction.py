"""Summaries in place of older events: when they are written, what models then read, and what they leave alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.genai import types

from adk_nb.agents import Agent, ParallelAgent, SequentialAgent
from adk_nb.apps import App, EventsCompactionConfig, LlmEventSummarizer
from adk_nb.apps.base_events_summarizer import BaseEventsSummarizer
from adk_nb.errors import ConfigurationError
from adk_nb.events import Event, EventActions
from adk_nb.events.event_actions import EventCompaction
from adk_nb.models import LlmRequest
from adk_nb.runners import Runner
from adk_nb.testing import FunctionModel, ScriptedModel, call
from adk_nb.tools import LongRunningFunctionTool
from adk_nb.workflow import Workflow
from tests.workflow.driving import Conversation
from tests.workflow.mortal_stores import OnlyEvents, SqliteStore, Store


class Counting(BaseEventsSummarizer):
    """Says what it was given, in short."""

    def __init__(self, *answers: Any) -> None:
        """Answer with these in turn, and then with what was given."""
        self.answers = list(answers)
        self.given: list[str] = []

    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        """Return a summary, or what it was told to."""
        text = "+".join(shown(event.content) for event in events if event.content)
        self.given.append(text)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            assert answer is None
            return None
        content = types.Content(role="model", parts=[types.Part(text=f"<{text}>")])
        span = EventCompaction(start_timestamp=0, end_timestamp=0, compacted_content=content)
        return Event(author="user", actions=EventActions(compaction=span))


def shown(content: types.Content) -> str:
    """Return a message in short."""
    words = []
    for part in content.parts or ():
        if part.function_call:
            words.append(f"{part.function_call.name}()")
        elif part.function_response:
            words.append(f"{part.function_response.name}={part.function_response.response}")
        else:
            words.append(part.text or "")
    return " ".join(words)


def read(model: Any, at: int = -1) -> list[str]:
    """Return what a model read in one of its calls."""
    return [shown(content) for content in model.requests[at].contents]


class Talk(Conversation):
    """A conversation with an app that summarises."""

    def __init__(self, root: Any, service: Any = None, **config: Any) -> None:
        super().__init__(root, service)
        app = App(name="app", root_agent=root, events_compaction_config=EventsCompactionConfig(**config))
        self.runner = Runner(app=app, session_service=self.service, auto_create_session=True)

    async def summaries(self) -> list[EventCompaction]:
        """Return the summaries that are stored."""
        return [event.actions.compaction for event in await self.stored() if event.actions.compaction]


class Echo(FunctionModel):
    """Repeats in capitals what it was told, and keeps what it was asked."""

    requests: list[LlmRequest] = []  # noqa: RUF012  # a field of a model: each has its own

    def __init__(self) -> None:
        super().__init__(self._reply)

    def _reply(self, request: LlmRequest) -> str:
        self.requests.append(request.copied())
        return request.last_user_text.upper()


def test_a_summary_every_so_many_turns() -> None:
    """Once so many turns have ended they are summarised, with as many before them as overlap; models read that."""

    async def main() -> None:
        model, summarizer = Echo(), Counting()
        talk = Talk(Agent(name="bot", model=model), summarizer=summarizer, compaction_interval=2, overlap_size=1)
        for word in "abcde":
            events = await talk.say(word)
            assert [event.author for event in events] == ["bot"]
        assert summarizer.given == ["a+A+b+B", "b+B+c+C+d+D"]
        assert read(model, 2) == ["<a+A+b+B>", "c"]
        assert read(model) == ["<a+A+b+B>", "<b+B+c+C+d+D>", "e"]
        assert [content.role for content in model.requests[-1].contents] == ["model", "model", "user"]
        stored = await talk.stored()
        spans = [(stored[0], stored[3]), (stored[2], stored[8])]
        found = [(one.start_timestamp, one.end_timestamp) for one in await talk.summaries()]
        assert found == [(first.timestamp, last.timestamp) for first, last in spans]
        assert [event.author for event in stored if event.actions.compaction] == ["user", "user"]

    asyncio.run(main())


def test_a_summary_once_prompts_are_long() -> None:
    """Once a prompt has so many tokens all but the newest events are summarised, before a call or after a turn."""

    async def main() -> None:
        model, summarizer = Echo(), Counting()
        talk = Talk(
            Agent(name="bot", model=model, instruction="x" * 4),
            summarizer=summarizer,
            token_threshold=30,
            event_retention_size=2,
        )
        for word in "ab":
            await talk.say(word * 40)
        assert summarizer.given == [f"{'a' * 40}+{'A' * 40}"]
        await talk.say("c" * 40)
        assert summarizer.given[1] == f"<{summarizer.given[0]}>+{'b' * 40}"
        assert read(model) == [f"<{summarizer.given[1]}>", "B" * 40, "c" * 40]
        await talk.say("d" * 40)
        assert read(model)[0].startswith("<<")
        assert len([text for text in read(model) if text.startswith("<")]) == 1

    asyncio.run(main())


def test_the_default_summary_is_the_models() -> None:
    """Without a summarizer the root agent's model writes the summary: it is told what was said, called and given."""

    def weather(city: str) -> str:
        """Tell the weather."""
        return f"rain in {city}"

    async def main() -> None:
        model = ScriptedModel(
            [call("weather", city="Rome"), "it rains", "English. Rain in Rome.", "yes", "English. Sure."]
        )
        talk = Talk(Agent(name="bot", model=model, tools=[weather]), compaction_interval=1, overlap_size=0)
        await talk.say("weather?")
        (asked,) = model.requests[2].contents
        assert asked.parts is not None
        told = str(asked.parts[0].text).splitlines()[-4:]
        assert told == [
            "user: weather?",
            'bot called weather with {"city": "Rome"}',
            'weather gave {"result": "rain in Rome"}',
            "bot: it rains",
        ]
        assert not model.requests[2].config.tools
        await talk.say("sure?")
        assert read(model, 3) == ["English. Rain in Rome.", "sure?"]

    asyncio.run(main())


@pytest.mark.parametrize("made", [Store, SqliteStore, OnlyEvents])
def test_summaries_in_a_new_process(made: type[Store]) -> None:
    """A summary is read in every store, also by a runner that opens the session anew."""
    turns = {"summarizer": Counting(), "compaction_interval": 1, "overlap_size": 0}

    async def main() -> None:
        store = made()
        await Talk(Agent(name="bot", model=Echo()), await store.open(), **turns).say("a")
        model = Echo()
        then = Talk(Agent(name="bot", model=model), await store.open(), **turns)
        await then.say("b")
        assert read(model) == ["<a+A>", "b"]
        await then.say("c")
        assert read(model) == ["<a+A>", "<b+B>", "c"]
        await store.close()

    asyncio.run(main())


def test_rewound_summaries() -> None:
    """What was taken back is in no summary: a summary of it is gone with it, and the turns before are read in full."""

    async def main() -> None:
        model, summarizer = Echo(), Counting()
        talk = Talk(Agent(name="bot", model=model), summarizer=summarizer, compaction_interval=2, overlap_size=0)
        await talk.say("a")
        second = (await talk.say("b"))[0].invocation_id
        await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=second)
        await talk.say("c")
        assert read(model) == ["a", "A", "c"]
        assert summarizer.given == ["a+A+b+B", "a+A+c+C"]
        await talk.say("d")
        assert read(model) == ["<a+A+c+C>", "d"]

    asyncio.run(main())


def test_turns_that_wait_arent_summarised() -> None:
    """A turn that waits for a person is left alone, and so are later ones; once it has ended it is summarised."""

    def order(what: str) -> None:
        """Order something."""

    async def main() -> None:
        script = ["A", call("order", what="tea"), "ordered", "C", "came", "E"]
        model, summarizer = ScriptedModel(script), Counting()
        tools = [LongRunningFunctionTool(order)]
        talk = Talk(
            Agent(name="bot", model=model, tools=tools), summarizer=summarizer, compaction_interval=1, overlap_size=0
        )
        await talk.say("a")
        await talk.say("b")
        waiting = (await talk.root()).open_below or [one.interrupt_id for _, one in await talk.questions()]
        assert waiting
        await talk.say("c")
        assert summarizer.given == ["a+A"]
        await talk.answer({waiting[0]: {"tea": 1}})
        assert len(summarizer.given) == 2
        assert summarizer.given[1].startswith("b+order()")
        await talk.say("d")
        assert read(model)[0] == "<a+A>"
        assert not any("order" in text for text in read(model)[2:])

    asyncio.run(main())


def test_calls_stay_with_their_responses() -> None:
    """A summary that is due between a call and its response ends before the call."""

    def look(n: int) -> str:
        """Look."""
        return f"{n}" * 30

    async def main() -> None:
        model = ScriptedModel(["A", call("look", n=1), "done"])
        summarizer = Counting()
        talk = Talk(
            Agent(name="bot", model=model, tools=[look]),
            summarizer=summarizer,
            token_threshold=5,
            event_retention_size=1,
        )
        await talk.say("a" * 40)
        assert summarizer.given == ["a" * 40]
        await talk.say("b" * 40)
        assert read(model, 1)[0].startswith("<")
        assert read(model, 2)[-2:] == ["look()", "look={'result': '" + "1" * 30 + "'}"]
        for one in summarizer.given:
            assert one.count("look()") == one.count("look=")

    asyncio.run(main())


def test_a_failure_is_told_and_nothing_else() -> None:
    """A summarizer that fails is told in one warning; the turn has its answer, and the next one tries again."""

    async def main() -> None:
        model, summarizer = Echo(), Counting(ValueError("no power"))
        talk = Talk(Agent(name="bot", model=model), summarizer=summarizer, compaction_interval=1, overlap_size=0)
        with pytest.warns(RuntimeWarning, match="couldn't be summarised.*ValueError: no power"):
            await talk.say("a")
        await talk.say("b")
        assert summarizer.given == ["a+A", "a+A+b+B"]
        assert read(model) == ["a", "A", "b"]

    asyncio.run(main())


def test_no_summary_of_nothing() -> None:
    """A summarizer may return `None`: nothing is stored."""

    async def main() -> None:
        talk = Talk(Agent(name="bot", model=Echo()), summarizer=Counting(None), compaction_interval=1, overlap_size=0)
        await talk.say("a")
        assert await talk.summaries() == []

    asyncio.run(main())


def test_lanes_have_summaries_of_their_own() -> None:
    """What agents say side by side is summarised lane by lane, so that none reads what was said on another one."""

    async def main() -> None:
        one, two, summarizer = ScriptedModel(["one", "uno"]), ScriptedModel(["two", "due"]), Counting()
        root = ParallelAgent(name="p", sub_agents=[Agent(name="a", model=one), Agent(name="b", model=two)])
        talk = Talk(root, summarizer=summarizer, compaction_interval=1, overlap_size=0)
        await talk.say("go")
        assert sorted(summarizer.given) == ["go", "one", "two"]
        await talk.say("on")
        assert "two" not in " ".join(read(one))
        assert "one" not in " ".join(read(two))
        assert read(one) == ["<go>", "<one>", "on"]

    asyncio.run(main())


def test_agents_in_a_sequence_read_the_summary() -> None:
    """Every agent of a tree reads the summary as what was said before, whoever said it."""

    async def main() -> None:
        one, two = ScriptedModel(["one", "uno"]), ScriptedModel(["two", "due"])
        root = SequentialAgent(name="s", sub_agents=[Agent(name="a", model=one), Agent(name="b", model=two)])
        talk = Talk(root, summarizer=Counting(), compaction_interval=1, overlap_size=0)
        await talk.say("go")
        await talk.say("on")
        assert read(one) == ["<go+one+two>", "on"]
        assert read(two)[:2] == ["<go+one+two>", "on"]

    asyncio.run(main())


def test_options_of_summaries() -> None:
    """Half a pair, no pair, a summarizer of another kind and a root without a model are refused with a sentence."""
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "At least one compaction trigger"),
        ({"compaction_interval": 2}, "compaction_interval and overlap_size must be set together"),
        ({"token_threshold": 2}, "token_threshold and event_retention_size must be set together"),
        ({"summarizer": 5, "compaction_interval": 2, "overlap_size": 0}, "is no summarizer"),
    ]
    for given, found in wrong:
        with pytest.raises(ValueError, match=found):
            EventsCompactionConfig(**given)
    config = EventsCompactionConfig(compaction_interval=2, overlap_size=0)
    with pytest.raises(ConfigurationError, match="without a summarizer"):
        App(name="x", root_agent=Workflow(name="w", edges=[("START", str.upper)]), events_compaction_config=config)
    with pytest.raises(ConfigurationError, match=r"has no \{conversation_history\}"):
        LlmEventSummarizer(llm=ScriptedModel([]), prompt_template="sum it up")
