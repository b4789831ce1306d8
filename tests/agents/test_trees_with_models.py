"""Trees in which models call tools, ask people, take over tasks and hand over: what the parts do together."""

from __future__ import annotations

from typing import Any

from google.genai import types

from adk_nb.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adk_nb.apps import App, ResumabilityConfig
from adk_nb.events import Event
from adk_nb.runners import Runner
from adk_nb.sessions import InMemorySessionService
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import AgentTool, FunctionTool, exit_loop
from tests.agents.speaking import Says, spoken, talker
from tests.workflow.driving import Conversation, run


def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def scripted(name: str, *replies: Any, **options: Any) -> LlmAgent:
    """Return an agent with prepared replies of any kind."""
    return LlmAgent(name=name, description=f"Does {name}.", model=ScriptedModel(list(replies)), **options)


def read(agent: LlmAgent, index: int = -1) -> str:
    """Return all that an agent's model read in one of its calls."""
    model: Any = agent.model
    parts = (part for content in model.requests[index].contents for part in content.parts or ())
    return " ".join(part.text for part in parts if part.text)


def test_exit_loop() -> None:
    """The tool ends the loop at once: the model isn't asked again, and nothing behind it runs."""

    async def test() -> None:
        critic = scripted("critic", "more", call("exit_loop"), tools=[exit_loop])
        behind = Says(name="behind")
        loop = LoopAgent(name="loop", max_iterations=5, sub_agents=[talker("writer", "d1", "d2"), critic, behind])
        events = await Conversation(loop).say()
        assert spoken(events) == [("writer", "d1"), ("critic", "more"), ("behind", "behind 1"), ("writer", "d2")]
        last = events[-1]
        assert (last.author, last.actions.escalate, last.actions.skip_summarization) == ("critic", True, True)

    run(test)


def test_a_member_that_needs_a_confirmation() -> None:
    """After the answer the member goes on with its call; what ran before doesn't run again."""

    async def test() -> None:
        first, last = Says(name="first"), Says(name="last")
        tool = FunctionTool(pay, require_confirmation=True)
        payer = scripted("payer", call("pay", amount=3), "done", tools=[tool])
        talk = Conversation(SequentialAgent(name="seq", sub_agents=[first, payer, last]))
        await talk.say()
        [(asking, question)] = await talk.questions()
        assert asking.path.startswith("seq@1/payer@1")
        events = await talk.answer({question.interrupt_id: {"confirmed": True}})
        assert spoken(events) == [("payer", "done"), ("last", "last 1")]
        assert (len(first.runs), (await talk.root()).output) == (1, "last 1")

    run(test)


def test_a_member_with_a_task() -> None:
    """A task agent among the members asks the person and goes on with the answer; then the next member runs."""

    async def test() -> None:
        task = scripted("task", "which city?", call("finish_task", result="Oslo"), mode="task")
        first, last = Says(name="first"), Says(name="last")
        talk = Conversation(SequentialAgent(name="seq", sub_agents=[first, task, last]))
        assert spoken(await talk.say("book"))[-1] == ("task", "which city?")
        assert last.runs == []
        events = await talk.say("Oslo")
        assert spoken(events)[-1] == ("last", "last 1")
        assert "Oslo" in read(task)
        assert len(first.runs) == 1

    run(test)


def test_members_of_a_single_turn() -> None:
    """A member in mode single_turn sees the conversation of its tree as the others do."""

    async def test() -> None:
        one, two = talker("one", "A", mode="single_turn"), talker("two", "B", mode="single_turn")
        talk = Conversation(SequentialAgent(name="seq", sub_agents=[one, two]))
        await talk.say("hi")
        assert read(one) == "hi"
        assert "A" in read(two)
        assert (await talk.root()).output == "B"

    run(test)


def test_a_tree_as_a_tool() -> None:
    """A sequential agent in an `AgentTool` answers with what its last member said."""

    async def test() -> None:
        inner = SequentialAgent(name="inner", description="Does it.", sub_agents=[talker("x", "X"), talker("y", "Y")])
        root = scripted("root", call("inner", request="go"), "done", tools=[AgentTool(inner)])
        events = await Conversation(root).say()
        assert spoken(events) == [("root", "done")]
        parts = [part for event in events for part in (event.content.parts if event.content else None) or ()]
        assert [p.function_response.response for p in parts if p.function_response] == [{"result": "Y"}]

    run(test)


def test_a_transfer_to_a_tree() -> None:
    """A coordinator hands over to a template agent for one turn; the next turn is the coordinator's again."""

    async def test() -> None:
        both = ParallelAgent(name="both", description="Asks both.", sub_agents=[talker("a", "A"), talker("b", "B")])
        root = scripted("root", call("transfer_to_agent", agent_name="both"), "again", sub_agents=[both])
        talk = Conversation(root)
        events = await talk.say()
        assert {(e.author, e.node_info.path, e.branch) for e in events if e.author != "root"} == {
            ("a", "root@1/both@1/a@1", "both.a"),
            ("b", "root@1/both@1/b@1", "both.b"),
        }
        assert spoken(await talk.say()) == [("root", "again")]

    run(test)


def test_a_clone_calls_its_own_agents() -> None:
    """In a clone a call of a sub-agent, and a transfer, reach the clone's agents with their own models."""

    async def test() -> None:
        sub = talker("sub", "old", mode="single_turn", description="Answers.")
        root = scripted("root", call("sub", request="x"), "done", sub_agents=[sub])
        clone = root.clone()
        clone.sub_agents[0].model = ScriptedModel(["new"])
        assert spoken(await Conversation(clone).say()) == [("sub", "new"), ("root", "done")]

    run(test)


async def turn(root: BaseAgent, *messages: str) -> list[list[Event]]:
    """Return the events of each turn in a resumable app."""
    app = App(name="app", root_agent=root, resumability_config=ResumabilityConfig(is_resumable=True))
    runner = Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)
    found = []
    for message in messages:
        content = types.UserContent(message)
        found.append([e async for e in runner.run_async(user_id="u", session_id="s", new_message=content)])
    return found


def test_a_task_that_only_asked_has_not_ended() -> None:
    """A resumable app says that an agent ended when it has, not when it asked a question."""

    async def test() -> None:
        task = scripted("task", "which city?", call("finish_task", result="Oslo"), mode="task")
        root = scripted("root", call("task", request="book"), "booked", sub_agents=[task])
        asked, finished = await turn(root, "book", "Oslo")
        assert [event.author for event in asked if event.actions.end_of_agent] == []
        assert [event.author for event in finished if event.actions.end_of_agent] == ["task", "root"]

    run(test)


def test_where_a_tree_stands() -> None:
    """A resumable app says which member runs, how often a loop went round, and what has ended."""

    async def test() -> None:
        loop = LoopAgent(name="loop", max_iterations=2, sub_agents=[Says(name="a")])
        [events] = await turn(SequentialAgent(name="seq", sub_agents=[loop]), "hi")
        told = [(e.author, e.actions.agent_state or e.actions.end_of_agent) for e in events if not e.content]
        assert told == [
            ("seq", {"current_sub_agent": "loop"}),
            ("loop", {"current_sub_agent": "a", "times_looped": 0}),
            ("loop", {"current_sub_agent": "a", "times_looped": 1}),
            ("loop", True),
            ("seq", True),
        ]

    run(test)
