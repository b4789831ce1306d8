"""What a plugin makes of an event is what happened: stored, yielded, handed on, live and after a resume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from adk_nb.agents import LlmAgent
from adk_nb.errors import DynamicNodeFailError, PluginError, WorkflowDataError
from adk_nb.events import Event, RequestInput
from adk_nb.events.event_actions import EventActions
from adk_nb.sessions import SqliteSessionService
from adk_nb.testing import ScriptedModel
from adk_nb.workflow import JoinNode, RetryConfig, Workflow, node
from adk_nb.workflow.context import Context
from tests.runners.talking import AppTalk, Editor
from tests.workflow.driving import outputs, run

ask = node(lambda: RequestInput(interrupt_id="q"), name="ask")
show = node(lambda node_input: repr(node_input), name="show")
secret = node(lambda: "secret", name="secret")


def redact(event: Event) -> Event | None:
    """Return stars for the secret."""
    return Event(output="***") if event.output == "secret" else None


def redact_in_place(event: Event) -> None:
    """Write stars over the secret."""
    if event.output == "secret":
        event.output = "***"


def redact_in_a_copy(event: Event) -> Event:
    """Return a copy, the secret as stars."""
    return event.model_copy(update={"output": "***"}) if event.output == "secret" else event


@pytest.mark.parametrize("edit", [redact, redact_in_place, redact_in_a_copy])
def test_output(edit: Callable[[Event], Event | None]) -> None:
    """The next node gets the plugin's output, now and after a pause; the event keeps its identity."""

    async def test() -> None:
        seen: list[Any] = []

        @node(rerun_on_resume=True)
        def twice(ctx: Context, node_input: Any) -> Any:
            seen.append(node_input)
            return "done" if ctx.resume_inputs else RequestInput(interrupt_id="q")

        ids: list[Any] = []

        def edited(event: Event) -> Event | None:
            ids.append((event.id, event.timestamp, event.invocation_id, event.node_info.path, event.author))
            return edit(event)

        talk = AppTalk(Workflow(name="wf", edges=[("START", secret, twice)]), Editor(edited))
        first = (await talk.say())[0]
        assert first.output == "***"
        assert (first.id, first.timestamp, first.invocation_id, first.node_info.path, first.author) == ids[0]
        await talk.answer(q=1)
        assert seen == ["***", "***"]
        assert (await talk.stored())[1].output == "***"
        assert (await talk.records())["wf@1/secret@1"].output == "***"

    run(test)


def test_what_a_plugin_sees() -> None:
    """The event is complete: author, path, whose output it is, all state that goes with it; nothing is stored yet."""

    async def test() -> None:
        seen: list[Any] = []

        def writes(ctx: Context) -> str:
            ctx.state["k"] = 1
            return "x"

        def look(event: Event) -> None:
            info = event.node_info
            seen.append((event.author, info.path, info.output_for, event.actions.state_delta))

        talk = AppTalk(Workflow(name="wf", edges=[("START", writes)]), Editor(look))
        await talk.say()
        assert seen == [("wf", "wf@1/writes@1", ["wf@1/writes@1", "wf@1"], {"k": 1})]

    run(test)


def test_where_an_event_comes_from_stays() -> None:
    """Id, time, invocation, path and whether it is a piece can't be changed by a plugin."""

    async def test() -> None:
        wild = Event(id="i", invocation_id="e-x", timestamp=1.0, node_path="other@1", partial=True, output="z")
        talk = AppTalk(Workflow(name="wf", edges=[("START", secret, show)]), Editor(lambda event: wild))
        first, second = await talk.say()
        assert first.id != "i"
        assert second.id != first.id
        assert first.timestamp > 1.0
        assert (first.node_info.path, first.partial, first.output) == ("wf@1/secret@1", None, "z")
        assert len(await talk.stored()) == 3

    run(test)


def test_route() -> None:
    """The graph follows the plugin's route."""

    async def test() -> None:
        pick = node(lambda: Event(output=1, route="x", state={"k": 1}), name="pick")
        x, y = node(lambda: "x", name="x"), node(lambda node_input: f"y{node_input}", name="y")
        wf = Workflow(name="wf", edges=[("START", pick, {"x": x, "y": y})])
        talk = AppTalk(wf, Editor(lambda event: Event(route="y") if event.actions.route else None))
        assert outputs(await talk.say()) == {"wf@1/pick@1": 1, "wf@1/y@1": "y1"}
        assert (await talk.state()) == {"k": 1}  # what the plugin left alone stays

    run(test)


@pytest.mark.parametrize("in_event", [True, False])
def test_state(in_event: bool) -> None:
    """A value, a new key, or a key taken out: later nodes and a later resume see the same state."""

    async def test() -> None:
        seen: list[Any] = []

        def writes(ctx: Context) -> Any:
            if in_event:
                return Event(output=1, state={"token": "abc", "gone": 1, "kept": 2, "temp:t": 3})
            ctx.state.update({"token": "abc", "gone": 1, "kept": 2, "temp:t": 3})
            return 1

        def look(ctx: Context) -> None:
            seen.append({key: ctx.state.get(key) for key in ("token", "gone", "kept", "new")})

        def edit(event: Event) -> Event | None:
            if "token" not in event.actions.state_delta:
                return None
            del event.actions.state_delta["gone"]
            return Event(state={"token": "***", "new": [1]})

        wf = Workflow(name="wf", edges=[("START", writes, node(look, name="l1"), ask, node(look, name="l2"))])
        talk = AppTalk(wf, Editor(edit))
        await talk.say(state_delta={"gone": 0})
        await talk.answer(q=1)
        assert seen == [{"token": "***", "gone": 0, "kept": 2, "new": [1]}] * 2
        assert await talk.state() == {"token": "***", "gone": 0, "kept": 2, "new": [1]}

    run(test)


def test_a_list_that_a_node_goes_on_writing_to() -> None:
    """Plugins in between don't cut a node off from a list that it read from the state."""

    async def test() -> None:
        async def grows(ctx: Context) -> Any:
            ctx.state["items"] = []
            items = ctx.state["items"]
            items.append(1)
            yield Event(message="one")
            items.append(2)
            yield Event(message="two")

        talk = AppTalk(Workflow(name="wf", edges=[("START", grows)]), Editor(lambda event: None))
        await talk.say()
        assert await talk.state() == {"items": [1, 2]}

    run(test)


def test_question() -> None:
    """A person is asked what the plugin made of the question, and may answer what it says."""

    async def test() -> None:
        def edit(event: Event) -> None:
            for call in event.get_function_calls():
                assert call.args is not None
                call.args["message"] = "sure?"
                call.args["response_schema"] = {"type": "boolean"}

        talk = AppTalk(Workflow(name="wf", edges=[("START", ask, show)]), Editor(edit))
        await talk.say()
        ((_, question),) = await talk.questions()
        assert question.message == "sure?"
        await talk.fail(WorkflowDataError, talk.answer(q="maybe"))
        assert outputs(await talk.answer(q=True)) == {"wf@1/show@1": "True"}

    run(test)


def test_a_question_asked_again_is_not_shown_again() -> None:
    """A rerun node that repeats its open question says nothing new, so plugins aren't asked."""

    async def test() -> None:
        shown: list[Any] = []

        @node(rerun_on_resume=True)
        async def two(ctx: Context) -> Any:
            for key in ("a", "b"):
                if key not in ctx.resume_inputs:
                    yield RequestInput(interrupt_id=key)

        def look(event: Event) -> None:
            shown.append(sorted(event.long_running_tool_ids or ()))

        talk = AppTalk(Workflow(name="wf", edges=[("START", two)]), Editor(look))
        await talk.say()
        assert await talk.answer(a=1) == []
        assert shown == [["a"], ["b"]]

    run(test)


def test_an_output_taken_away() -> None:
    """Successors get nothing, and the event carries no output for anybody."""

    async def test() -> None:
        def edit(event: Event) -> None:
            if event.output == "secret":
                event.output, event.content = None, Event(message="hidden").content

        talk = AppTalk(Workflow(name="wf", edges=[("START", secret, ask, show)]), Editor(edit))
        first = (await talk.say())[0]
        assert (first.output, first.node_info.output_for) == (None, None)
        assert (await talk.records())["wf@1/secret@1"].output is None

    run(test)


def test_an_output_that_does_not_fit() -> None:
    """A plugin's output is held against the node's schema as the node's own is, and is the plugin's failure."""

    class Total(BaseModel):
        amount: int

    def count() -> Total:
        return Total(amount=1)

    async def test() -> None:
        talk = AppTalk(
            Workflow(name="wf", edges=[("START", count)]), Editor(lambda e: Event(output="x") if e.output else None)
        )
        error = await talk.fail(PluginError, talk.say())
        assert isinstance(error.__cause__, ValidationError)

    run(test)


def test_the_text_of_an_error() -> None:
    """What a plugin writes over an error's text is all that is kept of it; the caller gets the error itself."""

    async def test() -> None:
        @node(retry_config=RetryConfig(max_attempts=2, initial_delay=0.0, jitter=0.0))
        def boom() -> None:
            raise ValueError("password 123")

        def edit(event: Event) -> Event | None:
            return Event(error_message="***") if event.error_code else None

        talk = AppTalk(Workflow(name="wf", edges=[("START", boom)]), Editor(edit))
        error = await talk.fail(ValueError, talk.say())
        assert str(error) == "password 123"
        assert [event.error_message for event in talk.last] == ["***", "***"]
        record = (await talk.records())["wf@1/boom@1"]
        assert record.error_message == "***"
        assert [attempt.error_message for attempt in record.attempts] == ["***", "***"]

    run(test)


def test_a_model_that_says_too_much() -> None:
    """An agent's text is its output: what a plugin makes of the message is what the next node gets."""

    async def test() -> None:
        agent = LlmAgent(name="agent", model=ScriptedModel(["my secret"]))

        def edit(event: Event) -> Event | None:
            return Event(message="***") if event.author == "agent" else None

        talk = AppTalk(Workflow(name="wf", edges=[("START", agent, show)]), Editor(edit))
        assert outputs(await talk.say()) == {"wf@1/show@1": "'***'"}
        assert (await talk.records())["wf@1/agent@1"].output == "***"
        chat = AppTalk(LlmAgent(name="agent", model=ScriptedModel(["my secret"])), Editor(edit))
        await chat.say()
        assert (await chat.root()).output == "***"

    run(test)


def test_dynamic_children() -> None:
    """A node gets the plugin's output of its child, also when that is the node's own output."""

    async def test() -> None:
        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> Any:
            return [await ctx.run_node(secret), await ctx.run_node(ask)]

        @node(rerun_on_resume=True)
        async def passes(ctx: Context) -> Any:
            return await ctx.run_node(secret, use_as_output=True)

        talk = AppTalk(Workflow(name="wf", edges=[("START", parent, show)]), Editor(redact))
        await talk.say()
        assert outputs(await talk.answer(q=1))["wf@1/show@1"] == "['***', 1]"
        talk = AppTalk(Workflow(name="wf", edges=[("START", passes, show)]), Editor(redact))
        assert outputs(await talk.say())["wf@1/show@1"] == "'***'"

    run(test)


def test_an_error_of_a_child() -> None:
    """Plugins see it once, at the child."""

    async def test() -> None:
        def boom() -> None:
            raise ValueError("oh")

        @node(rerun_on_resume=True)
        async def parent(ctx: Context) -> str:
            try:
                await ctx.run_node(boom)
            except DynamicNodeFailError:
                return "caught"
            return "not"

        paths: list[str] = []
        talk = AppTalk(Workflow(name="wf", edges=[("START", parent)]), Editor(lambda e: paths.append(e.node_info.path)))
        assert outputs(await talk.say()) == {"wf@1/parent@1": "caught"}
        assert paths == ["wf@1/parent@1/boom@1", "wf@1/parent@1"]

    run(test)


def branching() -> Workflow:
    """Return a flow with a loop, a fan-out, a join, a nested flow and a question, each step counting up."""

    def up(name: str) -> Any:
        def step(ctx: Context, node_input: Any) -> Any:
            value = (
                node_input
                if isinstance(node_input, int)
                else sum(node_input.values())
                if isinstance(node_input, dict)
                else 0
            )
            ctx.state[name] = value
            return value + 1

        return node(step, name=name)

    def turn(node_input: int) -> Event:
        return Event(output=node_input, route="again" if node_input < 20 else "on")

    first, turning, join = up("first"), node(turn, name="turn"), JoinNode(name="join")
    inner = Workflow(name="inner", edges=[("START", up("deep"))])
    return Workflow(
        name="wf",
        edges=[
            ("START", first, turning),
            (turning, {"again": first, "on": ((left := up("left")), inner)}),
            (left, join),
            (turning, {"on": ask}),
            ((up_again := up("right")), join),
            (ask, up_again),
            (inner, join),
            (join, up("last")),
        ],
    )


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_cut_anywhere(data: Any) -> None:
    """With a plugin that changes outputs, routes and state, a run that is cut anywhere comes to the same end."""

    def edit(event: Event) -> Event | None:
        if type(event.output) is not int:
            return None
        delta = {key: value * 2 for key, value in event.actions.state_delta.items()}
        return Event(output=event.output + 3, actions=EventActions(state_delta=delta))

    async def whole(service: Any, cuts: list[int]) -> Any:
        talk = AppTalk(branching(), Editor(edit), service=service)
        if not cuts:
            await talk.say()
        else:
            await talk.cut_after(cuts[0])
        for count in cuts[1:]:
            await talk.cut_after(count, invocation_id=(await talk.root()).invocation_id)
        if cuts:
            await talk.go_on()
        await talk.answer(q=5)
        told = [event for event in await talk.stored() if event.output is not None]
        by_path = {event.node_info.path: event.output for event in told}
        assert len(told) == len(by_path)  # no node has spoken twice
        return by_path, await talk.state(), (await talk.root()).output

    async def test() -> None:
        cuts = data.draw(st.lists(st.integers(1, 9), max_size=3))
        kind = data.draw(st.sampled_from(["memory", "sqlite"]))
        service = SqliteSessionService(":memory:") if kind == "sqlite" else None
        expected = await whole(None, [])
        assert await whole(service, cuts) == expected
        if service is not None:
            await service.close()

    run(test)
