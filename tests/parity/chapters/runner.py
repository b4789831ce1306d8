"""The runner: what starts a run, what goes on with one, and what a call may bring."""

from __future__ import annotations

import asyncio
from typing import Any

from google.genai import types

from tests.parity.pieces import Boom, answers, asks, flow, gives, shows
from tests.parity.side import Side, said


async def a_session_must_be_there(adk: Side) -> None:
    """A session that isn't there is an error that names it, unless the runner may make it."""
    adk.listen("Session not found", "s")
    talk = adk.talk(flow(adk, gives(adk, "a", 1)), auto_create_session=False)
    await talk.turn("hi")
    talk.runner.auto_create_session = True
    await talk.turn("hi")


async def a_runner_has_one_root(adk: Side) -> None:
    """A runner takes exactly one root, and an app's name with an agent."""
    sessions, a = adk.InMemorySessionService(), gives(adk, "a", 1)
    agent = adk.Agent(name="helper", model="gemini-2.5-flash")
    adk.refused("none", lambda: adk.Runner(session_service=sessions), "One of app, agent, or node")
    adk.refused("two", lambda: adk.Runner(node=a, agent=agent, app_name="x", session_service=sessions), "Only one of")
    adk.refused("no name", lambda: adk.Runner(agent=agent, session_service=sessions), "app_name is required")
    adk.note("app name", adk.Runner(node=a, session_service=sessions).app_name)


async def a_runner_in_memory(adk: Side) -> None:
    """`InMemoryRunner` brings its own sessions, under a name of its own."""
    runner = adk.InMemoryRunner(node=flow(adk, gives(adk, "a", 1)))
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    adk.note("name", runner.app_name)
    stream = runner.run_async(user_id="u", session_id=session.id, new_message=said("hi"))
    adk.note("outputs", [event.output async for event in stream])


async def the_users_message_may_be_shown(adk: Side) -> None:
    """With `yield_user_message` the user's own event comes first."""
    talk = adk.talk(flow(adk, gives(adk, "a", 1)))
    await talk.turn("hi", yield_user_message=True)


async def a_message_is_the_users(adk: Side) -> None:
    """A message with another role is stored as the user's; the one that was given stays as it is."""
    message = types.Content(role="model", parts=[types.Part(text="hi")])
    talk = adk.talk(flow(adk, shows(adk)))
    await talk.turn(message, yield_user_message=True)
    adk.note("given", message.role)


async def a_message_may_be_empty(adk: Side) -> None:
    """A message without parts starts a run."""
    await adk.play(flow(adk, shows(adk)), types.Content(role="user", parts=[]))


async def each_message_is_a_new_run(adk: Side) -> None:
    """Each message is an invocation of its own, with its run ids from 1 and nothing of the one before but the state."""

    def a(ctx: Any) -> int:
        ctx.state["n"] = ctx.state.get("n", 0) + 1
        return int(ctx.state["n"])

    await adk.play(flow(adk, a, shows(adk)), "one", "two")


async def a_call_brings_metadata(adk: Side) -> None:
    """`custom_metadata` of the run config is put onto every event, beside what the event has."""

    def a() -> Any:
        return adk.Event(output=1, custom_metadata={"own": 1})

    talk = adk.talk(flow(adk, adk.node(a), shows(adk)))
    await talk.turn("hi", run_config=adk.RunConfig(custom_metadata={"trace": "t"}), yield_user_message=True)


async def a_node_sees_the_run_config(adk: Side) -> None:
    """The context has the run config of the call."""

    def a(ctx: Any) -> Any:
        return ctx.run_config.custom_metadata

    talk = adk.talk(flow(adk, a))
    await talk.turn("hi", run_config=adk.RunConfig(custom_metadata={"trace": "t"}))


async def state_without_a_message(adk: Side) -> None:
    """State that a call brings without a message, for a run that goes on."""

    def b(ctx: Any) -> Any:
        if ctx.state.get("city") is None:
            raise Boom("no city")
        return ctx.state["city"]

    talk = await adk.play(flow(adk, gives(adk, "a", 1), b))
    await talk.go_on(state_delta={"city": "Oslo"})


async def a_finished_run_is_gone_on_with(adk: Side) -> None:
    """Going on with a finished run runs nothing again."""
    times = 0

    def work() -> int:
        nonlocal times
        times += 1
        return times

    talk = await adk.play(flow(adk, work, shows(adk)))
    await talk.go_on()
    adk.note("times", times)


async def a_run_left_early_is_gone_on_with(adk: Side) -> None:
    """A run whose caller walked away goes on under its invocation id after the last node that finished."""
    talk = adk.talk(flow(adk, gives(adk, "a", 1), gives(adk, "b", 2), shows(adk)))
    await talk.turn("hi", leave_after=1)
    await talk.go_on()


async def a_failed_lane_is_gone_on_with(adk: Side) -> None:
    """After a failure in one lane, the others' results are kept, and the join fires once the lane is through."""
    times = 0

    def flaky() -> int:
        nonlocal times
        times += 1
        if times < 2:
            raise Boom("no")
        return times

    talk = await adk.play(flow(adk, gives(adk, "a", 1), (gives(adk, "b", 2), adk.node(flaky)), adk.JoinNode(name="j")))
    await talk.go_on()


async def a_nested_run_is_gone_on_with(adk: Side) -> None:
    """A run that failed in a nested workflow goes on inside it."""
    times = 0

    def flaky(node_input: Any) -> Any:
        nonlocal times
        times += 1
        if times < 2:
            raise Boom("no")
        return [node_input, times]

    inner = adk.Workflow(name="inner", edges=[("START", gives(adk, "b", 1), adk.node(flaky))])
    talk = await adk.play(flow(adk, inner, shows(adk)))
    await talk.go_on()


async def nothing_to_run(adk: Side) -> None:
    """A call without a message and without an invocation id."""
    talk = adk.talk(flow(adk, shows(adk)), state={})
    await talk.run("nothing")


async def an_unknown_invocation(adk: Side) -> None:
    """A call without a message and with an invocation id that isn't in the session."""
    talk = adk.talk(flow(adk, shows(adk)), state={})
    await talk.run("unknown", invocation_id="e-no-such")


async def text_for_an_old_run(adk: Side) -> None:
    """A text with the invocation id of a run that has its message already."""
    talk = await adk.play(flow(adk, asks(adk, "q"), shows(adk)))
    await talk.turn("more", invocation_id=talk.invocation_ids[0])


async def a_plain_generator_runs_too(adk: Side) -> None:
    """`run` is `run_async` for code that can't await; what a node raises reaches the caller after the events."""

    def bad() -> None:
        raise Boom("no")

    sessions = adk.InMemorySessionService()
    runner = adk.Runner(node=flow(adk, gives(adk, "a", 1), bad), app_name="x", session_service=sessions)
    await sessions.create_session(app_name="x", user_id="u", session_id="s")

    def collect() -> list[Any]:
        found: list[Any] = []
        try:
            for event in runner.run(user_id="u", session_id="s", new_message=said("hi")):
                found.append(event.output or event.error_code)
        except Boom as error:
            found.append(f"raised {error}")
        return found

    adk.note("came", await asyncio.to_thread(collect))


async def a_runner_for_trying_things(adk: Side) -> None:
    """`run_debug` takes texts, makes the session, and returns the events."""
    runner = adk.InMemoryRunner(node=flow(adk, shows(adk)))
    events = await runner.run_debug(["one", "two"], quiet=True)
    adk.note("outputs", [event.output for event in events])


async def two_runs_of_one_object(adk: Side) -> None:
    """One workflow object runs in two sessions at the same time."""

    async def work(node_input: str) -> str:
        await asyncio.sleep(0.01)
        return node_input

    root = flow(adk, adk.node(work), shows(adk))
    one, two = adk.talk(root, session_id="one"), adk.talk(root, session_id="two")
    first, second = await asyncio.gather(_outputs(one, "1"), _outputs(two, "2"))
    adk.note("outputs", [first, second])


async def _outputs(talk: Any, text: str) -> list[Any]:
    stream = talk.runner.run_async(**talk.where, new_message=said(text))
    return [event.output async for event in stream]


async def a_runner_is_closed(adk: Side) -> None:
    """A runner is an async context manager, and may be closed."""
    sessions = adk.InMemorySessionService()
    async with adk.Runner(node=gives(adk, "a", 1), session_service=sessions, auto_create_session=True) as runner:
        adk.note(
            "outputs",
            [event.output async for event in runner.run_async(user_id="u", session_id="s", new_message=said("hi"))],
        )
    await runner.close()


async def a_new_runner_answers(adk: Side) -> None:
    """An answer may come from another runner with the same sessions."""
    root = flow(adk, gives(adk, "a", 1), asks(adk, "q"), shows(adk))
    talk = await adk.play(root)
    other = adk.Runner(node=root, app_name="x", session_service=talk.sessions)
    stream = other.run_async(**talk.where, new_message=answers(q="x"))
    adk.note("outputs", [event.output async for event in stream])


async def an_event_is_stored_before_it_is_shown(adk: Side) -> None:
    """What the caller sees is in the session already."""
    talk = adk.talk(flow(adk, gives(adk, "a", 1), shows(adk)), state={})
    seen = []
    await talk.run("nothing new", new_message=said("hi"), leave_after=1)
    seen.append(len((await talk.session()).events))
    adk.note("stored", seen)


async def a_node_waits_for_its_reader(adk: Side) -> None:
    """A node that speaks goes on once the caller asks for the next event."""
    said_so = []

    async def speaks() -> Any:
        for word in ("one", "two"):
            yield adk.Event(message=word)
            said_so.append(word)

    talk = adk.talk(flow(adk, adk.node(speaks)))
    stream = talk.runner.run_async(**talk.where, new_message=said("hi"))
    async for _ in stream:
        await asyncio.sleep(0.01)
        adk.note("after an event", list(said_so))


async def ids_have_a_form(adk: Side) -> None:
    """Invocation ids begin with `e-`; a run id of the root is 1 in each."""
    talk = await adk.play(flow(adk, gives(adk, "a", 1)))
    adk.note("form", [talk.invocation_ids[0][:2], len(talk.invocation_ids[0])])


async def an_answer_with_few_events_loaded(adk: Side) -> None:
    """A call that loads the newest events only, and answers a question."""
    talk = await adk.play(flow(adk, gives(adk, "a", 1), asks(adk, "q"), shows(adk)))
    config = adk.RunConfig(get_session_config=adk.GetSessionConfig(num_recent_events=1))
    await talk.turn(answers(q="x"), run_config=config)


async def two_runs_in_one_session(adk: Side) -> None:
    """Two calls in one session at the same time both come to their end."""

    async def work(node_input: str) -> str:
        await asyncio.sleep(0.01)
        return node_input

    talk = adk.talk(flow(adk, adk.node(work), shows(adk)), state={})
    await talk.turn("first")
    adk.note("outputs", await asyncio.gather(_outputs(talk, "1"), _outputs(talk, "2")))


async def a_run_is_cancelled(adk: Side) -> None:
    """A task that reads a run and is cancelled stops the node that runs."""
    begun, seen = asyncio.Event(), []

    async def slow() -> None:
        begun.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    talk = adk.talk(flow(adk, gives(adk, "a", 1), slow))
    reading = asyncio.create_task(_outputs(talk, "hi"))
    await begun.wait()
    reading.cancel()
    adk.note("came", [type(one).__name__ for one in await asyncio.gather(reading, return_exceptions=True)])
    adk.note("seen", seen)
