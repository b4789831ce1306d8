"""Agents as nodes: what the engine shows of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from google.genai import types

from tests.parity.pieces import Ticket, answers, asks, flow, gives, shows
from tests.parity.side import Side


def speaks(adk: Side, *replies: str) -> Any:
    """Return a model that gives these replies in turn, and notes what it was asked."""
    BaseLlm: Any = adk.BaseLlm
    left = list(replies)

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
            texts = [part.text for content in llm_request.contents for part in content.parts or () if part.text]
            adk.note("asked", texts[-1:])
            yield adk.LlmResponse(content=types.Content(role="model", parts=[types.Part(text=left.pop(0))]))

    return Scripted(model="scripted")


async def an_agent_is_a_node(adk: Side) -> None:
    """An agent in a chain gets the output before it as its user's turn, and hands on its reply."""
    agent = adk.Agent(name="helper", model=speaks(adk, "a reply"), instruction="Help.")
    await adk.play(flow(adk, gives(adk, "a", "a question"), agent, shows(adk)))


async def an_agent_gets_the_first_message(adk: Side) -> None:
    """An agent after START gets the user's message."""
    agent = adk.Agent(name="helper", model=speaks(adk, "a reply"), mode="single_turn")
    await adk.play(flow(adk, agent, shows(adk)))


async def an_agent_gets_a_dictionary_as_json(adk: Side) -> None:
    """A dictionary reaches an agent as JSON."""
    agent = adk.Agent(name="helper", model=speaks(adk, "a reply"))
    await adk.play(flow(adk, gives(adk, "a", {"title": "x", "n": 1}), agent))


async def an_agents_reply_is_parsed(adk: Side) -> None:
    """With an output schema an agent hands on the parsed object."""
    agent = adk.Agent(name="helper", model=speaks(adk, '{"title": "x", "count": 2}'), output_schema=Ticket)
    await adk.play(flow(adk, gives(adk, "a", "q"), agent, shows(adk)))


async def an_agents_reply_goes_into_the_state(adk: Side) -> None:
    """With an output key an agent's reply is stored in the state."""
    agent = adk.Agent(name="helper", model=speaks(adk, "a reply"), output_key="reply")
    await adk.play(flow(adk, gives(adk, "a", "q"), agent, shows(adk)))


async def agents_follow_each_other(adk: Side) -> None:
    """An agent after an agent sees only what it was handed."""
    one = adk.Agent(name="one", model=speaks(adk, "first reply"))
    two = adk.Agent(name="two", model=speaks(adk, "second reply"))
    await adk.play(flow(adk, gives(adk, "a", "q"), one, two, shows(adk)))


async def agents_in_lanes(adk: Side) -> None:
    """Agents in lanes hand their replies to a join."""
    lanes = tuple(adk.Agent(name=name, model=speaks(adk, f"reply of {name}")) for name in ("one", "two"))
    await adk.play(flow(adk, gives(adk, "a", "q"), lanes, adk.JoinNode(name="j"), shows(adk)))


async def an_agent_before_a_question(adk: Side) -> None:
    """An agent that finished isn't asked again after an answer."""
    agent = adk.Agent(name="helper", model=speaks(adk, "a reply"))
    await adk.play(flow(adk, gives(adk, "a", "q"), agent, asks(adk, "q"), shows(adk)), "hi", answers(q="x"))


async def an_agent_as_a_child(adk: Side) -> None:
    """An agent may be run with `ctx.run_node`; the call returns its reply."""
    agent = adk.Agent(name="helper", model=speaks(adk, "a reply"), mode="single_turn")

    async def parent(ctx: Any) -> Any:
        return [await ctx.run_node(agent, "a question")]

    await adk.play(flow(adk, adk.node(parent, rerun_on_resume=True), shows(adk)))


async def an_agent_becomes_a_copy(adk: Side) -> None:
    """An agent in an edge is copied: the copy runs a single turn and is rerun after an answer, the first stays."""
    agent = adk.Agent(name="helper", model="gemini-2.5-flash")
    placed = next(one for one in flow(adk, gives(adk, "a"), agent).graph.nodes if one.name == "helper")
    adk.note("copy", [placed is agent, placed.mode, placed.rerun_on_resume, placed.wait_for_output])
    adk.note("first", [agent.mode])
