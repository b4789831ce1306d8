"""Agents that an agent calls or hands the conversation to: single turns, transfers, and who has the next word."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from adk_nb.agents import Agent, BaseAgent
from adk_nb.models import LlmRequest
from adk_nb.testing import FunctionModel, ScriptedModel, call
from adk_nb.tools import FunctionTool
from adk_nb.workflow import Workflow
from tests.agents.calling import Talk, calls, confirms


def hands_to(name: str) -> Any:
    """Return a reply that hands the conversation over."""
    return call("transfer_to_agent", agent_name=name)


def single(name: str, **options: Any) -> Agent:
    """Return an agent that answers once."""
    return Agent(name=name, mode="single_turn", **options)


def declared(request: LlmRequest) -> list[str]:
    """Return the names of the tools that a request tells of."""
    return [str(one.name) for tool in request.config.tools or () for one in tool.function_declarations or ()]  # type: ignore[union-attr]


def test_two_agents_answer_side_by_side() -> None:
    """Each works on a lane of its own and sees only what it was given; one event holds both results."""
    model = ScriptedModel(
        {
            "coord": [[calls("aa", "C1", request="one"), calls("bb", "C2", request="two")], "merged"],
            "aa": ["A"],
            "bb": ["B"],
        }
    )
    talk = Talk(Agent(name="coord", model=model, sub_agents=[single("aa"), single("bb")]))
    found = talk.turn("go")
    assert sorted(found[1:3]) == ["aa 'A'", "bb 'B'"]
    assert found[3:] == ["coord aa={'result': 'A'} bb={'result': 'B'}", "coord 'merged'"]
    lanes = {event.author: (event.branch, event.node_info.message_as_output) for event in talk.events[1:3]}
    assert lanes == {"aa": ("aa@C1", True), "bb": ("bb@C2", True)}
    asked = {request.agent_name: request.text for request in model.requests[1:3]}
    assert asked == {"aa": "one", "bb": "two"}
    assert [declared(request) for request in model.requests] == [["aa", "bb"], [], [], ["aa", "bb"]]


def test_a_single_turn_that_fails_is_told_with_its_cause() -> None:
    """The caller's model reads what went wrong, and the run goes on; arguments that don't fit are told as well."""

    class Wanted(BaseModel):
        n: int

    replies: dict[str, list[Any]] = {
        "coord": [calls("aa", "C1", request="x"), call("bb", n="many"), "sorry"],
        "aa": [OSError("line is down")],
    }
    agents: list[BaseAgent] = [single("aa"), single("bb", input_schema=Wanted)]
    talk = Talk(Agent(name="coord", model=ScriptedModel(replies), sub_agents=agents))
    found = talk.turn("go")
    assert found[1].startswith("aa error OSError")
    assert "Error running sub-agent: OSError: line is down" in found[2]
    assert "Error validating input" in found[4]
    assert found[5] == "coord 'sorry'"


def test_two_agents_that_wait_side_by_side() -> None:
    """Calls inside two children wait for approval; each is answered by itself, and both results are told."""
    made: list[str] = []

    def pay(to: str) -> str:
        made.append(to)
        return f"paid {to}"

    model = ScriptedModel(
        {
            "coord": [[calls("aa", "C1", request="1"), calls("bb", "C2", request="2")], "merged"],
            "aa": [calls("pay", "P1", to="Ann"), "A"],
            "bb": [calls("pay", "P2", to="Bob"), "B"],
        }
    )
    tool = FunctionTool(pay, require_confirmation=True)
    talk = Talk(Agent(name="coord", model=model, sub_agents=[single("aa", tools=[tool]), single("bb", tools=[tool])]))
    talk.turn("go")
    assert talk.turn(confirms(True, at=0))[-1] == "aa 'A'"
    assert made == ["Ann"]
    assert talk.turn(confirms(False, at=1))[-2:] == ["coord aa={'result': 'A'} bb={'result': 'B'}", "coord 'merged'"]
    assert made == ["Ann"]


def test_a_transfer_stays_and_comes_back() -> None:
    """The agent that the conversation was handed to has the word in the next turns, until it hands back."""
    model = ScriptedModel({"root": [hands_to("helper"), "here again"], "helper": ["hi", "still me", hands_to("root")]})
    talk = Talk(Agent(name="root", model=model, sub_agents=[Agent(name="helper", description="helps")]))
    assert talk.turn("1") == [
        "root calls transfer_to_agent",
        "root transfer_to_agent={'result': None} transfer_to_agent=helper",
        "helper 'hi'",
    ]
    assert talk.events[-1].node_info.path == "root@1/helper@1"
    assert talk.root.output == "hi"
    assert talk.turn("2") == ["helper 'still me'"]
    assert talk.turn("3")[-1] == "root 'here again'"
    assert declared(model.requests[0]) == ["transfer_to_agent"]
    assert "helper: helps" in model.requests[0].system
    assert "hand back to root" in model.requests[1].system


def test_transfers_go_through_the_tree() -> None:
    """To a child, to the parent, to a sibling: each one speaks at its own place of the tree."""
    model = ScriptedModel(
        {
            "root": [hands_to("a")],
            "a": [hands_to("c"), hands_to("b")],
            "b": ["b1", "b2"],
            "c": ["c1", "c2", hands_to("a")],
        }
    )
    tree = Agent(name="root", model=model, sub_agents=[Agent(name="a", sub_agents=[Agent(name="c")]), Agent(name="b")])
    talk = Talk(tree)
    assert [talk.turn(str(number))[-1] for number in range(4)] == ["c 'c1'", "c 'c2'", "b 'b1'", "b 'b2'"]
    paths = {event.author: event.node_info.path for event in talk.events}
    assert paths == {"root": "root@1", "a": "root@1/a@1", "c": "root@1/a@1/c@1", "b": "root@1/b@1"}


def test_a_transfer_that_cant_be_is_told_to_the_model() -> None:
    """An unknown name, itself, and an agent that isn't near are answered with an error, and nobody is handed to."""
    names = ["nobody", "root", "c"]
    model = ScriptedModel({"root": [*map(hands_to, names), "ok"]})
    tree = Agent(name="root", model=model, sub_agents=[Agent(name="a", sub_agents=[Agent(name="c")])])
    found = Talk(tree).turn("go")
    for line, words in zip(found[1::2], ["'nobody' not found", "cannot transfer to itself", "unrelated"], strict=True):
        assert words in line
        assert "transfer_to_agent=a" not in line
    assert found[-1] == "root 'ok'"


def test_an_agent_that_may_not_hand_back() -> None:
    """With `disallow_transfer_to_parent` it answers once, and the root has the next turn."""
    model = ScriptedModel({"root": [hands_to("a"), "root again"], "a": ["once"]})
    talk = Talk(Agent(name="root", model=model, sub_agents=[Agent(name="a", disallow_transfer_to_parent=True)]))
    assert talk.turn("1")[-1] == "a 'once'"
    assert declared(model.requests[1]) == []
    assert talk.turn("2") == ["root 'root again'"]


def test_called_agents_have_no_transfer_tool() -> None:
    """Single turns and tasks aren't told of transfers, and are no targets."""
    model = ScriptedModel(
        {"root": [calls("s", "C1", request="x"), calls("t", "C2", request="y")], "s": ["S"], "t": ["?"]}
    )
    agents: list[BaseAgent] = [single("s"), Agent(name="t", mode="task"), Agent(name="chatty")]
    Talk(Agent(name="root", model=model, sub_agents=agents)).turn("go")
    told = {request.agent_name: declared(request) for request in model.requests}
    assert told == {"root": ["transfer_to_agent", "s", "t"], "s": [], "t": ["finish_task"]}


def test_a_confirmation_in_an_agent_that_was_handed_to() -> None:
    """The answer goes to the agent that asked, which goes on where it stood."""

    def pay() -> str:
        return "paid"

    model = ScriptedModel({"root": [hands_to("a")], "a": [calls("pay", "P1"), "done"]})
    tool = FunctionTool(pay, require_confirmation=True)
    talk = Talk(Agent(name="root", model=model, sub_agents=[Agent(name="a", tools=[tool])]))
    talk.turn("go")
    assert talk.turn(confirms(True)) == ["a pay={'result': 'paid'}", "a 'done'"]
    assert talk.root.output == "done"


def test_the_model_comes_from_above() -> None:
    """An agent that names no model asks that of the nearest agent above it."""
    model = ScriptedModel(["x"])
    tree = Agent(name="root", model=model, sub_agents=[Agent(name="a", sub_agents=[Agent(name="b")])])
    below = tree.find_agent("b")
    assert isinstance(below, Agent)
    assert below.canonical_model is model


def test_a_workflow_and_a_function_node_as_tools() -> None:
    """A node in `tools` runs below the agent; what it hands on is the result."""

    def double(node_input: Any) -> str:
        return f"{node_input}{node_input}"

    flow = Workflow(name="flow", edges=[("START", double)])
    model = ScriptedModel([calls("flow", "C1", request="ab"), "done"])
    talk = Talk(Agent(name="bot", model=model, tools=[flow]))
    found = talk.heard("go")
    assert found[1].node_info.path == "bot@1/flow@C1/double@1"
    assert found[2].get_function_responses()[0].response == {"result": "abab"}


def test_one_tree_in_many_sessions_at_once() -> None:
    """One tree of agents serves any number of runs at the same time."""
    script = iter(["a", "b", "c", "d"] * 10)

    def reply(request: LlmRequest) -> Any:
        return hands_to("helper") if request.agent_name == "root" else next(script)

    tree = Agent(name="root", model=FunctionModel(reply), sub_agents=[Agent(name="helper")])
    talks = [Talk(tree) for _ in range(4)]

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(one.say("go") for one in talks))

    for events in asyncio.run(all_at_once()):
        assert [event.author for event in events] == ["root", "root", "helper"]


@pytest.mark.parametrize("mode", [None, "chat"])
def test_a_cell_that_is_run_again(mode: Any) -> None:
    """Building the tree again with the same children works."""
    helper = Agent(name="helper", mode=mode)
    model = ScriptedModel({"root": [hands_to("helper")], "helper": ["hi"]})
    Agent(name="root", model=model, sub_agents=[helper])
    again = Agent(name="root", model=model, sub_agents=[helper])
    assert Talk(again).turn("go")[-1] == "helper 'hi'"
