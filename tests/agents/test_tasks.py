"""Agents that take over a task: delegation, questions in between, the end, what the other side gets to read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from adk_nb.agents import Agent, RunConfig
from adk_nb.errors import ConfigurationError, InvalidAnswerError
from adk_nb.events.event import content_text
from adk_nb.events.get_session_config import GetSessionConfig
from adk_nb.sessions import InMemorySessionService
from adk_nb.testing import ScriptedModel, call
from adk_nb.workflow import Workflow, node
from tests.agents.calling import Talk, calls
from tests.workflow.driving import Conversation
from tests.workflow.mortal_stores import OnlyEvents, SqliteStore, Store


class Trip(BaseModel):
    """What is to be booked."""

    goal: str


class Booking(BaseModel):
    """What was booked."""

    city: str
    price: int
    note: str | None = None


FINISHES = call("finish_task", city="Rome", price=1)


def team(model: ScriptedModel, *more: Any, **options: Any) -> Agent:
    """Return a coordinator with one task agent."""
    booker = Agent(name="booker", mode="task", input_schema=Trip, output_schema=Booking, **options)
    return Agent(name="coord", model=model, sub_agents=[booker, *more])


def read(model: ScriptedModel, agent: str) -> list[list[str]]:
    """Return the text of each content of each request of an agent."""
    return [
        [content_text(content) or "-" for content in request.contents]
        for request in model.requests
        if request.agent_name == agent
    ]


def test_a_task_with_a_question_and_a_first_end_that_doesnt_fit() -> None:
    """The task agent asks, gets the next message, may finish again after an error, and hands on checked data."""
    model = ScriptedModel(
        {
            "coord": [calls("booker", "C1", goal="a trip"), "Booked."],
            "booker": [
                "Which city?",
                calls("finish_task", "C2", city=1),
                calls("finish_task", "C3", city="Oslo", price="5"),
            ],
        }
    )
    talk = Talk(team(model, output_key="booked"))
    assert talk.turn("book") == ["coord calls booker", "booker 'Which city?'"]
    assert talk.root.status == "waiting"
    found = talk.turn("Oslo")
    assert [line.partition("=")[0] for line in found] == [
        "booker calls finish_task",
        "booker finish_task",
        "booker calls finish_task",
        "booker finish_task",
        "user booker",
        "coord 'Booked.'",
    ]
    assert found[4] == "user booker={'city': 'Oslo', 'price': 5}"
    asked, said = talk.session.events[2:4]
    assert [(one.node_info.path, one.branch, one.isolation_scope) for one in (asked, said)] == [
        ("coord@1/booker@C1", "booker@C1", "C1"),
        ("", None, "C1"),
    ]
    assert {event.invocation_id for event in talk.session.events} == {asked.invocation_id}
    finished = talk.events[5]
    assert (finished.output, finished.node_info.output_for) == (
        {"city": "Oslo", "price": 5},
        ["coord@1/booker@C1"],
    )
    assert talk.session.state["booked"] == {"city": "Oslo", "price": 5}
    assert read(model, "booker")[1] == ['{"goal": "a trip"}', "Which city?", "Oslo"]
    assert read(model, "coord")[1] == ["book", "-", "-"]
    assert talk.root.output == "Booked."


def test_a_task_goes_on_in_another_process() -> None:
    """A paused task takes the next message also with a new runner and new agent objects."""
    sessions = InMemorySessionService()
    first = ScriptedModel({"coord": [call("booker", goal="x")], "booker": ["Where to?"]})
    Talk(team(first), sessions=sessions).turn("book")
    second = ScriptedModel({"coord": ["Done."], "booker": [call("finish_task", city="Rome", price=1)]})
    talk = Talk(team(second), sessions=sessions)
    assert talk.turn("Rome")[-2:] == ["user booker={'city': 'Rome', 'price': 1}", "coord 'Done.'"]


def test_two_tasks_come_one_after_the_other() -> None:
    """Two tasks of one message are carried out in order; the coordinator is asked once, with both results."""
    model = ScriptedModel(
        {
            "coord": [[calls("booker", "C1", goal="a"), calls("cook", "C2", request="soup")], "All done."],
            "booker": [call("finish_task", city="Oslo", price=1)],
            "cook": ["Hot or cold?", call("finish_task", result="cold soup")],
        }
    )
    talk = Talk(team(model, Agent(name="cook", mode="task")))
    assert talk.turn("go")[-2:] == ["user booker={'city': 'Oslo', 'price': 1}", "cook 'Hot or cold?'"]
    assert talk.turn("cold")[-2:] == ["user cook={'result': 'cold soup'}", "coord 'All done.'"]
    assert len(read(model, "coord")) == 2


@pytest.mark.parametrize("first", [True, False])
def test_tools_beside_a_task_come_first(first: bool) -> None:
    """Ordinary tools of the same message are called before the task begins, whatever the order of the calls."""

    def look() -> str:
        return "seen"

    parts = [calls("look", "C1"), calls("booker", "C2", goal="a")]
    model = ScriptedModel({"coord": [parts if first else parts[::-1]], "booker": ["Where to?"]})
    booker = Agent(name="booker", mode="task", input_schema=Trip)
    talk = Talk(Agent(name="coord", model=model, tools=[look], sub_agents=[booker]))
    assert talk.turn("go")[1:] == ["coord look={'result': 'seen'}", "booker 'Where to?'"]


def test_arguments_of_a_task_that_dont_fit() -> None:
    """They are told to the coordinator's model, which may call again; nothing of the session is spoiled."""
    model = ScriptedModel({"coord": [call("booker", gaol="x"), "Sorry.", "Hello."]})
    talk = Talk(team(model))
    assert "goal: Field required" in talk.turn("book")[1]
    assert talk.turn("hi") == ["coord 'Hello.'"]


def test_a_model_may_try_to_finish_only_so_often() -> None:
    """A model that never gets the result right ends the run with an error that says so."""
    model = ScriptedModel({"coord": [call("booker", goal="x")], "booker": [call("finish_task", city=1)] * 9})
    talk = Talk(team(model))
    with pytest.raises(InvalidAnswerError, match="tried 5 times"):
        talk.turn("book")
    assert model.left == 4


@pytest.mark.parametrize(
    ("schema", "args", "output"),
    [
        (None, {"result": "done"}, {"result": "done"}),
        (list[int], {"result": ["1", 2]}, [1, 2]),
        (Booking, {"city": "a", "price": 1}, {"city": "a", "price": 1}),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": 1}, {"n": 1}),
    ],
)
def test_shapes_of_results(schema: Any, args: dict[str, Any], output: Any) -> None:
    """Objects are the arguments themselves, anything else is the argument `result`."""
    talk = Talk(
        Agent(name="bot", mode="task", model=ScriptedModel([call("finish_task", **args)]), output_schema=schema)
    )
    assert talk.heard("go")[-1].output == output
    assert talk.root.output == output


def test_a_root_task_keeps_its_first_message() -> None:
    """As a root, a task agent reads what its task began with, after each answer; the next task begins anew."""
    model = ScriptedModel(["Which?", call("finish_task", result="ok"), "And now?"])
    talk = Talk(Agent(name="bot", mode="task", model=model))
    for message in ("first", "blue", "second"):
        talk.turn(message)
    assert read(model, "bot") == [["first"], ["first", "Which?", "blue"], ["second"]]
    assert {event.isolation_scope for event in talk.events} == {"bot@1"}


@pytest.mark.parametrize("has_node_before", [True, False])
def test_a_task_in_a_workflow(has_node_before: bool) -> None:
    """As a node a task agent pauses the workflow on its words, and what it finishes with goes downstream."""
    model = ScriptedModel(["Which?", call("finish_task", result="red")])
    agent = Agent(name="bot", mode="task", model=model)

    def give(node_input: Any) -> str:
        return "paint"

    def show(node_input: Any) -> str:
        return f"got {node_input}"

    nodes = [node(give)] if has_node_before else []
    talk = Talk(Workflow(name="wf", edges=[("START", *nodes, agent, show)]))
    talk.turn("paint")
    talk.turn("red, please")
    assert talk.root.output == "got {'result': 'red'}"
    assert read(model, "bot")[1] == ["paint", "Which?", "red, please"]
    assert talk.events[-2].isolation_scope == "wf@1/bot@1"


def test_a_task_agent_is_a_leaf() -> None:
    """Agents below a task agent are refused, with what to do."""
    with pytest.raises(ConfigurationError, match="must be a leaf"):
        Agent(name="bot", mode="task", sub_agents=[Agent(name="one")])


def test_a_failing_task_ends_the_run_and_the_next_turn_is_free() -> None:
    """An error in a task is raised with the task's own error event; the next message begins a new turn."""
    model = ScriptedModel({"coord": [call("booker", goal="x"), "Hello."], "booker": [OSError("down")]})
    talk = Talk(team(model))
    with pytest.raises(OSError, match="down"):
        talk.turn("book")
    assert [event.node_info.path.count("/") for event in talk.events if event.error_code] == [1]
    assert talk.turn("hi") == ["coord 'Hello.'"]


def test_a_paused_task_is_given_up() -> None:
    """After `cancel_async` the next message begins a new turn, and the history says what became of the call."""
    model = ScriptedModel({"coord": [calls("booker", "C1", goal="x"), "Hello."], "booker": ["Where to?"]})
    talk = Talk(team(model))
    talk.turn("book")
    told = asyncio.run(talk.runner.cancel_async(**talk.where))
    assert [event.error_code for event in told] == ["INVOCATION_ABORTED"]
    assert talk.root.status == "cancelled"
    assert talk.turn("hi") == ["coord 'Hello.'"]
    assert asyncio.run(talk.runner.cancel_async(**talk.where)) == []


def test_a_session_that_is_loaded_in_part() -> None:
    """A paused task gets its answer, and goes on where it stood, however few events the session is loaded with."""
    model = ScriptedModel({"coord": [call("booker", goal="x"), "Done."], "booker": ["Where to?", FINISHES]})
    talk = Talk(team(model))
    few = RunConfig(get_session_config=GetSessionConfig(num_recent_events=1))
    talk.turn("book", few)
    assert talk.turn("Rome", few)[-2:] == ["user booker={'city': 'Rome', 'price': 1}", "coord 'Done.'"]


@pytest.mark.parametrize("made", [Store, SqliteStore, OnlyEvents])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_session_that_is_loaded_in_part_elsewhere(made: type[Store], count: int) -> None:
    """The answer goes to the paused task in a new process too, in every store, even where no event is loaded."""
    few = RunConfig(get_session_config=GetSessionConfig(num_recent_events=count))

    async def main() -> None:
        store = made()
        asks = ScriptedModel({"coord": [call("booker", goal="x")], "booker": ["Where to?"]})
        await Conversation(team(asks), await store.open()).say("book", run_config=few)
        ends = ScriptedModel({"coord": ["Done."], "booker": [FINISHES]})
        talk = Conversation(team(ends), await store.open())
        events = await talk.say("Rome", run_config=few)
        assert [(event.author, event.output) for event in events if event.output] == [
            ("booker", {"city": "Rome", "price": 1})
        ]
        assert content_text(events[-1].content) == "Done."
        assert (await talk.root()).status == "completed"
        await store.close()

    asyncio.run(main())
