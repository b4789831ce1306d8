"""Callbacks before and after the runs of any agent: in its place, after it, beside plugins, over pauses and stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from google.genai import types

from adk_nb.agents import BaseAgent, InvocationContext, LoopAgent, ParallelAgent, SequentialAgent
from adk_nb.agents.callback_context import CallbackContext
from adk_nb.errors import DataError
from adk_nb.events import Event
from adk_nb.plugins import BasePlugin
from adk_nb.tools import ToolContext
from adk_nb.workflow import Workflow, node
from adk_nb.workflow.context import Context
from tests.agents.speaking import Asks, Says, spoken, talker, text
from tests.workflow.driving import Conversation, outputs, run

show = node(lambda node_input: repr(node_input), name="show")


class Log(list[str]):
    """Notes calls of callbacks."""

    def callback(self, label: str, words: str | None = None) -> Any:
        """Return a callback that notes its label and the agent, and answers with words."""

        def note(callback_context: CallbackContext) -> types.Content | None:
            self.append(f"{label} {callback_context.agent_name}")
            return text(words) if words else None

        return note

    def around(self, **words: str) -> dict[str, Any]:
        """Return both callbacks, which answer with `before=` and `after=`."""
        return {
            "before_agent_callback": self.callback("before", words.get("before")),
            "after_agent_callback": self.callback("after", words.get("after")),
        }


def test_names_of_the_context() -> None:
    """What callbacks, tools and nodes are handed is one class under three names."""
    assert CallbackContext is Context
    assert ToolContext is Context


def test_around_every_agent_of_a_tree() -> None:
    """Each agent's callbacks stand around its own run, members' inside those of what runs them."""

    async def test() -> None:
        log = Log()
        loop = LoopAgent(name="loop", max_iterations=2, sub_agents=[Says(name="a", **log.around())], **log.around())
        await Conversation(SequentialAgent(name="seq", sub_agents=[loop], **log.around())).say()
        round_of_a = ["before a", "after a"]
        assert log == ["before seq", "before loop", *round_of_a, *round_of_a, "after loop", "after seq"]

    run(test)


def test_an_answer_in_place() -> None:
    """The first callback that answers stands for the agent, is its output, and the callback after it is called."""

    async def test() -> None:
        log, member = Log(), Says(name="a")
        before = [log.callback("one"), log.callback("two", "early"), log.callback("three")]
        seq = SequentialAgent(
            name="seq", sub_agents=[member], before_agent_callback=before, after_agent_callback=log.callback("after")
        )
        talk = Conversation(Workflow(name="wf", edges=[("START", seq, show)]))
        events = await talk.say()
        assert spoken(events) == [("seq", "early")]
        assert outputs(events)["wf@1/show@1"] == "'early'"
        assert (log, member.runs) == (["one seq", "two seq", "after seq"], [])

    run(test)


def test_an_answer_in_place_of_a_parallel_member() -> None:
    """What stands for a member is the member's part of the output."""

    async def test() -> None:
        log = Log()
        members: list[BaseAgent] = [Says(name="a", **log.around(before="early")), Says(name="b")]
        talk = Conversation(ParallelAgent(name="par", sub_agents=members))
        events = await talk.say()
        assert {event.author: event.branch for event in events} == {"a": "par.a", "b": "par.b"}
        assert (await talk.root()).output == {"a": "early", "b": "b 1"}

    run(test)


def test_a_message_after() -> None:
    """What a callback after an agent returns is one more message; the output stays the agent's."""

    async def test() -> None:
        log = Log()
        talk = Conversation(talker("a", "said", output_key="key", **log.around(after="more")))
        assert spoken(await talk.say()) == [("a", "said"), ("a", "more")]
        assert ((await talk.root()).output, await talk.state()) == ("said", {"key": "said"})

    run(test)


def test_state_of_callbacks() -> None:
    """What callbacks write is stored before and after the agent's events, and seen by it."""

    async def test() -> None:
        def before(callback_context: Context) -> None:
            callback_context.state["before"] = 1

        async def after(context: Context) -> None:
            context.state["after"] = context.state["before"] + 1

        agent = talker("a", "said", instruction="{before}", before_agent_callback=before, after_agent_callback=after)
        talk = Conversation(agent)
        events = await talk.say()
        assert [event.actions.state_delta for event in events] == [{"before": 1}, {}, {"after": 2}]
        assert {event.author for event in events} == {"a"}
        assert await talk.state() == {"before": 1, "after": 2}

    run(test)


def test_plugins_come_first() -> None:
    """A plugin that answers leaves the agent's own callback out; one that doesn't is followed by it."""

    async def test() -> None:
        log = Log()

        class First(BasePlugin):
            async def before_agent_callback(self, *, agent: Any, callback_context: Context) -> types.Content | None:
                log.append(f"plugin {agent.name}")
                return text("by the plugin") if agent.name == "b" else None

            async def on_agent_error_callback(self, *, agent: Any, callback_context: Context, error: Exception) -> None:
                log.append(f"{agent.name}: {type(error).__name__}")

        members = [Says(name="a", **log.around()), Says(name="b", **log.around()), Says(name="bad", fails=True)]
        talk = Conversation(SequentialAgent(name="seq", sub_agents=list(members)), plugins=[First("first")])
        await talk.fail(ValueError, talk.say())
        assert log == [
            *("plugin seq", "plugin a", "before a", "after a"),
            *("plugin b", "after b", "plugin bad", "bad: ValueError", "seq: ValueError"),
        ]

    run(test)


def test_over_a_pause() -> None:
    """The callback after an agent is called once it has ended, not when it waits for a person."""

    async def test() -> None:
        log = Log()
        asks = Asks(name="asks", **log.around())
        talk = Conversation(SequentialAgent(name="seq", sub_agents=[asks], **log.around()))
        await talk.say()
        assert log == ["before seq", "before asks"]
        await talk.answer(asks=1)
        assert log[2:] == ["before seq", "before asks", "after asks", "after seq"]

    run(test)


def test_when_it_is_stopped() -> None:
    """The callback after an agent is called, too, when the agent is stopped in the middle."""

    async def test() -> None:
        log, signal = Log(), asyncio.Event()

        class Waits(BaseAgent):
            async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
                signal.set()
                await asyncio.Event().wait()
                yield Event()

        talk = Conversation(Waits(name="waits", **log.around()))
        await talk.say(abort_signal=signal)
        assert log == ["before waits", "after waits"]
        assert str((await talk.root()).status) == "cancelled"

    run(test)


def test_what_is_no_message() -> None:
    """A callback that returns anything but a `Content` ends the run with what it should return; empty is nothing."""

    async def test() -> None:
        talk = Conversation(Says(name="a", before_agent_callback=lambda callback_context: "early"))
        error = await talk.fail(DataError, talk.say())
        assert "before_agent_callback of agent 'a' returned 'early'" in str(error)
        talk = Conversation(Says(name="a", before_agent_callback=lambda callback_context: ""))
        assert spoken(await talk.say()) == [("a", "a 1")]

    run(test)
