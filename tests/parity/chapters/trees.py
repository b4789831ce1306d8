"""Trees of agents: sequential, parallel and loop agents, and agents of one's own."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from typing import Any

from google.genai import types

from tests.parity.chapters.apps import resumable
from tests.parity.pieces import Boom, flow, gives, plays, shows
from tests.parity.side import Side


def words(text: str) -> types.Content:
    """Return what an agent says."""
    return types.Content(role="model", parts=[types.Part(text=text)])


def calls(name: str, **args: Any) -> types.Content:
    """Return what a model says that calls a tool."""
    return types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(name=name, args=args))])


def model(adk: Side, *replies: str | types.Content) -> Any:
    """Return a model that gives these replies in turn."""
    BaseLlm: Any = adk.BaseLlm
    left = list(replies)

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
            reply = left.pop(0)
            yield adk.LlmResponse(content=words(reply) if isinstance(reply, str) else reply)

    return Scripted(model="scripted")


def talks(adk: Side, name: str, *replies: str | types.Content, **options: Any) -> Any:
    """Return an agent whose model says its name, or these replies."""
    return adk.Agent(name=name, model=model(adk, *(replies or (name,) * 9)), **options)


def says(adk: Side, name: str, *, escalates_at: int = 0, fails: bool = False, waits: bool = False) -> Any:
    """Return an agent of one's own that says how often it ran, and escalates, fails or waits for ever when asked to."""
    BaseAgent: Any = adk.BaseAgent
    runs: list[int] = []

    class Says(BaseAgent):
        async def _run_async_impl(self, ctx: Any) -> AsyncIterator[Any]:
            runs.append(1)
            if fails:
                raise Boom(f"{name} fails")
            if waits:
                await asyncio.Event().wait()
            escalate = True if len(runs) == escalates_at else None
            yield adk.Event(
                author=name,
                invocation_id=ctx.invocation_id,
                branch=ctx.branch,
                content=words(f"{name} {len(runs)}"),
                actions=adk.EventActions(escalate=escalate),
            )

    return Says(name=name)


def conducts(adk: Side, name: str, *agents: Any, how: str = "all") -> Any:
    """Return an agent of one's own that runs others: hands all of their events on, drops or changes them."""
    BaseAgent: Any = adk.BaseAgent

    class Conducts(BaseAgent):
        async def _run_async_impl(self, ctx: Any) -> AsyncIterator[Any]:
            for agent in self.sub_agents:
                async for event in agent.run_async(ctx):
                    if how == "changes":
                        yield event.model_copy(update={"content": words("changed")})
                    elif how == "all":
                        yield event
            yield adk.Event(author=name, invocation_id=ctx.invocation_id, branch=ctx.branch, content=words("the end"))

    return Conducts(name=name, sub_agents=list(agents))


async def members_have_paths(adk: Side) -> None:
    """Events of members say where in the tree they come from."""
    inner = adk.ParallelAgent(name="par", sub_agents=[says(adk, "a"), says(adk, "b")])
    await adk.play(adk.SequentialAgent(name="seq", sub_agents=[inner, says(adk, "c")]))


async def a_sequence(adk: Side) -> None:
    """A sequential agent runs its members one after the other on the common lane."""
    await plays(adk, adk.SequentialAgent(name="seq", sub_agents=[talks(adk, "a"), talks(adk, "b")]), "hi", "again")


async def a_sequence_and_the_state(adk: Side) -> None:
    """What a member keeps in the state is there for the next one's instruction."""
    one = talks(adk, "a", "kept", output_key="key")
    two = talks(adk, "b", instruction="It was {key}.")
    await plays(adk, adk.SequentialAgent(name="seq", sub_agents=[one, two]))


async def a_sequence_of_nobody(adk: Side) -> None:
    """A sequential agent without members says nothing."""
    await plays(adk, adk.SequentialAgent(name="seq"))


async def members_side_by_side(adk: Side) -> None:
    """Members of a parallel agent have a branch each; what follows is on the common lane again."""
    par = adk.ParallelAgent(name="par", sub_agents=[talks(adk, "a"), talks(adk, "b")])
    await plays(adk, adk.SequentialAgent(name="seq", sub_agents=[par, talks(adk, "c")]), "hi", "again")


async def side_by_side_inside(adk: Side) -> None:
    """Branches of a parallel agent inside another one lie below the branch of the outer member."""
    inner = adk.ParallelAgent(name="inner", sub_agents=[says(adk, "a"), says(adk, "b")])
    await plays(adk, adk.ParallelAgent(name="outer", sub_agents=[inner, says(adk, "c")]))


async def members_keep_keys(adk: Side) -> None:
    """Members of a parallel agent share the state."""
    members = [talks(adk, name, output_key=name) for name in ("a", "b", "c")]
    await plays(adk, adk.ParallelAgent(name="par", sub_agents=members))


async def a_loop_with_a_limit(adk: Side) -> None:
    """A loop agent runs its members so many times."""
    await plays(adk, adk.LoopAgent(name="loop", max_iterations=2, sub_agents=[says(adk, "a"), says(adk, "b")]))


async def a_loop_that_may_not_run(adk: Side) -> None:
    """With a limit of 0 or less nothing runs."""
    for limit in (0, -1):
        await plays(adk, adk.LoopAgent(name="loop", max_iterations=limit, sub_agents=[says(adk, "a")]))


async def a_loop_ends_on_an_escalation(adk: Side) -> None:
    """An escalation ends the loop; the members behind it don't run."""
    members = [talks(adk, "writer"), says(adk, "critic", escalates_at=2), says(adk, "never", escalates_at=9)]
    await plays(adk, adk.LoopAgent(name="loop", max_iterations=5, sub_agents=members))


async def a_model_ends_a_loop(adk: Side) -> None:
    """A model ends the loop with the tool `exit_loop`, and isn't asked again."""
    critic = talks(adk, "critic", "more", calls("exit_loop"), tools=[adk.exit_loop])
    await plays(adk, adk.LoopAgent(name="loop", max_iterations=5, sub_agents=[talks(adk, "writer"), critic]))


async def a_transfer_to_a_sequence(adk: Side) -> None:
    """A sequential agent that an agent hands over to runs once; the next turn is that agent's again."""
    seq = adk.SequentialAgent(name="seq", description="Does it.", sub_agents=[talks(adk, "a"), talks(adk, "b")])
    handing = calls("transfer_to_agent", agent_name="seq")
    await plays(adk, talks(adk, "root", handing, "again", sub_agents=[seq]), "hi", "again")


async def a_transfer_side_by_side(adk: Side) -> None:
    """The same with a parallel agent: each member has its branch."""
    par = adk.ParallelAgent(name="par", description="Does it.", sub_agents=[talks(adk, "a"), talks(adk, "b")])
    handing = calls("transfer_to_agent", agent_name="par")
    await plays(adk, talks(adk, "root", handing, "again", sub_agents=[par]), "hi", "again")


async def members_call_tools(adk: Side) -> None:
    """Members call tools; what is called is quoted to the next one."""

    def look(city: str) -> str:
        """Look."""
        return f"{city} is there"

    one = talks(adk, "one", calls("look", city="Oslo"), "seen", tools=[look])
    await plays(adk, adk.SequentialAgent(name="seq", sub_agents=[one, talks(adk, "two")]))


async def an_escalation_in_a_sequence(adk: Side) -> None:
    """An escalating member of a sequential agent, and the members behind it."""
    await plays(adk, adk.SequentialAgent(name="seq", sub_agents=[says(adk, "a", escalates_at=1), says(adk, "b")]))


async def an_escalation_deep_in_a_loop(adk: Side) -> None:
    """An escalation inside a sequential agent ends the loop around it."""
    seq = adk.SequentialAgent(name="seq", sub_agents=[says(adk, "a", escalates_at=1), says(adk, "b")])
    await plays(adk, adk.LoopAgent(name="loop", max_iterations=3, sub_agents=[seq, says(adk, "c")]))


async def what_follows_a_loop(adk: Side) -> None:
    """A loop that ended on an escalation is followed by what comes next."""
    loop = adk.LoopAgent(name="loop", sub_agents=[says(adk, "a", escalates_at=2)])
    await plays(adk, adk.SequentialAgent(name="seq", sub_agents=[loop, says(adk, "b")]))


async def a_loop_in_a_loop(adk: Side) -> None:
    """An escalation in an inner loop, and the loop around it."""
    inner = adk.LoopAgent(name="inner", sub_agents=[says(adk, "a", escalates_at=1)])
    members = [inner, says(adk, "b", escalates_at=1)]
    await plays(adk, adk.LoopAgent(name="outer", max_iterations=2, sub_agents=members))


async def an_escalation_beside_others(adk: Side) -> None:
    """A member of a parallel agent that escalates stops the others."""
    members = [says(adk, "waits", waits=True), says(adk, "quits", escalates_at=1)]
    await plays(adk, adk.ParallelAgent(name="par", sub_agents=members))


async def a_member_fails(adk: Side) -> None:
    """The error of a member ends the run, and the members behind it don't run."""
    members = [says(adk, "a"), says(adk, "bad", fails=True), says(adk, "b")]
    await plays(adk, adk.SequentialAgent(name="seq", sub_agents=members))


async def a_member_fails_beside_others(adk: Side) -> None:
    """The error of a parallel member stops the others and ends the run."""
    members = [says(adk, "waits", waits=True), says(adk, "bad", fails=True)]
    await plays(adk, adk.ParallelAgent(name="par", sub_agents=members))


async def a_sequence_as_a_node(adk: Side) -> None:
    """What a sequential agent in a workflow hands on."""
    seq = adk.SequentialAgent(name="seq", sub_agents=[talks(adk, "a"), talks(adk, "b")])
    await plays(adk, flow(adk, gives(adk, "give", "given"), seq, shows(adk)))


async def a_parallel_agent_as_a_node(adk: Side) -> None:
    """What a parallel agent in a workflow hands on."""
    par = adk.ParallelAgent(name="par", sub_agents=[talks(adk, "a"), talks(adk, "b")])
    await plays(adk, flow(adk, gives(adk, "give", "given"), par, shows(adk)))


async def an_agent_of_ones_own(adk: Side) -> None:
    """An agent of one's own says what it yields, and is the root."""
    await plays(adk, says(adk, "a"), "hi", "again")


async def an_agent_of_ones_own_runs_others(adk: Side) -> None:
    """An agent of one's own runs others with `run_async` and hands their events on."""
    seq = adk.SequentialAgent(name="seq", sub_agents=[talks(adk, "b"), says(adk, "c")])
    await plays(adk, conducts(adk, "own", says(adk, "a"), seq))


async def an_agent_of_ones_own_drops_events(adk: Side) -> None:
    """Events of others that an agent of one's own doesn't hand on."""
    await plays(adk, conducts(adk, "own", says(adk, "a"), how="drops"))


async def an_agent_of_ones_own_changes_events(adk: Side) -> None:
    """Events of others that an agent of one's own hands on otherwise."""
    await plays(adk, conducts(adk, "own", says(adk, "a"), how="changes"))


async def an_agent_without_a_body(adk: Side) -> None:
    """A `BaseAgent` itself can't run."""
    await plays(adk, adk.BaseAgent(name="bare"))


async def an_agent_has_one_parent(adk: Side) -> None:
    """A sub-agent of one agent can't be that of another one, nor stand there twice."""
    leaf = says(adk, "leaf")
    adk.BaseAgent(name="first", sub_agents=[leaf])
    adk.refused("second", lambda: adk.BaseAgent(name="second", sub_agents=[leaf]), "already has a parent agent")
    free = says(adk, "free")
    adk.refused("twice", lambda: adk.BaseAgent(name="third", sub_agents=[free, free]), "already has a parent agent")
    adk.refused("no agent", lambda: adk.BaseAgent(name="fourth", sub_agents=[flow(adk, gives(adk, "x"))]))


async def a_tree_is_built_again(adk: Side) -> None:
    """A tree is built a second time with the same agents, as when a cell runs again."""
    leaf = says(adk, "leaf")
    adk.SequentialAgent(name="root", sub_agents=[leaf])
    adk.refused("again", lambda: adk.SequentialAgent(name="root", sub_agents=[leaf]))


async def agents_are_found(adk: Side) -> None:
    """An agent is found by name at or below another one, depth first, and knows its parent and root."""
    deep = adk.BaseAgent(name="same")
    root = adk.BaseAgent(name="root", sub_agents=[adk.BaseAgent(name="a", sub_agents=[deep])])
    adk.note("found", [root.find_agent("same") is deep, root.find_agent("root") is root, root.find_agent("x")])
    adk.note("below", [root.find_sub_agent("root"), root.find_sub_agent("a").name])
    adk.note("up", [deep.parent_agent.name, deep.root_agent.name, root.parent_agent])


async def agents_are_cloned(adk: Side) -> None:
    """A clone is a tree of its own with the given changes; a parent and unknown fields can't be given."""
    root = adk.BaseAgent(name="root", sub_agents=[adk.BaseAgent(name="a")])
    clone = root.clone(update={"name": "copy"})
    adk.note("clone", [clone.name, clone.sub_agents[0].parent_agent.name, root.sub_agents[0].parent_agent.name])
    adk.note("another", clone.sub_agents[0] is root.sub_agents[0])
    adk.refused("parent", lambda: root.clone(update={"parent_agent": clone}), "parent_agent")
    adk.refused("unknown", lambda: root.clone(update={"nonsense": 1}), "nonsense")


async def agents_have_names(adk: Side) -> None:
    """An agent's name is an identifier and not that of the user."""
    for name in ("a b", "", "9x", "user"):
        adk.refused(name or "empty", functools.partial(adk.BaseAgent, name=name))
    adk.refused("reserved", lambda: adk.BaseAgent(name="user"), "reserved")


async def a_resumable_sequence(adk: Side) -> None:
    """A resumable app says which member of a sequence runs, and when each agent has ended."""
    adk.hides_paths = True
    await resumable(adk, adk.SequentialAgent(name="seq", sub_agents=[talks(adk, "a"), talks(adk, "b")])).turn("hi")


async def a_resumable_loop(adk: Side) -> None:
    """A resumable app says how often a loop went round."""
    adk.hides_paths = True
    loop = adk.LoopAgent(name="loop", max_iterations=2, sub_agents=[talks(adk, "a"), talks(adk, "b")])
    await resumable(adk, loop).turn("hi")


async def a_resumable_parallel_agent(adk: Side) -> None:
    """A resumable app says that members run side by side, and when each has ended."""
    adk.hides_paths = True
    par = adk.ParallelAgent(name="par", sub_agents=[talks(adk, "a"), talks(adk, "b")])
    await resumable(adk, par).turn("hi")


async def a_resumable_agent(adk: Side) -> None:
    """A resumable app says when an agent has ended."""
    await resumable(adk, talks(adk, "a")).turn("hi")
