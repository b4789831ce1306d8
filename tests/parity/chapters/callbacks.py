"""Callbacks before and after the runs of agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.parity.chapters.trees import says, talks, words
from tests.parity.pieces import Boom, flow, gives, plays, shows
from tests.parity.side import Side


def answers_with(adk: Side, text: str | None, label: str = "") -> Callable[[Any], Any]:
    """Return a callback that notes its call, and answers."""

    def callback(callback_context: Any) -> Any:
        adk.note("called", [label or str(text), callback_context.agent_name])
        return words(text) if text else None

    return callback


def writes(**values: Any) -> Callable[[Any], None]:
    """Return a callback that writes to the state."""

    def callback(callback_context: Any) -> None:
        for key, value in values.items():
            callback_context.state[key] = value

    return callback


async def an_answer_before_an_agent(adk: Side) -> None:
    """What a callback before an agent answers is said in its name, and its model isn't asked."""
    await plays(adk, talks(adk, "a", before_agent_callback=answers_with(adk, "early"), output_key="key"))


async def an_answer_before_a_member(adk: Side) -> None:
    """A callback that answers in place of a member leaves the others as they are."""
    early = talks(adk, "a", before_agent_callback=answers_with(adk, "early"))
    await plays(adk, adk.SequentialAgent(name="seq", sub_agents=[early, talks(adk, "b")]))


async def an_answer_before_a_sequence(adk: Side) -> None:
    """A callback that answers in place of a sequential agent: no member runs."""
    before = answers_with(adk, "early")
    await plays(adk, adk.SequentialAgent(name="seq", sub_agents=[says(adk, "a")], before_agent_callback=before))


async def an_answer_before_and_the_callback_after(adk: Side) -> None:
    """The callback after an agent in whose place the one before it answered."""
    both = {"before_agent_callback": answers_with(adk, "early"), "after_agent_callback": answers_with(adk, "late")}
    await plays(adk, talks(adk, "a", **both))


async def a_message_after_an_agent(adk: Side) -> None:
    """What a callback after an agent returns is said as well, and isn't what the agent's key keeps."""
    await plays(adk, talks(adk, "a", after_agent_callback=answers_with(adk, "late"), output_key="key"))


async def a_message_after_a_loop(adk: Side) -> None:
    """A callback after a loop is called once."""
    after = answers_with(adk, "late")
    loop = adk.LoopAgent(name="loop", max_iterations=2, sub_agents=[says(adk, "a")], after_agent_callback=after)
    await plays(adk, loop)


async def several_callbacks(adk: Side) -> None:
    """Callbacks are asked in order until one answers."""
    before = [answers_with(adk, None, "one"), answers_with(adk, None, "two")]
    after = [answers_with(adk, None, "three"), answers_with(adk, "late"), answers_with(adk, "never")]
    await plays(adk, talks(adk, "a", before_agent_callback=before, after_agent_callback=after))


async def callbacks_may_be_async(adk: Side) -> None:
    """A callback may be a coroutine function, and call its argument as it likes."""

    async def before(context: Any) -> Any:
        return words(f"early for {context.agent_name}")

    await plays(adk, talks(adk, "a", before_agent_callback=before))


async def callbacks_write_to_the_state(adk: Side) -> None:
    """What a callback writes is stored with an event of its own, before and after the agent's."""
    callbacks = {"before_agent_callback": writes(before=1), "after_agent_callback": writes(after=2)}
    await plays(adk, talks(adk, "a", instruction="See {before}.", **callbacks))


async def callbacks_of_a_sequence_write_to_the_state(adk: Side) -> None:
    """The same around a sequential agent."""
    callbacks = {"before_agent_callback": writes(before=1), "after_agent_callback": writes(after=2)}
    await plays(adk, adk.SequentialAgent(name="seq", sub_agents=[talks(adk, "a")], **callbacks))


async def a_callback_fails(adk: Side) -> None:
    """The error of a callback ends the run like one of the agent's own."""

    def before(callback_context: Any) -> None:
        raise Boom("no")

    await plays(adk, talks(adk, "a", before_agent_callback=before))


async def a_callback_after_fails(adk: Side) -> None:
    """The error of a callback after an agent ends the run; what was said stays."""

    def after(callback_context: Any) -> None:
        raise Boom("no")

    await plays(adk, talks(adk, "a", after_agent_callback=after))


async def an_answer_before_a_node(adk: Side) -> None:
    """In a workflow, what a callback answers in place of an agent is handed on."""
    early = talks(adk, "a", before_agent_callback=answers_with(adk, "early"))
    await plays(adk, flow(adk, gives(adk, "give", "given"), early, shows(adk)))


async def a_message_after_a_node(adk: Side) -> None:
    """In a workflow, a message after an agent is said as well."""
    late = talks(adk, "a", after_agent_callback=answers_with(adk, "late"))
    await plays(adk, flow(adk, gives(adk, "give", "given"), late, shows(adk)))


async def plugins_come_first(adk: Side) -> None:
    """A plugin is asked before an agent's own callback, which isn't called when the plugin answers."""
    BasePlugin: Any = adk.BasePlugin

    class First(BasePlugin):
        async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> Any:
            adk.note("plugin", agent.name)
            return words("by the plugin") if agent.name == "b" else None

    members = [talks(adk, name, before_agent_callback=answers_with(adk, "early")) for name in ("a", "b")]
    adk.hides_paths = True
    talk = adk.talk(adk.SequentialAgent(name="seq", sub_agents=members), plugins=[First("first")])
    await talk.turn("hi")
