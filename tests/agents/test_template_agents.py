"""Sequential, parallel and loop agents, and agents of one's own that run others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from adk_nb.agents import BaseAgent, InvocationContext, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adk_nb.errors import ConfigurationError, DataError
from adk_nb.events import Event
from adk_nb.testing import FunctionModel
from adk_nb.workflow import Workflow, node
from tests.agents.speaking import Asks, Says, spoken, talker, text
from tests.workflow.driving import Conversation, outputs, run

show = node(lambda node_input: repr(node_input), name="show")


def asked(agent: Any, index: int = 0) -> list[str]:
    """Return the texts that an agent's model read in one of its calls."""
    return [part.text for content in agent.model.requests[index].contents for part in content.parts or ()]


def test_sequence() -> None:
    """Members run in order on one lane with paths of their own; each sees what those before it said."""

    async def test() -> None:
        one, two = talker("one", "first", output_key="seen"), talker("two", "second", instruction="Saw {seen}.")
        talk = Conversation(SequentialAgent(name="seq", sub_agents=[one, two]))
        events = await talk.say("hi")
        assert spoken(events) == [("one", "first"), ("two", "second")]
        assert [event.node_info.path for event in events] == ["seq@1/one@1", "seq@1/two@1"]
        assert {event.branch for event in events} == {None}
        assert asked(one) == ["hi"]
        assert asked(two)[0] == "hi"
        assert "first" in " ".join(asked(two))
        assert (await talk.root()).output == "second"

    run(test)


def test_parallel_members_do_not_see_each_other() -> None:
    """Each member has a branch of its own and sees only what was said before; the one behind sees them all."""

    async def test() -> None:
        one, two, last = talker("one", "A", "A2"), talker("two", "B", "B2"), talker("last", "C", "C2")
        both = ParallelAgent(name="both", sub_agents=[one, two])
        talk = Conversation(SequentialAgent(name="seq", sub_agents=[both, last]))
        for _ in range(2):
            events = await talk.say("hi")
            assert {event.author: event.branch for event in events} == {
                "one": "both.one",
                "two": "both.two",
                "last": None,
            }
        seen = [" ".join(asked(agent, 1)) for agent in (one, two, last)]
        assert "B" not in seen[0]
        assert "A" in seen[0]
        assert "A" not in seen[1].replace("said", "")
        assert "A2" in seen[2]
        assert "B2" in seen[2]
        assert (await talk.records())["seq@1/both@1"].output == {"one": "A2", "two": "B2"}

    run(test)


def test_nested_parallel_branches() -> None:
    """Branches of a parallel agent inside another lie below the outer member's."""

    async def test() -> None:
        inner = ParallelAgent(name="inner", sub_agents=[Says(name="a"), Says(name="b")])
        talk = Conversation(ParallelAgent(name="outer", sub_agents=[inner, Says(name="c")]))
        events = await talk.say()
        branches = {event.author: event.branch for event in events}
        assert branches == {"a": "outer.inner.inner.a", "b": "outer.inner.inner.b", "c": "outer.c"}

    run(test)


def test_loop_counts() -> None:
    """A loop runs its members as often as it may; 0 and less mean never."""

    async def test() -> None:
        for limit, times in ((2, 2), (0, 0), (-1, 0)):
            member = Says(name="a")
            talk = Conversation(LoopAgent(name="loop", max_iterations=limit, sub_agents=[member]))
            await talk.say()
            assert len(member.runs) == times
            assert (await talk.root()).output == (f"a {times}" if times else None)

    run(test)


def test_a_loop_without_members_ends() -> None:
    """A loop that has nothing to run comes to its end, also without a limit."""

    async def test() -> None:
        talk = Conversation(LoopAgent(name="loop"))
        assert await talk.say() == []
        assert str((await talk.root()).status) == "completed"

    run(test)


def test_escalation_ends_the_loop() -> None:
    """The rest of the iteration is skipped, what stands behind the loop goes on."""

    async def test() -> None:
        a, b, c = Says(name="a"), Says(name="b", escalates_at=2), Says(name="c")
        loop = LoopAgent(name="loop", sub_agents=[a, b, c])
        talk = Conversation(SequentialAgent(name="seq", sub_agents=[loop, Says(name="end")]))
        events = await talk.say()
        assert [author for author, _ in spoken(events)] == ["a", "b", "c", "a", "b", "end"]
        assert (await talk.records())["seq@1/loop@1"].output == "b 2"

    run(test)


def test_escalation_ends_a_sequence_and_what_is_around_it() -> None:
    """An escalation deep inside ends every sequence up to the nearest loop, and only that loop."""

    async def test() -> None:
        quits, skipped = Says(name="quits", escalates_at=1), Says(name="skipped")
        seq = SequentialAgent(name="seq", sub_agents=[quits, skipped])
        inner = LoopAgent(name="inner", sub_agents=[SequentialAgent(name="around", sub_agents=[seq])])
        outer = LoopAgent(name="outer", max_iterations=2, sub_agents=[inner, Says(name="after", escalates_at=1)])
        events = await Conversation(outer).say()
        assert [author for author, _ in spoken(events)] == ["quits", "after"]

    run(test)


def test_escalation_stops_members_beside_it() -> None:
    """A parallel member that escalates stops the others, which are recorded as cancelled."""

    async def test() -> None:
        class Waits(BaseAgent):
            async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
                await asyncio.Event().wait()
                yield Event()

        both = ParallelAgent(name="both", sub_agents=[Waits(name="waits"), Says(name="quits", escalates_at=1)])
        talk = Conversation(SequentialAgent(name="seq", sub_agents=[both, Says(name="after")]))
        assert spoken(await talk.say()) == [("quits", "quits 1")]
        records = await talk.records()
        assert str(records["seq@1/both@1/waits@1"].status) == "cancelled"
        assert str((await talk.root()).status) == "completed"

    run(test)


def test_a_failure_stops_members_beside_it() -> None:
    """The first failure of a parallel member is the run's, with its path; a sequence doesn't go on behind it."""

    async def test() -> None:
        class Waits(BaseAgent):
            async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
                await asyncio.Event().wait()
                yield Event()

        after = Says(name="after")
        both = ParallelAgent(name="both", sub_agents=[Waits(name="waits"), Says(name="bad", fails=True)])
        talk = Conversation(SequentialAgent(name="seq", sub_agents=[both, after]))
        error = await talk.fail(ValueError, talk.say())
        root = await talk.root()
        assert str(error) == "bad fails"
        assert root.error_path == "seq@1/both@1/bad@1"
        assert after.runs == []
        assert [event.error_code for event in talk.last] == ["ValueError"]

    run(test)


@pytest.mark.parametrize("kind", [SequentialAgent, ParallelAgent, LoopAgent])
def test_finished_members_do_not_run_again(kind: Any) -> None:
    """After a pause only what had not finished runs; the answer reaches the one that asked."""

    async def test() -> None:
        before, asks, after = Says(name="before"), Asks(name="asks"), Says(name="after")
        options = {"max_iterations": 1} if kind is LoopAgent else {}
        talk = Conversation(kind(name="t", sub_agents=[before, asks, after], **options))
        await talk.say()
        assert str((await talk.root()).status) == "waiting"
        events = await talk.answer(asks="yes")
        assert ("asks", "asks heard yes") in spoken(events)
        assert (len(before.runs), len(asks.runs), len(after.runs)) == (1, 2, 1)
        assert str((await talk.root()).status) == "completed"

    run(test)


def test_members_after_a_failure() -> None:
    """A run that failed goes on with the member that failed."""

    async def test() -> None:
        first, second = Says(name="first"), Says(name="second", fails=True)
        talk = Conversation(SequentialAgent(name="seq", sub_agents=[first, second]))
        await talk.fail(ValueError, talk.say())
        second.fails = False
        assert spoken(await talk.go_on()) == [("second", "second 2")]
        assert len(first.runs) == 1

    run(test)


def test_a_template_in_a_workflow() -> None:
    """Its first member reads the node's input, and what was said last goes on."""

    async def test() -> None:
        one, two = talker("one", "first"), talker("two", "second")
        seq = SequentialAgent(name="seq", sub_agents=[one, two])
        give = node(lambda: "given", name="give")
        talk = Conversation(Workflow(name="wf", edges=[("START", give, seq, show)]))
        events = await talk.say("hi")
        assert asked(one)[-1] == "given"
        assert outputs(events)["wf@1/show@1"] == "'second'"

    run(test)


class Story(BaseAgent):
    """Runs its sub-agents in order, as one writes it by hand."""

    seen: list[str] = []  # noqa: RUF012  # a field of a model: each agent has its own

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for agent in self.sub_agents:
            async for event in agent.run_async(ctx):
                self.seen.append(f"{event.author} {event.is_sealed}")
                yield event
        yield Event(author=self.name, invocation_id=ctx.invocation_id, branch=ctx.branch, content=text("the end"))


def test_an_agent_of_ones_own() -> None:
    """`run_async` gives each event once it is stored; yielding it on doesn't store it twice."""

    async def test() -> None:
        root = Story(name="story", sub_agents=[Says(name="a"), SequentialAgent(name="s", sub_agents=[Says(name="b")])])
        talk = Conversation(root)
        events = await talk.say()
        assert spoken(events) == [("a", "a 1"), ("b", "b 1"), ("story", "the end")]
        assert root.seen == ["a True", "b True"]
        assert [event.id for event in (await talk.stored())[1:]] == [event.id for event in events]
        assert (await talk.root()).output == "the end"

    run(test)


def test_an_agent_of_ones_own_goes_on() -> None:
    """After a pause its code runs again and gets the stored events of those that had finished."""

    async def test() -> None:
        first = Says(name="first")
        root = Story(name="story", sub_agents=[first, Asks(name="asks"), Says(name="last")])
        talk = Conversation(root)
        await talk.say()
        root.seen.clear()
        events = await talk.answer(asks=3)
        assert spoken(events) == [("asks", "asks heard 3"), ("last", "last 1"), ("story", "the end")]
        assert (len(first.runs), root.seen[0]) == (1, "first True")
        ids = [event.id for event in await talk.stored()]
        assert len(ids) == len(set(ids))

    run(test)


def test_a_failure_reaches_the_agents_own_code() -> None:
    """A sub-agent's error is raised as it is, can be caught, and is reported with the sub-agent's path."""

    async def test() -> None:
        class Careful(BaseAgent):
            catches: bool = True

            async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
                try:
                    async for event in self.sub_agents[0].run_async(ctx):
                        yield event
                except ValueError as error:
                    if not self.catches:
                        raise
                    yield Event(author=self.name, content=text(f"caught {error}"))

        talk = Conversation(Careful(name="careful", sub_agents=[Says(name="bad", fails=True)]))
        assert spoken(await talk.say())[-1] == ("careful", "caught bad fails")
        talk = Conversation(Careful(name="careful", catches=False, sub_agents=[Says(name="bad", fails=True)]))
        await talk.fail(ValueError, talk.say())
        assert (await talk.root()).error_path == "careful@1/bad@1"
        assert [event.error_code for event in talk.last] == ["ValueError"]

    run(test)


def test_leaving_a_sub_agent_early() -> None:
    """Code that stops listening stops the sub-agent."""

    async def test() -> None:
        class Endless(BaseAgent):
            async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
                while True:
                    yield Event(author=self.name, content=text("again"))

        class Leaves(BaseAgent):
            async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
                events = self.sub_agents[0].run_async(ctx)
                yield await anext(events)
                await events.aclose()
                yield Event(author=self.name, content=text("enough"))

        talk = Conversation(Leaves(name="leaves", sub_agents=[Endless(name="endless")]))
        assert spoken(await talk.say())[-1] == ("leaves", "enough")
        assert str((await talk.records())["leaves@1/endless@1"].status) == "cancelled"

    run(test)


def test_a_changed_copy_is_refused() -> None:
    """A sub-agent's event is stored when it is seen, so a changed copy of it is refused instead of being lost."""

    async def test() -> None:
        class Changes(BaseAgent):
            async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
                async for event in self.sub_agents[0].run_async(ctx):
                    yield event.model_copy(update={"content": text("other words")})

        talk = Conversation(Changes(name="changes", sub_agents=[Says(name="a")]))
        error = await talk.fail(DataError, talk.say())
        assert "stored already" in str(error)

    run(test)


def test_what_an_agent_of_ones_own_is_given() -> None:
    """The context names the agent and its lane and has all of the invocation; a copy of it has another lane."""

    async def test() -> None:
        seen: dict[str, Any] = {}

        class Looks(BaseAgent):
            async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
                own: Any = ctx
                seen.update(agent=own.agent.name, user=ctx.user_id, branch=own.branch)
                seen.update(message=own.user_content.parts[0].text, is_invocation=isinstance(ctx, InvocationContext))
                for lane in ("x", "y"):
                    async for event in self.sub_agents[0].run_async(own.model_copy(update={"branch": lane})):
                        yield event
                own.end_invocation = True
                async for event in self.sub_agents[0].run_async(ctx):
                    yield event

        events = await Conversation(Looks(name="looks", sub_agents=[Says(name="a")])).say("hi")
        assert [event.branch for event in events] == ["x", "y"]
        assert seen == {"agent": "looks", "user": "u", "branch": None, "message": "hi", "is_invocation": True}

    run(test)


def test_run_async_outside_of_an_agent() -> None:
    """Called with anything but the context of an agent, `run_async` says where it belongs."""

    async def test() -> None:
        with pytest.raises(ConfigurationError, match=r"_run_async_impl.*Runner"):
            await anext(Says(name="a").run_async(None))  # type: ignore[arg-type]

    run(test)


def test_an_agent_without_a_body() -> None:
    """A `BaseAgent` that overrides nothing fails with what to override."""

    async def test() -> None:
        talk = Conversation(BaseAgent(name="bare"))
        error = await talk.fail(NotImplementedError, talk.say())
        assert "_run_async_impl" in str(error)

    run(test)


def test_members_wait_in_turn() -> None:
    """Concurrent members never see each other's words, however often and in whatever order they speak."""

    async def test() -> None:
        requests: dict[str, list[str]] = {"one": [], "two": [], "three": []}

        def reply(name: str) -> Any:
            async def answer(request: Any) -> str:
                words = [part.text for content in request.contents for part in content.parts or ()]
                requests[name].append(" ".join(words))
                for _ in range(len(requests[name]) * len(name)):
                    await asyncio.sleep(0)
                return f"secret-{name}"

            return answer

        members: list[BaseAgent] = [LlmAgent(name=name, model=FunctionModel(reply(name))) for name in requests]
        loop = LoopAgent(name="loop", max_iterations=5, sub_agents=[ParallelAgent(name="par", sub_agents=members)])
        await Conversation(loop).say("hi")
        for name, texts in requests.items():
            assert len(texts) == 5
            others = [f"secret-{other}" for other in requests if other != name]
            assert not any(other in text for text in texts for other in others)
            assert f"secret-{name}" in texts[-1]

    run(test)
