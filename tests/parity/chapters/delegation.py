"""Agents below agents: called for one answer, given a task, handed the conversation."""

from __future__ import annotations

from pydantic import BaseModel

from tests.parity.pieces import Boom, flow, plays, shows
from tests.parity.scripted import calls, scripted
from tests.parity.side import Side, said


class Goal(BaseModel):
    """What a task begins with."""

    goal: str


class Booking(BaseModel):
    """What a task ends with."""

    city: str
    price: int


async def a_task_asks_and_finishes(adk: Side) -> None:
    """A task agent asks the user, goes on with the answer, and its result is the response to the call."""
    model = scripted(
        adk,
        coord=[calls("booker", "c1", goal="a trip"), "Booked."],
        booker=["Which city?", calls("finish_task", "c2", city="Oslo", price=5)],
    )
    booker = adk.Agent(name="booker", description="Books.", mode="task", input_schema=Goal, output_schema=Booking)
    agent = adk.Agent(name="coord", model=model, sub_agents=[booker])
    await adk.play(agent, "book a trip", "Oslo")


async def a_task_agent_in_a_workflow(adk: Side) -> None:
    """As a node a task agent pauses on its words, and what it finishes with goes downstream."""
    model = scripted(adk, "Which?", calls("finish_task", "c1", result="red"), notes=False)
    agent = adk.Agent(name="painter", mode="task", model=model)
    await adk.play(flow(adk, agent, shows(adk)), "paint", "red")


async def agents_are_called_side_by_side(adk: Side) -> None:
    """Two agents that answer once see only what they are given; one event has both answers."""
    model = scripted(
        adk,
        coord=[[calls("aa", "c1", request="one"), calls("bb", "c2", request="two")], "merged"],
        aa=["A says hi"],
        bb=["B says yo"],
        notes=False,
    )
    agents = [adk.Agent(name=name, description=name, mode="single_turn") for name in ("aa", "bb")]
    await adk.play(adk.Agent(name="coord", model=model, sub_agents=agents))


async def a_conversation_is_handed_over(adk: Side) -> None:
    """The other agent answers, and keeps the word in the next turn."""
    model = scripted(
        adk,
        root=[calls("transfer_to_agent", "c1", agent_name="helper")],
        helper=["here I am", "still here"],
        notes=False,
    )
    helper = adk.Agent(name="helper", description="Helps.")
    await adk.play(adk.Agent(name="root", model=model, sub_agents=[helper]), "help", "more")


async def a_conversation_is_handed_back(adk: Side) -> None:
    """An agent hands back to the one above it, which answers."""
    model = scripted(
        adk,
        root=[calls("transfer_to_agent", "c1", agent_name="helper"), "back again"],
        helper=[calls("transfer_to_agent", "c2", agent_name="root")],
        notes=False,
    )
    helper = adk.Agent(name="helper", description="Helps.")
    await adk.play(adk.Agent(name="root", model=model, sub_agents=[helper]), "help")


async def a_conversation_goes_to_a_sibling(adk: Side) -> None:
    """An agent hands over to another one beside it."""
    model = scripted(
        adk,
        root=[calls("transfer_to_agent", "c1", agent_name="one")],
        one=[calls("transfer_to_agent", "c2", agent_name="two")],
        two=["two answers", "two again"],
        notes=False,
    )
    agents = [adk.Agent(name=name, description=name) for name in ("one", "two")]
    await adk.play(adk.Agent(name="root", model=model, sub_agents=agents), "help", "more")


async def an_agent_that_doesnt_hand_back(adk: Side) -> None:
    """With `disallow_transfer_to_parent` it answers once; the next turn is the root's."""
    model = scripted(
        adk,
        root=[calls("transfer_to_agent", "c1", agent_name="one"), "root again"],
        one=["once"],
        notes=False,
    )
    one = adk.Agent(name="one", description="one", disallow_transfer_to_parent=True)
    await adk.play(adk.Agent(name="root", model=model, sub_agents=[one]), "help", "more")


async def an_agent_with_agents_in_a_workflow(adk: Side) -> None:
    """As a node an agent calls the agents below it, and its answer goes downstream."""
    model = scripted(adk, coord=[calls("aa", "c1", request="one"), "done"], aa=["A"], notes=False)
    agent = adk.Agent(name="coord", model=model, sub_agents=[adk.Agent(name="aa", description="a", mode="single_turn")])
    await adk.play(flow(adk, agent, shows(adk)))


async def trees_that_cant_be(adk: Side) -> None:
    """An agent in `tools` is refused when the agent is built."""
    adk.refused("an agent as a tool", lambda: adk.Agent(name="a", tools=[adk.Agent(name="b")]), "sub")


async def a_task_that_began_wrongly(adk: Side) -> None:
    """Arguments of a task that don't fit spoil neither the turn nor the session."""
    model = scripted(adk, coord=[calls("booker", "c1", gaol="x"), "sorry", "hello"], notes=False)
    booker = adk.Agent(name="booker", description="Books.", mode="task", input_schema=Goal)
    talk = adk.talk(adk.Agent(name="coord", model=model, sub_agents=[booker]))
    await talk.turn("book")
    await talk.turn("hi")


async def a_conversation_goes_to_nobody(adk: Side) -> None:
    """A name that no agent has is told to the model."""
    model = scripted(adk, calls("transfer_to_agent", "c1", agent_name="nobody"), "sorry", notes=False)
    helper = adk.Agent(name="helper", description="Helps.")
    await adk.play(adk.Agent(name="root", model=model, sub_agents=[helper]))


async def two_tasks_in_one_message(adk: Side) -> None:
    """They are carried out one after the other, and the coordinator is asked once."""
    model = scripted(
        adk,
        coord=[[calls("booker", "c1", goal="a"), calls("cook", "c2", request="soup")], "all done"],
        booker=[calls("finish_task", "c3", result="booked")],
        cook=["hot or cold?", calls("finish_task", "c4", result="cold soup")],
        notes=False,
    )
    agents = [
        adk.Agent(name="booker", description="Books.", mode="task", input_schema=Goal),
        adk.Agent(name="cook", description="Cooks.", mode="task"),
    ]
    await adk.play(adk.Agent(name="coord", model=model, sub_agents=agents), "go", "cold")


async def a_resumable_app_hands_over(adk: Side) -> None:
    """When the agents of a resumable app are said to have ended: the one that hands over, and the one that takes it."""
    helper = adk.LlmAgent(name="helper", description="Helps.", model=scripted(adk, "here", notes=False))
    hands_over = calls("transfer_to_agent", "c", agent_name="helper")
    root = adk.LlmAgent(name="root", model=scripted(adk, hands_over, notes=False), sub_agents=[helper])
    app = adk.App(name="x", root_agent=root, resumability_config=adk.ResumabilityConfig(is_resumable=True))
    await plays(adk, app, is_app=True)


async def a_parent_is_built(adk: Side) -> None:
    """What building an agent does to the agents that it is given."""
    child = adk.Agent(name="helper")
    adk.Agent(name="root", sub_agents=[child])
    adk.note("mode", child.mode)


async def a_task_agent_with_agents(adk: Side) -> None:
    """A task agent that has agents below it."""
    below = adk.Agent(name="below", mode="task")
    adk.refused("tasks in tasks", lambda: adk.Agent(name="above", mode="task", sub_agents=[below]))


async def a_task_that_never_ends_well(adk: Side) -> None:
    """A model that can't get the result of its task right."""
    wrong = [calls("finish_task", f"c{i}", city="Oslo", price="much") for i in range(5)]
    model = scripted(
        adk,
        coord=[calls("booker", "c", request="x"), "done"],
        booker=[*wrong, calls("finish_task", "c9", city="Oslo", price=1)],
        notes=False,
    )
    booker = adk.Agent(name="booker", description="Books.", mode="task", output_schema=Booking)
    talk = adk.talk(adk.Agent(name="coord", model=model, sub_agents=[booker]))
    end = "with a result"
    try:
        async for _ in talk.runner.run_async(**talk.where, new_message=said("book")):
            pass
    except ValueError:
        end = "with an error"
    adk.note("ended", end)


async def a_task_that_fails(adk: Side) -> None:
    """Who gets the message behind a task that failed."""
    model = scripted(adk, coord=[calls("booker", "c", request="x"), "me"], booker=[Boom("no"), "the task"], notes=False)
    booker = adk.Agent(name="booker", description="Books.", mode="task")
    await adk.play(adk.Agent(name="coord", model=model, sub_agents=[booker]), "book", "and now?")
